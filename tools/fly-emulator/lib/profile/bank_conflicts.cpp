// SPDX-License-Identifier: Apache-2.0
#include "profile/bank_conflicts.h"

#include <algorithm>
#include <array>
#include <vector>

#include "execute/memory_access.h"

namespace flyemu {
namespace {

using Phases = std::vector<uint64_t>; ///< the lanes of each

uint64_t range(unsigned first, unsigned last) {
  uint64_t mask = 0;
  for (unsigned lane = first; lane <= last; ++lane)
    mask |= uint64_t{1} << lane;
  return mask;
}

Phases both(Phases half) {
  const size_t count = half.size();
  for (size_t i = 0; i < count; ++i)
    half.push_back(half[i] << 32);
  return half;
}

Phases consecutive(unsigned lanes) {
  Phases phases;
  for (unsigned lane = 0; lane < kLanes; lane += lanes)
    phases.push_back(range(lane, lane + lanes - 1));
  return phases;
}

/// What the banks deliver in one cycle, in whole lanes.
unsigned lanesOfPhase(uint32_t bytes, uint32_t banks) {
  unsigned lanes = kLanes;
  while (lanes > 1 && lanes * std::max(bytes, 4U) > banks * 4)
    lanes /= 2;
  return lanes;
}

/// Whose phases are known.
enum class Lds : uint8_t { Cdna3, Cdna4, Rdna, Gfx1250 };
constexpr size_t kLdsKinds = 4;

Lds ldsOf(const Architecture &architecture) {
  if (architecture.generation >= 10)
    return architecture.ldsBanks == 64 ? Lds::Gfx1250 : Lds::Rdna;
  return architecture.ldsBanks == 64 ? Lds::Cdna4 : Lds::Cdna3;
}

uint32_t banksOf(Lds lds) { return lds == Lds::Cdna4 || lds == Lds::Gfx1250 ? 64 : 32; }

Phases makePhases(Lds lds, uint32_t bytes, bool load) {
  if (bytes == 16 && load && lds == Lds::Cdna4)
    return both({range(0, 3) | range(12, 15) | range(20, 27),
                 range(4, 11) | range(16, 19) | range(28, 31)});
  if (load && ((bytes == 12 && lds == Lds::Cdna4) || (bytes == 16 && lds == Lds::Cdna3)))
    return both({range(0, 3) | range(20, 23), range(4, 7) | range(16, 19),
                 range(8, 11) | range(28, 31), range(12, 15) | range(24, 27)});
  if (bytes == 8 && !load && lds == Lds::Cdna4)
    return consecutive(16);
  return consecutive(lanesOfPhase(bytes, banksOf(lds)));
}

/// By bytes a lane (1 to 16), load or store. Made once.
const Phases &phasesOf(Lds lds, uint32_t bytes, bool load) {
  constexpr uint32_t kMost = 16;
  static const std::vector<Phases> table = [] {
    std::vector<Phases> all;
    for (size_t kind = 0; kind < kLdsKinds; ++kind)
      for (const bool l : {false, true})
        for (uint32_t n = 0; n <= kMost; ++n)
          all.push_back(makePhases(static_cast<Lds>(kind), n, l));
    return all;
  }();
  const size_t row = 2 * static_cast<size_t>(lds) + (load ? 1 : 0);
  return table[row * (kMost + 1) + std::min(bytes, kMost)];
}

/// Of 96-bit reads and 64-bit writes the measured conflicts fit 32 banks.
uint32_t banksOf(Lds lds, uint32_t bytes, bool load) {
  const bool half = (bytes == 12 && load) || (bytes == 8 && !load);
  return lds == Lds::Cdna4 && half ? 32 : banksOf(lds);
}

} // namespace

bool phasesAreKnown(const Architecture &architecture, uint32_t bytes, bool load) {
  switch (ldsOf(architecture)) {
  case Lds::Cdna3:
    return bytes == 16;
  case Lds::Cdna4:
    return load ? bytes == 16 || bytes == 12 || bytes == 8 : bytes == 8;
  case Lds::Rdna:
  case Lds::Gfx1250:
    break;
  }
  return false;
}

LdsCost ldsCost(const Architecture &architecture, const uint64_t *address, uint64_t lanes,
                uint32_t bytes, bool load) {
  constexpr unsigned kMostBanks = 64;
  LdsCost cost;
  const Lds lds = ldsOf(architecture);
  const uint32_t modulus = banksOf(lds, bytes, load);
  std::vector<uint64_t> dwords;
  for (const uint64_t phase : phasesOf(lds, bytes, load)) {
    ++cost.phases;
    // Lanes that touch the same dword share it.
    dwords.clear();
    forEachLane(lanes & phase, [&](unsigned lane) {
      for (uint64_t dword = address[lane] / 4; dword * 4 < address[lane] + bytes; ++dword)
        dwords.push_back(dword);
    });
    std::sort(dwords.begin(), dwords.end());
    dwords.erase(std::unique(dwords.begin(), dwords.end()), dwords.end());
    std::array<uint32_t, kMostBanks> perBank = {};
    uint32_t most = 1;
    for (const uint64_t dword : dwords)
      most = std::max(most, ++perBank[dword % modulus]);
    cost.conflicts += most - 1;
  }
  return cost;
}

uint64_t memorySegments(const uint64_t *address, uint64_t lanes, uint32_t bytes) {
  constexpr uint64_t kSegment = 64;
  std::vector<uint64_t> segments;
  forEachLane(lanes, [&](unsigned lane) {
    for (uint64_t s = address[lane] / kSegment; s * kSegment < address[lane] + bytes; ++s)
      if (segments.empty() || segments.back() != s)
        segments.push_back(s);
  });
  std::sort(segments.begin(), segments.end());
  return static_cast<uint64_t>(std::unique(segments.begin(), segments.end()) - segments.begin());
}

} // namespace flyemu
