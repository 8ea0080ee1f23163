// SPDX-License-Identifier: Apache-2.0
//
// Result types of composition, inverses, divides and products.

#include "InferSupport.h"

using namespace mlir;
using namespace fly;

/// The tuple of an optional operand, null where there is none. `storage` outlives the result.
static const IntTuple *optionalTuple(Type type, IntTuple &storage) {
  if (!type)
    return nullptr;
  storage = tupleOf(type);
  return &storage;
}

InferredType fly::inferCoalesce(InferLocation loc, Type layoutLike, Type pattern) {
  IntTuple storage;
  return inferWith(loc, "CoalesceOp", layoutLike.getContext(), [&](AlgebraContext &cx) {
    return evaluate::coalesce(cx, valueOf(layoutLike), optionalTuple(pattern, storage));
  });
}

InferredType fly::inferComposition(InferLocation loc, Type lhs, Type rhs) {
  return inferWith(loc, "CompositionOp", lhs.getContext(), [&](AlgebraContext &cx) {
    return evaluate::composition(cx, valueOf(lhs), valueOf(rhs));
  });
}

InferredType fly::inferComplement(InferLocation loc, Type layout, Type codomainSize) {
  IntTuple storage;
  return inferWith(loc, "ComplementOp", layout.getContext(), [&](AlgebraContext &cx) {
    return evaluate::complement(cx, valueOf(layout), optionalTuple(codomainSize, storage));
  });
}

InferredType fly::inferRightInverse(InferLocation loc, Type layout) {
  return inferWith(loc, "RightInverseOp", layout.getContext(),
                   [&](AlgebraContext &cx) { return evaluate::rightInverse(cx, valueOf(layout)); });
}

InferredType fly::inferLeftInverse(InferLocation loc, Type layout) {
  return inferWith(loc, "LeftInverseOp", layout.getContext(),
                   [&](AlgebraContext &cx) { return evaluate::leftInverse(cx, valueOf(layout)); });
}

//===----------------------------------------------------------------------===//
// Divides
//===----------------------------------------------------------------------===//

static InferredType inferDivide(InferLocation loc, StringRef opName, evaluate::Divide kind,
                                Type layoutLike, Type divisor) {
  return inferWith(loc, opName, layoutLike.getContext(), [&](AlgebraContext &cx) {
    return evaluate::divide(cx, kind, valueOf(layoutLike), valueOf(divisor));
  });
}

InferredType fly::inferLogicalDivide(InferLocation loc, Type layoutLike, Type divisor) {
  return inferDivide(loc, "LogicalDivideOp", evaluate::Divide::Logical, layoutLike, divisor);
}
InferredType fly::inferZippedDivide(InferLocation loc, Type layoutLike, Type divisor) {
  return inferDivide(loc, "ZippedDivideOp", evaluate::Divide::Zipped, layoutLike, divisor);
}
InferredType fly::inferTiledDivide(InferLocation loc, Type layoutLike, Type divisor) {
  return inferDivide(loc, "TiledDivideOp", evaluate::Divide::Tiled, layoutLike, divisor);
}
InferredType fly::inferFlatDivide(InferLocation loc, Type layoutLike, Type divisor) {
  return inferDivide(loc, "FlatDivideOp", evaluate::Divide::Flat, layoutLike, divisor);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static InferredType inferProduct(InferLocation loc, StringRef opName, evaluate::Product kind,
                                 Type layout, Type tiler) {
  auto tilerLayout = dyn_cast<LayoutType>(tiler);
  if (!tilerLayout)
    return emitOptionalError(loc, opName, ": expected LayoutType for tiler, got ", tiler);
  return inferWith(loc, opName, layout.getContext(), [&](AlgebraContext &cx) {
    return evaluate::product(cx, kind, valueOf(layout), tilerLayout.getValue());
  });
}

InferredType fly::inferLogicalProduct(InferLocation loc, Type layout, Type tiler) {
  return inferProduct(loc, "LogicalProductOp", evaluate::Product::Logical, layout, tiler);
}
InferredType fly::inferZippedProduct(InferLocation loc, Type layout, Type tiler) {
  return inferProduct(loc, "ZippedProductOp", evaluate::Product::Zipped, layout, tiler);
}
InferredType fly::inferTiledProduct(InferLocation loc, Type layout, Type tiler) {
  return inferProduct(loc, "TiledProductOp", evaluate::Product::Tiled, layout, tiler);
}
InferredType fly::inferFlatProduct(InferLocation loc, Type layout, Type tiler) {
  return inferProduct(loc, "FlatProductOp", evaluate::Product::Flat, layout, tiler);
}
InferredType fly::inferBlockedProduct(InferLocation loc, Type layout, Type tiler) {
  return inferProduct(loc, "BlockedProductOp", evaluate::Product::Blocked, layout, tiler);
}
InferredType fly::inferRakedProduct(InferLocation loc, Type layout, Type tiler) {
  return inferProduct(loc, "RakedProductOp", evaluate::Product::Raked, layout, tiler);
}

InferredType fly::inferRecastLayout(InferLocation loc, Type layout, int32_t newTypeBits,
                                    int32_t oldTypeBits) {
  return inferWith(loc, "RecastLayoutOp", layout.getContext(), [&](AlgebraContext &cx) {
    return evaluate::recastLayout(cx, valueOf(layout), newTypeBits, oldTypeBits);
  });
}

InferredType fly::inferTileToShape(InferLocation loc, Type block, Type targetShape, Type order) {
  return inferWith(loc, "TileToShapeOp", block.getContext(), [&](AlgebraContext &cx) {
    return evaluate::tileToShape(cx, valueOf(block), tupleOf(targetShape), tupleOf(order));
  });
}
