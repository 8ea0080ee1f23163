// SPDX-License-Identifier: Apache-2.0
#include "architecture.h"

namespace flydsl::runtime {

namespace {

// Calls visit(feature) for each ":"-separated feature after the processor, as "xnack-".
template <typename Visit> void for_each_feature(std::string_view architecture, Visit visit) {
  size_t colon = architecture.find(':');
  while (colon != std::string_view::npos) {
    const size_t next = architecture.find(':', colon + 1);
    visit(architecture.substr(colon + 1, next == std::string_view::npos ? next : next - colon - 1));
    colon = next;
  }
}

std::string_view without_variant(std::string_view name) { return name.substr(0, name.find('-')); }

} // namespace

std::string_view processor(std::string_view architecture) {
  return architecture.substr(0, architecture.find(':'));
}

bool runs_on(std::string_view codeObject, std::string_view device) {
  if (without_variant(processor(codeObject)) != processor(device))
    return false;
  bool compatible = true;
  for_each_feature(codeObject, [&](std::string_view wanted) {
    for_each_feature(device, [&](std::string_view present) {
      const bool same =
          wanted.substr(0, wanted.size() - 1) == present.substr(0, present.size() - 1);
      if (same && wanted != present)
        compatible = false;
    });
  });
  return compatible;
}

} // namespace flydsl::runtime
