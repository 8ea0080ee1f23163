// SPDX-License-Identifier: Apache-2.0
//
// Ops that take tuples, layouts and tensors apart.

#ifndef FLY_DIALECT_FLY_IR_EXTRACTOROPS_TD
#define FLY_DIALECT_FLY_IR_EXTRACTOROPS_TD

include "fly/Dialect/Fly/IR/FlyOpBase.td"

def Fly_GetScalarOp
    : Fly_UnaryAlgebraOp<"get_scalar", "inferGetScalar", Fly_IntTupleType, AnySignlessInteger> {
  let summary = "the integer of a tuple with a single leaf";
}

def Fly_GetLeavesOp : Fly_InferredOp<"get_leaves",
    "inferGetLeaves(location, adaptor.getSource().getType(), "
    # "adaptor.getDynamicOnlyAttr() && adaptor.getDynamicOnly())", [Pure]> {
  let summary = "all leaves, or all dynamic ones, depth first";
  let arguments = (ins Fly_IntTupleType:$source, DefaultValuedAttr<BoolAttr, "false">:$dynamicOnly);
  let results = (outs Variadic<Fly_Integer32Or64>:$leaves);
  let hasFolder = 1;
}

def Fly_GetShapeOp
    : Fly_UnaryAlgebraOp<"get_shape", "inferGetShape", Fly_LayoutLike, Fly_IntTupleType> {
  let summary = "the shape; of a composed layout, that of its outermost plain layout";
}

def Fly_GetStrideOp
    : Fly_UnaryAlgebraOp<"get_stride", "inferGetStride", Fly_LayoutLike, Fly_IntTupleType> {
  let summary = "the stride of a plain layout";
}

def Fly_GetLayoutOp : Fly_UnaryAlgebraOp<"get_layout", "inferGetLayout", AnyType, Fly_NarrowLayout> {
  let summary = "the layout of a tensor";
}

def Fly_GetIterOp : Fly_UnaryAlgebraOp<"get_iter", "inferGetIter", AnyType, Fly_Iterator> {
  let summary = "the iterator of a tensor: its pointer or base coordinate";
}

def Fly_ComposedGetInnerOp : Fly_UnaryAlgebraOp<"composed_get_inner", "inferComposedGetInner",
    Fly_ComposedLayoutType, Fly_InnerMap> {
  let summary = "the inner map of a composed layout";
}

def Fly_ComposedGetOffsetOp : Fly_UnaryAlgebraOp<"composed_get_offset", "inferComposedGetOffset",
    Fly_ComposedLayoutType, Fly_IntTupleType> {
  let summary = "the offset of a composed layout";
}

def Fly_ComposedGetOuterOp : Fly_UnaryAlgebraOp<"composed_get_outer", "inferComposedGetOuter",
    Fly_ComposedLayoutType, Fly_NarrowLayout> {
  let summary = "the outer layout of a composed layout";
}

#endif // FLY_DIALECT_FLY_IR_EXTRACTOROPS_TD
