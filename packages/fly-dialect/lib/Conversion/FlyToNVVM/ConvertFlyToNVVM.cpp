// SPDX-License-Identifier: Apache-2.0
#include "NVVMDevice.h"
#include "fly/Conversion/Passes.h"
#include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.h"
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace fly {
#define GEN_PASS_DEF_CONVERTFLYTONVVMPASS
#include "fly/Conversion/Passes.h.inc"
} // namespace fly

using namespace mlir;
using namespace fly;
using namespace fly::nvvm;

namespace {

struct ConvertFlyToNVVMPass : fly::impl::ConvertFlyToNVVMPassBase<ConvertFlyToNVVMPass> {
  using ConvertFlyToNVVMPassBase::ConvertFlyToNVVMPassBase;

  void runOnOperation() override {
    if (failed(refuseForeign(getOperation(), chip)))
      return signalPassFailure();
    mergeVectorSlices(getOperation());
    ConversionTarget target(getContext());
    target.addLegalDialect<NVVM::NVVMDialect>();
    auto extend = [&](TypeConverter &converter, RewritePatternSet &patterns) {
      // gpu.shuffle belongs to a legal dialect.
      target.addIllegalOp<gpu::ShuffleOp>();
      // Kernels keep it until their parameters are what they are passed as.
      target.addIllegalDialect<FlyNVVMDialect>();
      target.addLegalOp<TensorMapAddressOp>();
      populateShufflePatterns(converter, patterns);
      populateWGMMAPatterns(converter, patterns);
      populateTensorMapPatterns(converter, patterns);
      populateTensorCopyPatterns(converter, patterns);
    };
    if (failed(lowering::convertToLLVM(getOperation(), NVVMDevice(), target, extend)))
      signalPassFailure();
  }
};

} // namespace
