// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on integer tuples.

#ifndef FLY_DIALECT_FLY_IR_TUPLEARITHMETICOPS_TD
#define FLY_DIALECT_FLY_IR_TUPLEARITHMETICOPS_TD

include "fly/Dialect/Fly/IR/FlyOpBase.td"

class Fly_TupleOp<string mnemonic, string inference, string text>
    : Fly_BinaryAlgebraOp<mnemonic, inference, Fly_IntTupleType, Fly_IntTupleType,
                          Fly_IntTupleType> {
  let summary = text;
}

def Fly_IntTupleAddOp : Fly_TupleOp<"int_tuple_add", "inferIntTupleAdd", "mode-wise sum">;
def Fly_IntTupleSubOp : Fly_TupleOp<"int_tuple_sub", "inferIntTupleSub", "mode-wise difference">;
def Fly_IntTupleMulOp : Fly_TupleOp<"int_tuple_mul", "inferIntTupleMul", "mode-wise product">;
def Fly_IntTupleDivOp
    : Fly_TupleOp<"int_tuple_div", "inferIntTupleDiv", "mode-wise quotient, truncating">;
def Fly_IntTupleModOp : Fly_TupleOp<"int_tuple_mod", "inferIntTupleMod", "mode-wise remainder">;
def Fly_IntTupleProductLikeOp : Fly_TupleOp<"int_tuple_product_like", "inferIntTupleProductLike",
    "products of the sub-tuples that stand at the leaves of a guide">;
def Fly_ShapeDivOp : Fly_TupleOp<"shape_div", "inferShapeDiv", "division of shapes, exact by mode">;
def Fly_CeilDivOp : Fly_TupleOp<"ceil_div", "inferCeilDiv", "division of shapes, rounding up">;

def Fly_IntTupleProductOp : Fly_UnaryAlgebraOp<"int_tuple_product", "inferIntTupleProduct",
    Fly_IntTupleType, Fly_IntTupleType> {
  let summary = "product of all leaves";
}

def Fly_IntTupleProductEachOp : Fly_UnaryAlgebraOp<"int_tuple_product_each",
    "inferIntTupleProductEach", Fly_IntTupleType, Fly_IntTupleType> {
  let summary = "one product per mode";
}

class Fly_TupleCompareOp<string mnemonic, string text> : Fly_FoldableOp<mnemonic> {
  let summary = text;
  let arguments = (ins Fly_IntTupleType:$lhs, Fly_IntTupleType:$rhs);
  let results = (outs I1:$result);
}
def Fly_ElemLessOp
    : Fly_TupleCompareOp<"elem_less", "whether every leaf is less than its partner (signed)">;
def Fly_EqualOp : Fly_TupleCompareOp<"equal", "structural equality">;

#endif // FLY_DIALECT_FLY_IR_TUPLEARITHMETICOPS_TD
