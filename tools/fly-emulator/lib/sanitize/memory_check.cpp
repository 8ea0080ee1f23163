// SPDX-License-Identifier: Apache-2.0
#include "sanitize/memory_check.h"

#include <algorithm>

#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "support/format.h"

namespace flyemu {
namespace {

unsigned long long number(uint64_t value) { return static_cast<unsigned long long>(value); }

bool holds(const MemoryRange &range, uint64_t first, uint64_t bytes) {
  return first >= range.begin && first + bytes <= range.end;
}

/// The memory that a pointer may belong to: the tensors that it points into; where there is none,
/// whatever it points into. (A mapping whose bounds are unknown may lie around a tensor.)
class Owners {
public:
  Owners(const MemoryView &memory, uint64_t address) : memory_(memory), address_(address) {
    for (const MemoryRange &range : memory.ranges())
      tensorsOnly_ = tensorsOnly_ || (range.tensor != nullptr && holds(range, address, 1));
  }

  bool hold(uint64_t first, uint64_t bytes) const {
    const auto &ranges = memory_.ranges();
    return std::any_of(ranges.begin(), ranges.end(), [&](const MemoryRange &range) {
      return isOwner(range) && holds(range, first, bytes);
    });
  }
  const MemoryRange *widest() const {
    const MemoryRange *found = nullptr;
    for (const MemoryRange &range : memory_.ranges())
      if (isOwner(range) &&
          (found == nullptr || range.end - range.begin > found->end - found->begin))
        found = &range;
    return found;
  }

private:
  bool isOwner(const MemoryRange &range) const {
    return holds(range, address_, 1) && (!tensorsOnly_ || range.tensor != nullptr);
  }

  const MemoryView &memory_;
  uint64_t address_;
  bool tensorsOnly_ = false;
};

std::string leftTensor(const MemoryView &memory, const MemoryRange &owner, uint64_t first,
                       uint32_t bytes) {
  const bool before = first < owner.begin;
  const uint64_t distance = before ? owner.begin - first : first + bytes - owner.end;
  std::string text =
      format("an access of %u bytes through a pointer into '%s' lies %llu bytes %s it", bytes,
             owner.name.c_str(), number(distance), before ? "before" : "past the end of");
  if (owner.tensor != nullptr)
    text += " (" + owner.tensor->shapeText() + "), " + owner.tensor->elementText(first);
  const MemoryRange *hit = memory.nearest(first);
  if (hit != nullptr && hit != &owner)
    text += "; it hits " + memory.describe(first, bytes);
  return text;
}

} // namespace

void MemoryCheck::requireAligned(Wave &wave, const Instruction &inst, const LaneAccess &access,
                                 uint64_t base, uint32_t unit, const MemoryRange *range) {
  bool reported = false;
  forEachLane(access.lanes, [&](unsigned lane) {
    const uint64_t address = access.address[lane];
    if (reported || (address - base) % unit == 0)
      return;
    reported = true;
    sink_.add({"memory", wave, inst, static_cast<int>(lane), nullptr, true, address}, [&] {
      return format("an unaligned access of %u bytes at %s, which is not a multiple of %u",
                    access.bytes, hex(address).c_str(), unit) +
             (range == nullptr ? std::string()
                               : ": " + wave.launch->memory->describe(address, access.bytes));
    });
  });
}

void MemoryCheck::lds(Wave &wave, const Instruction &inst, const LaneAccess &access) {
  requireAligned(wave, inst, access, 0, std::min(access.bytes, 4U), nullptr);
}

void MemoryCheck::global(Wave &wave, const Instruction &inst, const LaneAccess &access) {
  if (access.lanes == 0)
    return;
  requireDeclared(wave, inst, access);
  if (inst.opcode->cls == OpClass::ScalarMemory) {
    provenance_.scalarLoad(access.address[0]);
    requireAligned(wave, inst, access, 0, 4, nullptr);
    return;
  }
  requireBase(wave, inst, access);
  const uint64_t first = access.address[__builtin_ctzll(access.lanes)];
  const MemoryRange *range = wave.launch->memory->nearest(first);
  if (range != nullptr && range->tensor != nullptr && range->tensor->itemBytes > 1)
    requireAligned(wave, inst, access, range->tensor->data,
                   std::min(range->tensor->itemBytes, access.bytes), range);
  requireElements(wave, inst, access);
}

/// Compilers round scalar loads up to a power of two where the address is aligned to that.
void MemoryCheck::requireDeclared(Wave &wave, const Instruction &inst, const LaneAccess &access) {
  const uint64_t begin = wave.launch->arguments;
  const uint64_t end = begin + wave.launch->argumentBytes;
  constexpr uint64_t kPadding = 64; // what lies behind it is outside of all memory
  bool reported = false;
  forEachLane(access.lanes, [&](unsigned lane) {
    const uint64_t first = access.address[lane];
    if (reported || first < begin || first + access.bytes <= end || first >= end + kPadding)
      return;
    const bool rounded = inst.opcode->cls == OpClass::ScalarMemory && first < end &&
                         (access.bytes == 4 || end - first > access.bytes / 2) &&
                         (first - begin) % std::min(access.bytes, 16U) == 0;
    if (rounded)
      return;
    reported = true;
    sink_.add({"memory", wave, inst, static_cast<int>(lane), nullptr, true, first}, [&] {
      return format("reads %u bytes at offset %llu of the kernel's arguments, and it declares %llu "
                    "bytes of them",
                    access.bytes, number(first - begin), number(end - begin));
    });
  });
}

/// An access that is wider than an element takes in what lies beside it: in a strided tensor that
/// may be nobody's.
void MemoryCheck::requireElements(Wave &wave, const Instruction &inst, const LaneAccess &access) {
  const MemoryView &memory = *wave.launch->memory;
  const auto isElement = [&](const MemoryRange &range, uint64_t first) {
    return holds(range, first, access.bytes) &&
           (range.tensor == nullptr || range.tensor->holds(first, access.bytes));
  };
  const MemoryRange *range = nullptr;
  bool reported = false;
  forEachLane(access.lanes, [&](unsigned lane) {
    const uint64_t first = access.address[lane];
    if (reported)
      return;
    if (range == nullptr || first < range->begin || first >= range->end)
      range = memory.nearest(first);
    if (range == nullptr || range->tensor == nullptr || range->tensor->isDense() ||
        first < range->begin || first + access.bytes > range->end || isElement(*range, first))
      return;
    // Another tensor may lie in the gaps of this one.
    if (std::any_of(memory.ranges().begin(), memory.ranges().end(),
                    [&](const MemoryRange &other) { return isElement(other, first); }))
      return;
    reported = true;
    sink_.add({"memory", wave, inst, static_cast<int>(lane), nullptr, true, first}, [&] {
      return format("an access of %u bytes takes in what lies between the elements of '%s': ",
                    access.bytes, range->name.c_str()) +
             memory.describe(first, access.bytes);
    });
  });
}

/// Where a global, flat or buffer access should be: the argument that its address is made from;
/// else its scalar base or the base of its descriptor; 0 where there is neither.
uint64_t MemoryCheck::baseOf(const Wave &wave, const Instruction &inst) const {
  constexpr uint64_t kAddressBits = 0xffffffffffffULL;
  const OpClass cls = inst.opcode->cls;
  if (cls != OpClass::Global && cls != OpClass::Flat)
    return 0;
  for (unsigned i = 0; i < inst.srcCount; ++i)
    if (const Operand &base = inst.src[i]; base.isScalarRegister() && base.dwords >= 2) {
      const uint64_t argument = provenance_.argumentOf(wave, base, 2);
      return argument != 0 ? argument : wave.scalar64(base.index) & kAddressBits;
    }
  // LLVM lists the address before the data.
  for (unsigned i = 0; i < inst.srcCount; ++i)
    if (inst.src[i].isVector())
      return inst.src[i].dwords == 2 ? provenance_.argumentOf(wave, inst.src[i], 2) : 0;
  return 0;
}

void MemoryCheck::requireBase(Wave &wave, const Instruction &inst, const LaneAccess &access) {
  const uint64_t address = baseOf(wave, inst);
  if (address == 0)
    return;
  const MemoryView &memory = *wave.launch->memory;
  const Owners owners(memory, address);
  const MemoryRange *widest = owners.widest();
  if (widest == nullptr)
    return;
  bool reported = false;
  forEachLane(access.lanes, [&](unsigned lane) {
    const uint64_t first = access.address[lane];
    if (reported || holds(*widest, first, access.bytes) || owners.hold(first, access.bytes))
      return;
    reported = true;
    sink_.add({"memory", wave, inst, static_cast<int>(lane), nullptr, true, first},
              [&] { return leftTensor(memory, *widest, first, access.bytes); });
  });
}

} // namespace flyemu
