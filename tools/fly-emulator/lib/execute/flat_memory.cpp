// SPDX-License-Identifier: Apache-2.0
//
// Global, flat and scratch loads, stores and atomics.
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "execute/atomic_operation.h"
#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "support/format.h"

namespace flyemu {
namespace {

/// The operands of a flat instruction: LLVM lists vector ones in the order address, data (scratch
/// stores: data, address), and at most one scalar one, the base.
struct FlatOperands {
  const Operand *address = nullptr;
  const Operand *data = nullptr;
  const Operand *base = nullptr;
};

FlatOperands flatOperands(const Instruction &inst, bool dataFirst) {
  FlatOperands out;
  for (unsigned i = 0; i < inst.srcCount; ++i) {
    const Operand &operand = inst.src[i];
    if (!operand.isVector())
      out.base = &operand;
    else if (dataFirst && out.data == nullptr)
      out.data = &operand;
    else if (out.address == nullptr)
      out.address = &operand;
    else if (out.data == nullptr)
      out.data = &operand;
  }
  return out;
}

/// Global: 64-bit vector address, or scalar base plus 32-bit vector offset, which is unsigned. It
/// is signed on gfx1250, and counts elements with scale_offset; LLVM 22 puts offsets there that it
/// holds for unsigned, too, so that beyond 2 GiB this is assumed.
void globalAddresses(const Wave &wave, const Instruction &inst, const FlatOperands &operands,
                     LaneAddresses &out) {
  const auto offset = static_cast<uint64_t>(int64_t{inst.modifiers.offset});
  out.lanes = wave.exec();
  if (operands.address == nullptr)
    throw Fault{"the instruction has no vector address"};
  const uint32_t *low = wave.row(operands.address->index);
  if (operands.base != nullptr) {
    const uint64_t base = readScalar64(wave, *operands.base) + offset;
    if (const int64_t scale = inst.modifiers.offsetScale; scale != 0) {
      for (unsigned lane = 0; lane < kLanes; ++lane)
        out.address[lane] =
            base + static_cast<uint64_t>(int64_t{static_cast<int32_t>(low[lane])} * scale);
      return;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane)
      out.address[lane] = base + low[lane];
  } else {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      out.address[lane] = (low[lane] | uint64_t{low[kLanes + lane]} << 32) + offset;
  }
}

uint64_t cellOf(const uint32_t *rows, unsigned lane, unsigned bytes) {
  return bytes == 4 ? rows[lane] : rows[lane] | uint64_t{rows[kLanes + lane]} << 32;
}

void setCell(uint32_t *rows, unsigned lane, unsigned bytes, uint64_t value) {
  rows[lane] = static_cast<uint32_t>(value);
  if (bytes == 8)
    rows[kLanes + lane] = static_cast<uint32_t>(value >> 32);
}

/// The two values of an atomic: operand, and for compare-and-swap the value to compare with.
void atomicData(const uint32_t *rows, unsigned lane, unsigned bytes, bool compare, uint64_t &data,
                uint64_t &data2) {
  data = cellOf(rows, lane, bytes);
  data2 = compare ? cellOf(rows + bytes / 4 * kLanes, lane, bytes) : 0;
}

void requireAligned(const LaneAddresses &where, unsigned bytes) {
  forEachLane(where.lanes, [&](unsigned lane) {
    if (where.address[lane] % bytes != 0)
      throw Fault{format("an atomic of %u bytes at the unaligned address %s", bytes,
                         hex(where.address[lane]).c_str()),
                  static_cast<int>(lane)};
  });
}

void globalLoad(Wave &wave, const Instruction &inst) {
  loadGlobal(wave, inst, MemoryFormat::unpack(inst.opcode->parameter));
}

void globalStore(Wave &wave, const Instruction &inst) {
  LaneAddresses where;
  const FlatOperands operands = flatOperands(inst, false);
  globalAddresses(wave, inst, operands, where);
  storeGlobalRows(wave, inst, where, wave.row(operands.data->index),
                  MemoryFormat::unpack(inst.opcode->parameter));
}

/// gfx11's loads and stores by thread id: the scalar base, and a dword for each lane.
void threadAddresses(const Wave &wave, const Instruction &inst, LaneAddresses &out) {
  const FlatOperands operands = flatOperands(inst, true);
  out.lanes = wave.exec();
  const uint64_t base = (operands.base != nullptr ? readScalar64(wave, *operands.base) : 0) +
                        static_cast<uint64_t>(int64_t{inst.modifiers.offset});
  for (unsigned lane = 0; lane < kLanes; ++lane)
    out.address[lane] = base + 4 * lane;
}

void threadLoad(Wave &wave, const Instruction &inst) {
  LaneAddresses where;
  threadAddresses(wave, inst, where);
  loadGlobalRows(wave, inst, where, MemoryFormat());
}

void threadStore(Wave &wave, const Instruction &inst) {
  LaneAddresses where;
  threadAddresses(wave, inst, where);
  const FlatOperands operands = flatOperands(inst, true);
  storeGlobalRows(wave, inst, where, wave.row(operands.data->index), MemoryFormat());
}

uint32_t packAtomic(AtomicOperation operation, unsigned bytes) {
  return static_cast<uint32_t>(operation) | bytes << 8;
}

void globalAtomicAt(Wave &wave, const Instruction &inst, const LaneAddresses &where,
                    const uint32_t *rows) {
  const auto operation = static_cast<AtomicOperation>(inst.opcode->parameter & 0xffU);
  const unsigned bytes = inst.opcode->parameter >> 8;
  requireAligned(where, bytes);
  checkGlobal(wave, where, bytes, AccessKind::Atomic);
  uint32_t *result = inst.dstCount != 0 ? wave.row(inst.dst[0].index) : nullptr;
  const bool compare = comparesFirst(operation);
  forEachLane(where.lanes, [&](unsigned lane) {
    uint64_t data = 0;
    uint64_t data2 = 0;
    atomicData(rows, lane, bytes, compare, data, data2);
    const uint64_t old = applyAtomic(operation, bytes,
                                     reinterpret_cast<uint8_t *>(where.address[lane]), data, data2);
    if (result != nullptr)
      setCell(result, lane, bytes, old);
  });
  observeGlobal(wave, inst, where, bytes, AccessKind::Atomic);
}

void globalAtomic(Wave &wave, const Instruction &inst) {
  LaneAddresses where;
  const FlatOperands operands = flatOperands(inst, false);
  globalAddresses(wave, inst, operands, where);
  globalAtomicAt(wave, inst, where, wave.row(operands.data->index));
}

/// Memory to LDS, without registers.
void globalLoadLds(Wave &wave, const Instruction &inst) {
  const MemoryFormat format = MemoryFormat::unpack(inst.opcode->parameter);
  LaneAddresses where;
  globalAddresses(wave, inst, flatOperands(inst, false), where);
  checkGlobal(wave, where, format.bytes, AccessKind::Load);
  observeGlobal(wave, inst, where, format.bytes, AccessKind::Load);
  storeToLds(wave, inst, where.lanes, format, [&](unsigned lane, uint8_t *bytes) {
    std::memcpy(bytes, reinterpret_cast<const void *>(where.address[lane]), format.bytes);
  });
}

/// gfx1250: the lane whose scratch a flat address means stands in five of its bits, above those of
/// an offset and below those of the aperture.
constexpr unsigned kOwnerShift = 52;

/// Split the lanes of a flat access by the aperture that their address lies in.
struct FlatLanes {
  LaneAddresses global;
  LaneAddresses lds;
  LaneAddresses scratch;
};

void flatAddresses(const Wave &wave, const Instruction &inst, const FlatOperands &operands,
                   FlatLanes &out) {
  LaneAddresses all;
  globalAddresses(wave, inst, operands, all);
  out.global.lanes = out.lds.lanes = out.scratch.lanes = 0;
  const uint64_t shared = wave.launch->sharedBase >> 32;
  const uint64_t priv = wave.launch->privateBase >> 32;
  forEachLane(all.lanes, [&](unsigned lane) {
    const uint64_t address = all.address[lane];
    const uint64_t bit = uint64_t{1} << lane;
    if (wave.launch->generation >= 13 &&
        address >> (kOwnerShift + 5) == priv >> (kOwnerShift + 5 - 32)) {
      if ((address >> kOwnerShift & 31U) != lane)
        throw Fault{"a flat access to the scratch of another lane is not modelled",
                    static_cast<int>(lane)};
      out.scratch.address[lane] = address & 0xffffffffU;
      out.scratch.lanes |= bit;
    } else if (address >> 32 == shared) {
      out.lds.address[lane] = address & 0xffffffffU;
      out.lds.lanes |= bit;
    } else if (address >> 32 == priv) {
      out.scratch.address[lane] = address & 0xffffffffU;
      out.scratch.lanes |= bit;
    } else {
      out.global.address[lane] = address;
      out.global.lanes |= bit;
    }
  });
}

void flatLoad(Wave &wave, const Instruction &inst) {
  const MemoryFormat format = MemoryFormat::unpack(inst.opcode->parameter);
  FlatLanes lanes;
  flatAddresses(wave, inst, flatOperands(inst, false), lanes);
  uint32_t *rows = wave.row(inst.dst[0].index);
  loadGlobalRows(wave, inst, lanes.global, format);
  forEachLane(lanes.lds.lanes, [&](unsigned lane) {
    storeToRegister(rows, lane,
                    ldsBytes(wave, lanes.lds.address[lane], format.bytes, static_cast<int>(lane)),
                    format);
  });
  observeLds(wave, inst, lanes.lds, format.bytes, AccessKind::Load);
  forEachLane(lanes.scratch.lanes, [&](unsigned lane) {
    storeToRegister(rows, lane, scratchBytes(wave, lanes.scratch.address[lane], format.bytes, lane),
                    format);
  });
  observeScratch(wave, inst, lanes.scratch, format.bytes, AccessKind::Load);
}

void flatStore(Wave &wave, const Instruction &inst) {
  const MemoryFormat format = MemoryFormat::unpack(inst.opcode->parameter);
  const FlatOperands operands = flatOperands(inst, false);
  FlatLanes lanes;
  flatAddresses(wave, inst, operands, lanes);
  const uint32_t *rows = wave.row(operands.data->index);
  storeGlobalRows(wave, inst, lanes.global, rows, format);
  forEachLane(lanes.lds.lanes, [&](unsigned lane) {
    uint8_t *to = ldsBytes(wave, lanes.lds.address[lane], format.bytes, static_cast<int>(lane));
    if (to != nullptr)
      loadFromRegister(rows, lane, to, format);
  });
  observeLds(wave, inst, lanes.lds, format.bytes, AccessKind::Store);
  forEachLane(lanes.scratch.lanes, [&](unsigned lane) {
    loadFromRegister(rows, lane,
                     scratchBytes(wave, lanes.scratch.address[lane], format.bytes, lane), format);
  });
  observeScratch(wave, inst, lanes.scratch, format.bytes, AccessKind::Store);
}

void flatAtomic(Wave &wave, const Instruction &inst) {
  const FlatOperands operands = flatOperands(inst, false);
  FlatLanes lanes;
  flatAddresses(wave, inst, operands, lanes);
  const uint32_t *rows = wave.row(operands.data->index);
  globalAtomicAt(wave, inst, lanes.global, rows);
  const auto operation = static_cast<AtomicOperation>(inst.opcode->parameter & 0xffU);
  const unsigned bytes = inst.opcode->parameter >> 8;
  const bool compare = comparesFirst(operation);
  uint32_t *result = inst.dstCount != 0 ? wave.row(inst.dst[0].index) : nullptr;
  const auto local = [&](unsigned lane, uint8_t *cell) {
    uint64_t old = 0;
    if (cell != nullptr) {
      uint64_t data = 0;
      uint64_t data2 = 0;
      atomicData(rows, lane, bytes, compare, data, data2);
      std::memcpy(&old, cell, bytes);
      const uint64_t value = combine(operation, bytes, old, data, data2);
      std::memcpy(cell, &value, bytes);
    }
    if (result != nullptr)
      setCell(result, lane, bytes, old);
  };
  forEachLane(lanes.lds.lanes, [&](unsigned lane) {
    local(lane, ldsBytes(wave, lanes.lds.address[lane], bytes, static_cast<int>(lane)));
  });
  observeLds(wave, inst, lanes.lds, bytes, AccessKind::Atomic);
  forEachLane(lanes.scratch.lanes, [&](unsigned lane) {
    local(lane, scratchBytes(wave, lanes.scratch.address[lane], bytes, lane));
  });
  observeScratch(wave, inst, lanes.scratch, bytes, AccessKind::Atomic);
}

/// Scratch: of each lane that takes part, the sum of scalar base, vector offset and immediate.
void scratchOffsets(const Wave &wave, const Instruction &inst, const FlatOperands &operands,
                    LaneAddresses &out) {
  out.lanes = wave.exec();
  forEachLane(out.lanes, [&](unsigned lane) {
    uint32_t offset = static_cast<uint32_t>(inst.modifiers.offset);
    if (operands.base != nullptr)
      offset += readScalar(wave, *operands.base);
    if (operands.address != nullptr)
      offset += wave.row(operands.address->index)[lane] *
                std::max<uint32_t>(1, inst.modifiers.offsetScale);
    out.address[lane] = offset;
  });
}

void scratchLoad(Wave &wave, const Instruction &inst) {
  const MemoryFormat format = MemoryFormat::unpack(inst.opcode->parameter);
  uint32_t *rows = wave.row(inst.dst[0].index);
  LaneAddresses where; // before the load: the address may be the destination's first row
  scratchOffsets(wave, inst, flatOperands(inst, false), where);
  forEachLane(where.lanes, [&](unsigned lane) {
    storeToRegister(rows, lane, scratchBytes(wave, where.address[lane], format.bytes, lane),
                    format);
  });
  observeScratch(wave, inst, where, format.bytes, AccessKind::Load);
}

void scratchLoadLds(Wave &wave, const Instruction &inst) {
  const MemoryFormat format = MemoryFormat::unpack(inst.opcode->parameter);
  LaneAddresses where;
  scratchOffsets(wave, inst, flatOperands(inst, false), where);
  storeToLds(wave, inst, where.lanes, format, [&](unsigned lane, uint8_t *bytes) {
    std::memcpy(bytes, scratchBytes(wave, where.address[lane], format.bytes, lane), format.bytes);
  });
  observeScratch(wave, inst, where, format.bytes, AccessKind::Load);
}

void scratchStore(Wave &wave, const Instruction &inst) {
  const MemoryFormat format = MemoryFormat::unpack(inst.opcode->parameter);
  const FlatOperands operands = flatOperands(inst, true);
  const uint32_t *rows = wave.row(operands.data->index);
  LaneAddresses where;
  scratchOffsets(wave, inst, operands, where);
  forEachLane(where.lanes, [&](unsigned lane) {
    loadFromRegister(rows, lane, scratchBytes(wave, where.address[lane], format.bytes, lane),
                     format);
  });
  observeScratch(wave, inst, where, format.bytes, AccessKind::Store);
}

} // namespace

void loadGlobal(Wave &wave, const Instruction &inst, const MemoryFormat &format) {
  LaneAddresses where;
  globalAddresses(wave, inst, flatOperands(inst, false), where);
  loadGlobalRows(wave, inst, where, format);
}

void addFlatMemoryOpcodes(OpcodeTable &table) {
  static const char *const loads[] = {"ubyte",     "sbyte",        "ushort",    "sshort",
                                      "dword",     "dwordx2",      "dwordx3",   "dwordx4",
                                      "ubyte_d16", "ubyte_d16_hi", "sbyte_d16", "sbyte_d16_hi",
                                      "short_d16", "short_d16_hi"};
  static const char *const stores[] = {"byte",    "short",   "dword",       "dwordx2",
                                       "dwordx3", "dwordx4", "byte_d16_hi", "short_d16_hi"};
  static const struct {
    const char *prefix;
    OpClass cls;
    Handler load;
    Handler store;
  } spaces[] = {{"global_", OpClass::Global, globalLoad, globalStore},
                {"flat_", OpClass::Flat, flatLoad, flatStore},
                {"scratch_", OpClass::Scratch, scratchLoad, scratchStore}};
  for (const auto &space : spaces) {
    for (const char *name : loads)
      table.add({std::string(space.prefix) + "load_" + name, space.cls, space.load, nullptr,
                 MemoryFormat::parse(name).pack(), Fidelity::Exact});
    for (const char *name : stores)
      table.add({std::string(space.prefix) + "store_" + name, space.cls, space.store, nullptr,
                 MemoryFormat::parse(name).pack(), Fidelity::Exact});
  }
  for (const char *name : {"ubyte", "sbyte", "ushort", "sshort", "dword", "dwordx3", "dwordx4"})
    table.add({std::string("global_load_lds_") + name, OpClass::Global, globalLoadLds, nullptr,
               MemoryFormat::parse(name).pack(), Fidelity::Assumed});
  for (const char *name : {"ubyte", "sbyte", "ushort", "sshort", "dword"})
    table.add({std::string("scratch_load_lds_") + name, OpClass::Scratch, scratchLoadLds, nullptr,
               MemoryFormat::parse(name).pack(), Fidelity::Assumed});
  table.add({"global_load_addtid_b32", OpClass::Global, threadLoad, nullptr, 0, Fidelity::Exact});
  table.add({"global_store_addtid_b32", OpClass::Global, threadStore, nullptr, 0, Fidelity::Exact});
  static const char *const operations[] = {
      "swap",      "cmpswap", "add",     "sub",     "smin",        "umin",
      "smax",      "umax",    "and",     "or",      "xor",         "inc",
      "dec",       "add_f32", "min_f32", "max_f32", "cmpswap_f32", "cond_sub",
      "sub_clamp", "add_f64", "min_f64", "max_f64", "pk_add_f16",  "pk_add_bf16"};
  for (const char *name : operations) {
    for (const bool wide : {false, true}) {
      const std::string full = std::string(name) + (wide ? "_x2" : "");
      AtomicOperation operation{};
      unsigned bytes = 0;
      if (!parseAtomic(full, operation, bytes))
        continue;
      const uint32_t parameter = packAtomic(operation, bytes);
      table.add({"global_atomic_" + full, OpClass::Global, globalAtomic, nullptr, parameter,
                 Fidelity::Exact});
      table.add(
          {"flat_atomic_" + full, OpClass::Flat, flatAtomic, nullptr, parameter, Fidelity::Exact});
    }
  }
}

} // namespace flyemu
