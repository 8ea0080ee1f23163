// SPDX-License-Identifier: Apache-2.0
//
// Conversions out of the fly dialects.

#ifndef FLY_CONVERSION_PASSES_TD
#define FLY_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertFlyToROCDLPass : Pass<"convert-fly-to-rocdl"> {
  let summary = "Lower pointers, atoms and atom calls to the LLVM and ROCDL dialects";
  let description = [{
    Expects what fly-layout-lowering leaves: pointer ops, views, atoms and atom calls. Pointers become LLVM pointers
    (buffer pointers a resource and an element offset), atoms their run-time state, and atom calls memory accesses and
    ROCDL intrinsics. Function signatures and launches are converted along.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::ROCDL::ROCDLDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ConvertROCDLFastmathOpsPass : Pass<"convert-rocdl-fastmath-ops"> {
  let summary = "Use the hardware's approximations where fast math allows them";
  let description = [{
    `math.exp2` with `afn` on f32, or on vectors of it, becomes `rocdl.exp2` per lane. Without this pass it becomes
    `llvm.intr.exp2`, which spends four more instructions on denormals.
  }];
  let dependentDialects = ["::mlir::ROCDL::ROCDLDialect", "::mlir::vector::VectorDialect"];
}

#endif // FLY_CONVERSION_PASSES_TD
