// SPDX-License-Identifier: Apache-2.0
//
// Math functions without a device library: LLVM intrinsics where the AMDGPU backend selects them,
// MLIR's expansions and approximations elsewhere.
#include "fly/Conversion/Passes.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fly {
#define GEN_PASS_DEF_FLYMATHTOLLVMPASS
#include "fly/Conversion/Passes.h.inc"
} // namespace fly

using namespace mlir;

namespace {

/// Functions that MLIR writes in terms of others; their results are as good as those.
constexpr StringRef expanded[] = {"sinh",   "cosh",  "tanh",  "asinh", "acosh",
                                  "atanh",  "tan",   "powf",  "fpowi", "ipowi",
                                  "clampf", "round", "rsqrt", "ctlz",  "ceildivsi"};

/// Functions that MLIR approximates by polynomials in f32. sin and cos are among them because the
/// hardware's instructions lose all accuracy for large arguments.
constexpr StringRef approximated[] = {"math.atan",  "math.atan2", "math.acos", "math.asin",
                                      "math.cbrt",  "math.cos",   "math.erf",  "math.erfc",
                                      "math.expm1", "math.log1p", "math.sin"};

/// What the backend selects for f64 too.
bool hasDoubleForm(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp, math::FmaOp,
             math::IsFiniteOp, math::IsInfOp, math::IsNaNOp, math::IsNormalOp, math::RoundEvenOp,
             math::RoundOp, math::SqrtOp, math::TruncOp, math::RsqrtOp, math::ClampFOp,
             math::IPowIOp>(op);
}

struct FlyMathToLLVMPass : fly::impl::FlyMathToLLVMPassBase<FlyMathToLLVMPass> {
  void runOnOperation() override {
    if (failed(refuseDouble()) || failed(widen()) || failed(expand()) || failed(convert()))
      signalPassFailure();
  }

private:
  /// There is no f64 version of the transcendental functions in the backend.
  LogicalResult refuseDouble() {
    WalkResult walked = getOperation()->walk([](Operation *op) {
      if (!isa<math::MathDialect>(op->getDialect()) || hasDoubleForm(op))
        return WalkResult::advance();
      if (llvm::none_of(op->getOperandTypes(),
                        [](Type type) { return getElementTypeOrSelf(type).isF64(); }))
        return WalkResult::advance();
      op->emitOpError("has no double-precision form on AMD GPUs; convert the operand to f32");
      return WalkResult::interrupt();
    });
    return failure(walked.wasInterrupted());
  }

  /// 16-bit floats are computed in f32 and rounded once.
  LogicalResult widen() {
    MLIRContext *context = &getContext();
    TypeConverter converter;
    SetVector<Type> kept;
    kept.insert(Float32Type::get(context));
    kept.insert(Float64Type::get(context));
    math::populateExtendToSupportedTypesTypeConverter(converter, kept, Float32Type::get(context));
    ConversionTarget target(*context);
    math::populateExtendToSupportedTypesConversionTarget(target, converter);
    RewritePatternSet patterns(context);
    math::populateExtendToSupportedTypesPatterns(patterns, converter);
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  LogicalResult expand() {
    RewritePatternSet patterns(&getContext());
    math::populateExpansionPatterns(patterns, expanded);
    populateMathPolynomialApproximationPatterns(
        patterns, [](StringRef name) { return llvm::is_contained(approximated, name); });
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    return applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }

  LogicalResult convert() {
    MLIRContext *context = &getContext();
    LLVMTypeConverter converter(context);
    ConversionTarget target(*context);
    target.addIllegalDialect<math::MathDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    RewritePatternSet patterns(context);
    populateMathToLLVMConversionPatterns(converter, patterns);
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }
};

} // namespace
