// SPDX-License-Identifier: Apache-2.0
//
// The algebraic ops of the fly dialect as functions on the values that its types spell.
//
// Type inference calls them on what types say, the lowering on the same values with run-time
// handles at their dynamic leaves, so that both always agree. Errors are left in the context.

#ifndef FLY_DIALECT_FLY_IR_EVALUATE_H
#define FLY_DIALECT_FLY_IR_EVALUATE_H

#include "fly/Algebra/Context.h"
#include "fly/Algebra/Partition.h"
#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include <variant>

namespace fly {

/// A memref or coord_tensor, relative to where it was: a memref's iterator is its pointer advanced
/// by `offset` elements, a coord_tensor's iterator is `offset` itself.
struct TensorValue {
  /// Null for a coord_tensor.
  PointerType pointer;
  IntTuple offset;
  AnyLayout layout;

  bool isMemRef() const { return static_cast<bool>(pointer); }
};

/// The value of an int_tuple, layout, composed_layout, swizzle, coord_swizzle, tile, memref or
/// coord_tensor type. Swizzles are inner maps.
using FlyValue = std::variant<IntTuple, AnyLayout, InnerMap, Tile, TensorValue>;

/// What a type spells; nothing for other types.
std::optional<FlyValue> getFlyValue(mlir::Type type);
/// The type that spells a value, without its run-time handles. A memref's alignment follows from
/// its offset.
mlir::Type getTypeOf(mlir::MLIRContext *context, const FlyValue &value);
/// The pointer type after advancing by `offset` elements.
PointerType advancePointer(PointerType pointer, const IntTuple &offset);

// Operands are of the kinds that the op's definition admits. `layoutLike` is a layout or a tensor,
// `tupleLike` that or an integer tuple.
namespace evaluate {

FlyValue get(AlgebraContext &cx, const FlyValue &tupleLike, llvm::ArrayRef<int32_t> mode);
FlyValue take(AlgebraContext &cx, const FlyValue &tupleLike, int32_t begin, int32_t end);
FlyValue group(AlgebraContext &cx, const FlyValue &tupleLike, int32_t begin, int32_t end);
FlyValue select(AlgebraContext &cx, const FlyValue &tupleLike, llvm::ArrayRef<int32_t> indices);
/// `n` < 0 adds one mode.
FlyValue append(AlgebraContext &cx, const FlyValue &tuple, const FlyValue &element, int32_t n);
FlyValue prepend(AlgebraContext &cx, const FlyValue &tuple, const FlyValue &element, int32_t n);
FlyValue slice(AlgebraContext &cx, const FlyValue &tupleLike, const IntTuple &coord);
FlyValue dice(AlgebraContext &cx, const FlyValue &tupleOrLayout, const IntTuple &coord);

IntTuple size(AlgebraContext &cx, const FlyValue &tupleLike);
IntTuple crd2idx(AlgebraContext &cx, const IntTuple &coord, const FlyValue &map);

/// `pattern` may be null.
FlyValue coalesce(AlgebraContext &cx, const FlyValue &layoutLike, const IntTuple *pattern);
FlyValue composition(AlgebraContext &cx, const FlyValue &layoutLike, const FlyValue &layoutOrTile);
/// `codomain` may be null.
FlyValue complement(AlgebraContext &cx, const FlyValue &layout, const IntTuple *codomain);
FlyValue rightInverse(AlgebraContext &cx, const FlyValue &layout);
FlyValue leftInverse(AlgebraContext &cx, const FlyValue &layout);

enum class Divide { Logical, Zipped, Tiled, Flat };
FlyValue divide(AlgebraContext &cx, Divide kind, const FlyValue &layoutLike,
                const FlyValue &layoutOrTile);
enum class Product { Logical, Zipped, Tiled, Flat, Blocked, Raked };
FlyValue product(AlgebraContext &cx, Product kind, const FlyValue &layout, const Layout &tiler);
FlyValue recastLayout(AlgebraContext &cx, const FlyValue &layout, int32_t newBits, int32_t oldBits);
FlyValue tileToShape(AlgebraContext &cx, const FlyValue &block, const IntTuple &target,
                     const IntTuple &order);

/// The tensor with what its composed layout does to index 0 folded into its iterator.
TensorValue decomposition(AlgebraContext &cx, const TensorValue &tensor);
/// `tensor` advanced by `offset`, in elements or coordinates.
TensorValue advance(AlgebraContext &cx, const TensorValue &tensor, const IntTuple &offset);
TensorValue partitionCopy(AlgebraContext &cx, TiledCopyType copy, CopyOperand side,
                          const TensorValue &tensor, const IntTuple &thread);
TensorValue retile(AlgebraContext &cx, TiledCopyType copy, const TensorValue &fragment);
TensorValue partitionMma(AlgebraContext &cx, TiledMmaType mma, MmaOperand operand,
                         const TensorValue &tensor, const IntTuple &thread);
IntTuple partitionMmaShape(AlgebraContext &cx, TiledMmaType mma, MmaOperand operand,
                           const IntTuple &shape);
Layout mmaFragment(AlgebraContext &cx, TiledMmaType mma, MmaOperand operand,
                   const TensorValue &tensor, int32_t stages);

} // namespace evaluate
} // namespace fly

#endif // FLY_DIALECT_FLY_IR_EVALUATE_H
