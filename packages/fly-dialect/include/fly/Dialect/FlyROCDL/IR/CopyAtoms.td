// SPDX-License-Identifier: Apache-2.0
//
// Copy operations.

#ifndef FLY_DIALECT_FLYROCDL_IR_COPYATOMS_TD
#define FLY_DIALECT_FLYROCDL_IR_COPYATOMS_TD

include "fly/Dialect/FlyROCDL/IR/AtomBase.td"

def FlyROCDL_CDNA3BufferCopyType
    : FlyROCDL_CopyAtom<"CDNA3BufferCopy", "cdna3.buffer_copy", [FlyROCDL_Stateful],
                        ["getStateMembers", "getOperandBits"]> {
  let summary = "a buffer load or store of some bits";
  let parameters = (ins "int32_t":$bits, DefaultValuedParameter<"int32_t", "0">:$cache);
  let assemblyFormat = "`<` $bits (`,` `cache` `=` $cache^)? `>`";
}

def FlyROCDL_CDNA3BufferCopyLDSType
    : FlyROCDL_CopyAtom<"CDNA3BufferCopyLDS", "cdna3.buffer_copy_lds", [FlyROCDL_Stateful],
                        ["getStateMembers", "getUnswizzledOperand"]> {
  let summary = "a buffer load that writes to LDS directly";
  let parameters = (ins "int32_t":$bits);
  let assemblyFormat = "`<` $bits `>`";
}

def FlyROCDL_CDNA3BufferAtomicType
    : FlyROCDL_CopyAtom<"CDNA3BufferAtomic", "cdna3.buffer_atomic", [FlyROCDL_Stateful],
                        ["getStateMembers"]> {
  let summary = "a buffer read-modify-write of a scalar or a small vector";
  let parameters = (ins EnumParameter<Fly_AtomicOp>:$op, "::mlir::Type":$valueType);
  let assemblyFormat = "`<` $op `,` $valueType `>`";
}

def FlyROCDL_CDNA4LdsReadTransType
    : FlyROCDL_CopyAtom<"CDNA4LdsReadTrans", "cdna4.lds_read_trans", [],
                        ["getUnswizzledOperand"]> {
  let summary = "a transposing read from LDS";
  let description = "`granularity` is the width of a transposed element in bits, `trans = 16b`.";
  let parameters = (ins "int32_t":$granularity, "int32_t":$bits);
  let hasCustomAssemblyFormat = 1;
}

def FlyROCDL_CDNA4BufferLoadAsyncLDSType
    : FlyROCDL_CopyAtom<"CDNA4BufferLoadAsyncLDS", "cdna4.buffer_load_async_lds",
                        [FlyROCDL_Stateful], ["getStateMembers", "getUnswizzledOperand"]> {
  let summary = "an asynchronous buffer load that writes to LDS";
  let parameters = (ins "int32_t":$bits);
  let assemblyFormat = "`<` $bits `>`";
}

def FlyROCDL_CDNA4GlobalLoadAsyncLDSType
    : FlyROCDL_CopyAtom<"CDNA4GlobalLoadAsyncLDS", "cdna4.global_load_async_lds", [],
                        ["getUnswizzledOperand"]> {
  let summary = "an asynchronous global load that writes to LDS";
  let parameters = (ins "int32_t":$bits);
  let assemblyFormat = "`<` $bits `>`";
}

#endif // FLY_DIALECT_FLYROCDL_IR_COPYATOMS_TD
