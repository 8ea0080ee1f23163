// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "device/launch.h"

namespace flyemu {

size_t explicitKernargSize(const KernelMetadata &kernel) {
  size_t size = 0;
  for (const KernelArgument &argument : kernel.arguments)
    if (!argument.isHidden())
      size = std::max<size_t>(size, argument.offset + argument.size);
  return size;
}

std::vector<uint8_t> buildKernarg(const KernelMetadata &kernel, const LaunchGeometry &geometry,
                                  const LaunchState &state, const void *explicitBytes,
                                  size_t explicitSize) {
  std::vector<uint8_t> bytes(std::max<size_t>(kernel.kernargSize, explicitSize));
  if (explicitSize != 0)
    std::memcpy(bytes.data(), explicitBytes, explicitSize);
  const auto dimensions = [&] {
    const auto extent = [&](unsigned i) {
      return uint64_t{geometry.groups[i]} * geometry.groupSize[i];
    };
    return extent(2) > 1 ? 3U : (extent(1) > 1 ? 2U : 1U);
  };
  for (const KernelArgument &argument : kernel.arguments) {
    if (!argument.isHidden())
      continue;
    const std::string &kind = argument.valueKind;
    uint64_t value = 0;
    const unsigned axis = kind.empty() ? 0 : static_cast<unsigned>(kind.back() - 'x');
    if (kind.compare(0, 19, "hidden_block_count_") == 0 && axis < 3)
      value = geometry.groups[axis];
    else if (kind.compare(0, 18, "hidden_group_size_") == 0 && axis < 3)
      value = geometry.groupSize[axis];
    else if (kind == "hidden_grid_dims")
      value = dimensions();
    else if (kind == "hidden_private_base")
      value = state.privateBase >> 32;
    else if (kind == "hidden_shared_base")
      value = state.sharedBase >> 32;
    else if (kind == "hidden_dynamic_lds_size")
      value = geometry.dynamicLds;
    // All else (remainders, global offsets, host calls, heaps) is zero: launches are whole groups.
    std::memcpy(bytes.data() + argument.offset, &value, std::min<size_t>(argument.size, 8));
  }
  // The segment is aligned, and LLVM widens loads of the last arguments to what the alignment
  // allows.
  constexpr size_t kUnit = 64;
  bytes.resize((bytes.size() + kUnit - 1) / kUnit * kUnit);
  return bytes;
}

} // namespace flyemu
