// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLYKTRACE_IR_FLYKTRACEINTERFACES_TD
#define FLY_DIALECT_FLYKTRACE_IR_FLYKTRACEINTERFACES_TD

include "mlir/IR/OpBase.td"

def FlyKtrace_EventOpInterface : OpInterface<"EventOpInterface"> {
  let cppNamespace = "::fly::ktrace";
  let description = "An op that records an event.";
  let methods = [
    InterfaceMethod<"The event's name; null where it is that of another event.",
                    "::mlir::StringAttr", "getEventLabel">,
    InterfaceMethod<"What the event says about its name.", "::fly::ktrace::EventKind",
                    "getEventKind">,
    InterfaceMethod<"64 bits that are recorded along; null if there are none.",
                    "::mlir::TypedValue<::mlir::IntegerType>", "getPayload">,
    InterfaceMethod<"How the payload's bits are read.", "::llvm::StringRef", "getPayloadType">,
  ];
}

#endif // FLY_DIALECT_FLYKTRACE_IR_FLYKTRACEINTERFACES_TD
