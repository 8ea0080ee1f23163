// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLYROCDL_IR_FLYROCDLOPS_TD
#define FLY_DIALECT_FLYROCDL_IR_FLYROCDLOPS_TD

include "fly/Dialect/Fly/IR/FlyOpBase.td"
include "fly/Dialect/FlyROCDL/IR/FlyROCDLAttributes.td"
include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.td"
include "fly/Dialect/FlyROCDL/IR/TensorOps.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"

class FlyROCDL_Op<string mnemonic, list<Trait> traits = []>
    : Op<FlyROCDL_Dialect, mnemonic, traits>;

def FlyROCDL_GetBufferRsrcOp : FlyROCDL_Op<"get_buffer_rsrc", [Pure, InferTypeOpAdaptor]> {
  let summary = "the buffer resource of a pointer";
  // The operand's class is checked by inference, whose message existing tests expect.
  let arguments = (ins AnyType:$source);
  let results = (outs LLVM_AnyPointer:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
}

#endif // FLY_DIALECT_FLYROCDL_IR_FLYROCDLOPS_TD
