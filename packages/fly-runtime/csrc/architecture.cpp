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

constexpr std::string_view kNvidia = "sm_";

bool is_nvidia(std::string_view architecture) {
  return architecture.substr(0, kNvidia.size()) == kNvidia;
}

// 90 of "sm_90a", with what follows the number in `suffix`.
int capability(std::string_view architecture, std::string_view &suffix) {
  int number = 0;
  size_t at = kNvidia.size();
  for (; at < architecture.size() && architecture[at] >= '0' && architecture[at] <= '9'; ++at)
    number = number * 10 + (architecture[at] - '0');
  suffix = architecture.substr(at);
  return number;
}

bool runs_on_nvidia(std::string_view codeObject, std::string_view device, bool portable) {
  if (codeObject == device)
    return true;
  std::string_view wanted, present;
  const int least = capability(codeObject, wanted), found = capability(device, present);
  if (!wanted.empty())
    return false;
  // Machine code without a suffix runs on chips of the same generation.
  return portable ? least <= found : least <= found && least / 10 == found / 10;
}

} // namespace

std::string_view processor(std::string_view architecture) {
  return architecture.substr(0, architecture.find(':'));
}

bool runs_on(std::string_view codeObject, std::string_view device, bool portable) {
  if (is_nvidia(codeObject) && is_nvidia(device))
    return runs_on_nvidia(codeObject, device, portable);
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
