// SPDX-License-Identifier: Apache-2.0
//
// Scalar memory: loads, stores and atomics, plain, of scratch, and through a buffer descriptor.
#include <cstring>

#include "execute/atomic_operation.h"
#include "execute/buffer_address.h"
#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "support/format.h"

namespace flyemu {
namespace {

/// What the addresses of a scalar access are relative to.
enum class Space : uint8_t { Memory, Scratch, Buffer };

/// An opcode's parameter: its space, and what it moves or does.
constexpr uint32_t parameterOf(Space space, uint32_t what) {
  return static_cast<uint32_t>(space) << 16 | what;
}
Space spaceOf(const Instruction &inst) { return static_cast<Space>(inst.opcode->parameter >> 16); }
uint32_t whatOf(const Instruction &inst) { return inst.opcode->parameter & 0xffffU; }

void loadSmall(Wave &wave, const Instruction &inst);

/// Where an access begins, and how many bytes from there on are in bounds.
struct BoundedAddress {
  uint64_t address;
  uint64_t limit;
};

/// Bytes that gfx1250's scale_offset multiplies a register offset with: those of the element.
uint64_t scaleOf(const Wave &wave, const Instruction &inst) {
  constexpr int64_t kScaleOffset = 0x800; // in the cache policy, which LLVM lists last
  if (wave.launch->generation < 13 || inst.immediateCount == 0 ||
      (inst.immediate[inst.immediateCount - 1U] & kScaleOffset) == 0)
    return 1;
  return inst.opcode->handler == loadSmall ? whatOf(inst) & 7U : whatOf(inst) * 4;
}

/// LLVM lists: data (of stores and atomics), base, register offset (if any), then numbers:
/// immediate offset (if any), policy. `base` is the index of the base among the sources.
BoundedAddress addressOf(const Wave &wave, const Instruction &inst, unsigned base) {
  const Space space = spaceOf(inst);
  uint64_t offset = 0;
  if (inst.srcCount > base + 1)
    offset = uint64_t{readScalar(wave, inst.src[base + 1])} *
             (space == Space::Scratch ? 64 : scaleOf(wave, inst));
  if (inst.immediateCount > 1)
    offset += static_cast<uint64_t>(inst.immediate[0]);
  const uint64_t align = inst.opcode->handler == loadSmall ? 0 : 3;
  if (space != Space::Buffer)
    return {(readScalar64(wave, inst.src[base]) + offset) & ~align, ~uint64_t{0}};
  if (wave.launch->generation >= 13) {
    const BufferDescriptor wide = BufferDescriptor::read(wave, inst.src[base]);
    const uint64_t bytes = wide.stride == 0 ? wide.records : wide.records * wide.stride;
    offset &= ~align;
    return {(wide.base & ~align) + offset, offset < bytes ? bytes - offset : 0};
  }
  const uint32_t *descriptor = wave.scalar + inst.src[base].index;
  const uint64_t start = (descriptor[0] | uint64_t{descriptor[1]} << 32) & 0xfffffffffffcULL;
  const uint32_t stride = descriptor[1] >> 16 & 0x3fffU;
  const uint64_t size = stride == 0 ? descriptor[2] : uint64_t{descriptor[2]} * stride;
  offset &= ~align;
  return {start + offset, offset < size ? size - offset : 0};
}

/// gfx12's loads of a byte or a short. Parameter: bytes, and 8 where the sign is extended.
void loadSmall(Wave &wave, const Instruction &inst) {
  const unsigned bytes = whatOf(inst) & 7U;
  const bool isSigned = (whatOf(inst) & 8U) != 0;
  const BoundedAddress at = addressOf(wave, inst, 0);
  uint32_t value = 0;
  if (at.limit >= bytes) {
    checkScalar(wave, inst, at.address, bytes, AccessKind::Load);
    std::memcpy(&value, reinterpret_cast<const void *>(at.address), bytes);
  }
  if (isSigned)
    value = bytes == 1 ? static_cast<uint32_t>(int32_t{static_cast<int8_t>(value)})
                       : static_cast<uint32_t>(int32_t{static_cast<int16_t>(value)});
  writeScalar(wave, inst.dst[0], value);
}

/// Whole dwords in bounds.
unsigned dwordsInBounds(const BoundedAddress &at, unsigned dwords) {
  const uint64_t available = at.limit / 4;
  return static_cast<unsigned>(available < dwords ? available : dwords);
}

/// What lies past the end reads zero.
void load(Wave &wave, const Instruction &inst) {
  const unsigned dwords = whatOf(inst);
  const BoundedAddress at = addressOf(wave, inst, 0);
  uint32_t words[16] = {};
  if (const unsigned count = dwordsInBounds(at, dwords); count != 0) {
    const uint32_t bytes = readableScalar(wave, at.address, count * 4);
    checkScalar(wave, inst, at.address, bytes, AccessKind::Load);
    std::memcpy(words, reinterpret_cast<const void *>(at.address), bytes);
  }
  const unsigned first = inst.dst[0].index;
  for (unsigned i = 0; i < dwords && first + i < scalar::kCount; ++i)
    wave.scalar[first + i] = words[i];
}

/// Dwords past the end are not written.
void store(Wave &wave, const Instruction &inst) {
  const unsigned dwords = whatOf(inst);
  const BoundedAddress at = addressOf(wave, inst, 1);
  const unsigned count = dwordsInBounds(at, dwords);
  if (count == 0)
    return;
  checkScalar(wave, inst, at.address, count * 4, AccessKind::Store);
  std::memcpy(reinterpret_cast<void *>(at.address), wave.scalar + inst.src[0].index,
              size_t{count} * 4);
}

/// Out of bounds, memory stays and the old value reads zero.
void atomic(Wave &wave, const Instruction &inst) {
  const auto operation = static_cast<AtomicOperation>(whatOf(inst) & 0xffU);
  const unsigned bytes = whatOf(inst) >> 8;
  const BoundedAddress at = addressOf(wave, inst, 1);
  uint64_t old = 0;
  if (at.limit >= bytes) {
    if (at.address % bytes != 0)
      throw Fault{format("an atomic of %u bytes at the unaligned address %s", bytes,
                         hex(at.address).c_str())};
    const unsigned data = inst.src[0].index;
    const auto value = [&](unsigned index) {
      return bytes == 4 ? uint64_t{wave.scalar[index]} : wave.scalar64(index);
    };
    const uint64_t compared =
        operation == AtomicOperation::CompareSwap ? value(data + bytes / 4) : 0;
    checkScalar(wave, inst, at.address, bytes, AccessKind::Atomic);
    old = applyAtomic(operation, bytes, reinterpret_cast<uint8_t *>(at.address), value(data),
                      compared);
  }
  if (inst.dstCount == 0)
    return;
  wave.scalar[inst.dst[0].index] = static_cast<uint32_t>(old);
  if (bytes == 8)
    wave.scalar[inst.dst[0].index + 1] = static_cast<uint32_t>(old >> 32);
}

/// Prefetches of translations and of data. A discarded line may have been written back before: with
/// memory that is always up to date, it has.
void nothing(Wave &, const Instruction &) {}

} // namespace

void addScalarMemoryOpcodes(OpcodeTable &table) {
  static const struct {
    const char *suffix;
    uint32_t dwords;
  } widths[] = {{"dword", 1},   {"dwordx2", 2}, {"dwordx3", 3},
                {"dwordx4", 4}, {"dwordx8", 8}, {"dwordx16", 16}};
  static const struct {
    const char *prefix;
    Space space;
    Fidelity fidelity;
  } spaces[] = {{"s_", Space::Memory, Fidelity::Exact},
                {"s_buffer_", Space::Buffer, Fidelity::Exact},
                {"s_scratch_", Space::Scratch, Fidelity::Assumed}};
  for (const auto &space : spaces) {
    for (const auto &width : widths) {
      const uint32_t parameter = parameterOf(space.space, width.dwords);
      const std::string prefix = space.prefix;
      if (space.space != Space::Scratch || (width.dwords <= 4 && width.dwords != 3))
        table.add({prefix + "load_" + width.suffix, OpClass::ScalarMemory, load, nullptr, parameter,
                   space.fidelity});
      if (width.dwords <= 4 && width.dwords != 3)
        table.add({prefix + "store_" + width.suffix, OpClass::ScalarMemory, store, nullptr,
                   parameter, space.fidelity});
    }
    if (space.space == Space::Scratch)
      continue;
    for (const char *name : {"u8", "i8", "u16", "i16"})
      table.add({std::string(space.prefix) + "load_" + name, OpClass::ScalarMemory, loadSmall,
                 nullptr,
                 parameterOf(space.space, (name[1] == '8' ? 1U : 2U) | (name[0] == 'i' ? 8U : 0U)),
                 space.fidelity});
    for (const char *name : {"swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax", "and",
                             "or", "xor", "inc", "dec"})
      for (const char *wide : {"", "_x2"}) {
        AtomicOperation operation{};
        unsigned bytes = 0;
        if (parseAtomic(std::string(name) + wide, operation, bytes))
          table.add({std::string(space.prefix) + "atomic_" + name + wide, OpClass::ScalarMemory,
                     atomic, nullptr,
                     parameterOf(space.space, static_cast<uint32_t>(operation) | bytes << 8),
                     space.fidelity});
      }
  }
  for (const char *name : {"s_atc_probe", "s_atc_probe_buffer"})
    table.add({name, OpClass::ScalarMemory, nothing, nullptr, 0, Fidelity::Exact});
  for (const char *name : {"s_dcache_discard", "s_dcache_discard_x2"})
    table.add({name, OpClass::ScalarMemory, nothing, nullptr, 0, Fidelity::Assumed});
}

} // namespace flyemu
