// SPDX-License-Identifier: Apache-2.0
#include "execute/memory_access.h"

#include <cstring>

#include "support/format.h"

namespace flyemu {
namespace {

const char *verb(AccessKind kind) {
  switch (kind) {
  case AccessKind::Load:
    return "reads";
  case AccessKind::Store:
    return "writes";
  case AccessKind::Atomic:
    return "updates";
  }
  return "accesses";
}

[[noreturn]] void outOfBounds(const Wave &wave, uint64_t address, uint32_t bytes, AccessKind kind,
                              int lane) {
  const MemoryView &memory = *wave.launch->memory;
  const bool readOnly = memory.find(address, bytes) != nullptr;
  throw Fault{format("%s %u bytes at %s, which is %s: %s", verb(kind), bytes, hex(address).c_str(),
                     readOnly ? "read-only memory" : "outside of all registered memory",
                     memory.describe(address, bytes).c_str()),
              lane, true, address};
}

bool allowed(Wave &wave, uint64_t address, uint64_t bytes, bool write) {
  const auto hit = [&] {
    return address >= wave.cached.begin && address < wave.cached.end &&
           bytes <= wave.cached.end - address && (!write || wave.cached.writable);
  };
  if (hit())
    return true;
  const MemoryView::Segment *segment = wave.launch->memory->find(address, bytes);
  if (segment == nullptr) {
    // It may begin in one segment and end in the next, of other rights.
    const MemoryView::Segment *first = wave.launch->memory->find(address, 1);
    if (first == nullptr || (write && !first->writable) || bytes <= first->end - address)
      return false;
    return allowed(wave, first->end, bytes - (first->end - address), write);
  }
  wave.cached = *segment;
  return hit();
}

} // namespace

MemoryFormat MemoryFormat::parse(const std::string &suffix) {
  MemoryFormat format;
  const auto has = [&](const char *part) { return suffix.find(part) != std::string::npos; };
  if (has("byte"))
    format.bytes = 1;
  else if (has("short"))
    format.bytes = 2;
  else if (has("dwordx2"))
    format.bytes = 8;
  else if (has("dwordx3"))
    format.bytes = 12;
  else if (has("dwordx4"))
    format.bytes = 16;
  format.isSigned = has("sbyte") || has("sshort");
  if (has("d16_hi"))
    format.part = Part::High;
  else if (has("d16"))
    format.part = Part::Low;
  return format;
}

void checkGlobal(Wave &wave, const LaneAddresses &where, uint32_t bytes, AccessKind kind) {
  if (where.lanes == 0)
    return;
  const bool write = kind != AccessKind::Load;
  uint64_t low = ~uint64_t{0};
  uint64_t high = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const bool on = (where.lanes >> lane & 1U) != 0;
    const uint64_t address = where.address[lane];
    low = on && address < low ? address : low;
    high = on && address > high ? address : high;
  }
  const bool wraps = high + bytes < high;
  if (wraps || !allowed(wave, low, high - low + bytes, write))
    forEachLane(where.lanes, [&](unsigned lane) {
      const uint64_t address = where.address[lane];
      if (address + bytes < address || !allowed(wave, address, bytes, write))
        outOfBounds(wave, address, bytes, kind, static_cast<int>(lane));
    });
}

void observeGlobal(Wave &wave, const Instruction &inst, const LaneAddresses &where, uint32_t bytes,
                   AccessKind kind) {
  if (wave.observer != nullptr && where.lanes != 0)
    wave.observer->globalAccess(wave, inst, {where.address, where.lanes, bytes, kind});
}

uint32_t readableScalar(Wave &wave, uint64_t address, uint32_t bytes) {
  if (address % bytes != 0 || allowed(wave, address, bytes, false))
    return bytes;
  const MemoryView::Segment *segment = wave.launch->memory->find(address, 1);
  if (segment == nullptr || segment->end - address >= bytes)
    return bytes;
  const auto inside = static_cast<uint32_t>(segment->end - address);
  return bytes == 4 || inside > bytes / 2 ? inside : bytes;
}

void checkScalar(Wave &wave, const Instruction &inst, uint64_t address, uint32_t bytes,
                 AccessKind kind) {
  if (address + bytes < address || !allowed(wave, address, bytes, kind != AccessKind::Load))
    outOfBounds(wave, address, bytes, kind, -1);
  if (wave.observer != nullptr) {
    alignas(64) uint64_t addresses[kLanes] = {address};
    wave.observer->globalAccess(wave, inst, {addresses, 1, bytes, kind});
  }
}

void ldsAddresses(const Wave &wave, const Operand &address, uint32_t offset, LaneAddresses &out) {
  const uint32_t *rows = wave.row(address.index);
  out.lanes = wave.exec();
  for (unsigned lane = 0; lane < kLanes; ++lane)
    out.address[lane] = rows[lane] + offset;
}

uint8_t *ldsBytes(Wave &wave, uint64_t offset, uint32_t bytes, int lane) {
  const WorkGroup &group = *wave.group;
  if (offset <= group.ldsBytes && bytes <= group.ldsBytes - offset)
    return group.lds + offset;
  if (wave.launch->checkLds)
    throw Fault{format("accesses %u bytes of LDS at offset %llu, and the workgroup has %u bytes",
                       bytes, static_cast<unsigned long long>(offset), group.ldsBytes),
                lane, true, offset};
  return nullptr;
}

void observeLds(Wave &wave, const Instruction &inst, const LaneAddresses &where, uint32_t bytes,
                AccessKind kind) {
  if (wave.observer != nullptr && where.lanes != 0)
    wave.observer->ldsAccess(wave, inst, {where.address, where.lanes, bytes, kind});
}

uint8_t *scratchBytes(Wave &wave, uint64_t offset, uint32_t bytes, unsigned lane) {
  if (offset > wave.scratchBytes || bytes > wave.scratchBytes - offset)
    throw Fault{format("accesses %u bytes of scratch at offset %lld, and a lane has %u bytes",
                       bytes, static_cast<long long>(offset), wave.scratchBytes),
                static_cast<int>(lane)};
  return wave.scratch + size_t{lane} * wave.scratchBytes + offset;
}

void storeToRegister(uint32_t *rows, unsigned lane, const uint8_t *from,
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

void loadFromRegister(const uint32_t *rows, unsigned lane, uint8_t *to,
                      const MemoryFormat &format) {
  uint32_t words[4];
  for (unsigned i = 0; i < format.dwords(); ++i)
    words[i] = rows[i * kLanes + lane];
  if (format.part == MemoryFormat::Part::High)
    words[0] >>= 16;
  std::memcpy(to, words, format.bytes);
}

} // namespace flyemu
