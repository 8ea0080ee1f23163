// SPDX-License-Identifier: Apache-2.0
#include "sanitize/memory_check.h"

#include <algorithm>

#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "support/format.h"

namespace flyemu {
namespace {

unsigned long long number(uint64_t value) { return static_cast<unsigned long long>(value); }

/// The widest range that an address points into; null if none.
const MemoryRange *ownerOf(const MemoryView &memory, uint64_t address) {
  const MemoryRange *owner = nullptr;
  for (const MemoryRange &range : memory.ranges())
    if (address >= range.begin && address < range.end &&
        (owner == nullptr || range.end - range.begin > owner->end - owner->begin))
      owner = &range;
  return owner;
}

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
  const MemoryRange *owner = ownerOf(memory, address);
  if (owner == nullptr)
    return;
  bool reported = false;
  forEachLane(access.lanes, [&](unsigned lane) {
    const uint64_t first = access.address[lane];
    if (reported || (first >= owner->begin && first + access.bytes <= owner->end))
      return;
    for (const MemoryRange &range : memory.ranges())
      if (address >= range.begin && address < range.end && first >= range.begin &&
          first + access.bytes <= range.end)
        return;
    reported = true;
    sink_.add({"memory", wave, inst, static_cast<int>(lane), nullptr, true, first},
              [&] { return leftTensor(memory, *owner, first, access.bytes); });
  });
}

} // namespace flyemu
