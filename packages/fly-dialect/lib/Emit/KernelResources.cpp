// SPDX-License-Identifier: Apache-2.0
#include "KernelResources.h"

#include "mlir/IR/Builders.h"
#include "mlir/Target/LLVM/ROCDL/Utils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fly;

/// The number under `key` of the `amdhsa.kernels` entry, 0 when the entry does not have it.
static uint32_t numberOf(const NamedAttrList &metadata, StringRef key) {
  auto number = dyn_cast_or_null<IntegerAttr>(metadata.get(key));
  return number ? static_cast<uint32_t>(number.getValue().getZExtValue()) : 0;
}

LogicalResult fly::readKernelResources(Operation *op, ArrayRef<char> codeObject,
                                             const llvm::StringMap<uint32_t> &occupancy,
                                             std::vector<KernelResources> &kernels) {
  Builder builder(op->getContext());
  auto table = ROCDL::getAMDHSAKernelsELFMetadata(builder, codeObject);
  if (!table)
    return op->emitError("the code object has no readable AMDGPU metadata note");
  for (const auto &[name, metadata] : *table) {
    KernelResources kernel;
    kernel.name = name.str();
    kernel.vgpr = numberOf(metadata, "vgpr_count");
    kernel.agpr = numberOf(metadata, "agpr_count");
    kernel.sgpr = numberOf(metadata, "sgpr_count");
    kernel.ldsBytes = numberOf(metadata, "group_segment_fixed_size");
    kernel.scratchBytes = numberOf(metadata, "private_segment_fixed_size");
    kernel.vgprSpills = numberOf(metadata, "vgpr_spill_count");
    kernel.sgprSpills = numberOf(metadata, "sgpr_spill_count");
    kernel.waveSize = numberOf(metadata, "wavefront_size");
    kernel.maxWorkgroupSize = numberOf(metadata, "max_flat_workgroup_size");
    kernel.occupancy = occupancy.lookup(kernel.name);
    kernels.push_back(std::move(kernel));
  }
  llvm::sort(kernels, [](const KernelResources &a, const KernelResources &b) {
    return a.name < b.name;
  });
  return success();
}
