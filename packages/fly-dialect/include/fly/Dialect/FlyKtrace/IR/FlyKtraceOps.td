// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLYKTRACE_IR_FLYKTRACEOPS_TD
#define FLY_DIALECT_FLYKTRACE_IR_FLYKTRACEOPS_TD

include "fly/Dialect/FlyKtrace/IR/FlyKtraceInterfaces.td"
include "fly/Dialect/FlyKtrace/IR/FlyKtraceTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// An op that records an event. It reads and writes, so that no event is moved, merged or dropped.
class FlyKtrace_EventOp<string mnemonic, string kind, dag what>
    : Op<FlyKtrace_Dialect, mnemonic,
         [DeclareOpInterfaceMethods<FlyKtrace_EventOpInterface, ["getEventLabel", "getEventKind"]>,
          MemoryEffects<[MemRead, MemWrite]>]> {
  // Which strings name a type of payload is known to the lowering.
  let arguments = !con(what, (ins Optional<I64>:$payload,
                                  DefaultValuedStrAttr<StrAttr, "uint64">:$payload_type));
  code kindDefinition = "::fly::ktrace::EventKind $cppClass::getEventKind() { "
                        "return ::fly::ktrace::EventKind::" # kind # "; }\n";
}

// An event with a name of its own.
class FlyKtrace_NamedEventOp<string mnemonic, string kind, dag what = (ins)>
    : FlyKtrace_EventOp<mnemonic, kind, !con(what, (ins StrAttr:$event_name))> {
  let hasVerifier = 1;
  let extraClassDefinition = kindDefinition # [{
    ::mlir::StringAttr $cppClass::getEventLabel() { return getEventNameAttr(); }
    ::llvm::LogicalResult $cppClass::verify() { return ::fly::ktrace::verifyEventName(*this); }
  }];
}

defvar FlyKtrace_Payload = "(`payload` $payload^ `:` type($payload))?";

def FlyKtrace_MarkOp : FlyKtrace_NamedEventOp<"mark", "Mark"> {
  let summary = "record a moment";
  let assemblyFormat = !strconcat("$event_name ", FlyKtrace_Payload, " attr-dict");
}

def FlyKtrace_RangePushOp : FlyKtrace_NamedEventOp<"range_push", "Push"> {
  let summary = "open a range inside the ranges that are open";
  let assemblyFormat = !strconcat("$event_name ", FlyKtrace_Payload, " attr-dict");
}

def FlyKtrace_RangePopOp : FlyKtrace_EventOp<"range_pop", "Pop", (ins)> {
  let summary = "close the range that was opened last";
  let extraClassDefinition
      = kindDefinition # "::mlir::StringAttr $cppClass::getEventLabel() { return {}; }";
  let assemblyFormat = !strconcat(FlyKtrace_Payload, " attr-dict");
}

def FlyKtrace_RangeStartOp : FlyKtrace_NamedEventOp<"range_start", "Start"> {
  let summary = "start a range that may overlap others";
  let results = (outs FlyKtrace_TokenType:$token);
  let assemblyFormat
      = !strconcat("$event_name ", FlyKtrace_Payload, " attr-dict `->` qualified(type($token))");
}

def FlyKtrace_RangeStopOp
    : FlyKtrace_NamedEventOp<"range_stop", "Stop", (ins FlyKtrace_TokenType:$token)> {
  let summary = "stop the range that the token names, or nothing if it is inactive";
  let assemblyFormat = !strconcat("$token `,` $event_name ", FlyKtrace_Payload,
                                   " attr-dict `:` qualified(type($token))");
}

def FlyKtrace_InactiveTokenOp : Op<FlyKtrace_Dialect, "inactive_token", [Pure]> {
  let summary = "a token of no range";
  let results = (outs FlyKtrace_TokenType:$token);
  let assemblyFormat = "attr-dict `->` qualified(type($token))";
}

#endif // FLY_DIALECT_FLYKTRACE_IR_FLYKTRACEOPS_TD
