// SPDX-License-Identifier: Apache-2.0
#include "AtomCalls.h"
#include "Patterns.h"
#include "TypeConverter.h"
#include "fly/Conversion/Passes.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Iterators.h"

namespace fly {
#define GEN_PASS_DEF_CONVERTFLYTOROCDLPASS
#include "fly/Conversion/Passes.h.inc"
} // namespace fly

using namespace mlir;
using namespace fly;
using namespace fly::rocdl;

namespace {

/// gpu-to-llvm takes a launch's stream from its async dependency and forgets its async object, so
/// the one becomes the other.
void keepStream(gpu::LaunchFuncOp launch) {
  Value stream = launch.getAsyncObject();
  if (!stream || !launch.getAsyncDependencies().empty())
    return;
  OpBuilder builder(launch);
  Location loc = launch.getLoc();
  auto tokenType = gpu::AsyncTokenType::get(launch.getContext());
  Value token = UnrealizedConversionCastOp::create(builder, loc, tokenType, stream).getResult(0);
  std::optional<gpu::KernelDim3> cluster;
  if (launch.hasClusterSize())
    cluster = launch.getClusterSizeOperandValues();
  auto async = gpu::LaunchFuncOp::create(
      builder, loc, launch.getKernel(), launch.getGridSizeOperandValues(),
      launch.getBlockSizeOperandValues(), launch.getDynamicSharedMemorySize(),
      launch.getKernelOperands(), tokenType, ValueRange{token}, cluster);
  async->setDiscardableAttrs(launch->getDiscardableAttrDictionary());
  launch.erase();
}

struct ConvertFlyToROCDLPass : fly::impl::ConvertFlyToROCDLPassBase<ConvertFlyToROCDLPass> {
  using ConvertFlyToROCDLPassBase::ConvertFlyToROCDLPassBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    if (exactAlignment)
      getOperation()->walk([&](Operation *op) {
        if (isa<CopyAtomCallOp, CopyAtomCallSSAOp, MmaAtomCallOp, MmaAtomCallSSAOp>(op))
          op->setDiscardableAttr(kExactAlignment, UnitAttr::get(context));
      });
    FlyToROCDLTypeConverter converter(context);
    ConversionTarget target(*context);
    target
        .addLegalDialect<arith::ArithDialect, func::FuncDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                         ROCDL::ROCDLDialect, scf::SCFDialect, vector::VectorDialect>();
    target.addIllegalDialect<FlyDialect, FlyROCDLDialect>();
    // Layouts are computed by now; what is left of them describes memrefs and offsets, and is dead
    // without those.
    target.addLegalOp<MakeIntTupleOp, MakeLayoutOp, MakeComposedLayoutOp>();
    target.addDynamicallyLegalOp<StaticOp>(
        [](StaticOp op) { return !getAtomOperation(op.getResult().getType()); });
    target.addDynamicallyLegalOp<MakeViewOp>(
        [](MakeViewOp op) { return isa<CoordTensorType>(op.getResult().getType()); });

    RewritePatternSet patterns(context);
    populatePointerPatterns(converter, patterns);
    populateAtomPatterns(converter, patterns);
    populateAtomCallPatterns(converter, patterns);
    populateSignaturePatterns(converter, target, patterns);
    ConversionConfig config;
    // What this pass takes is what it has patterns for, not what folds.
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns), config)))
      return signalPassFailure();

    getOperation()->walk([](gpu::LaunchFuncOp launch) { keepStream(launch); });

    // Coordinate tensors have no representation; those that only atom calls read are unused now.
    WalkResult unused =
        getOperation()->walk<WalkOrder::PostOrder, ReverseIterator>([](MakeViewOp op) {
          if (!op.use_empty()) {
            op.emitError("failed to legalize operation 'fly.make_view' that was explicitly marked "
                         "illegal");
            return WalkResult::interrupt();
          }
          op.erase();
          return WalkResult::advance();
        });
    if (unused.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
