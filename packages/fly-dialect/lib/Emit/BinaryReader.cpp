// SPDX-License-Identifier: Apache-2.0
#include "fly/Emit/BinaryReader.h"
#include "KernelResources.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace fly;

FailureOr<std::vector<EmbeddedCodeObject>> fly::readCodeObjects(ModuleOp module) {
  std::vector<EmbeddedCodeObject> result;
  for (auto binary : module.getOps<gpu::BinaryOp>()) {
    for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>()) {
      auto target = dyn_cast<ROCDL::ROCDLTargetAttr>(object.getTarget());
      auto nvidia = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget());
      const bool isBinary = object.getFormat() == gpu::CompilationTarget::Binary;
      const bool isText = object.getFormat() == gpu::CompilationTarget::Assembly;
      const bool isCode = (target && isBinary) || (nvidia && (isBinary || isText));
      if (!isCode || !object.getKernels())
        return binary.emitError(
            "expected machine code for #rocdl.target, or that or PTX for #nvvm.target");
      EmbeddedCodeObject &embedded = result.emplace_back();
      embedded.arch = (target ? target.getChip() : nvidia.getChip()).str();
      embedded.bytes = object.getObject().getValue().str();
      for (gpu::KernelMetadataAttr kernel : object.getKernels())
        embedded.kernels.push_back(
            resourcesFromMetadata(kernel.getName().getValue(), kernel.getMetadata()));
    }
  }
  return result;
}
