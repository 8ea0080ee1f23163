// SPDX-License-Identifier: Apache-2.0
#include "fly/Emit/BinaryReader.h"
#include "KernelResources.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace fly;

FailureOr<std::vector<EmbeddedCodeObject>> fly::readCodeObjects(ModuleOp module) {
  std::vector<EmbeddedCodeObject> result;
  for (auto binary : module.getOps<gpu::BinaryOp>()) {
    for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>()) {
      auto target = dyn_cast<ROCDL::ROCDLTargetAttr>(object.getTarget());
      if (!target || object.getFormat() != gpu::CompilationTarget::Binary || !object.getKernels())
        return binary.emitError("expected linked code objects for #rocdl.target");
      EmbeddedCodeObject &embedded = result.emplace_back();
      embedded.arch = target.getChip().str();
      embedded.bytes = object.getObject().getValue().str();
      for (gpu::KernelMetadataAttr kernel : object.getKernels())
        embedded.kernels.push_back(
            resourcesFromMetadata(kernel.getName().getValue(), kernel.getMetadata()));
    }
  }
  return result;
}
