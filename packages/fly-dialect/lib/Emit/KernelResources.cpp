// SPDX-License-Identifier: Apache-2.0
#include "KernelResources.h"

#include "mlir/IR/Builders.h"
#include "mlir/Target/LLVM/ROCDL/Utils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fly;

KernelResources fly::resourcesFromMetadata(StringRef name, DictionaryAttr metadata) {
  // A code object without AGPRs, say, does not have the entry: that is a 0.
  auto number = [&](StringRef key) -> uint32_t {
    auto value = metadata ? metadata.getAs<IntegerAttr>(key) : IntegerAttr();
    return value ? static_cast<uint32_t>(value.getValue().getZExtValue()) : 0;
  };
  KernelResources kernel;
  kernel.name = name.str();
  kernel.vgpr = number("vgpr_count");
  kernel.agpr = number("agpr_count");
  kernel.sgpr = number("sgpr_count");
  kernel.ldsBytes = number("group_segment_fixed_size");
  kernel.scratchBytes = number("private_segment_fixed_size");
  kernel.vgprSpills = number("vgpr_spill_count");
  kernel.sgprSpills = number("sgpr_spill_count");
  kernel.occupancy = number("occupancy");
  kernel.waveSize = number("wavefront_size");
  kernel.maxWorkgroupSize = number("max_flat_workgroup_size");
  return kernel;
}

LogicalResult fly::readKernelResources(Operation *op, ArrayRef<char> codeObject,
                                       const llvm::StringMap<uint32_t> &occupancy,
                                       std::vector<KernelResources> &kernels) {
  Builder builder(op->getContext());
  auto table = ROCDL::getAMDHSAKernelsELFMetadata(builder, codeObject);
  if (!table)
    return op->emitError("the code object has no readable AMDGPU metadata note");
  for (const auto &[name, metadata] : *table) {
    kernels.push_back(
        resourcesFromMetadata(name.getValue(), metadata.getDictionary(op->getContext())));
    kernels.back().occupancy = occupancy.lookup(name.getValue());
  }
  llvm::sort(kernels,
             [](const KernelResources &a, const KernelResources &b) { return a.name < b.name; });
  return success();
}
