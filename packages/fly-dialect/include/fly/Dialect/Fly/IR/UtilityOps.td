// SPDX-License-Identifier: Apache-2.0
//
// Printing and what else belongs nowhere.

#ifndef FLY_DIALECT_FLY_IR_UTILITYOPS_TD
#define FLY_DIALECT_FLY_IR_UTILITYOPS_TD

include "fly/Dialect/Fly/IR/FlyOpBase.td"

def Fly_PrintOp : Fly_Op<"print", [Fly_AnyEffect]> {
  let summary = "prints values when it runs";
  let arguments = (ins StrAttr:$format, Variadic<AnyType>:$values);
}

def Fly_AssumeOp : Fly_FoldableOp<"assume"> {
  let summary = "a value of which more is known than its type says";
  let description = [{
    `src`, of which everything that the result's type says is taken on trust. `dst` has that type, and its value is not
    used. Integer tuples are lowered, if the types differ in divisibility and staticness only; for other types there is
    no lowering.
  }];
  let arguments = (ins AnyType:$dst, AnyType:$src);
  let results = (outs AnyType:$result);
}

def Fly_ExtractAlignedPointerAsIndexOp : Fly_Op<"extract_aligned_pointer_as_index", [Pure]> {
  let summary = "the bare pointer of a tensor; deprecated";
  let arguments = (ins Fly_MemRefType:$source);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

#endif // FLY_DIALECT_FLY_IR_UTILITYOPS_TD
