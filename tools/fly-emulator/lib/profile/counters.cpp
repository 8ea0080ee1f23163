// SPDX-License-Identifier: Apache-2.0
#include "profile/counters.h"

#include <algorithm>
#include <vector>

#include "execute/matrix_shape.h"
#include "execute/memory_access.h"

namespace flyemu {
namespace {

/// The lanes of each phase of an LDS access. gfx950's were measured; gfx942's are assumed to be
/// consecutive lanes.
std::vector<uint64_t> phasesOf(uint32_t bytes, bool load, uint32_t banks) {
  const auto range = [](unsigned first, unsigned last) {
    uint64_t mask = 0;
    for (unsigned lane = first; lane <= last; ++lane)
      mask |= uint64_t{1} << lane;
    return mask;
  };
  const auto both = [](std::vector<uint64_t> half) {
    const size_t count = half.size();
    for (size_t i = 0; i < count; ++i)
      half.push_back(half[i] << 32);
    return half;
  };
  if (bytes == 16 && load && banks == 64)
    return both({range(0, 3) | range(12, 15) | range(20, 27),
                 range(4, 11) | range(16, 19) | range(28, 31)});
  if (bytes == 12 && load && banks == 64)
    return both({range(0, 3) | range(20, 23), range(4, 7) | range(16, 19),
                 range(8, 11) | range(28, 31), range(12, 15) | range(24, 27)});
  unsigned perPhase = 64;
  if (bytes == 8)
    perPhase = load && banks == 64 ? 32 : 16 * (banks / 32);
  else if (bytes > 8)
    perPhase = 8 * (banks / 32);
  else
    perPhase = banks;
  if (bytes == 8 && !load)
    perPhase = 16;
  std::vector<uint64_t> phases;
  for (unsigned lane = 0; lane < kLanes; lane += perPhase)
    phases.push_back(range(lane, std::min(kLanes, lane + perPhase) - 1));
  return phases;
}

} // namespace

void Counters::add(const Counters &other) {
  instructions += other.instructions;
  lanes += other.lanes;
  bytesLoaded += other.bytesLoaded;
  bytesStored += other.bytesStored;
  transactions += other.transactions;
  ldsBytes += other.ldsBytes;
  ldsAccesses += other.ldsAccesses;
  ldsConflictCycles += other.ldsConflictCycles;
  issueCycles += other.issueCycles;
}

uint64_t ldsConflicts(const uint64_t *address, uint64_t lanes, uint32_t bytes, bool load,
                      uint32_t banks) {
  uint64_t extra = 0;
  for (const uint64_t phase : phasesOf(bytes, load, banks)) {
    // Lanes that read the same dword share it.
    std::vector<uint64_t> dwords;
    forEachLane(lanes & phase, [&](unsigned lane) {
      for (uint64_t dword = address[lane] / 4; dword * 4 < address[lane] + bytes; ++dword)
        dwords.push_back(dword);
    });
    std::sort(dwords.begin(), dwords.end());
    dwords.erase(std::unique(dwords.begin(), dwords.end()), dwords.end());
    std::array<uint32_t, 64> perBank = {};
    uint32_t most = 0;
    for (const uint64_t dword : dwords)
      most = std::max(most, ++perBank[dword % banks]);
    extra += most > 1 ? most - 1 : 0;
  }
  return extra;
}

uint64_t memorySegments(const uint64_t *address, uint64_t lanes, uint32_t bytes) {
  std::vector<uint64_t> segments;
  forEachLane(lanes, [&](unsigned lane) {
    for (uint64_t s = address[lane] / 64; s * 64 < address[lane] + bytes; ++s)
      segments.push_back(s);
  });
  std::sort(segments.begin(), segments.end());
  return static_cast<uint64_t>(std::unique(segments.begin(), segments.end()) - segments.begin());
}

uint64_t issueCycles(const Instruction &inst) {
  switch (inst.opcode->cls) {
  case OpClass::Transcendental:
    return 16;
  case OpClass::VectorAlu: {
    const LaneRow *row = inst.opcode->lanes;
    return row != nullptr && row->dst == Type::F64 ? 8 : 4;
  }
  case OpClass::Matrix: {
    MatrixShape shape;
    if (!MatrixShape::parse(inst.opcode->name, shape))
      return 16;
    // FLOPs of a compute unit and cycle, as published for gfx942 (four matrix cores a unit).
    const unsigned bits = std::max(bitsOf(shape.a), bitsOf(shape.b));
    const uint64_t perCycle = shape.out == MatrixElement::F64  ? 256
                              : bits <= 8                      ? 4096
                              : bits == 16                     ? 2048
                              : shape.a == MatrixElement::Xf32 ? 1024
                                                               : 256;
    const uint64_t flops = uint64_t{2} * shape.m * shape.n * shape.k * shape.blocks;
    return std::max<uint64_t>(8, 4 * flops / perCycle / (shape.sparse ? 2 : 1));
  }
  default:
    return 4;
  }
}

} // namespace flyemu
