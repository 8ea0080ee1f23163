// SPDX-License-Identifier: Apache-2.0
//
// Which register allocations of a function can become vector values, and how an access reads or
// changes such a vector.
#ifndef FLY_LIB_TRANSFORMS_REGISTERALLOCATIONS_H
#define FLY_LIB_TRANSFORMS_REGISTERALLOCATIONS_H

#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace fly {

struct RegisterAllocation {
  MakePtrOp op;
  mlir::VectorType type; ///< of allocSize elements; narrow floats as integers
};

/// A pointer into an allocation, `offset` elements from its start.
struct RegisterAccess {
  const RegisterAllocation *allocation;
  int64_t offset;
};

/// The promotable allocations of one function: those whose every use is a load, a store or a static
/// offset that leads to such uses. (A view without users does not count as a use.)
class RegisterAllocations {
public:
  explicit RegisterAllocations(mlir::gpu::GPUFuncOp function);

  const RegisterAllocation *find(MakePtrOp op) const;
  /// Where `pointer` points to; nothing when that is not into a promotable allocation.
  std::optional<RegisterAccess> access(mlir::Value pointer) const;
  /// The allocations that are made outside of `op` and accessed inside, in program order.
  llvm::SmallVector<const RegisterAllocation *> accessedFromOutside(mlir::Operation *op) const;
  /// Whether an allocation has to stay in memory: a used recast_iter or a dynamic offset leads to
  /// it.
  bool hasExcluded() const { return excluded; }

private:
  llvm::SmallVector<std::unique_ptr<RegisterAllocation>> all;
  llvm::DenseMap<mlir::Operation *, const RegisterAllocation *> byOp;
  llvm::DenseMap<mlir::Value, RegisterAccess> pointers;
  bool excluded = false;
};

/// The part of `whole` that a load of `type` at element `offset` reads.
mlir::Value extractRegisters(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value whole,
                             int64_t offset, mlir::Type type);

/// `whole` after a store of `part` at element `offset`.
mlir::Value insertRegisters(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value whole,
                            int64_t offset, mlir::Value part);

} // namespace fly

#endif // FLY_LIB_TRANSFORMS_REGISTERALLOCATIONS_H
