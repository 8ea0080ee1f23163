// SPDX-License-Identifier: Apache-2.0
//
// `#rocdl.target` as a GPU compilation target. Upstream's implementation runs
// $ROCM_PATH/llvm/bin/ld.lld and links ROCm's device bitcode; this one needs neither.
#include "fly/Emit/CodeObject.h"
#include "fly/Emit/Registration.h"

#include "mlir/Dialect/GPU/IR/CompilationInterfaces.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Target/LLVM/ROCDL/Utils.h"

using namespace mlir;
using namespace fly;

namespace {

EmitFormat formatFor(gpu::CompilationTarget target) {
  switch (target) {
  case gpu::CompilationTarget::Offload:
    return EmitFormat::Bitcode;
  case gpu::CompilationTarget::Assembly:
    return EmitFormat::Assembly;
  case gpu::CompilationTarget::Binary:
  case gpu::CompilationTarget::Fatbin:
    return EmitFormat::CodeObject;
  }
  llvm_unreachable("unknown compilation target");
}

/// How serializeToObject hands a kernel's occupancy to createObject, which sees the module and the
/// bytes only.
constexpr StringLiteral occupancyAttrName = "fly.occupancy";

/// The table that `#gpu.object` holds: the kernels' signatures, what the code object's metadata
/// note says, and `occupancy` in waves per SIMD.
gpu::KernelTableAttr kernelTable(Operation *module, const SmallVector<char, 0> &object) {
  gpu::KernelTableAttr table = ROCDL::getKernelMetadata(module, object);
  if (!table)
    return table;
  SmallVector<gpu::KernelMetadataAttr> kernels;
  for (gpu::KernelMetadataAttr kernel : table) {
    Operation *function = SymbolTable::lookupSymbolIn(module, kernel.getName());
    Attribute occupancy = function ? function->removeAttr(occupancyAttrName) : Attribute();
    kernels.push_back(occupancy ? kernel.appendMetadata({NamedAttribute("occupancy", occupancy)})
                                : kernel);
  }
  return gpu::KernelTableAttr::get(module->getContext(), kernels, /*isSorted=*/true);
}

struct ROCDLTargetModel : gpu::TargetAttrInterface::FallbackModel<ROCDLTargetModel> {
  std::optional<SmallVector<char, 0>>
  serializeToObject(Attribute attribute, Operation *module,
                    const gpu::TargetOptions &targetOptions) const {
    auto target = cast<ROCDL::ROCDLTargetAttr>(attribute);
    if (!targetOptions.getLibrariesToLink().empty()) {
      module->emitError("bitcode libraries are named by the target, not by the pass");
      return std::nullopt;
    }
    CodeObjectOptions options = optionsFromTarget(target);
    options.format = formatFor(targetOptions.getCompilationTarget());
    options.wantIsa = static_cast<bool>(targetOptions.getISACallback());
    FailureOr<CodeObject> object = emitCodeObject(module, options);
    if (failed(object))
      return std::nullopt;
    if (auto callback = targetOptions.getISACallback())
      callback(options.format == EmitFormat::Assembly
                   ? StringRef(object->bytes.data(), object->bytes.size())
                   : StringRef(object->isa));
    for (const std::string &warning : object->warnings)
      module->emitWarning(warning);
    // The code object says everything else about its kernels itself.
    Builder builder(module->getContext());
    for (const KernelResources &kernel : object->kernels)
      if (Operation *function = SymbolTable::lookupSymbolIn(module, kernel.name))
        function->setAttr(occupancyAttrName, builder.getI32IntegerAttr(kernel.occupancy));
    return std::move(object->bytes);
  }

  Attribute createObject(Attribute attribute, Operation *module, const SmallVector<char, 0> &object,
                         const gpu::TargetOptions &options) const {
    gpu::CompilationTarget format = options.getCompilationTarget();
    gpu::KernelTableAttr kernels;
    if (formatFor(format) == EmitFormat::CodeObject) {
      // A code object for one architecture; it becomes "fat" by standing beside others in the
      // gpu.binary.
      format = gpu::CompilationTarget::Binary;
      kernels = kernelTable(module, object);
    }
    Builder builder(attribute.getContext());
    return builder.getAttr<gpu::ObjectAttr>(
        attribute, format, builder.getStringAttr(StringRef(object.data(), object.size())),
        /*properties=*/DictionaryAttr(), kernels);
  }
};

} // namespace

void fly::registerROCDLTargetModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ROCDL::ROCDLDialect *) {
    ROCDL::ROCDLTargetAttr::attachInterface<ROCDLTargetModel>(*context);
  });
}
