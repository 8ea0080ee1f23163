// SPDX-License-Identifier: Apache-2.0
#include "TranslationRewrites.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

void fly::adoptLoopAnnotations(Operation *gpuModule) {
  gpuModule->walk([](Operation *op) {
    auto annotation = op->getAttrOfType<LLVM::LoopAnnotationAttr>("llvm.loop_annotation");
    if (!annotation)
      return;
    if (auto branch = dyn_cast<LLVM::BrOp>(op); branch && !branch.getLoopAnnotationAttr())
      branch.setLoopAnnotationAttr(annotation);
    else if (auto branch = dyn_cast<LLVM::CondBrOp>(op); branch && !branch.getLoopAnnotationAttr())
      branch.setLoopAnnotationAttr(annotation);
  });
}

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
