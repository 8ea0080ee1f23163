// SPDX-License-Identifier: Apache-2.0
#include "KernelTrace.h"
#include "SeparateBranches.h"
#include "fly/Conversion/Passes.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace fly {
#define GEN_PASS_DEF_CONVERTFLYKTRACETOROCDLPASS
#include "fly/Conversion/Passes.h.inc"
} // namespace fly

using namespace mlir;
using namespace fly;
using namespace fly::ktrace;

namespace {

/// Checks that `kernel`, which records events, can be traced.
LogicalResult checkKernel(gpu::GPUFuncOp kernel) {
  if (kernel.getNumArguments() == 0)
    return kernel.emitError("ktrace: the kernel records events, but has no arguments, and so no "
                            "trace buffer: its last must be a !fly.ptr to global memory");
  Type last = kernel.getArgumentTypes().back();
  auto pointer = dyn_cast<PointerType>(last);
  auto space = pointer ? dyn_cast<AddressSpaceAttr>(pointer.getAddressSpace()) : AddressSpaceAttr();
  if (!space || space.getValue() != AddressSpace::Global)
    return kernel.emitError("ktrace: the last argument of a kernel that records events must be "
                            "the trace buffer, a !fly.ptr to global memory; got ")
           << last;
  return success();
}

bool hasTokens(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return isa<TokenType>(type); });
}

/// Checks that tokens stay in the kernel, and that what passes them on takes values of any type.
LogicalResult checkTokens(gpu::GPUFuncOp kernel) {
  if (hasTokens(kernel.getArgumentTypes()))
    return kernel.emitError("ktrace: a kernel cannot take a token: no range crosses launches");
  return failure(
      kernel
          .walk([](Operation *op) {
            if (isa<EventOpInterface, InactiveTokenOp, RegionBranchOpInterface,
                    RegionBranchTerminatorOpInterface, BranchOpInterface, SelectLikeOpInterface>(
                    op))
              return WalkResult::advance();
            if (!hasTokens(op->getOperandTypes()) && !hasTokens(op->getResultTypes()))
              return WalkResult::advance();
            op->emitError("ktrace: a token can go through control flow, arith.select "
                          "and fly_ktrace.range_stop only");
            return WalkResult::interrupt();
          })
          .wasInterrupted());
}

/// What is left of tokens becomes the numbers of slots.
void retypeTokens(gpu::GPUFuncOp kernel) {
  auto number = IntegerType::get(kernel.getContext(), 32);
  auto retype = [&](auto values) {
    for (Value value : values)
      if (isa<TokenType>(value.getType()))
        value.setType(number);
  };
  kernel.walk([&](Operation *op) {
    retype(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        retype(block.getArguments());
  });
}

/// What was made through the C interface may lack even attributes that have a default.
StringRef payloadTypeOf(EventOpInterface event) {
  auto type = event->getAttrOfType<StringAttr>("payload_type");
  return type ? type.getValue() : "uint64";
}

/// Replaces an event by what records it.
void lowerEvent(KernelTrace &trace, EventOpInterface event, uint32_t tag) {
  ImplicitLocOpBuilder builder(event.getLoc(), event);
  if (auto stop = dyn_cast<RangeStopOp>(*event)) {
    trace.recordStop(builder, tag, event.getPayload(), stop.getToken());
  } else {
    Value slot = trace.recordEvent(builder, tag, event.getPayload());
    if (auto start = dyn_cast<RangeStartOp>(*event))
      start.getToken().replaceAllUsesWith(slot);
  }
  event.erase();
}

struct ConvertFlyKtraceToROCDLPass
    : fly::impl::ConvertFlyKtraceToROCDLPassBase<ConvertFlyKtraceToROCDLPass> {
  using ConvertFlyKtraceToROCDLPassBase::ConvertFlyKtraceToROCDLPassBase;

  void runOnOperation() override {
    SmallVector<gpu::GPUFuncOp> kernels;
    if (failed(findKernels(kernels)))
      return signalPassFailure();
    if (kernels.empty())
      return;
    ModuleOp module = getOperation();
    FailureOr<TraceOptions> options = readTraceOptions(module);
    FailureOr<EventNames> names = EventNames::of(module);
    if (failed(options) || failed(names))
      return signalPassFailure();
    for (gpu::GPUFuncOp kernel : kernels)
      if (failed(checkKernel(kernel)) || failed(checkTokens(kernel)) ||
          failed(lowerKernel(kernel, *options, *names)))
        return signalPassFailure();
    module->setDiscardableAttr("fly_ktrace.event_names", names->toAttribute(&getContext()));
  }

private:
  /// The kernels that record events, each in a module whose chip can.
  LogicalResult findKernels(SmallVectorImpl<gpu::GPUFuncOp> &kernels) {
    llvm::SmallPtrSet<Operation *, 4> checkedModules;
    WalkResult result = getOperation().walk<WalkOrder::PreOrder>([&](EventOpInterface event) {
      auto kernel = event->getParentOfType<gpu::GPUFuncOp>();
      if (!kernel || !kernel.isKernel()) {
        event.emitError("ktrace: only a kernel can record events, a gpu.func with the attribute "
                        "`kernel`; inline this function into it");
        return WalkResult::interrupt();
      }
      if (!kernels.empty() && kernels.back() == kernel)
        return WalkResult::advance();
      kernels.push_back(kernel);
      auto gpuModule = kernel->getParentOfType<gpu::GPUModuleOp>();
      if (checkedModules.insert(gpuModule).second && failed(checkChip(gpuModule, chip)))
        return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  static LogicalResult lowerKernel(gpu::GPUFuncOp kernel, const TraceOptions &options,
                                   EventNames &names) {
    SmallVector<std::pair<EventOpInterface, uint32_t>> events;
    WalkResult tagged = kernel.walk<WalkOrder::PreOrder>([&](EventOpInterface event) {
      std::optional<uint32_t> payloadType = payloadTypeCode(payloadTypeOf(event));
      if (!payloadType) {
        event.emitError("ktrace: unsupported payload_type ")
            << payloadTypeOf(event) << "; use uint64, int64, float32, float64 or bool";
        return WalkResult::interrupt();
      }
      std::optional<uint32_t> id = 0;
      if (StringAttr name = event.getEventLabel())
        id = names.idOf(name);
      if (!id) {
        event.emitError("ktrace: more than ") << maxEventId << " different names of events";
        return WalkResult::interrupt();
      }
      events.emplace_back(
          event, makeTag(event.getPayload() != nullptr, *payloadType, event.getEventKind(), *id));
      return WalkResult::advance();
    });
    if (tagged.wasInterrupted())
      return failure();

    separateBranches(kernel);
    SmallVector<Operation *> joins;
    kernel.getBody().walk([&](RegionBranchOpInterface op) {
      if (containsEvents(op))
        joins.push_back(op);
    });

    KernelTrace trace(kernel, options);
    for (auto [event, tag] : events)
      lowerEvent(trace, event, tag);
    for (Operation *op : joins) {
      ImplicitLocOpBuilder builder(op->getLoc(), op->getContext());
      builder.setInsertionPointAfter(op);
      trace.joinCounts(builder);
    }
    kernel.walk([&](InactiveTokenOp op) {
      OpBuilder builder(op);
      op.getToken().replaceAllUsesWith(
          arith::ConstantOp::create(builder, op.getLoc(), builder.getI32IntegerAttr(0)));
      op.erase();
    });
    retypeTokens(kernel);
    kernel.walk([&](gpu::ReturnOp op) {
      ImplicitLocOpBuilder builder(op.getLoc(), op);
      trace.finish(builder);
    });
    return success();
  }
};

} // namespace
