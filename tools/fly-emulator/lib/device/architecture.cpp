// SPDX-License-Identifier: Apache-2.0
#include "device/architecture.h"

namespace flyemu {
namespace {

constexpr Architecture kArchitectures[] = {
    {"gfx942", "gfx9-4-generic", "AMD Instinct MI300X", 9, 64, 64 * 1024, 32, 512, 304,
     uint64_t{192} << 30, 2100000, 1300000, 8192, 4 << 20, false},
    {"gfx950", "gfx9-4-generic", "AMD Instinct MI355X", 9, 64, 160 * 1024, 64, 1280, 256,
     uint64_t{288} << 30, 2400000, 2000000, 8192, 4 << 20, true},
    {"gfx1100", "gfx11-generic", "AMD Radeon RX 7900 XTX", 11, 32, 64 * 1024, 32, 1024, 48,
     uint64_t{24} << 30, 2500000, 1250000, 384, 6 << 20, true},
    {"gfx1201", "gfx12-generic", "AMD Radeon RX 9070 XT", 12, 32, 64 * 1024, 32, 1024, 32,
     uint64_t{16} << 30, 2970000, 1258000, 256, 8 << 20, true},
    // No product is published: its size and its clocks are assumed to be gfx950's.
    {"gfx1250", "gfx12-5-generic", "AMD gfx1250", 13, 32, 320 * 1024, 64, 1024, 256,
     uint64_t{288} << 30, 2400000, 2000000, 8192, 4 << 20, true},
};

} // namespace

const Architecture *findArchitecture(const std::string &name) {
  for (const Architecture &architecture : kArchitectures)
    if (name == architecture.name)
      return &architecture;
  return nullptr;
}

std::string architectureNames() {
  std::string names;
  for (const Architecture &architecture : kArchitectures)
    names += (names.empty() ? "" : ", ") + std::string(architecture.name);
  return names;
}

bool runsCodeFor(const std::string &name, const std::string &target) {
  const Architecture *architecture = findArchitecture(name);
  return architecture != nullptr && (name == target || architecture->family == target);
}

} // namespace flyemu
