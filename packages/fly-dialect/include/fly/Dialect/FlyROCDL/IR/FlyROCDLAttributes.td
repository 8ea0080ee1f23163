// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLYROCDL_IR_FLYROCDLATTRIBUTES_TD
#define FLY_DIALECT_FLYROCDL_IR_FLYROCDLATTRIBUTES_TD

include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.td"
include "mlir/IR/AttrTypeBase.td"

def FlyROCDL_BufferDescAttr : AttrDef<FlyROCDL_Dialect, "BufferDesc"> {
  let mnemonic = "buffer_desc";
  let summary = "address space of pointers that are a buffer resource and an offset in elements";
}

#endif // FLY_DIALECT_FLYROCDL_IR_FLYROCDLATTRIBUTES_TD
