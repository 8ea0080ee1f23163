// SPDX-License-Identifier: Apache-2.0
//
// Scaled conversions of many numbers a lane between small formats, packed without gaps, and wider
// ones: gfx950's of 32 (v_cvt_scalef32_pk32_*, sr_pk32_*, 2xpk16_*), and gfx1250's of 8, or of 16
// in formats of 6 bits (v_cvt_scalef32_pk8_*, pk16_*, v_cvt_scale_pk8_*, pk16_*).
//
// The rules of lanes/convert_scaled.cpp hold, for gfx1250 as well, which is assumed; one random
// number rounds all of a lane. gfx1250's widening ones take E8M0 codes from lanes and bytes that
// scale_sel names as MLIR's amdgpu.scaled_ext_packed_matrix says.
#include <cmath>
#include <cstring>

#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "support/format.h"

namespace flyemu {
namespace {

constexpr unsigned kMostNumbers = 32;
constexpr uint32_t kFp16Overflow = 1U << 23; ///< of MODE: what is too large saturates

/// What a handler converts, from its opcode's parameter.
enum class Wide : uint32_t { F32, F16, Bf16 };
struct Conversion {
  unsigned format; ///< the small one, as LaneHelpers numbers it
  Wide wide;
  unsigned count; ///< numbers of a lane

  static Conversion of(const Instruction &inst) {
    const uint32_t parameter = inst.opcode->parameter;
    return {parameter & 0xffU, static_cast<Wide>(parameter >> 8 & 0xffU), parameter >> 16};
  }
  uint32_t parameter() const { return format | static_cast<uint32_t>(wide) << 8 | count << 16; }
  unsigned bits() const { return format < 2 ? 8 : format < 4 ? 6 : 4; }
  unsigned wideBits() const { return wide == Wide::F32 ? 32 : 16; }
  unsigned packedRows() const { return count * bits() / 32; }
  unsigned wideRows() const { return count * wideBits() / 32; }
};

uint32_t lane32(const Wave &wave, const Operand &operand, unsigned lane) {
  return operand.isVector() ? wave.row(operand.index)[lane] : readScalar(wave, operand);
}

/// The code 0 of E8M0 is 2^-127, the code 255 NaN.
double scaleOfCode(uint32_t code) {
  return code == 0xff ? std::nan("") : std::ldexp(1.0, static_cast<int>(code) - 127);
}

/// The lane's scale: the exponent of a float.
double scaleOf(const Wave &wave, const Operand &operand, unsigned lane) {
  return scaleOfCode(lane32(wave, operand, lane) >> 23 & 0xffU);
}

/// gfx1250's: an E8M0 code of one of the 16 lanes of a half of the wave. Numbers of 8 bits share a
/// byte between the halves of the wave; of smaller ones the second half has the next byte, or with
/// blocks of 16 the one after that.
double selectedScale(const Wave &wave, const Instruction &inst, unsigned bits, unsigned lane) {
  const unsigned select = inst.modifiers.byteSelect;
  const bool blocksOf16 = (select & 1U) != 0;
  unsigned byte = 0;
  bool upper = false;
  if (bits == 8) {
    byte = select >> 1 & 3U;
    upper = (select & 8U) != 0;
    if (blocksOf16)
      throw Fault{"scale_sel of blocks of 16 numbers of 8 bits is not modelled"};
  } else {
    if (select > 7)
      throw Fault{"scale_sel above 7 of numbers of less than 8 bits has no meaning"};
    upper = (select & 4U) != 0;
    const unsigned second = lane / 16;
    byte = blocksOf16 ? (select >> 1 & 1U) + 2 * second : (select & 2U) + second;
  }
  const uint32_t word = lane32(wave, inst.src[1], lane % 16 + (upper ? 16 : 0));
  return scaleOfCode(word >> (8 * byte) & 0xffU);
}

/// The registers of a lane as one string of bits, copied because results may overlap sources.
struct LaneBits {
  uint32_t words[kMostNumbers] = {};

  uint32_t get(unsigned bit, unsigned bits) const {
    uint64_t value = words[bit / 32];
    if (bit / 32 + 1 < kMostNumbers)
      value |= uint64_t{words[bit / 32 + 1]} << 32;
    return static_cast<uint32_t>(value >> (bit % 32) & ((uint64_t{1} << bits) - 1));
  }
  void put(unsigned bit, unsigned bits, uint32_t value) {
    for (unsigned i = 0; i < bits; ++i)
      words[(bit + i) / 32] |= (value >> i & 1U) << ((bit + i) % 32);
  }
};

LaneBits readLane(const uint32_t *rows, unsigned count, unsigned lane) {
  LaneBits out;
  for (unsigned i = 0; i < count; ++i)
    out.words[i] = rows[i * kLanes + lane];
  return out;
}

void writeLane(uint32_t *rows, unsigned count, unsigned lane, const LaneBits &bits) {
  for (unsigned i = 0; i < count; ++i)
    rows[i * kLanes + lane] = bits.words[i];
}

float halfAt(const LaneHelpers &helpers, uint32_t bits, Wide wide) {
  alignas(64) uint16_t in[16] = {static_cast<uint16_t>(bits)};
  alignas(64) float out[16];
  (wide == Wide::F16 ? helpers.widenF16 : helpers.widenBf16)(out, in, 16);
  return out[0];
}

template <typename ScaleOf>
void widenLanes(Wave &wave, const Instruction &inst, ScaleOf &&scaleOfLane) {
  const LaneHelpers &helpers = *wave.launch->helpers;
  const Conversion c = Conversion::of(inst);
  const uint32_t *from = wave.row(inst.src[0].index);
  uint32_t *to = wave.row(inst.dst[0].index);
  double scales[kLanes]; // the result may lie where the scales are
  forEachLane(wave.exec(), [&](unsigned lane) { scales[lane] = scaleOfLane(lane); });
  forEachLane(wave.exec(), [&](unsigned lane) {
    const LaneBits codes = readLane(from, c.packedRows(), lane);
    LaneBits out;
    for (unsigned i = 0; i < c.count; ++i) {
      const float value = helpers.decodeSmall(codes.get(i * c.bits(), c.bits()), c.format, true);
      const auto scaled = static_cast<float>(static_cast<double>(value) * scales[lane]);
      uint32_t bits = 0;
      std::memcpy(&bits, &scaled, 4);
      if (std::isnan(scaled))
        bits = 0x7fc00000U;
      if (c.wide == Wide::F16)
        bits = std::isnan(scaled) ? 0x7e00U : helpers.narrowF16(scaled);
      else if (c.wide == Wide::Bf16)
        bits = std::isnan(scaled) ? 0x7fc0U : helpers.narrowBf16(scaled);
      out.put(i * c.wideBits(), c.wideBits(), bits);
    }
    writeLane(to, c.wideRows(), lane, out);
  });
}

void widen(Wave &wave, const Instruction &inst) {
  widenLanes(wave, inst, [&](unsigned lane) { return scaleOf(wave, inst.src[1], lane); });
}
void widenSelected(Wave &wave, const Instruction &inst) {
  if (wave.lanes() != 32)
    throw Fault{"scales that lanes share are for waves of 32 lanes"};
  const unsigned bits = Conversion::of(inst).bits();
  widenLanes(wave, inst, [&](unsigned lane) { return selectedScale(wave, inst, bits, lane); });
}

float numberAt(const LaneHelpers &helpers, const LaneBits &values, unsigned index, Wide wide) {
  if (wide != Wide::F32)
    return halfAt(helpers, values.get(index * 16, 16), wide);
  float value = 0;
  std::memcpy(&value, &values.words[index], sizeof value);
  return value;
}

/// `random` is the operand with the random bits, or null for rounding to nearest.
void encodeLanes(Wave &wave, const Instruction &inst, const Operand &scaleOperand,
                 const Operand *random) {
  const LaneHelpers &helpers = *wave.launch->helpers;
  const Conversion c = Conversion::of(inst);
  // f32 in two operands, one after the other
  const bool halves = c.count == 32 && inst.src[1].dwords == c.count / 2;
  const bool saturate = (wave.mode & kFp16Overflow) != 0;
  uint32_t *to = wave.row(inst.dst[0].index);
  forEachLane(wave.exec(), [&](unsigned lane) {
    LaneBits values = readLane(wave.row(inst.src[0].index), inst.src[0].dwords, lane);
    if (halves)
      for (unsigned i = 0; i < c.count / 2; ++i)
        values.words[c.count / 2 + i] = wave.row(inst.src[1].index)[i * kLanes + lane];
    const double scale = scaleOf(wave, scaleOperand, lane);
    const uint32_t bits = random != nullptr ? lane32(wave, *random, lane) : 0;
    LaneBits out;
    for (unsigned i = 0; i < c.count; ++i) {
      const auto scaled = static_cast<float>(numberAt(helpers, values, i, c.wide) / scale);
      if (std::isnan(scaled) && c.bits() != 8)
        throw Fault{format("a NaN into a %u-bit format, which has none, is not modelled", c.bits()),
                    static_cast<int>(lane)};
      out.put(i * c.bits(), c.bits(),
              helpers.encodeSmall(scaled, c.format, saturate, random != nullptr, bits));
    }
    writeLane(to, c.packedRows(), lane, out);
  });
}

void narrow(Wave &wave, const Instruction &inst) {
  encodeLanes(wave, inst, inst.src[inst.srcCount - 1U], nullptr);
}
void narrowStochastic(Wave &wave, const Instruction &inst) {
  encodeLanes(wave, inst, inst.src[2], &inst.src[1]);
}

} // namespace

void addScaledBlockOpcodes(OpcodeTable &table) {
  static const char *const kFormats[] = {"fp8", "bf8", "fp6", "bf6", "fp4"};
  static const struct {
    const char *name;
    Wide wide;
  } wides[] = {{"f32", Wide::F32}, {"f16", Wide::F16}, {"bf16", Wide::Bf16}};
  const auto add = [&](const std::string &name, Handler handler, const Conversion &conversion) {
    table.add(
        {name, OpClass::VectorAlu, handler, nullptr, conversion.parameter(), Fidelity::Assumed});
  };
  for (unsigned format = 0; format < 5; ++format)
    for (const auto &wide : wides) {
      const std::string small = kFormats[format];
      const std::string down = small + "_" + wide.name;
      const std::string up = std::string(wide.name) + "_" + small;
      const bool sixBits = format == 2 || format == 3;
      const std::string many = sixBits ? "pk16_" : "pk8_";
      const Conversion some = {format, wide.wide, sixBits ? 16U : 8U};
      add("v_cvt_scale_" + many + up, widenSelected, some);
      add("v_cvt_scalef32_" + many + down, narrow, some);
      add("v_cvt_scalef32_sr_" + many + down, narrowStochastic, some);
      if (!sixBits)
        continue;
      const Conversion all = {format, wide.wide, 32};
      add("v_cvt_scalef32_pk32_" + up, widen, all);
      add(std::string("v_cvt_scalef32_") + (wide.wide == Wide::F32 ? "2xpk16_" : "pk32_") + down,
          narrow, all);
      add("v_cvt_scalef32_sr_pk32_" + down, narrowStochastic, all);
    }
}

} // namespace flyemu
