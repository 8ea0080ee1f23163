// SPDX-License-Identifier: Apache-2.0
//
// Which memory the process has mapped, as the kernel tells.
#ifndef FLYDSL_CSRC_HOST_MAPPINGS_H
#define FLYDSL_CSRC_HOST_MAPPINGS_H

#include <cstdint>
#include <optional>
#include <vector>

namespace flydsl::runtime {

// Neighbouring pages of equal rights.
struct HostMapping {
  uint64_t low;
  uint64_t high;
  bool writable;
};

// The readable mappings of this moment, in ascending order.
std::vector<HostMapping> host_mappings();

// The one that holds the address.
std::optional<HostMapping> mapping_of(const std::vector<HostMapping> &mappings, uint64_t address);

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_HOST_MAPPINGS_H
