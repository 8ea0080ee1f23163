// SPDX-License-Identifier: Apache-2.0
#include "ImmediateOperands.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

void fly::foldDynamicImmediates(Operation *gpuModule) {
  gpuModule->walk([](ROCDL::RawPtrBufferLoadLdsOp load) {
    if (matchPattern(load.getOffset(), m_Constant()))
      return;
    OpBuilder builder(load);
    Location loc = load.getLoc();
    Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
    Value sum = LLVM::AddOp::create(builder, loc, load.getVoffset(), load.getOffset());
    load.getVoffsetMutable().assign(sum);
    load.getOffsetMutable().assign(zero);
  });
}
