// SPDX-License-Identifier: Apache-2.0
//
// `#nvvm.target` as a GPU compilation target. Upstream's implementation looks for ptxas and
// libdevice of a CUDA toolkit; this one writes PTX and needs neither.
#include "fly/Emit/Ptx.h"

#include "mlir/Dialect/GPU/IR/CompilationInterfaces.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace fly;

namespace {

/// How serializeToObject hands a kernel's shared memory to createObject, which sees the module and
/// the bytes only.
constexpr StringLiteral sharedAttrName = "fly.shared_bytes";

gpu::KernelTableAttr kernelTable(Operation *module) {
  SmallVector<gpu::KernelMetadataAttr> kernels;
  Builder builder(module->getContext());
  module->walk([&](LLVM::LLVMFuncOp function) {
    if (!function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      return;
    Attribute bytes = function->removeAttr(sharedAttrName);
    if (!bytes)
      bytes = builder.getI32IntegerAttr(0);
    kernels.push_back(gpu::KernelMetadataAttr::get(
        cast<FunctionOpInterface>(function.getOperation()),
        builder.getDictionaryAttr(builder.getNamedAttr("group_segment_fixed_size", bytes))));
  });
  return gpu::KernelTableAttr::get(module->getContext(), kernels, /*isSorted=*/false);
}

struct NVVMTargetModel : gpu::TargetAttrInterface::FallbackModel<NVVMTargetModel> {
  std::optional<SmallVector<char, 0>>
  serializeToObject(Attribute attribute, Operation *module,
                    const gpu::TargetOptions &targetOptions) const {
    auto target = cast<NVVM::NVVMTargetAttr>(attribute);
    if (!targetOptions.getLibrariesToLink().empty() || target.getLink()) {
      module->emitError("there are no bitcode libraries for NVIDIA GPUs");
      return std::nullopt;
    }
    FailureOr<Ptx> ptx = emitPtx(module, optionsFromTarget(target));
    if (failed(ptx))
      return std::nullopt;
    if (auto callback = targetOptions.getISACallback())
      callback(ptx->text);
    for (const std::string &warning : ptx->warnings)
      module->emitWarning(warning);
    Builder builder(module->getContext());
    for (const PtxKernel &kernel : ptx->kernels)
      if (Operation *function = SymbolTable::lookupSymbolIn(module, kernel.name))
        function->setAttr(sharedAttrName, builder.getI32IntegerAttr(kernel.sharedBytes));
    return SmallVector<char, 0>(ptx->text.begin(), ptx->text.end());
  }

  Attribute createObject(Attribute attribute, Operation *module, const SmallVector<char, 0> &object,
                         const gpu::TargetOptions &) const {
    Builder builder(attribute.getContext());
    return builder.getAttr<gpu::ObjectAttr>(
        attribute, gpu::CompilationTarget::Assembly,
        builder.getStringAttr(StringRef(object.data(), object.size())),
        /*properties=*/DictionaryAttr(), kernelTable(module));
  }
};

} // namespace

void fly::registerNVVMTargetModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NVVM::NVVMDialect *) {
    NVVM::NVVMTargetAttr::attachInterface<NVVMTargetModel>(*context);
  });
}
