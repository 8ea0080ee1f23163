// SPDX-License-Identifier: Apache-2.0
//
// The algebra's run-time arithmetic as ops of the arith dialect, folded as they are built.

#ifndef FLY_LIB_TRANSFORMS_RUNTIMEARITHEMITTER_H
#define FLY_LIB_TRANSFORMS_RUNTIMEARITHEMITTER_H

#include "fly/Algebra/Context.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace fly {

/// Emits at the builder's insertion point, with the location that was set last. Positions in
/// a block must come in order: constants stand where they were first needed in it.
class RuntimeArithEmitter : public RuntimeArith {
public:
  explicit RuntimeArithEmitter(mlir::OpBuilder &builder)
      : builder(builder), loc(builder.getUnknownLoc()) {}

  void setLoc(mlir::Location location) { loc = location; }

  RuntimeHandle constant(int64_t value, unsigned width) override;
  RuntimeHandle extend(RuntimeHandle value) override;
  RuntimeHandle binary(Op op, RuntimeHandle a, RuntimeHandle b) override;
  RuntimeHandle compare(Predicate predicate, RuntimeHandle a, RuntimeHandle b) override;
  RuntimeHandle both(RuntimeHandle a, RuntimeHandle b) override;

  mlir::Value integer(int64_t value, mlir::Type type);
  /// Whether `op` is one of the constants.
  bool hasMade(mlir::Operation *op) const { return made.contains(op); }

private:
  template <typename OpTy, typename... Operands> RuntimeHandle emit(Operands... operands);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// By block and value.
  llvm::DenseMap<std::pair<mlir::Block *, mlir::Attribute>, mlir::Value> constants;
  llvm::DenseSet<mlir::Operation *> made;
};

} // namespace fly

#endif // FLY_LIB_TRANSFORMS_RUNTIMEARITHEMITTER_H
