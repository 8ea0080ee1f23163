// SPDX-License-Identifier: Apache-2.0
#include "host_mappings.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

namespace flydsl::runtime {

std::vector<HostMapping> host_mappings() {
  std::vector<HostMapping> mappings;
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) {
    HostMapping one{};
    char rights[5] = "";
    // "55d0c8a00000-55d0c8a21000 rw-p 00000000 00:00 0   [heap]"
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &one.low, &one.high, rights) !=
            3 ||
        rights[0] != 'r')
      continue;
    one.writable = rights[1] == 'w';
    // What advice has split (huge pages, for one) is one piece of memory all the same.
    if (!mappings.empty() && mappings.back().high == one.low &&
        mappings.back().writable == one.writable)
      mappings.back().high = one.high;
    else
      mappings.push_back(one);
  }
  return mappings;
}

std::optional<HostMapping> mapping_of(const std::vector<HostMapping> &mappings, uint64_t address) {
  const auto after =
      std::upper_bound(mappings.begin(), mappings.end(), address,
                       [](uint64_t one, const HostMapping &other) { return one < other.low; });
  if (after == mappings.begin() || address >= std::prev(after)->high)
    return std::nullopt;
  return *std::prev(after);
}

} // namespace flydsl::runtime
