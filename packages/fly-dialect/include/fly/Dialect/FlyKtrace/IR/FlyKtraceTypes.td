// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLYKTRACE_IR_FLYKTRACETYPES_TD
#define FLY_DIALECT_FLYKTRACE_IR_FLYKTRACETYPES_TD

include "fly/Dialect/FlyKtrace/IR/FlyKtraceDialect.td"
include "mlir/IR/AttrTypeBase.td"

def FlyKtrace_TokenType : TypeDef<FlyKtrace_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "token of a range";
  let description = "Names the start of a range, so that its stop can be matched with it.";
}

#endif // FLY_DIALECT_FLYKTRACE_IR_FLYKTRACETYPES_TD
