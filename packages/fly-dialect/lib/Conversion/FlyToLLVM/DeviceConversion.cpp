// SPDX-License-Identifier: Apache-2.0
#include "DeviceConversion.h"
#include "AtomState.h"
#include "Patterns.h"
#include "TypeConverter.h"
#include "fly/Dialect/Fly/IR/FlyDialect.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Iterators.h"

using namespace mlir;

namespace fly::lowering {

CopyResult DeviceConversion::lowerCopy(OpBuilder &, Type, const CopyCall &) const {
  return failure();
}

bool DeviceConversion::fillsWithZeros(Type) const { return false; }

FailureOr<Value> DeviceConversion::lowerMma(OpBuilder &, Type, const MmaCall &) const {
  return failure();
}

bool DeviceConversion::takesAuxiliaryOperands(Type) const { return false; }

Value DeviceConversion::defaultState(OpBuilder &builder, Location loc, Type operation) const {
  return zeroState(builder, loc, operation);
}

bool DeviceConversion::keepsStateBits(Type) const { return false; }

std::optional<StringRef> DeviceConversion::getSyncScope(StringRef scope) const { return scope; }

unsigned DeviceConversion::getLoadAlignment(fly::MemRefType) const { return 0; }

Value DeviceConversion::keepOldValue(OpBuilder &, Location, Value old) const { return old; }

/// gpu-to-llvm takes a launch's stream from its async dependency and forgets its async object, so
/// the one becomes the other.
static void keepStream(gpu::LaunchFuncOp launch) {
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

LogicalResult convertToLLVM(Operation *op, const DeviceConversion &device, ConversionTarget &target,
                            llvm::function_ref<void(TypeConverter &, RewritePatternSet &)> extend) {
  MLIRContext *context = op->getContext();
  DeviceTypeConverter converter(device);
  target.addLegalDialect<arith::ArithDialect, func::FuncDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                         scf::SCFDialect, vector::VectorDialect>();
  target.addIllegalDialect<FlyDialect>();
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
  extend(converter, patterns);
  ConversionConfig config;
  // What this conversion takes is what it has patterns for, not what folds.
  config.foldingMode = DialectConversionFoldingMode::Never;
  if (failed(applyPartialConversion(op, target, std::move(patterns), config)))
    return failure();

  op->walk([](gpu::LaunchFuncOp launch) { keepStream(launch); });

  // Coordinate tensors have no representation; those that only atom calls read are unused now.
  WalkResult unused = op->walk<WalkOrder::PostOrder, ReverseIterator>([](MakeViewOp view) {
    if (!view.use_empty()) {
      view.emitError("failed to legalize operation 'fly.make_view' that was explicitly marked "
                     "illegal");
      return WalkResult::interrupt();
    }
    view.erase();
    return WalkResult::advance();
  });
  return failure(unused.wasInterrupted());
}

} // namespace fly::lowering
