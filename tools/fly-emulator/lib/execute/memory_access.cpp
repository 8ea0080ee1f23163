// SPDX-License-Identifier: Apache-2.0
#include "execute/memory_access.h"

#include <array>
#include <cstring>
#include <type_traits>

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

/// The common widths, unrolled: an integer extended with zeros, or dwords into rows.
template <typename T> void copyLanes(uint32_t *rows, const LaneAddresses &where) {
  forEachLane(where.lanes, [&](unsigned lane) {
    T value;
    std::memcpy(&value, reinterpret_cast<const void *>(where.address[lane]), sizeof value);
    if constexpr (std::is_integral_v<T>) {
      rows[lane] = value;
    } else {
      for (size_t i = 0; i < value.size(); ++i)
        rows[i * kLanes + lane] = value[i];
    }
  });
}

template <typename T> void copyOut(const uint32_t *rows, const LaneAddresses &where) {
  forEachLane(where.lanes, [&](unsigned lane) {
    T value;
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(rows[lane]);
    } else {
      for (size_t i = 0; i < value.size(); ++i)
        value[i] = rows[i * kLanes + lane];
    }
    std::memcpy(reinterpret_cast<void *>(where.address[lane]), &value, sizeof value);
  });
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
                   AccessKind kind, const uint8_t *stored) {
  if (wave.observer != nullptr && where.lanes != 0)
    wave.observer->globalAccess(wave, inst, {where.address, where.lanes, bytes, kind, stored});
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
  if (wave.launch->checkLds && !isNoLdsAddress(wave, offset))
    throw Fault{format("accesses %u bytes of LDS at offset %llu, and the workgroup has %u bytes",
                       bytes, static_cast<unsigned long long>(offset), group.ldsBytes),
                lane, true, offset};
  return nullptr;
}

void observeLds(Wave &wave, const Instruction &inst, const LaneAddresses &where, uint32_t bytes,
                AccessKind kind) {
  if (wave.observer == nullptr)
    return;
  uint64_t lanes = where.lanes;
  if (wave.launch->generation >= 13)
    forEachLane(where.lanes, [&](unsigned lane) {
      if (isNoLdsAddress(wave, where.address[lane]))
        lanes &= ~(uint64_t{1} << lane);
    });
  if (lanes != 0)
    wave.observer->ldsAccess(wave, inst, {where.address, lanes, bytes, kind});
}

void observeScratch(Wave &wave, const Instruction &inst, const LaneAddresses &where, uint32_t bytes,
                    AccessKind kind) {
  if (wave.observer != nullptr && where.lanes != 0)
    wave.observer->scratchAccess(wave, inst, {where.address, where.lanes, bytes, kind});
}

uint8_t *scratchBytes(Wave &wave, uint64_t offset, uint32_t bytes, unsigned lane) {
  if (offset > wave.scratchBytes || bytes > wave.scratchBytes - offset)
    throw Fault{format("accesses %u bytes of scratch at offset %lld, and a lane has %u bytes",
                       bytes, static_cast<long long>(offset), wave.scratchBytes),
                static_cast<int>(lane)};
  return wave.scratch + size_t{lane} * wave.scratchBytes + offset;
}

void loadGlobalRows(Wave &wave, const Instruction &inst, const LaneAddresses &where,
                    const MemoryFormat &format) {
  checkGlobal(wave, where, format.bytes, AccessKind::Load);
  observeGlobal(wave, inst, where, format.bytes, AccessKind::Load);
  uint32_t *rows = wave.row(inst.dst[0].index);
  if (format.bytes == 4 && format.part == MemoryFormat::Part::Whole) {
    forEachLane(where.lanes, [&](unsigned lane) {
      std::memcpy(rows + lane, reinterpret_cast<const void *>(where.address[lane]), 4);
    });
    return;
  }
  if (format.part == MemoryFormat::Part::Whole && !format.isSigned) {
    switch (format.bytes) {
    case 1:
      return copyLanes<uint8_t>(rows, where);
    case 2:
      return copyLanes<uint16_t>(rows, where);
    case 8:
      return copyLanes<std::array<uint32_t, 2>>(rows, where);
    case 16:
      return copyLanes<std::array<uint32_t, 4>>(rows, where);
    default:
      break;
    }
  }
  forEachLane(where.lanes, [&](unsigned lane) {
    storeToRegister(rows, lane, reinterpret_cast<const uint8_t *>(where.address[lane]), format);
  });
}

void storeGlobalRows(Wave &wave, const Instruction &inst, const LaneAddresses &where,
                     const uint32_t *rows, const MemoryFormat &format) {
  checkGlobal(wave, where, format.bytes, AccessKind::Store);
  const bool whole = format.part == MemoryFormat::Part::Whole;
  if (whole && format.bytes == 1)
    copyOut<uint8_t>(rows, where);
  else if (whole && format.bytes == 2)
    copyOut<uint16_t>(rows, where);
  else if (whole && format.bytes == 4)
    copyOut<uint32_t>(rows, where);
  else if (whole && format.bytes == 8)
    copyOut<std::array<uint32_t, 2>>(rows, where);
  else if (whole && format.bytes == 16)
    copyOut<std::array<uint32_t, 4>>(rows, where);
  else
    forEachLane(where.lanes, [&](unsigned lane) {
      loadFromRegister(rows, lane, reinterpret_cast<uint8_t *>(where.address[lane]), format);
    });
  observeGlobal(wave, inst, where, format.bytes, AccessKind::Store);
}

} // namespace flyemu
