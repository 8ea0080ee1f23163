// SPDX-License-Identifier: Apache-2.0
//
// Buffer loads, stores and atomics through a 128-bit descriptor (V#), untyped.
#include <cstring>

#include "execute/atomic_operation.h"
#include "execute/buffer_address.h"
#include "execute/opcode.h"
#include "support/format.h"

namespace flyemu {
namespace {

/// Whole dwords of a record that are in bounds; each is checked by itself.
unsigned dwordsInBounds(uint64_t limit, const MemoryFormat &format) {
  if (format.bytes < 4)
    return limit >= format.bytes ? 1 : 0;
  const uint64_t count = limit / 4;
  return static_cast<unsigned>(count < format.dwords() ? count : format.dwords());
}

/// Call `visit(addresses, bytes)` for the lanes with whole records, then for each with a part.
template <typename F>
void forEachPart(const BufferLanes &lanes, const MemoryFormat &format, F &&visit) {
  LaneAddresses part = lanes.where;
  const uint64_t full = fullLanes(lanes, format.bytes);
  part.lanes = full;
  visit(part, uint32_t{format.bytes});
  forEachLane(lanes.where.lanes & ~full, [&](unsigned lane) {
    const unsigned dwords = dwordsInBounds(lanes.limit[lane], format);
    if (dwords == 0)
      return;
    part.lanes = uint64_t{1} << lane;
    visit(part, dwords * 4);
  });
}

void checkParts(Wave &wave, const BufferLanes &lanes, const MemoryFormat &format, AccessKind kind) {
  forEachPart(lanes, format, [&](const LaneAddresses &part, uint32_t bytes) {
    checkGlobal(wave, part, bytes, kind);
  });
}

void observeParts(Wave &wave, const Instruction &inst, const BufferLanes &lanes,
                  const MemoryFormat &format, AccessKind kind) {
  if (wave.observer != nullptr)
    forEachPart(lanes, format, [&](const LaneAddresses &part, uint32_t bytes) {
      observeGlobal(wave, inst, part, bytes, kind);
    });
}

void copyInBounds(uint8_t *to, const uint8_t *from, uint64_t limit, const MemoryFormat &format) {
  const unsigned dwords = dwordsInBounds(limit, format);
  const unsigned bytes = format.bytes < 4 ? dwords * format.bytes : dwords * 4;
  if (bytes != 0)
    std::memcpy(to, from, bytes);
}

void load(Wave &wave, const Instruction &inst) {
  const MemoryFormat format = MemoryFormat::unpack(inst.opcode->parameter);
  const BufferOperands operands = bufferOperands(inst, false);
  BufferLanes lanes;
  bufferAddresses(wave, inst, operands, lanes);
  if (!inst.modifiers.lds && fullLanes(lanes, format.bytes) == lanes.where.lanes) {
    loadGlobalRows(wave, inst, lanes.where, format);
    return;
  }
  checkParts(wave, lanes, format, AccessKind::Load);
  observeParts(wave, inst, lanes, format, AccessKind::Load);
  if (!inst.modifiers.lds) {
    uint32_t *rows = wave.row(inst.dst[0].index);
    forEachLane(lanes.where.lanes, [&](unsigned lane) {
      uint8_t bytes[16] = {};
      copyInBounds(bytes, reinterpret_cast<const uint8_t *>(lanes.where.address[lane]),
                   lanes.limit[lane], format);
      storeToRegister(rows, lane, bytes, format);
    });
    return;
  }
  // To LDS; out of bounds they are zeros.
  storeToLds(wave, inst, lanes.where.lanes, format, [&](unsigned lane, uint8_t *bytes) {
    copyInBounds(bytes, reinterpret_cast<const uint8_t *>(lanes.where.address[lane]),
                 lanes.limit[lane], format);
  });
}

void store(Wave &wave, const Instruction &inst) {
  const MemoryFormat format = MemoryFormat::unpack(inst.opcode->parameter);
  const BufferOperands operands = bufferOperands(inst, true);
  BufferLanes lanes;
  bufferAddresses(wave, inst, operands, lanes);
  const uint32_t *rows = wave.row(operands.data->index);
  if (fullLanes(lanes, format.bytes) == lanes.where.lanes) {
    storeGlobalRows(wave, inst, lanes.where, rows, format);
    return;
  }
  checkParts(wave, lanes, format, AccessKind::Store);
  forEachLane(lanes.where.lanes, [&](unsigned lane) {
    uint8_t bytes[16];
    loadFromRegister(rows, lane, bytes, format);
    copyInBounds(reinterpret_cast<uint8_t *>(lanes.where.address[lane]), bytes, lanes.limit[lane],
                 format);
  });
  observeParts(wave, inst, lanes, format, AccessKind::Store);
}

void atomic(Wave &wave, const Instruction &inst) {
  const auto operation = static_cast<AtomicOperation>(inst.opcode->parameter & 0xffU);
  const unsigned bytes = inst.opcode->parameter >> 8;
  const BufferOperands operands = bufferOperands(inst, true);
  BufferLanes lanes;
  bufferAddresses(wave, inst, operands, lanes);
  lanes.where.lanes = fullLanes(lanes, bytes);
  checkGlobal(wave, lanes.where, bytes, AccessKind::Atomic);
  const uint32_t *rows = wave.row(operands.data->index);
  uint32_t *result = inst.dstCount != 0 ? wave.row(inst.dst[0].index) : nullptr;
  const auto cell = [&](const uint32_t *from, unsigned lane) {
    return bytes == 4 ? uint64_t{from[lane]} : from[lane] | uint64_t{from[kLanes + lane]} << 32;
  };
  forEachLane(wave.exec(), [&](unsigned lane) {
    uint64_t old = 0;
    if ((lanes.where.lanes >> lane & 1U) != 0) {
      if (lanes.where.address[lane] % bytes != 0)
        throw Fault{format("an atomic of %u bytes at the unaligned address %s", bytes,
                           hex(lanes.where.address[lane]).c_str()),
                    static_cast<int>(lane)};
      const uint64_t data2 =
          comparesFirst(operation) ? cell(rows + size_t{bytes} / 4 * kLanes, lane) : 0;
      old = applyAtomic(operation, bytes, reinterpret_cast<uint8_t *>(lanes.where.address[lane]),
                        cell(rows, lane), data2);
    }
    if (result != nullptr) {
      result[lane] = static_cast<uint32_t>(old);
      if (bytes == 8)
        result[kLanes + lane] = static_cast<uint32_t>(old >> 32);
    }
  });
  observeGlobal(wave, inst, lanes.where, bytes, AccessKind::Atomic);
}

} // namespace

void addBufferMemoryOpcodes(OpcodeTable &table) {
  for (const char *name :
       {"ubyte", "sbyte", "ushort", "sshort", "dword", "dwordx2", "dwordx3", "dwordx4", "ubyte_d16",
        "ubyte_d16_hi", "sbyte_d16", "sbyte_d16_hi", "short_d16", "short_d16_hi"})
    table.add({std::string("buffer_load_") + name, OpClass::Global, load, nullptr,
               MemoryFormat::parse(name).pack(), Fidelity::Exact});
  for (const char *name :
       {"byte", "short", "dword", "dwordx2", "dwordx3", "dwordx4", "byte_d16_hi", "short_d16_hi"})
    table.add({std::string("buffer_store_") + name, OpClass::Global, store, nullptr,
               MemoryFormat::parse(name).pack(), Fidelity::Exact});
  for (const char *name :
       {"swap",      "cmpswap", "add",     "sub",     "smin",        "umin",
        "smax",      "umax",    "and",     "or",      "xor",         "inc",
        "dec",       "add_f32", "min_f32", "max_f32", "cmpswap_f32", "cond_sub",
        "sub_clamp", "add_f64", "min_f64", "max_f64", "pk_add_f16",  "pk_add_bf16"})
    for (const bool wide : {false, true}) {
      const std::string full = std::string(name) + (wide ? "_x2" : "");
      AtomicOperation operation{};
      unsigned bytes = 0;
      if (parseAtomic(full, operation, bytes))
        table.add({"buffer_atomic_" + full, OpClass::Global, atomic, nullptr,
                   static_cast<uint32_t>(operation) | bytes << 8, Fidelity::Exact});
    }
}

} // namespace flyemu
