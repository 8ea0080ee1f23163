// SPDX-License-Identifier: Apache-2.0
//
// LDS reads and writes: single, paired, and by thread id.
#include <cstring>

#include "execute/memory_access.h"
#include "execute/opcode.h"

namespace flyemu {
namespace {

/// Are all lanes' bytes in the workgroup's LDS?
bool inBounds(const Wave &wave, const LaneAddresses &where, uint32_t bytes) {
  uint64_t highest = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint64_t end = where.address[lane] + bytes;
    highest = (where.lanes >> lane & 1U) != 0 && end > highest ? end : highest;
  }
  return highest <= wave.group->ldsBytes;
}

template <unsigned dwords>
void copyIn(uint32_t *rows, const uint8_t *lds, const LaneAddresses &where) {
  forEachLane(where.lanes, [&](unsigned lane) {
    uint32_t words[dwords];
    std::memcpy(words, lds + where.address[lane], sizeof words);
    for (unsigned i = 0; i < dwords; ++i)
      rows[i * kLanes + lane] = words[i];
  });
}
template <unsigned dwords>
void copyOut(const uint32_t *rows, uint8_t *lds, const LaneAddresses &where) {
  forEachLane(where.lanes, [&](unsigned lane) {
    uint32_t words[dwords];
    for (unsigned i = 0; i < dwords; ++i)
      words[i] = rows[i * kLanes + lane];
    std::memcpy(lds + where.address[lane], words, sizeof words);
  });
}

/// Whole dwords in bounds, unrolled; false where the general way is needed.
bool readWhole(Wave &wave, const LaneAddresses &where, uint32_t *rows, const MemoryFormat &format) {
  if (format.part != MemoryFormat::Part::Whole || format.bytes < 4 ||
      !inBounds(wave, where, format.bytes))
    return false;
  const uint8_t *lds = wave.group->lds;
  switch (format.bytes) {
  case 4:
    copyIn<1>(rows, lds, where);
    return true;
  case 8:
    copyIn<2>(rows, lds, where);
    return true;
  case 16:
    copyIn<4>(rows, lds, where);
    return true;
  default:
    return false;
  }
}
bool writeWhole(Wave &wave, const LaneAddresses &where, const uint32_t *rows,
                const MemoryFormat &format) {
  if (format.part != MemoryFormat::Part::Whole || format.bytes < 4 ||
      !inBounds(wave, where, format.bytes))
    return false;
  uint8_t *lds = wave.group->lds;
  switch (format.bytes) {
  case 4:
    copyOut<1>(rows, lds, where);
    return true;
  case 8:
    copyOut<2>(rows, lds, where);
    return true;
  case 16:
    copyOut<4>(rows, lds, where);
    return true;
  default:
    return false;
  }
}

void readRows(Wave &wave, const Instruction &inst, const LaneAddresses &where, uint32_t *rows,
              const MemoryFormat &format) {
  if (!readWhole(wave, where, rows, format))
    forEachLane(where.lanes, [&](unsigned lane) {
      storeToRegister(rows, lane,
                      ldsBytes(wave, where.address[lane], format.bytes, static_cast<int>(lane)),
                      format);
    });
  observeLds(wave, inst, where, format.bytes, AccessKind::Load);
}

void writeRows(Wave &wave, const Instruction &inst, const LaneAddresses &where,
               const uint32_t *rows, const MemoryFormat &format) {
  if (!writeWhole(wave, where, rows, format))
    forEachLane(where.lanes, [&](unsigned lane) {
      uint8_t *to = ldsBytes(wave, where.address[lane], format.bytes, static_cast<int>(lane));
      if (to != nullptr)
        loadFromRegister(rows, lane, to, format);
    });
  observeLds(wave, inst, where, format.bytes, AccessKind::Store);
}

void refuseGds(const Instruction &inst) {
  if (inst.modifiers.gds)
    throw Fault{"global data share (gds) is not modelled"};
}

void read(Wave &wave, const Instruction &inst) {
  refuseGds(inst);
  LaneAddresses where;
  ldsAddresses(wave, inst.src[0], static_cast<uint32_t>(inst.modifiers.offset), where);
  readRows(wave, inst, where, wave.row(inst.dst[0].index),
           MemoryFormat::unpack(inst.opcode->parameter));
}

void write(Wave &wave, const Instruction &inst) {
  refuseGds(inst);
  LaneAddresses where;
  ldsAddresses(wave, inst.src[0], static_cast<uint32_t>(inst.modifiers.offset), where);
  writeRows(wave, inst, where, wave.row(inst.src[1].index),
            MemoryFormat::unpack(inst.opcode->parameter));
}

/// The paired forms: parameter = bytes of one element, and the unit of the offsets.
constexpr uint32_t pairParameter(uint32_t bytes, uint32_t stride) { return bytes | stride << 8; }

void readPair(Wave &wave, const Instruction &inst) {
  refuseGds(inst);
  const uint32_t bytes = inst.opcode->parameter & 0xffU;
  const uint32_t stride = inst.opcode->parameter >> 8;
  MemoryFormat format;
  format.bytes = static_cast<uint8_t>(bytes);
  LaneAddresses first;
  LaneAddresses second;
  ldsAddresses(wave, inst.src[0], inst.modifiers.offset0 * stride, first);
  ldsAddresses(wave, inst.src[0], inst.modifiers.offset1 * stride, second);
  uint32_t *rows = wave.row(inst.dst[0].index);
  readRows(wave, inst, first, rows, format);
  readRows(wave, inst, second, rows + size_t{bytes} / 4 * kLanes, format);
}

void writePair(Wave &wave, const Instruction &inst) {
  refuseGds(inst);
  const uint32_t bytes = inst.opcode->parameter & 0xffU;
  const uint32_t stride = inst.opcode->parameter >> 8;
  MemoryFormat format;
  format.bytes = static_cast<uint8_t>(bytes);
  LaneAddresses where;
  ldsAddresses(wave, inst.src[0], inst.modifiers.offset0 * stride, where);
  writeRows(wave, inst, where, wave.row(inst.src[1].index), format);
  ldsAddresses(wave, inst.src[0], inst.modifiers.offset1 * stride, where);
  writeRows(wave, inst, where, wave.row(inst.src[2].index), format);
}

/// LDS address M0[15:0] + offset + 4 * lane.
void threadAddresses(const Wave &wave, const Instruction &inst, LaneAddresses &out) {
  out.lanes = wave.exec();
  const uint64_t base =
      (wave.scalar[scalar::kM0] & 0xffffU) + static_cast<uint64_t>(int64_t{inst.modifiers.offset});
  for (unsigned lane = 0; lane < kLanes; ++lane)
    out.address[lane] = base + 4 * lane;
}

void readThreadId(Wave &wave, const Instruction &inst) {
  LaneAddresses where;
  threadAddresses(wave, inst, where);
  readRows(wave, inst, where, wave.row(inst.dst[0].index), MemoryFormat());
}

void writeThreadId(Wave &wave, const Instruction &inst) {
  LaneAddresses where;
  threadAddresses(wave, inst, where);
  writeRows(wave, inst, where, wave.row(inst.src[0].index), MemoryFormat());
}

uint32_t formatOf(uint8_t bytes, bool isSigned, MemoryFormat::Part part) {
  MemoryFormat format;
  format.bytes = bytes;
  format.isSigned = isSigned;
  format.part = part;
  return format.pack();
}

} // namespace

void addLdsOpcodes(OpcodeTable &table) {
  using Part = MemoryFormat::Part;
  static const struct {
    const char *name;
    Handler handler;
    uint32_t parameter;
  } rows[] = {
      {"ds_read_u8", read, formatOf(1, false, Part::Whole)},
      {"ds_read_i8", read, formatOf(1, true, Part::Whole)},
      {"ds_read_u16", read, formatOf(2, false, Part::Whole)},
      {"ds_read_i16", read, formatOf(2, true, Part::Whole)},
      {"ds_read_u8_d16", read, formatOf(1, false, Part::Low)},
      {"ds_read_u8_d16_hi", read, formatOf(1, false, Part::High)},
      {"ds_read_i8_d16", read, formatOf(1, true, Part::Low)},
      {"ds_read_i8_d16_hi", read, formatOf(1, true, Part::High)},
      {"ds_read_u16_d16", read, formatOf(2, false, Part::Low)},
      {"ds_read_u16_d16_hi", read, formatOf(2, false, Part::High)},
      {"ds_read_b32", read, formatOf(4, false, Part::Whole)},
      {"ds_read_b64", read, formatOf(8, false, Part::Whole)},
      {"ds_read_b96", read, formatOf(12, false, Part::Whole)},
      {"ds_read_b128", read, formatOf(16, false, Part::Whole)},
      {"ds_write_b8", write, formatOf(1, false, Part::Whole)},
      {"ds_write_b16", write, formatOf(2, false, Part::Whole)},
      {"ds_write_b8_d16_hi", write, formatOf(1, false, Part::High)},
      {"ds_write_b16_d16_hi", write, formatOf(2, false, Part::High)},
      {"ds_write_b32", write, formatOf(4, false, Part::Whole)},
      {"ds_write_b64", write, formatOf(8, false, Part::Whole)},
      {"ds_write_b96", write, formatOf(12, false, Part::Whole)},
      {"ds_write_b128", write, formatOf(16, false, Part::Whole)},
      {"ds_read2_b32", readPair, pairParameter(4, 4)},
      {"ds_read2_b64", readPair, pairParameter(8, 8)},
      {"ds_read2st64_b32", readPair, pairParameter(4, 4 * 64)},
      {"ds_read2st64_b64", readPair, pairParameter(8, 8 * 64)},
      {"ds_write2_b32", writePair, pairParameter(4, 4)},
      {"ds_write2_b64", writePair, pairParameter(8, 8)},
      {"ds_write2st64_b32", writePair, pairParameter(4, 4 * 64)},
      {"ds_write2st64_b64", writePair, pairParameter(8, 8 * 64)},
      {"ds_read_addtid_b32", readThreadId, 0},
      {"ds_write_addtid_b32", writeThreadId, 0},
      {"ds_nop", [](Wave &, const Instruction &) {}, 0},
  };
  for (const auto &row : rows)
    table.add({row.name, OpClass::Lds, row.handler, nullptr, row.parameter, Fidelity::Exact});
}

} // namespace flyemu
