// SPDX-License-Identifier: Apache-2.0
#include "MessageTable.h"

#include "fly/Program/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

namespace fly {
#define GEN_PASS_DEF_FLYCONVERTMESSAGESTOLLVMPASS
#include "fly/Program/Passes.h.inc"
} // namespace fly

using namespace mlir;

namespace {

struct ConvertMessagesToLLVMPass
    : fly::impl::FlyConvertMessagesToLLVMPassBase<ConvertMessagesToLLVMPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    fly::MessageTable messages(&getContext());
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      LogicalResult lowered = success();
      if (auto device = dyn_cast<gpu::GPUModuleOp>(op))
        lowered = fly::lowerDeviceMessages(device, messages);
      else if (auto host = dyn_cast<func::FuncOp>(op))
        lowered = fly::lowerHostMessages(host, messages);
      if (failed(lowered))
        return signalPassFailure();
    }
    if (!messages.empty())
      module->setAttr(fly::messagesAttribute, messages.get());
  }
};

} // namespace
