// SPDX-License-Identifier: Apache-2.0
//
// Layouts as functions: sizes and coordinates.

#ifndef FLY_DIALECT_FLY_IR_LAYOUTFUNCTIONOPS_TD
#define FLY_DIALECT_FLY_IR_LAYOUTFUNCTIONOPS_TD

include "fly/Dialect/Fly/IR/FlyOpBase.td"

def Fly_SizeOp : Fly_UnaryAlgebraOp<"size", "inferSize", Fly_IntTupleLike, Fly_IntTupleType> {
  let summary = "product of all (shape) leaves";
}
def Fly_CoprofileOp
    : Fly_UnaryAlgebraOp<"coprofile", "inferCoprofile", Fly_LayoutLike, Fly_IntTupleType> {
  let summary = "the profile of the co-domain, with 0 at each leaf";
}
def Fly_CoshapeOp
    : Fly_UnaryAlgebraOp<"coshape", "inferCoshape", Fly_LayoutLike, Fly_IntTupleType> {
  let summary = "the extents of the co-domain";
}
def Fly_CosizeOp : Fly_UnaryAlgebraOp<"cosize", "inferCosize", Fly_LayoutLike, Fly_IntTupleType> {
  let summary = "the size of the co-domain";
}

def Fly_Crd2IdxOp : Fly_AlgebraOp<"crd2idx",
    "inferCrd2Idx(location, adaptor.getCoord().getType(), adaptor.getLayout().getType())"> {
  let summary = "the index of a coordinate; a swizzle is applied to it";
  let arguments = (ins Fly_IntTupleType:$coord, Fly_InnerMap:$layout);
  let results = (outs Fly_IntTupleType:$result);
}

class Fly_CoordinateOp<string mnemonic, string inference, string text> : Fly_AlgebraOp<mnemonic,
    inference # "(location, adaptor.getIndex().getType(), adaptor.getLayout().getType())"> {
  let summary = text;
  let arguments = (ins Fly_IntTupleType:$index, Fly_LayoutType:$layout);
  let results = (outs Fly_IntTupleType:$result);
}
def Fly_Idx2CrdOp : Fly_CoordinateOp<"idx2crd", "inferIdx2Crd",
    "the coordinate of an index of a compact layout">;
def Fly_GetFlatCoordOp : Fly_CoordinateOp<"get_flat_coord", "inferGetFlatCoord",
    "the coordinate of an index, linearised within each mode">;
def Fly_Get1DCoordOp : Fly_CoordinateOp<"get_1d_coord", "inferGet1DCoord",
    "the coordinate of an index, linearised over the whole shape">;

#endif // FLY_DIALECT_FLY_IR_LAYOUTFUNCTIONOPS_TD
