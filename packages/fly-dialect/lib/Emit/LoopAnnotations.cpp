// SPDX-License-Identifier: Apache-2.0
#include "LoopAnnotations.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

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
