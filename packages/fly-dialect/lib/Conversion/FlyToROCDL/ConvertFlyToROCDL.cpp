// SPDX-License-Identifier: Apache-2.0
#include "BufferPointers.h"
#include "ROCDLDevice.h"
#include "fly/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace fly {
#define GEN_PASS_DEF_CONVERTFLYTOROCDLPASS
#include "fly/Conversion/Passes.h.inc"
} // namespace fly

using namespace mlir;
using namespace fly;
using namespace fly::rocdl;

namespace {

struct ConvertFlyToROCDLPass : fly::impl::ConvertFlyToROCDLPassBase<ConvertFlyToROCDLPass> {
  using ConvertFlyToROCDLPassBase::ConvertFlyToROCDLPassBase;

  void runOnOperation() override {
    ConversionTarget target(getContext());
    target.addLegalDialect<ROCDL::ROCDLDialect>();
    target.addIllegalDialect<FlyROCDLDialect>();
    auto extend = [](TypeConverter &converter, RewritePatternSet &patterns) {
      populateBufferPointerPatterns(converter, patterns);
      populateTensorAtomPatterns(converter, patterns);
    };
    if (failed(convertToLLVM(getOperation(), ROCDLDevice(exactAlignment), target, extend)))
      signalPassFailure();
  }
};

} // namespace
