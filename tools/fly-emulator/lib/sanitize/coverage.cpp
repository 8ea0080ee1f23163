// SPDX-License-Identifier: Apache-2.0
#include "sanitize/coverage.h"

#include "device/architecture.h"
#include "sanitize/report.h"

namespace flyemu {
namespace {

/// Nobody looks at it.
constexpr unsigned kNever = 0;

constexpr struct {
  const char *what;
  unsigned sanitizer;
} kItems[] = {
    {"accesses outside of memory, LDS and tensors", sanitizer::kMemory},
    {"races of waves in LDS and global memory", sanitizer::kRace},
    {"release and acquire between workgroups", sanitizer::kRace},
    {"registers, LDS and device memory never written", sanitizer::kInit},
    {"missing waits", sanitizer::kWait},
    {"barriers in divergent code", sanitizer::kBarrier},
    {"reads of LDS on their way at a barrier before loads straight into it", sanitizer::kLint},
    {"release between devices, and to the host", kNever},
    {"hazards across calls", kNever},
    {"instruction caches after stores", kNever},
};

} // namespace

std::string coverageText(unsigned sanitizers, const std::string &arch) {
  std::string checked;
  std::string rest;
  const auto add = [&](const std::string &what, unsigned sanitizer) {
    std::string &list = (sanitizers & sanitizer) != 0 ? checked : rest;
    list += (list.empty() ? "" : "; ") + what;
  };
  for (const auto &item : kItems)
    add(item.what, item.sanitizer);
  const Architecture *architecture = findArchitecture(arch);
  const bool rdna = architecture != nullptr && architecture->generation >= 10;
  add("the scalar cache after stores", rdna ? kNever : sanitizer::kRace);
  add("hazards of " + arch, sanitizer::kHazard);
  if (rdna)
    add("the caches of the two halves of a workgroup processor", kNever);
  return "checked: " + (checked.empty() ? "nothing" : checked) + "\nnot checked: " + rest;
}

} // namespace flyemu
