// SPDX-License-Identifier: Apache-2.0
//
// Ops that pick, order and nest modes.

#ifndef FLY_DIALECT_FLY_IR_MODEOPS_TD
#define FLY_DIALECT_FLY_IR_MODEOPS_TD

include "fly/Dialect/Fly/IR/FlyOpBase.td"

def Fly_GetOp : Fly_AlgebraOp<"get",
    "inferGet(location, adaptor.getSource().getType(), adaptor.getMode())"> {
  let summary = "the part at a mode path";
  let arguments = (ins Fly_IntTupleLike:$source, DenseI32ArrayAttr:$mode);
  let results = (outs Fly_IntTupleLike:$result);
}

class Fly_ModeRangeOp<string mnemonic, string inference> : Fly_AlgebraOp<mnemonic, inference #
    "(location, adaptor.getSource().getType(), adaptor.getBegin(), adaptor.getEnd())"> {
  let arguments = (ins Fly_IntTupleLike:$source, I32Attr:$begin, I32Attr:$end);
  let results = (outs Fly_IntTupleLike:$result);
}
def Fly_TakeOp : Fly_ModeRangeOp<"take", "inferTake"> {
  let summary = "the modes [begin, end); end = -1 is the rank";
}
def Fly_GroupOp : Fly_ModeRangeOp<"group", "inferGroup"> {
  let summary = "wraps the modes [begin, end) into one; end = -1 is the rank";
}

def Fly_SelectOp : Fly_AlgebraOp<"select",
    "inferSelect(location, adaptor.getSource().getType(), adaptor.getIndices())"> {
  let summary = "the listed modes, in that order";
  let arguments = (ins Fly_IntTupleLike:$source, DenseI32ArrayAttr:$indices);
  let results = (outs Fly_IntTupleLike:$result);
}

class Fly_ExtendOp<string mnemonic, string inference> : Fly_AlgebraOp<mnemonic, inference #
    "(location, adaptor.getTuple().getType(), adaptor.getElem().getType(), adaptor.getN())"> {
  let arguments = (ins Fly_TupleOrNarrowLayout:$tuple, Fly_TupleOrLayout:$elem,
                       OptionalAttr<I32Attr>:$n);
  let results = (outs Fly_TupleOrNarrowLayout:$result);
  let assemblyFormat = [{
    (`<` $n^ `>`)? ` ` `(` $tuple `,` $elem `)` attr-dict `:` functional-type(operands, results)
  }];
}
def Fly_AppendOp : Fly_ExtendOp<"append", "inferAppend"> {
  let summary = "adds a mode at the end; with n, until the rank is n";
}
def Fly_PrependOp : Fly_ExtendOp<"prepend", "inferPrepend"> {
  let summary = "adds a mode at the front; with n, until the rank is n";
}

def Fly_SliceOp : Fly_AlgebraOp<"slice",
    "inferSlice(location, adaptor.getSource().getType(), adaptor.getCoord().getType())"> {
  let summary = "keeps the parts where the coordinate is `*` and fixes the others";
  let arguments = (ins Fly_IntTupleLike:$source, Fly_IntTupleType:$coord);
  let results = (outs Fly_IntTupleLike:$result);
}

def Fly_DiceOp : Fly_AlgebraOp<"dice",
    "inferDice(location, adaptor.getSource().getType(), adaptor.getCoord().getType())"> {
  let summary = "keeps the parts where the coordinate is not `*`";
  let arguments = (ins Fly_IntTupleLike:$source, Fly_IntTupleType:$coord);
  let results = (outs Fly_TupleOrLayout:$result);
}

#endif // FLY_DIALECT_FLY_IR_MODEOPS_TD
