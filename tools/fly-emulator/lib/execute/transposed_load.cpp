// SPDX-License-Identifier: Apache-2.0
//
// Loads that transpose, from LDS and from memory: the columns of a matrix become the rows that
// matrix instructions want.
//
// Every lane loads what its own address names: a row of 16 elements, or a part of one. Lane i of
// each group of 16 lanes gets column i of a matrix of such rows. Which lanes load which parts is in
// AMD's documents for gfx950: those of the group. For gfx1250's LDS nobody has published it: it is
// deduced from compilers' code objects, which load A without transposition and B with it, so that
// the product shows which lanes have to hold which rows. Loads from memory (gfx12, gfx1250) are
// taken to be the same, which no code object has confirmed.
#include <cstring>

#include "execute/memory_access.h"
#include "execute/opcode.h"

namespace flyemu {
namespace {

constexpr unsigned kGroup = 16; ///< lanes that get the columns of a matrix
constexpr unsigned kMostBytes = 16;

/// What the lanes have loaded, as bytes.
using Loaded = uint8_t[kLanes][kMostBytes];

uint32_t elementOf(const uint8_t *bytes, unsigned index, unsigned bits) {
  const unsigned first = index * bits;
  uint32_t value = bytes[first / 8];
  if (first / 8 + 1 < kMostBytes)
    value |= static_cast<uint32_t>(bytes[first / 8 + 1]) << 8;
  return value >> (first % 8) & ((1U << bits) - 1U);
}

/// The lane that loads a part of a row for the lanes of a group.
using LaneOf = unsigned (*)(unsigned group, unsigned row, unsigned part, unsigned parts);

/// gfx950: the parts of a row one after the other.
unsigned byRows(unsigned group, unsigned row, unsigned part, unsigned parts) {
  return kGroup * group + row * parts + part;
}
/// gfx1250, elements of 16 bits: the first halves of eight rows, then their second halves.
unsigned by16Bits(unsigned group, unsigned row, unsigned part, unsigned) {
  return kGroup * group + row + 8 * part;
}
/// Of 8 bits: the same of each four rows.
unsigned by8Bits(unsigned group, unsigned row, unsigned part, unsigned) {
  return kGroup * group + row % 4 + 4 * part + row / 4 * 8;
}
/// Of 4 bits: eight rows of each group, then the other eight.
unsigned by4Bits(unsigned group, unsigned row, unsigned, unsigned) {
  return row % 8 + 8 * group + row / 8 * 16;
}

/// The forms of this instruction.
struct Form {
  const char *name;
  unsigned bits; ///< of an element
  LaneOf laneOf;
};

void transpose(const Loaded &loaded, unsigned lanes, const Form &form, unsigned dwords,
               uint32_t *rows) {
  const unsigned bits = form.bits;
  const unsigned perLane = dwords * 32 / bits;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned column = lane % kGroup;
    uint64_t words[kMostBytes / 8 + 1] = {};
    for (unsigned row = 0; row < perLane; ++row) {
      const unsigned from = form.laneOf(lane / kGroup, row, column / perLane, kGroup / perLane);
      const uint64_t value = elementOf(loaded[from], column % perLane, bits);
      const unsigned bit = row * bits;
      words[bit / 64] |= value << (bit % 64);
      if (bit % 64 + bits > 64)
        words[bit / 64 + 1] |= value >> (64 - bit % 64);
    }
    for (unsigned i = 0; i < dwords; ++i)
      rows[i * kLanes + lane] = static_cast<uint32_t>(words[i / 2] >> (32 * (i % 2)));
  }
}

void requireAllLanes(const Wave &wave, const LaneAddresses &where) {
  if (where.lanes != wave.laneMask)
    throw Fault{"a transposing load with inactive lanes is undefined"};
}

constexpr Form kForms[] = {
    {"ds_read_b64_tr_b16", 16, byRows},  {"ds_read_b64_tr_b8", 8, byRows},
    {"ds_read_b64_tr_b4", 4, byRows},    {"ds_read_b96_tr_b6", 6, byRows},
    {"ds_load_tr16_b128", 16, by16Bits}, {"ds_load_tr8_b64", 8, by8Bits},
    {"ds_load_tr4_b64", 4, by4Bits},
};

/// The opcode's parameter is the number of its form.
void readLds(Wave &wave, const Instruction &inst) {
  const unsigned dwords = inst.dst[0].dwords;
  const unsigned bytes = dwords * 4;
  LaneAddresses where;
  ldsAddresses(wave, inst.src[0], static_cast<uint32_t>(inst.modifiers.offset), where);
  requireAllLanes(wave, where);
  Loaded loaded = {};
  forEachLane(where.lanes, [&](unsigned lane) {
    const uint8_t *from = ldsBytes(wave, where.address[lane], bytes, static_cast<int>(lane));
    if (from != nullptr)
      std::memcpy(loaded[lane], from, bytes);
  });
  observeLds(wave, inst, where, bytes, AccessKind::Load);
  transpose(loaded, wave.lanes(), kForms[inst.opcode->parameter], dwords,
            wave.row(inst.dst[0].index));
}

constexpr Form kGlobalForms[] = {
    {"global_load_tr_b128", 16, by16Bits},   {"global_load_tr_b64", 8, by8Bits},
    {"global_load_tr16_b128", 16, by16Bits}, {"global_load_tr8_b64", 8, by8Bits},
    {"global_load_tr4_b64", 4, by4Bits},
};

void readGlobal(Wave &wave, const Instruction &inst) {
  if (wave.lanes() != 32)
    throw Fault{"a transposing load of a wave of 64 lanes is not modelled"};
  if (wave.exec() != wave.laneMask)
    throw Fault{"a transposing load with inactive lanes is undefined"};
  const unsigned dwords = inst.dst[0].dwords;
  MemoryFormat format;
  format.bytes = static_cast<uint8_t>(dwords * 4);
  loadGlobal(wave, inst, format);
  uint32_t *rows = wave.row(inst.dst[0].index);
  Loaded loaded = {};
  for (unsigned lane = 0; lane < wave.lanes(); ++lane)
    loadFromRegister(rows, lane, loaded[lane], format);
  transpose(loaded, wave.lanes(), kGlobalForms[inst.opcode->parameter], dwords, rows);
}

} // namespace

void addTransposedLoadOpcodes(OpcodeTable &table) {
  uint32_t index = 0;
  for (const Form &form : kForms)
    table.add({form.name, OpClass::Lds, readLds, nullptr, index++, Fidelity::Assumed});
  index = 0;
  for (const Form &form : kGlobalForms)
    table.add({form.name, OpClass::Global, readGlobal, nullptr, index++, Fidelity::Assumed});
}

} // namespace flyemu
