// SPDX-License-Identifier: Apache-2.0
//
// What fly-layout-lowering knows of values while it walks over the ops of a module in order.
//
// An op of the algebra is evaluated, not rewritten: its result is kept as a value with SSA values
// at its dynamic leaves, and becomes ops again only where an op that stays needs it.

#ifndef FLY_LIB_TRANSFORMS_LAYOUTLOWERINGSTATE_H
#define FLY_LIB_TRANSFORMS_LAYOUTLOWERINGSTATE_H

#include "LayoutParts.h"
#include "RuntimeArithEmitter.h"

#include "fly/Dialect/Fly/IR/Constructors.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <tuple>

namespace fly {

/// `base` advanced by a run-time and then by a static number of elements. Kept apart, so that
/// pointers that differ by constants share the run-time part and use immediate offsets.
struct PointerValue {
  mlir::Value base;
  /// A leaf; static 0 without a run-time part.
  IntTuple dynamicOffset = 0;
  /// Nothing for a pointer that has not been advanced statically, not even by 0.
  std::optional<int64_t> staticOffset = std::nullopt;
  /// The offsets where the program has them as values already; null otherwise.
  mlir::Value dynamicTuple = {};
  mlir::Value staticTuple = {};
  /// `base` advanced by the run-time part, where that is a value already.
  mlir::Value dynamicPointer = {};
};

/// A tensor whose iterator is known: a pointer for memrefs; for coord_tensors it is part of
/// `value`.
struct TensorOperand {
  TensorValue value;
  std::optional<PointerValue> pointer = std::nullopt;
  /// The SSA value that it was read from; null for what has been computed from it.
  mlir::Value original = {};

  /// The layout's rank.
  unsigned rank() const { return value.layout.outermost().rank(); }
};

class LoweringState {
public:
  explicit LoweringState(mlir::MLIRContext *context) : builder(context), arith(builder) {}

  mlir::OpBuilder builder;
  RuntimeArithEmitter arith;

  /// Everything is emitted in front of `op` from here on.
  void setPosition(mlir::Operation *op);
  mlir::Location loc() const { return location; }
  Constructors constructors() {
    return Constructors(builder, location, Constructors::First::Stride);
  }

  //===--------------------------------------------------------------------===//
  // What values are. Nothing where they are not in normal form.
  //===--------------------------------------------------------------------===//

  /// A tuple, layout, swizzle, tile or coord_tensor.
  std::optional<FlyValue> read(mlir::Value value);
  std::optional<IntTuple> readTuple(mlir::Value value);
  std::optional<AnyLayout> readLayout(mlir::Value value);
  std::optional<TensorOperand> readTensor(mlir::Value value);
  PointerValue readPointer(mlir::Value pointer);

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  /// `result` is `value`, or a memref with that layout at `pointer`; its op is replaced.
  void define(mlir::Value result, FlyValue value);
  void define(mlir::Value result, TensorOperand tensor);
  void definePointer(mlir::Value result, PointerValue pointer);
  /// `result` has those parts of `source` that are the same in both; the outermost layout only if
  /// asked for.
  void keepParts(mlir::Value result, mlir::Value source, bool withOutermost);
  /// `result` has the layout `layout`, which is one value.
  void hasLayout(mlir::Value result, mlir::Value layout) { parts[result].outermost = layout; }
  /// `op` has been replaced as a whole; its results without a definition are not used any more.
  void replaced(mlir::Operation *op) { obsolete.push_back(op); }
  /// Erases replaced ops, and constructs those of their results that are still used.
  void finish();

  //===--------------------------------------------------------------------===//
  // Construction
  //===--------------------------------------------------------------------===//

  mlir::Value emitPointer(const PointerValue &pointer);
  mlir::Value emitTensor(const TensorOperand &tensor);
  mlir::Value emitLayout(const AnyLayout &layout);
  /// An integer leaf as an SSA value of its width, or of `width` bits.
  mlir::Value emitLeaf(const IntTuple &leaf, unsigned width = 0);
  /// `pointer` advanced by an integer leaf, which the program may have as a value.
  PointerValue advance(AlgebraContext &cx, const PointerValue &pointer, const IntTuple &offset,
                       mlir::Value tuple = {});
  /// `tensor` after an operation that gave `value`, whose offset says how far it has been advanced.
  /// Where the operation `advances` the pointer, it does so even by 0.
  TensorOperand moved(AlgebraContext &cx, const TensorOperand &tensor, TensorValue value,
                      bool advances);
  /// The part of `tensor` at `coord`.
  TensorOperand sliced(AlgebraContext &cx, const TensorOperand &tensor, const IntTuple &coord);
  /// `tensor` without the inner maps of its layout: they are applied to its pointer.
  TensorOperand decomposed(AlgebraContext &cx, const TensorOperand &tensor);

private:
  /// What has been emitted at the current position, where it dominates all that follows: expansions
  /// into many calls use few distinct values.
  struct Emitted {
    llvm::SmallVector<std::pair<AnyLayout, mlir::Value>, 4> layouts;
    /// By base, handle of the run-time offset, and static offset: one that int32 cannot hold where
    /// there is none.
    llvm::DenseMap<std::tuple<mlir::Value, void *, int64_t>, mlir::Value> pointers;
    /// By pointer and layout.
    llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> views;
  };

  std::optional<FlyValue> readDefinition(mlir::Value value);
  /// A memref that is an argument of a block: its type has the layout, if that is static.
  std::optional<FlyValue> readOpaqueMemRef(mlir::Value value);
  void construct(mlir::Value result);
  /// `layout`, whose parts may exist.
  mlir::Value constructLayout(const AnyLayout &layout, const LayoutParts &parts,
                              Constructors::First first);

  mlir::Location location = builder.getUnknownLoc();
  Emitted emitted;
  llvm::DenseMap<mlir::Value, FlyValue> values;
  llvm::DenseMap<mlir::Value, PointerValue> pointers;
  llvm::DenseMap<mlir::Value, LayoutParts> parts;
  llvm::SmallVector<mlir::Operation *> obsolete;
};

} // namespace fly

#endif // FLY_LIB_TRANSFORMS_LAYOUTLOWERINGSTATE_H
