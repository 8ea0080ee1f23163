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

def FlyMathToLLVMPass : Pass<"fly-math-to-llvm"> {
  let summary = "Lower math functions without a device library";
  let description = [{
    Runs before convert-gpu-to-rocdl, which would turn them into calls of ROCm's device library. 16-bit floats are
    computed in f32; hyperbolic functions, powers and the like are expanded, inverse trigonometric functions, erf, sin
    and cos approximated by polynomials; what is left becomes LLVM intrinsics. A transcendental function of f64 is an
    error: the backend has none.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def FlyExpandArithPass : Pass<"fly-expand-arith"> {
  let summary = "Expand floating-point arithmetic that the later lowering lacks";
  let description = [{
    Conversions from and to floats of 8 bits and less become instructions where the chip has them for the encoding, and
    integer arithmetic elsewhere; both round to nearest even. What overflows becomes infinity where the encoding has
    one, NaN where it has that, and the largest number in fp6 and fp4, which have neither. `arith.remf` becomes C's
    fmod, exactly. Runs on device code while it has structured control flow.
  }];
  let options = [Option<"chip", "chip", "std::string", [{"gfx942"}], "the target's architecture">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif // FLY_CONVERSION_PASSES_TD
