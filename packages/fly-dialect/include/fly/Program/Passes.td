// SPDX-License-Identifier: Apache-2.0
//
// Passes on a program as a whole, host functions and kernels: what it may do, what it does to its
// arguments, and what it says while it runs.

#ifndef FLY_PROGRAM_PASSES_TD
#define FLY_PROGRAM_PASSES_TD

include "mlir/Pass/PassBase.td"

def FlyCheckHostFunctionsPass : Pass<"fly-check-host-functions", "::mlir::func::FuncOp"> {
  let summary = "Refuse what only kernels can do in host functions";
  let description = [{
    A host function that reads or writes elements of device memory, or asks for its thread or workgroup, is an error at
    the first such op. Nothing is changed.
  }];
}

def FlyArgumentEffectsPass : Pass<"fly-argument-effects", "::mlir::ModuleOp"> {
  let summary = "Find out which tensors a program only reads, and which it writes";
  let description = [{
    Each parameter of a func.func is followed through launches and through the ops that make views of it. The attribute
    `fly.argument_effects` of the function says of each what happens to the memory behind it: "read", "write", or
    "may_write" when it goes where it cannot be followed, to an address as a number or a buffer resource. Runs on the
    program as it was traced.
  }];
  let dependentDialects = ["::fly::FlyDialect"];
}

def FlyMarkUninitialisedPass : Pass<"fly-mark-uninitialised"> {
  let summary = "Mark register memory that is read before it is written";
  let description = [{
    LLVM is free to take any register for such a value (a `ub.poison` vector), or to drop all that depends on it; then a
    fragment that nobody filled leaves no trace in the code object. Here the values come from a source that reads zero on
    hardware and that the emulator takes for "never written", so that its `init` sanitizer names the line that uses them.
    Runs on device code between the promotion of register memory and the lowering of vectors.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect"];
}

def FlyConvertMessagesToLLVMPass : Pass<"convert-fly-messages-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lower what programs print and assert to records for the runtime";
  let description = [{
    Runs after convert-fly-to-rocdl. Every `gpu.printf` of a kernel becomes a record in a buffer of fly-runtime's, every
    sequence of `vector.print` up to the end of its line in a host function a call of `flydsl_print`. Values are i32, i64,
    f32 and f64. Those with the unit attribute `fly.assertion` are failed assertions: the wave ends, and the call returns
    a status.

    The module's attribute `fly.messages` is written, the table of the messages: dictionaries of `kind` ("print",
    "assert", "host" or "host_assert"), `format`, `types` and, for "assert", `where`, a location. A record names a
    message by its number in this table, from 1.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::scf::SCFDialect"];
}

def FlyDefineHostFloatConversionsPass
    : Pass<"fly-define-host-float-conversions", "::mlir::ModuleOp"> {
  let summary = "Define the conversions of 16-bit floats that host code calls";
  let description = [{
    The code generator of a host without 16-bit floats calls functions of a compiler's runtime library, which artifacts
    do not link. A module whose func.funcs have f16 or bf16 values gets definitions of these. They round to nearest even,
    those from f64 once. Runs before the host functions are lowered.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}

def FlyPlainGlobalLocationsPass : Pass<"fly-plain-global-locations"> {
  let summary = "Take the callers out of the locations of globals";
  let description = [{
    The location of an llvm.mlir.global becomes that of the innermost call. Globals have no scope to be called in, and
    ensure-debug-info-scope-on-llvm-func ends the process on such locations.
  }];
}

#endif // FLY_PROGRAM_PASSES_TD
