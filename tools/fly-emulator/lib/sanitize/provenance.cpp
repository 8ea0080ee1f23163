// SPDX-License-Identifier: Apache-2.0
#include "sanitize/provenance.h"

#include <algorithm>

#include "execute/memory_access.h"
#include "execute/opcode.h"

namespace flyemu {
namespace {

/// How far outside of memory a pointer may point that will come back.
constexpr uint64_t kNear = 1 << 16;

bool isNearMemory(const MemoryView &memory, uint64_t value) {
  return std::any_of(memory.ranges().begin(), memory.ranges().end(), [&](const MemoryRange &range) {
    return value + kNear >= range.begin && value < range.end + kNear;
  });
}

bool isKernelArguments(const MemoryView &memory, uint64_t address) {
  const MemoryRange *range = memory.nearest(address);
  return range != nullptr && range->kind == MemoryKind::Internal && address >= range->begin &&
         address + 8 <= range->end && range->name == "kernel arguments";
}

bool contains(const std::string &name, const char *part) {
  return name.find(part) != std::string::npos;
}

bool isLoad(const Instruction &inst) {
  const OpClass cls = inst.opcode->cls;
  const bool memory = cls == OpClass::Global || cls == OpClass::Flat || cls == OpClass::Scratch ||
                      cls == OpClass::Lds;
  // These move registers between lanes.
  const std::string &name = inst.opcode->name;
  return memory && !contains(name, "permute") && !contains(name, "swizzle");
}

} // namespace

Provenance::Provenance(const WorkGroup &group) : waves_(group.waveCount) {
  for (uint32_t i = 0; i < group.waveCount; ++i) {
    const Wave &wave = group.waves[i];
    const MemoryView &memory = *wave.launch->memory;
    // Preloaded arguments are pairs that begin at an even or, behind a number, an odd register.
    for (unsigned s = 0; s + 1 < scalar::kFlatScratch; ++s)
      if (const Origin origin = ofArgument(memory, wave.scalar64(s)); origin != kNumber)
        waves_[i].scalar[s] = waves_[i].scalar[s + 1] = origin;
  }
}

Provenance::Origin Provenance::ofArgument(const MemoryView &memory, uint64_t value) {
  const auto holds = [&](const MemoryRange &range) {
    return value >= range.begin && value < range.end && range.kind != MemoryKind::Internal &&
           range.kind != MemoryKind::CodeObject;
  };
  const auto &ranges = memory.ranges();
  // The end of one tensor may be the beginning of the next.
  const bool isEnd = std::any_of(ranges.begin(), ranges.end(),
                                 [&](const MemoryRange &range) { return range.end == value; });
  if (isEnd || std::none_of(ranges.begin(), ranges.end(), holds))
    return isNearMemory(memory, value) ? kUnknown : kNumber;
  const auto found = std::find(arguments_.begin(), arguments_.end(), value);
  if (found != arguments_.end())
    return static_cast<Origin>(found - arguments_.begin() + 1);
  if (arguments_.size() >= kMostArguments)
    return kUnknown;
  arguments_.push_back(value);
  return static_cast<Origin>(arguments_.size());
}

Provenance::Origin Provenance::ofData(const MemoryView &memory, uint64_t value) const {
  return isNearMemory(memory, value) ? kUnknown : kNumber;
}

Provenance::Origin Provenance::originOf(const Wave &wave, const Operand &operand) const {
  const Registers &registers = waves_[wave.index];
  Origin origin = operand.kind == OperandKind::Special ? kUnknown : kNumber;
  for (unsigned i = 0; i < operand.dwords; ++i) {
    const unsigned index = operand.index + i;
    if (operand.isVector() && index < kVectorRows)
      origin = join(origin, registers.vector[index]);
    else if (operand.isScalarRegister() && index < scalar::kCount)
      origin = join(origin, registers.scalar[index]);
  }
  return origin;
}

void Provenance::write(const Wave &wave, const Operand &operand, unsigned dword, Origin origin,
                       bool whole) {
  Registers &registers = waves_[wave.index];
  const unsigned index = operand.index + dword;
  if (operand.isScalarRegister() && index < scalar::kCount)
    registers.scalar[index] = origin;
  if (!operand.isVector() || index >= kVectorRows)
    return;
  Origin &row = registers.vector[index];
  // Lanes that are switched off keep what they had.
  row = whole || row == origin ? origin : kUnknown;
}

void Provenance::afterScalarLoad(const Wave &wave, const Instruction &inst) {
  const MemoryView &memory = *wave.launch->memory;
  const Operand &to = inst.dst[0];
  for (unsigned i = 0; i < to.dwords; ++i) {
    const uint64_t piece = (loadedFrom_ + uint64_t{i} * 4) & ~uint64_t{7};
    Origin origin = kNumber;
    if (isKernelArguments(memory, piece)) {
      uint64_t value;
      std::memcpy(&value, reinterpret_cast<const void *>(piece), sizeof value);
      origin = ofArgument(memory, value);
    } else if (to.dwords > 1 && to.index + (i | 1U) < scalar::kCount) {
      origin = ofData(memory, wave.scalar64(to.index + (i & ~1U)));
    }
    write(wave, to, i, origin, true);
  }
}

void Provenance::afterVectorLoad(const Wave &wave, const Instruction &inst) {
  const MemoryView &memory = *wave.launch->memory;
  const Operand &to = inst.dst[0];
  const bool whole = wave.exec() == ~uint64_t{0};
  for (unsigned i = 0; i < to.dwords; ++i) {
    // What was spilled may have been anything.
    Origin origin = inst.opcode->cls == OpClass::Scratch ? kUnknown : kNumber;
    const unsigned low = to.index + (i & ~1U);
    if (to.dwords > 1 && low + 1 < kVectorRows)
      forEachLane(wave.exec(), [&](unsigned lane) {
        if (origin == kNumber)
          origin = ofData(memory, wave.row(low)[lane] | uint64_t{wave.row(low + 1)[lane]} << 32);
      });
    write(wave, to, i, origin, whole);
  }
}

void Provenance::after(const Wave &wave, const Instruction &inst) {
  const std::string &name = inst.opcode->name;
  if (contains(name, "movrel") || (wave.mode & kIndexedRegisters) != 0) {
    waves_[wave.index].scalar.fill(kUnknown);
    waves_[wave.index].vector.fill(kUnknown);
    return;
  }
  if (inst.dstCount == 0)
    return;
  if (inst.opcode->cls == OpClass::ScalarMemory)
    return afterScalarLoad(wave, inst);
  if (isLoad(inst))
    return afterVectorLoad(wave, inst);
  Origin origin = contains(name, "pc_b64") || contains(name, "s_call") ? kUnknown : kNumber;
  for (unsigned i = 0; i < inst.srcCount; ++i)
    origin = join(origin, originOf(wave, inst.src[i]));
  const bool whole = wave.exec() == ~uint64_t{0} && inst.modifiers.encoding == Encoding::Plain &&
                     !contains(name, "writelane");
  for (unsigned d = 0; d < inst.dstCount; ++d)
    for (unsigned i = 0; i < inst.dst[d].dwords; ++i)
      write(wave, inst.dst[d], i, origin, whole);
}

uint64_t Provenance::argumentOf(const Wave &wave, const Operand &operand, unsigned dwords) const {
  Operand part = operand;
  part.dwords = static_cast<uint8_t>(dwords);
  const Registers &registers = waves_[wave.index];
  const Origin origin =
      operand.isVector() ? registers.vector[operand.index] : registers.scalar[operand.index];
  if (origin == kNumber || origin == kUnknown || originOf(wave, part) != origin)
    return 0;
  return arguments_[origin - 1];
}

} // namespace flyemu
