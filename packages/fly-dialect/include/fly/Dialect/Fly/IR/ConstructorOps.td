// SPDX-License-Identifier: Apache-2.0
//
// Ops that make tuples, layouts and tensors.

#ifndef FLY_DIALECT_FLY_IR_CONSTRUCTOROPS_TD
#define FLY_DIALECT_FLY_IR_CONSTRUCTOROPS_TD

include "fly/Dialect/Fly/IR/FlyOpBase.td"

def Fly_StaticOp : Fly_Op<"static", [Pure]> {
  let summary = "materialises a value that its type describes completely";
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

// One operand per dynamic leaf of the declared result type, in depth-first order.
class Fly_MakeTupleOp<string mnemonic, string text> : Fly_FoldableOp<mnemonic> {
  let summary = text;
  let arguments = (ins Variadic<Fly_Integer32Or64>:$dynamicLeaves);
  let results = (outs Fly_IntTupleType:$result);
}
def Fly_MakeIntTupleOp
    : Fly_MakeTupleOp<"make_int_tuple", "makes an integer tuple from its dynamic leaves">;
def Fly_MakeShapeOp : Fly_MakeTupleOp<"make_shape", "make_int_tuple, for a shape">;
def Fly_MakeStrideOp : Fly_MakeTupleOp<"make_stride", "make_int_tuple, for a stride">;
def Fly_MakeCoordOp : Fly_MakeTupleOp<"make_coord", "make_int_tuple, for a coordinate">;

def Fly_MakeLayoutOp : Fly_AlgebraOp<"make_layout",
    "inferMakeLayout(location, adaptor.getShape().getType(), adaptor.getStride().getType())"> {
  let summary = "shape:stride";
  let arguments = (ins Fly_IntTupleType:$shape, Fly_IntTupleType:$stride);
  let results = (outs Fly_LayoutType:$result);
}

def Fly_MakeLayoutLikeOp : Fly_UnaryAlgebraOp<"make_layout_like", "inferMakeLayoutLike",
    Fly_LayoutType, Fly_LayoutType> {
  let summary = "the same shape with compact strides in the order of the source's strides";
}

def Fly_MakeOrderedLayoutOp : Fly_AlgebraOp<"make_ordered_layout",
    "inferMakeOrderedLayout(location, adaptor.getShape().getType(), adaptor.getOrder().getType())"> {
  let summary = "a compact layout whose strides follow an order";
  let arguments = (ins Fly_IntTupleType:$shape, Fly_IntTupleType:$order);
  let results = (outs Fly_LayoutType:$result);
}

def Fly_MakeComposedLayoutOp : Fly_AlgebraOp<"make_composed_layout",
    "inferMakeComposedLayout(location, adaptor.getInner().getType(), adaptor.getOffset().getType(), "
    "adaptor.getOuter().getType())"> {
  let summary = "inner o offset o outer";
  let arguments = (ins Fly_InnerMap:$inner, Fly_IntTupleType:$offset, Fly_NarrowLayout:$outer);
  let results = (outs Fly_ComposedLayoutType:$result);
}

def Fly_MakeIdentityLayoutOp : Fly_UnaryAlgebraOp<"make_identity_layout",
    "inferMakeIdentityLayout", Fly_IntTupleType, Fly_LayoutType> {
  let summary = "the layout that maps each coordinate to itself, by basis strides";
}

def Fly_MakeViewOp : Fly_AlgebraOp<"make_view",
    "inferMakeView(location, adaptor.getIter().getType(), adaptor.getLayout().getType())"> {
  let summary = "a tensor from an iterator and a layout";
  let arguments = (ins Fly_Iterator:$iter, Fly_NarrowLayout:$layout);
  let results = (outs Fly_Tensor:$result);
}

def Fly_MakeFragmentLayoutLikeOp : Fly_UnaryAlgebraOp<"make_fragment_layout_like",
    "inferMakeFragmentLayoutLike", AnyTypeOf<[Fly_LayoutType, Fly_MemRefType], "layout or memref">,
    Fly_LayoutType> {
  let summary = "the register layout of a tensor: one atom's values contiguous";
}

def Fly_MakeFragmentLikeOp : Fly_AlgebraOp<"make_fragment_like",
    "inferMakeFragmentLike(location, adaptor.getSource().getType(), adaptor.getDtypeAttr())"> {
  let summary = "a register tensor with the fragment layout of a tensor";
  let arguments = (ins AnyTypeOf<[Fly_LayoutType, Fly_MemRefType, Fly_CoordTensorType],
                                 "layout, memref or coord_tensor">:$source,
                       OptionalAttr<TypeAttr>:$dtype);
  let results = (outs Fly_MemRefType:$result);
  let assemblyFormat = [{
    `(` $source (`,` $dtype^)? `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // FLY_DIALECT_FLY_IR_CONSTRUCTOROPS_TD
