// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "execute/wave.h"

namespace flyemu {

/// What a load or store moves for each lane, read from its mnemonic's ending ("dwordx2",
/// "sbyte_d16_hi").
struct MemoryFormat {
  enum class Part : uint8_t {
    Whole,
    Low, ///< the low half of the register; the other stays
    High,
  };

  uint8_t bytes = 4;
  bool isSigned = false;
  Part part = Part::Whole;

  unsigned dwords() const { return (bytes + 3U) / 4U; }
  uint32_t pack() const {
    return bytes | (isSigned ? 0x100U : 0U) | static_cast<uint32_t>(part) << 16;
  }
  static MemoryFormat unpack(uint32_t parameter) {
    return {static_cast<uint8_t>(parameter), (parameter & 0x100U) != 0,
            static_cast<Part>(parameter >> 16)};
  }
  static MemoryFormat parse(const std::string &suffix);
};

/// Addresses of the lanes that take part in an access.
struct LaneAddresses {
  alignas(64) uint64_t address[kLanes];
  uint64_t lanes;
};

template <typename F> inline void forEachLane(uint64_t lanes, F &&body) {
  while (lanes != 0) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(lanes));
    lanes &= lanes - 1;
    body(lane);
  }
}

/// Throws a Fault unless all lanes' bytes lie in memory that the kernel may access. Every access to
/// global memory goes through here first.
void checkGlobal(Wave &wave, const LaneAddresses &where, uint32_t bytes, AccessKind kind);
/// Tells the observer about an access, once it is done; `stored`: LaneAccess::stored.
void observeGlobal(Wave &wave, const Instruction &inst, const LaneAddresses &where, uint32_t bytes,
                   AccessKind kind, const uint8_t *stored = nullptr);
/// The bytes of a scalar load that lie in memory, counted from its address; all of them where the
/// load is in bounds, and where it is an error. Compilers round scalar loads up to a power of two
/// where the address is aligned to that (three dwords to four, a byte to a dword): hardware cannot
/// fault there, since no page ends in between.
uint32_t readableScalar(Wave &wave, uint64_t address, uint32_t bytes);
/// checkGlobal and observeGlobal for one access of the whole wave (scalar memory).
void checkScalar(Wave &wave, const Instruction &inst, uint64_t address, uint32_t bytes,
                 AccessKind kind);

/// LDS addresses of all lanes. The sum of vector address and offset wraps at 32 bits: compilers do
/// use negative addresses with an offset that makes them positive.
void ldsAddresses(const Wave &wave, const Operand &address, uint32_t offset, LaneAddresses &out);

/// gfx1250: the LDS address, before the immediate offset, that compilers give a lane which shall
/// access nothing, so that they need not change EXEC. It is beyond any LDS on purpose.
constexpr uint32_t kNoLdsAddress = 0x7fffffff;
/// Does a lane address nothing by that?
inline bool isNoLdsAddress(const Wave &wave, uint64_t address) {
  constexpr uint32_t kMostOffset = 0xffff;
  return address - kNoLdsAddress <= kMostOffset && wave.launch->generation >= 13;
}

/// LDS bytes of one lane, or null where they are out of bounds (which reads zero and drops writes,
/// or throws a Fault when the launch asks for that, but for lanes that address nothing on purpose).
uint8_t *ldsBytes(Wave &wave, uint64_t offset, uint32_t bytes, int lane);
void observeLds(Wave &wave, const Instruction &inst, const LaneAddresses &where, uint32_t bytes,
                AccessKind kind);

void observeScratch(Wave &wave, const Instruction &inst, const LaneAddresses &where, uint32_t bytes,
                    AccessKind kind);

/// A lane's scratch bytes; a Fault outside of its allocation.
uint8_t *scratchBytes(Wave &wave, uint64_t offset, uint32_t bytes, unsigned lane);

/// Extend or insert loaded bytes into the register rows of one lane; `from` null reads zeros.
inline void storeToRegister(uint32_t *rows, unsigned lane, const uint8_t *from,
                            const MemoryFormat &format) {
  uint32_t words[4] = {};
  if (from != nullptr)
    std::memcpy(words, from, format.bytes);
  if (format.isSigned)
    words[0] = format.bytes == 1 ? static_cast<uint32_t>(int32_t{static_cast<int8_t>(words[0])})
                                 : static_cast<uint32_t>(int32_t{static_cast<int16_t>(words[0])});
  uint32_t &first = rows[lane];
  switch (format.part) {
  case MemoryFormat::Part::Whole:
    for (unsigned i = 0; i < format.dwords(); ++i)
      rows[i * kLanes + lane] = words[i];
    break;
  case MemoryFormat::Part::Low:
    first = (first & 0xffff0000U) | (words[0] & 0xffffU);
    break;
  case MemoryFormat::Part::High:
    first = (first & 0xffffU) | words[0] << 16;
    break;
  }
}
/// The bytes that a store moves out of one lane.
inline void loadFromRegister(const uint32_t *rows, unsigned lane, uint8_t *to,
                             const MemoryFormat &format) {
  uint32_t words[4];
  for (unsigned i = 0; i < format.dwords(); ++i)
    words[i] = rows[i * kLanes + lane];
  if (format.part == MemoryFormat::Part::High)
    words[0] >>= 16;
  std::memcpy(to, words, format.bytes);
}

/// What a global load moves, to its registers.
void loadGlobal(Wave &wave, const Instruction &inst, const MemoryFormat &format);

/// Check, observe and move what a load or store moves for all lanes of `where`.
void loadGlobalRows(Wave &wave, const Instruction &inst, const LaneAddresses &where,
                    const MemoryFormat &format);
void storeGlobalRows(Wave &wave, const Instruction &inst, const LaneAddresses &where,
                     const uint32_t *rows, const MemoryFormat &format);

/// Loads that go straight to LDS: lane i's dwords are stored at M0 + offset + i * size. `read(lane,
/// bytes)` fetches what one lane loads.
template <typename F>
void storeToLds(Wave &wave, const Instruction &inst, uint64_t lanes, const MemoryFormat &format,
                F &&read) {
  LaneAddresses where;
  where.lanes = lanes;
  const uint32_t slot = format.dwords() * 4;
  const uint64_t base =
      (wave.scalar[scalar::kM0] & 0x3ffffU) + static_cast<uint64_t>(int64_t{inst.modifiers.offset});
  forEachLane(lanes, [&](unsigned lane) {
    where.address[lane] = base + uint64_t{lane} * slot;
    uint8_t *to = ldsBytes(wave, where.address[lane], slot, static_cast<int>(lane));
    if (to == nullptr)
      return;
    uint8_t bytes[16] = {};
    uint32_t rows[4 * kLanes];
    read(lane, bytes);
    storeToRegister(rows, 0, bytes, format);
    for (unsigned i = 0; i < format.dwords(); ++i)
      std::memcpy(to + size_t{i} * 4, &rows[size_t{i} * kLanes], 4);
  });
  observeLds(wave, inst, where, slot, AccessKind::Store);
}

} // namespace flyemu
