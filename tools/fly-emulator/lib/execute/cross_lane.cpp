// SPDX-License-Identifier: Apache-2.0
//
// Instructions that move values between lanes: readlane and its kin, permutes, swizzle, swaps; and
// moves of accumulation registers.
#include <cstring>

#include "execute/memory_access.h"
#include "execute/opcode.h"

namespace flyemu {
namespace {

void refuseIndexed(const Wave &wave) {
  if ((wave.mode & kIndexedRegisters) != 0)
    throw Fault{"this instruction is not modelled with indexed registers (s_set_gpr_idx)"};
}

void readFirstLane(Wave &wave, const Instruction &inst) {
  refuseIndexed(wave);
  const uint64_t exec = wave.exec();
  // Without active lanes, lane 0 is read.
  const auto lane = exec == 0 ? 0U : static_cast<unsigned>(__builtin_ctzll(exec));
  const Operand &source = inst.src[0];
  writeScalar(wave, inst.dst[0],
              source.isVector() ? wave.row(source.index)[lane] : readScalar(wave, source));
}

void readLane(Wave &wave, const Instruction &inst) {
  refuseIndexed(wave);
  const unsigned lane = readScalar(wave, inst.src[1]) & (wave.lanes() - 1);
  writeScalar(wave, inst.dst[0], wave.row(inst.src[0].index)[lane]);
}

void writeLane(Wave &wave, const Instruction &inst) {
  refuseIndexed(wave);
  const unsigned lane = readScalar(wave, inst.src[1]) & (wave.lanes() - 1);
  wave.row(inst.dst[0].index)[lane] = readScalar(wave, inst.src[0]);
}

/// Exchange two registers under EXEC.
void exchange(Wave &wave, const Instruction &inst) {
  refuseIndexed(wave);
  uint32_t *a = wave.row(inst.dst[0].index);
  uint32_t *b = wave.row(inst.dst[1].index);
  forEachLane(wave.exec(), [&](unsigned lane) { std::swap(a[lane], b[lane]); });
}

/// Exchange the odd rows (of `width` lanes) of the first register with the even rows of the second,
/// where both lanes are active or fetch-inactive is set.
void permlaneSwap(Wave &wave, const Instruction &inst, unsigned width) {
  refuseIndexed(wave);
  uint32_t *a = wave.row(inst.dst[0].index);
  uint32_t *b = wave.row(inst.dst[1].index);
  const uint64_t exec = wave.exec();
  for (unsigned base = 0; base < kLanes; base += 2 * width)
    for (unsigned i = 0; i < width; ++i) {
      const unsigned low = base + i;
      const unsigned high = low + width;
      if ((exec >> low & 1U) != 0 && (exec >> high & 1U) != 0)
        std::swap(a[high], b[low]);
      else if ((exec >> low & 1U) != 0 || (exec >> high & 1U) != 0)
        throw Fault{"a permlane swap with one of its two lanes inactive is not modelled",
                    static_cast<int>(low)};
    }
}

void permlane16Swap(Wave &wave, const Instruction &inst) { permlaneSwap(wave, inst, 16); }
void permlane32Swap(Wave &wave, const Instruction &inst) { permlaneSwap(wave, inst, 32); }

/// The lane that an address names: modulo the wave, or modulo its half where the hardware of RDNA
/// before gfx12 permutes each by itself.
unsigned permutedLane(const Wave &wave, uint32_t address, unsigned lane) {
  const bool halves = wave.launch->generation == 11;
  const unsigned lanes = halves ? 32 : wave.lanes();
  return (address / 4 & (lanes - 1)) | (halves ? lane & 32U : 0U);
}

/// Pull: each lane reads the lane that its address names; inactive lanes give 0, unless they are
/// fetched too (gfx12's ds_bpermute_fi_b32, whose parameter is 1).
void bpermute(Wave &wave, const Instruction &inst) {
  uint32_t result[kLanes] = {};
  const uint64_t exec = wave.exec();
  const uint32_t *address = wave.row(inst.src[0].index);
  const uint32_t *data = wave.row(inst.src[1].index);
  forEachLane(exec, [&](unsigned lane) {
    const unsigned from =
        permutedLane(wave, address[lane] + static_cast<uint32_t>(inst.modifiers.offset), lane);
    const bool fetched = (exec >> from & 1U) != 0 || inst.opcode->parameter != 0;
    result[lane] = fetched ? data[from] : 0;
  });
  wave.launch->helpers->blend(wave.row(inst.dst[0].index), result, exec, 1);
}

/// Push: each lane sends to the lane that its address names; the last (highest) sender wins.
void permute(Wave &wave, const Instruction &inst) {
  uint32_t result[kLanes] = {};
  const uint64_t exec = wave.exec();
  const uint32_t *address = wave.row(inst.src[0].index);
  const uint32_t *data = wave.row(inst.src[1].index);
  forEachLane(exec, [&](unsigned lane) {
    const unsigned to =
        permutedLane(wave, address[lane] + static_cast<uint32_t>(inst.modifiers.offset), lane);
    result[to] = data[lane];
  });
  wave.launch->helpers->blend(wave.row(inst.dst[0].index), result, exec, 1);
}

/// The lane that ds_swizzle's pattern makes a lane read, or -1.
int swizzleSource(uint32_t pattern, unsigned lane) {
  const unsigned half = lane & 32U;
  const unsigned inHalf = lane & 31U;
  if (pattern >= 0xe000U) {
    // FFT mode: the upper bits that the mask names stay, the ones below are reversed.
    const unsigned mask = pattern & 0x1fU;
    const unsigned kept = static_cast<unsigned>(__builtin_popcount(mask));
    if (mask != (0x1fU << (5 - kept) & 0x1fU))
      throw Fault{"ds_swizzle: an FFT mask that isn't made of upper bits is not modelled"};
    unsigned reversed = 0;
    for (unsigned bit = 0; bit < 5; ++bit)
      reversed |= (inHalf >> bit & 1U) << (4 - bit);
    return static_cast<int>(half | (reversed >> kept) | (inHalf & mask));
  }
  if (pattern >= 0xc000U) {
    // Rotate by [9:5], to the right if bit 10 is set; lanes of the mask stay in their group.
    const unsigned amount = pattern >> 5 & 0x1fU;
    const unsigned mask = pattern & 0x1fU;
    const unsigned moved = (pattern >> 10 & 1U) != 0 ? inHalf - amount : inHalf + amount;
    return static_cast<int>(half | ((inHalf & mask) | (moved & ~mask & 31U)));
  }
  if ((pattern & 0x8000U) != 0) {
    // Quad permute.
    return static_cast<int>((lane & ~3U) | (pattern >> (2 * (lane & 3U)) & 3U));
  }
  const unsigned andMask = pattern & 0x1fU;
  const unsigned orMask = pattern >> 5 & 0x1fU;
  const unsigned xorMask = pattern >> 10 & 0x1fU;
  return static_cast<int>(half | (((inHalf & andMask) | orMask) ^ xorMask));
}

void swizzle(Wave &wave, const Instruction &inst) {
  const auto pattern = static_cast<uint32_t>(inst.immediate[0]) & 0xffffU;
  uint32_t result[kLanes] = {};
  const uint64_t exec = wave.exec();
  const uint32_t *data = wave.row(inst.src[0].index);
  forEachLane(exec, [&](unsigned lane) {
    const auto from = static_cast<unsigned>(swizzleSource(pattern, lane));
    result[lane] = (exec >> from & 1U) != 0 ? data[from] : 0;
  });
  wave.launch->helpers->blend(wave.row(inst.dst[0].index), result, exec, 1);
}

/// v_permlane16 and v_permlanex16: each lane reads, in its row of 16 or in the other row of its
/// pair, the lane that four bits of two scalars name; op_sel: fetch inactive lanes, and zero where
/// that is not allowed (else the old value stays).
void permlane16(Wave &wave, const Instruction &inst, unsigned flip, bool byLane) {
  const bool fetchInactive = (inst.src[0].modifiers & modifier::kOpSel) != 0;
  const bool boundCtrl = (inst.src[1].modifiers & modifier::kOpSel) != 0;
  const uint64_t exec = wave.exec();
  uint32_t data[kLanes];
  std::memcpy(data, wave.row(inst.src[0].index), sizeof data);
  uint64_t select = 0;
  const uint32_t *selects = nullptr;
  if (byLane)
    selects = wave.row(inst.src[1].index);
  else
    select = readScalar(wave, inst.src[1]) | uint64_t{readScalar(wave, inst.src[2])} << 32;
  uint32_t *to = wave.row(inst.dst[0].index);
  uint32_t result[kLanes];
  std::memcpy(result, to, sizeof result);
  forEachLane(exec, [&](unsigned lane) {
    const auto chosen =
        static_cast<unsigned>(byLane ? selects[lane] & 15U : select >> (4 * (lane & 15U)) & 15U);
    const unsigned from = ((lane & ~15U) ^ flip) | chosen;
    if (fetchInactive || (exec >> from & 1U) != 0)
      result[lane] = data[from];
    else if (boundCtrl)
      result[lane] = 0;
  });
  std::memcpy(to, result, sizeof result);
}

/// Lane i reads lane i + 32 modulo 64, inactive ones too; in a wave of 32 lanes nothing moves.
void permlane64(Wave &wave, const Instruction &inst) {
  uint32_t result[kLanes];
  const uint32_t *data = wave.row(inst.src[0].index);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result[lane] = data[lane ^ (wave.lanes() / 64 * 32)];
  wave.launch->helpers->blend(wave.row(inst.dst[0].index), result, wave.exec(), 1);
}

/// Exchange two halves of registers under EXEC.
void exchangeHalves(Wave &wave, const Instruction &inst) {
  uint32_t *a = wave.row(inst.dst[0].index);
  uint32_t *b = wave.row(inst.dst[1].index);
  const unsigned shiftA = (inst.dst[0].modifiers & modifier::kHigh) != 0 ? 16 : 0;
  const unsigned shiftB = (inst.dst[1].modifiers & modifier::kHigh) != 0 ? 16 : 0;
  forEachLane(wave.exec(), [&](unsigned lane) {
    const uint32_t low = a[lane] >> shiftA & 0xffffU;
    const uint32_t other = b[lane] >> shiftB & 0xffffU;
    a[lane] = (a[lane] & ~(0xffffU << shiftA)) | other << shiftA;
    b[lane] = (b[lane] & ~(0xffffU << shiftB)) | low << shiftB;
  });
}

void copyRow(Wave &wave, const Instruction &inst) {
  refuseIndexed(wave);
  uint32_t row[kLanes];
  const Operand &source = inst.src[0];
  if (source.isVector())
    std::memcpy(row, wave.row(source.index), sizeof row);
  else
    wave.launch->helpers->splat(row, readScalar(wave, source));
  wave.launch->helpers->blend(wave.row(inst.dst[0].index), row, wave.exec(), 1);
}

} // namespace

void addCrossLaneOpcodes(OpcodeTable &table) {
  static const struct {
    const char *name;
    OpClass cls;
    Handler handler;
  } rows[] = {{"v_readfirstlane_b32", OpClass::VectorAlu, readFirstLane},
              {"v_readlane_b32", OpClass::VectorAlu, readLane},
              {"v_writelane_b32", OpClass::VectorAlu, writeLane},
              {"v_swap_b32", OpClass::VectorAlu, exchange},
              {"v_permlane16_swap_b32", OpClass::VectorAlu, permlane16Swap},
              {"v_permlane32_swap_b32", OpClass::VectorAlu, permlane32Swap},
              {"v_accvgpr_read_b32", OpClass::VectorAlu, copyRow},
              {"v_accvgpr_write_b32", OpClass::VectorAlu, copyRow},
              {"v_accvgpr_mov_b32", OpClass::VectorAlu, copyRow},
              {"v_permlane16_b32", OpClass::VectorAlu,
               [](Wave &wave, const Instruction &inst) { permlane16(wave, inst, 0, false); }},
              {"v_permlanex16_b32", OpClass::VectorAlu,
               [](Wave &wave, const Instruction &inst) { permlane16(wave, inst, 16, false); }},
              {"v_permlane16_var_b32", OpClass::VectorAlu,
               [](Wave &wave, const Instruction &inst) { permlane16(wave, inst, 0, true); }},
              {"v_permlanex16_var_b32", OpClass::VectorAlu,
               [](Wave &wave, const Instruction &inst) { permlane16(wave, inst, 16, true); }},
              {"v_permlane64_b32", OpClass::VectorAlu, permlane64},
              {"v_swap_b16", OpClass::VectorAlu, exchangeHalves},
              {"ds_bpermute_b32", OpClass::Lds, bpermute},
              {"ds_permute_b32", OpClass::Lds, permute},
              {"ds_swizzle_b32", OpClass::Lds, swizzle}};
  for (const auto &row : rows)
    table.add({row.name, row.cls, row.handler, nullptr, 0, Fidelity::Exact});
  table.add({"ds_bpermute_fi_b32", OpClass::Lds, bpermute, nullptr, 1, Fidelity::Exact});
}

} // namespace flyemu
