// SPDX-License-Identifier: Apache-2.0
//
// gfx1250's tensor data mover: a wave asks for a box of a tensor of up to five dimensions to be
// copied from memory to LDS, or back, by a descriptor in scalar registers.
//
// The descriptor is the one that our dialect makes (docs/emulator/rdna.md has its words), from what
// LLVM and existing kernels show; AMD has published none. What lies beyond the tensor reads zero
// and is not written. The elements of the box follow each other in LDS, innermost dimension
// fastest, with padding after every so many dwords of a load; a store takes none off (that is what
// MLIR's amdgpu.make_dma_descriptor says, and why compilers give padded boxes of stores wider rows,
// which they cut off by the tensor's size). A load that workgroups of a cluster share
// brings the box to the one that asks, and to each of the others when that asks.
#include <algorithm>
#include <array>
#include <cstring>

#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "support/format.h"

namespace flyemu {
namespace {

constexpr unsigned kDims = 5;

/// A descriptor, taken apart. Dimensions are innermost first; dimension j + 1 has stride j.
struct Descriptor {
  bool enabled = false;
  bool gather = false;
  uint32_t lds = 0;
  uint64_t global = 0;
  uint32_t mask = 0; ///< workgroups of the cluster that ask for the same
  uint32_t elementBytes = 1;
  uint32_t padInterval = 0; ///< bytes; 0 for none
  uint32_t padBytes = 0;
  std::array<uint32_t, kDims> size = {};
  std::array<uint32_t, kDims> tile = {};
  std::array<uint64_t, kDims - 1> stride = {}; ///< elements
  std::array<uint32_t, 16> rows = {};          ///< of a gather
};

[[noreturn]] void refuse(const char *what) {
  throw Fault{std::string("a descriptor of the tensor data mover ") + what + " is not modelled"};
}

uint64_t word48(uint32_t low, uint32_t high) { return low | uint64_t{high & 0xffffU} << 32; }

void parseModes(uint32_t word, Descriptor &out) {
  out.mask = word & 0xffffU;
  out.elementBytes = 1U << (word >> 16 & 3U);
  if ((word >> 18 & 1U) != 0)
    refuse("that signals a barrier in LDS");
  if ((word >> 19 & 1U) != 0)
    refuse("with iterations");
  if ((word >> 20 & 1U) != 0) {
    out.padInterval = 4U << ((word >> 22 & 7U) + 1);
    out.padBytes = 4 * ((word >> 25) + 1);
  }
}

/// The registers of operand `index`, or null where the instruction leaves it out.
const uint32_t *groupOf(const Wave &wave, const Instruction &inst, unsigned index) {
  if (index >= inst.srcCount)
    return nullptr;
  const Operand &operand = inst.src[index];
  if (operand.kind == OperandKind::Constant) // the null register
    return nullptr;
  if (!operand.isScalarRegister())
    throw Fault{"a group of a tensor's descriptor is no scalar register"};
  return wave.scalar + operand.index;
}

Descriptor parse(const Wave &wave, const Instruction &inst) {
  const uint32_t *first = groupOf(wave, inst, 0);
  const uint32_t *second = groupOf(wave, inst, 1);
  if (first == nullptr || second == nullptr)
    throw Fault{"a tensor's descriptor lacks its first two groups"};
  Descriptor d;
  d.enabled = (first[0] & 1U) != 0;
  if (!d.enabled)
    return d;
  constexpr uint32_t kTensor = 2;
  if (first[3] >> 30 != kTensor)
    throw Fault{format("a descriptor of the tensor data mover has type %u in its address, not 2",
                       first[3] >> 30)};
  d.gather = first[0] >> 31 != 0;
  d.lds = first[1];
  d.global = first[2] | uint64_t{first[3] & 0x01ffffffU} << 32;
  parseModes(second[0], d);
  d.size[0] = second[1] >> 16 | second[2] << 16;
  d.size[1] = second[2] >> 16 | second[3] << 16;
  d.tile[0] = second[3] >> 16;
  d.tile[1] = second[4] & 0xffffU;
  d.tile[2] = second[4] >> 16;
  d.stride[0] = word48(second[5], second[6]);
  d.stride[1] = second[6] >> 16 | uint64_t{second[7]} << 16;
  const uint32_t *third = groupOf(wave, inst, 2);
  const uint32_t *fourth = groupOf(wave, inst, 3);
  if (d.gather) {
    const bool wide = (first[0] >> 30 & 1U) != 0;
    const unsigned most = wide ? 8 : 16;
    if (third == nullptr || fourth == nullptr)
      throw Fault{"a gather of rows without their numbers"};
    if (d.tile[1] > most)
      throw Fault{format("a gather of %u rows, of which a descriptor has %u", d.tile[1], most)};
    for (unsigned i = 0; i < most; ++i) {
      const unsigned word = wide ? i : i / 2;
      const uint32_t value = word < 4 ? third[word] : fourth[word - 4];
      d.rows[i] = wide ? value : value >> (16 * (i % 2)) & 0xffffU;
    }
    d.tile[2] = 0;
    return d;
  }
  if (third != nullptr) {
    d.size[2] = third[0];
    d.size[3] = third[1];
    d.stride[2] = word48(third[2], third[3]);
    d.tile[3] = third[3] >> 16;
  } else if (d.tile[2] != 0) {
    throw Fault{"a tensor's descriptor of two groups has a third dimension"};
  }
  if (fourth != nullptr) {
    d.stride[3] = word48(fourth[0], fourth[1]);
    d.size[4] = fourth[1] >> 16 | fourth[2] << 16;
    d.tile[4] = fourth[2] >> 16;
  }
  return d;
}

/// Shares of a copy for who watches: up to 16 bytes for each of up to 32 lanes, in memory and in
/// LDS.
class Pieces {
public:
  Pieces(Wave &wave, const Instruction &inst, bool load) : wave_(wave), inst_(inst), load_(load) {
    global_.lanes = lds_.lanes = 0;
  }

  /// Bytes that lie together in both; `inMemory`: not only the zeros of what lies beyond a tensor.
  void add(uint64_t global, uint64_t lds, uint64_t bytes, bool inMemory) {
    if (wave_.observer == nullptr)
      return;
    for (uint64_t at = 0; at < bytes;) {
      // No part is less aligned than whoever watches wants of an access of its width.
      const uint64_t either = (global + at) | (lds + at);
      const uint64_t most = either % 4 == 0 ? kMost : either % 2 == 0 ? 2 : 1;
      const auto part = static_cast<uint32_t>(std::min<uint64_t>(most, bytes - at));
      if (part != bytes_ || count_ == kWave)
        flush();
      bytes_ = part;
      global_.address[count_] = global + at;
      lds_.address[count_] = lds + at;
      const uint64_t bit = uint64_t{1} << count_++;
      lds_.lanes |= bit;
      global_.lanes |= inMemory ? bit : 0;
      at += part;
    }
  }
  /// Tell what is left. To be called at the end.
  void flush() {
    if (count_ == 0)
      return;
    if (load_) {
      observeGlobal(wave_, inst_, global_, bytes_, AccessKind::Load);
      observeLds(wave_, inst_, lds_, bytes_, AccessKind::Store);
    } else {
      observeLds(wave_, inst_, lds_, bytes_, AccessKind::Load);
      observeGlobal(wave_, inst_, global_, bytes_, AccessKind::Store);
    }
    global_.lanes = lds_.lanes = 0;
    count_ = 0;
  }

private:
  static constexpr uint32_t kMost = 16;
  static constexpr unsigned kWave = 32;

  Wave &wave_;
  const Instruction &inst_;
  const bool load_;
  LaneAddresses global_;
  LaneAddresses lds_;
  unsigned count_ = 0;
  uint32_t bytes_ = 0;
};

/// One run along the innermost dimension: elements of the box, of which the first `inside` lie in
/// the tensor.
struct Run {
  uint64_t global;
  uint32_t elements;
  uint32_t inside;
};

/// All runs of the box, outermost dimension slowest.
template <typename F> void forEachRun(const Descriptor &d, F &&body) {
  std::array<uint32_t, kDims> extent = {};
  for (unsigned i = 0; i < kDims; ++i)
    extent[i] = std::max(d.tile[i], 1U);
  std::array<uint32_t, kDims> at = {};
  for (at[4] = 0; at[4] < extent[4]; ++at[4])
    for (at[3] = 0; at[3] < extent[3]; ++at[3])
      for (at[2] = 0; at[2] < extent[2]; ++at[2])
        for (at[1] = 0; at[1] < extent[1]; ++at[1]) {
          const auto coordinate = [&](unsigned i) -> uint64_t {
            return d.gather && i == 1 ? d.rows[at[1]] : at[i];
          };
          uint64_t element = 0;
          bool inside = true;
          for (unsigned i = 1; i < kDims; ++i) {
            element += coordinate(i) * d.stride[i - 1];
            // A dimension that the box does not have has no size either.
            inside &= d.tile[i] == 0 || coordinate(i) < d.size[i];
          }
          body(Run{d.global + element * d.elementBytes, d.tile[0],
                   inside ? std::min(d.tile[0], d.size[0]) : 0});
        }
}

/// Bytes of the box before a byte of it, padding included.
uint64_t padded(const Descriptor &d, uint64_t byte) {
  return d.padInterval == 0 ? byte : byte + byte / d.padInterval * d.padBytes;
}

/// Bytes [begin, end) of the box in LDS, by parts that no padding interrupts: offset in the box,
/// LDS address and length.
template <typename F>
void forEachPart(const Descriptor &d, uint64_t begin, uint64_t end, F &&body) {
  while (begin < end) {
    const uint64_t until =
        d.padInterval == 0 ? end : std::min(end, (begin / d.padInterval + 1) * d.padInterval);
    body(begin, static_cast<uint32_t>(d.lds + padded(d, begin)),
         static_cast<uint32_t>(until - begin));
    begin = until;
  }
}

void requireBox(const Wave &wave, const Descriptor &d) {
  if (d.tile[0] == 0)
    throw Fault{"a tensor's descriptor moves a box without extent"};
  if (d.lds % 4 != 0 && d.padInterval != 0)
    throw Fault{"a padded box at an LDS address that is no multiple of 4"};
  const uint32_t rank = wave.group->cluster != nullptr ? wave.group->clusterRank : 0;
  if (d.mask != 0 && (d.mask >> rank & 1U) == 0)
    throw Fault{format("a box for workgroups of the cluster (mask 0x%x) that the one that asks is "
                       "not among (it is number %u) is not modelled",
                       d.mask, rank)};
}

void checkRun(Wave &wave, uint64_t address, uint64_t bytes, AccessKind kind) {
  // By one lane: what is wrong is of the wave.
  LaneAddresses where;
  where.lanes = 1;
  where.address[0] = address;
  checkGlobal(wave, where, static_cast<uint32_t>(bytes), kind);
}

void load(Wave &wave, const Instruction &inst) {
  const Descriptor d = parse(wave, inst);
  if (!d.enabled)
    return;
  requireBox(wave, d);
  uint64_t done = 0;
  Pieces pieces(wave, inst, true);
  forEachRun(d, [&](const Run &run) {
    const uint64_t whole = uint64_t{run.elements} * d.elementBytes;
    const uint64_t valid = uint64_t{run.inside} * d.elementBytes;
    if (valid != 0)
      checkRun(wave, run.global, valid, AccessKind::Load);
    forEachPart(d, done, done + whole, [&](uint64_t at, uint32_t lds, uint32_t bytes) {
      uint8_t *to = ldsBytes(wave, lds, bytes, -1);
      const uint64_t offset = at - done;
      const uint64_t copied = offset < valid ? std::min<uint64_t>(bytes, valid - offset) : 0;
      if (to != nullptr) {
        if (copied != 0)
          std::memcpy(to, reinterpret_cast<const uint8_t *>(run.global + offset), copied);
        std::memset(to + copied, 0, bytes - copied);
      }
      pieces.add(run.global + offset, lds, copied, true);
      pieces.add(run.global + offset + copied, lds + copied, bytes - copied, false);
    });
    done += whole;
  });
  pieces.flush();
}

void store(Wave &wave, const Instruction &inst) {
  Descriptor d = parse(wave, inst);
  if (!d.enabled)
    return;
  d.padInterval = d.padBytes = 0; // is for what goes into LDS
  if (d.mask != 0)
    refuse("of a store that names workgroups of a cluster");
  requireBox(wave, d);
  uint64_t done = 0;
  Pieces pieces(wave, inst, false);
  forEachRun(d, [&](const Run &run) {
    const uint64_t bytes = uint64_t{run.inside} * d.elementBytes;
    if (bytes != 0) {
      checkRun(wave, run.global, bytes, AccessKind::Store);
      const uint8_t *from = ldsBytes(wave, d.lds + done, static_cast<uint32_t>(bytes), -1);
      auto *to = reinterpret_cast<uint8_t *>(run.global);
      if (from != nullptr)
        std::memcpy(to, from, bytes);
      else
        std::memset(to, 0, bytes);
      pieces.add(run.global, d.lds + done, bytes, true);
    }
    done += uint64_t{run.elements} * d.elementBytes;
  });
  pieces.flush();
}

} // namespace

void addTensorDataOpcodes(OpcodeTable &table) {
  table.add({"tensor_load_to_lds", OpClass::Global, load, nullptr, 0, Fidelity::Assumed});
  table.add({"tensor_store_from_lds", OpClass::Global, store, nullptr, 0, Fidelity::Assumed});
}

} // namespace flyemu
