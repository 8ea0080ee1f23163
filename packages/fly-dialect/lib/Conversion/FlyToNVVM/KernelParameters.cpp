// SPDX-License-Identifier: Apache-2.0
//
// What a kernel's signature has to say that gpu.func cannot: tensor maps that stay where the launch
// put them, and the number of blocks that share a multiprocessor, without which the registers of a
// warpgroup cannot be changed.
#include "fly/Conversion/Passes.h"
#include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace fly {
#define GEN_PASS_DEF_FLYNVVMKERNELPARAMETERSPASS
#include "fly/Conversion/Passes.h.inc"
} // namespace fly

using namespace mlir;
using namespace fly;
using namespace fly::nvvm;

namespace {

constexpr int64_t mapBytes = 128, mapAlignment = 64;

bool isMapOfParameter(Operation *op) { return isa<TensorMapAddressOp>(op); }

/// Makes parameter `index` a pointer to the map in the parameters' memory.
void passInPlace(LLVM::LLVMFuncOp kernel, BlockArgument argument) {
  MLIRContext *context = kernel.getContext();
  const auto pointer = LLVM::LLVMPointerType::get(context);
  for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
    user->getResult(0).replaceAllUsesWith(argument);
    user->erase();
  }
  argument.setType(pointer);
  const unsigned index = argument.getArgNumber();
  Builder builder(context);
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), mapBytes);
  kernel.setArgAttr(index, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
  kernel.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                    builder.getI64IntegerAttr(mapAlignment));
  kernel.setArgAttr(index, NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
}

LogicalResult rewriteKernel(LLVM::LLVMFuncOp kernel) {
  SmallVector<BlockArgument> maps;
  for (BlockArgument argument : kernel.getArguments())
    if (!argument.use_empty() && llvm::all_of(argument.getUsers(), isMapOfParameter))
      maps.push_back(argument);
  for (BlockArgument argument : maps)
    passInPlace(kernel, argument);
  if (!maps.empty()) {
    LLVM::LLVMFunctionType old = kernel.getFunctionType();
    kernel.setFunctionType(LLVM::LLVMFunctionType::get(
        old.getReturnType(), SmallVector<Type>(kernel.getBody().getArgumentTypes()),
        old.isVarArg()));
  }

  Operation *change = nullptr;
  WalkResult walk = kernel.walk([&](Operation *op) {
    if (isMapOfParameter(op)) {
      op->emitError("a tensor map must be a parameter of the kernel as it is: it cannot be chosen, "
                    "carried by a loop or be part of another value");
      return WalkResult::interrupt();
    }
    if (isa<NVVM::SetMaxRegisterOp>(op))
      change = op;
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  if (!change)
    return success();
  if (!kernel->hasAttr(NVVM::NVVMDialect::getMaxntidAttrName()) &&
      !kernel->hasAttr(NVVM::NVVMDialect::getReqntidAttrName()))
    return change->emitError("the registers of a warpgroup can be changed in a kernel whose block "
                             "size is known when it is compiled: launch it with a constant block");
  if (!kernel->hasAttr(NVVM::NVVMDialect::getMinctasmAttrName()))
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    Builder(kernel.getContext()).getI32IntegerAttr(1));
  return success();
}

struct FlyNVVMKernelParametersPass
    : fly::impl::FlyNVVMKernelParametersPassBase<FlyNVVMKernelParametersPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) &&
          failed(rewriteKernel(function)))
        return signalPassFailure();
  }
};

} // namespace
