// SPDX-License-Identifier: Apache-2.0
//
// Result types of the functions of a layout.

#include "InferSupport.h"

#include "fly/Algebra/Construct.h"
#include "fly/Algebra/Coordinates.h"

using namespace mlir;
using namespace fly;

static const Layout plainOf(Type layout) { return cast<LayoutType>(layout).getValue(); }

//===----------------------------------------------------------------------===//
// Construction from a shape
//===----------------------------------------------------------------------===//

InferredType fly::inferMakeIdentityLayout(InferLocation loc, Type shape) {
  return inferWith(loc, "MakeIdentityLayoutOp", shape.getContext(), [&](AlgebraContext &cx) {
    return AnyLayout(identityLayout(cx, tupleOf(shape)));
  });
}

InferredType fly::inferMakeOrderedLayout(InferLocation loc, Type shape, Type order) {
  return inferWith(loc, "MakeOrderedLayoutOp", shape.getContext(), [&](AlgebraContext &cx) {
    return AnyLayout(orderedLayout(cx, tupleOf(shape), tupleOf(order)));
  });
}

InferredType fly::inferMakeLayoutLike(InferLocation loc, Type layout) {
  return inferWith(loc, "MakeLayoutLikeOp", layout.getContext(),
                   [&](AlgebraContext &cx) { return AnyLayout(layoutLike(cx, plainOf(layout))); });
}

/// The fragment layout of what `source` says of its layout.
static FailureOr<Layout> inferFragment(InferLocation loc, StringRef opName, Type source) {
  const Layout layout = getAnyLayout(source)->outermost();
  if (!layout.shape().isStatic())
    return emitOptionalError(loc, opName, ": expected static shape layout, got #fly<layout",
                             layout.str(), ">");
  AlgebraContext cx;
  Layout fragment = fragmentLayout(cx, layout);
  if (cx.failed())
    return emitOptionalError(loc, opName, ": ", cx.message());
  return fragment;
}

InferredType fly::inferMakeFragmentLayoutLike(InferLocation loc, Type source) {
  FailureOr<Layout> fragment = inferFragment(loc, "MakeFragmentLayoutLikeOp", source);
  if (failed(fragment))
    return failure();
  return LayoutType::get(source.getContext(), *fragment);
}

InferredType fly::inferMakeFragmentLike(InferLocation loc, Type source, TypeAttr dtype) {
  auto memref = dyn_cast<MemRefType>(source);
  if (!dtype && !memref)
    return emitOptionalError(loc,
                             "MakeFragmentLikeOp: dtype is required when input is not MemRefType");
  const Type element = dtype ? dtype.getValue() : memref.getElementType();
  if (!isElementType(element))
    return emitOptionalError(loc, "MakeFragmentLikeOp: dtype must be an integer or a float, got ",
                             element);
  FailureOr<Layout> fragment = inferFragment(loc, "MakeFragmentLikeOp", source);
  if (failed(fragment))
    return failure();
  auto space = AddressSpaceAttr::get(source.getContext(), AddressSpace::Register);
  return MemRefType::get(element, space, AnyLayout(*fragment));
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

InferredType fly::inferSize(InferLocation loc, Type source) {
  return inferWith(loc, "SizeOp", source.getContext(),
                   [&](AlgebraContext &cx) { return evaluate::size(cx, valueOf(source)); });
}

static InferredType inferOfOutermost(InferLocation loc, StringRef opName, Type layoutLike,
                                     IntTuple (*compute)(AlgebraContext &, const Layout &)) {
  return inferWith(loc, opName, layoutLike.getContext(), [&](AlgebraContext &cx) {
    return compute(cx, getAnyLayout(layoutLike)->outermost());
  });
}

InferredType fly::inferCoprofile(InferLocation loc, Type layoutLike) {
  return inferOfOutermost(loc, "CoprofileOp", layoutLike, coprofile);
}
InferredType fly::inferCoshape(InferLocation loc, Type layoutLike) {
  return inferOfOutermost(loc, "CoshapeOp", layoutLike, coshape);
}
InferredType fly::inferCosize(InferLocation loc, Type layoutLike) {
  return inferOfOutermost(loc, "CosizeOp", layoutLike, cosize);
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

InferredType fly::inferCrd2Idx(InferLocation loc, Type coord, Type layout) {
  return inferWith(loc, "Crd2IdxOp", coord.getContext(), [&](AlgebraContext &cx) {
    return evaluate::crd2idx(cx, tupleOf(coord), valueOf(layout));
  });
}

static InferredType inferCoordinate(InferLocation loc, StringRef opName, Type index, Type layout,
                                    IntTuple (*compute)(AlgebraContext &, const IntTuple &,
                                                        const Layout &)) {
  return inferWith(loc, opName, index.getContext(), [&](AlgebraContext &cx) {
    return compute(cx, tupleOf(index), plainOf(layout));
  });
}

InferredType fly::inferIdx2Crd(InferLocation loc, Type index, Type layout) {
  return inferCoordinate(loc, "Idx2CrdOp", index, layout, idx2crd);
}
InferredType fly::inferGetFlatCoord(InferLocation loc, Type index, Type layout) {
  return inferCoordinate(loc, "GetFlatCoordOp", index, layout, flatCoord);
}
InferredType fly::inferGet1DCoord(InferLocation loc, Type index, Type layout) {
  return inferCoordinate(loc, "Get1DCoordOp", index, layout, linearCoord);
}
