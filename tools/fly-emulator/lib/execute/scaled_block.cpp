// SPDX-License-Identifier: Apache-2.0
//
// gfx950's scaled conversions of 32 numbers a lane between fp6 or bf6, packed in six registers,
// and wider formats (v_cvt_scalef32_pk32_*, sr_pk32_*, 2xpk16_*). The rules of
// lanes/convert_scaled.cpp hold; one random number rounds all 32.
#include <cmath>
#include <cstring>

#include "execute/memory_access.h"
#include "execute/opcode.h"

namespace flyemu {
namespace {

constexpr unsigned kCount = 32;
constexpr unsigned kBits = 6;
constexpr unsigned kPackedRows = kCount * kBits / 32;

/// The handler's parameter: the small format as LaneHelpers numbers it, and the wide one.
enum class Wide : uint32_t { F32, F16, Bf16 };
constexpr uint32_t parameterOf(unsigned format, Wide wide) {
  return format | static_cast<uint32_t>(wide) << 8;
}
unsigned formatOf(const Instruction &inst) { return inst.opcode->parameter & 0xffU; }
Wide wideOf(const Instruction &inst) { return static_cast<Wide>(inst.opcode->parameter >> 8); }

uint32_t lane32(const Wave &wave, const Operand &operand, unsigned lane) {
  return operand.isVector() ? wave.row(operand.index)[lane] : readScalar(wave, operand);
}

/// The lane's scale: the code 0 of E8M0 is 2^-127, the code 255 NaN.
double scaleOf(const Wave &wave, const Operand &operand, unsigned lane) {
  const uint32_t exponent = lane32(wave, operand, lane) >> 23 & 0xffU;
  return exponent == 0xff ? std::nan("") : std::ldexp(1.0, static_cast<int>(exponent) - 127);
}

/// The registers of a lane as one string of bits, copied because results may overlap sources.
struct LaneBits {
  uint32_t words[kCount] = {};

  uint32_t get(unsigned bit, unsigned bits) const {
    uint64_t value = words[bit / 32];
    if (bit / 32 + 1 < kCount)
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

void widen(Wave &wave, const Instruction &inst) {
  const LaneHelpers &helpers = *wave.launch->helpers;
  const Wide wide = wideOf(inst);
  const unsigned width = wide == Wide::F32 ? 32 : 16;
  const uint32_t *from = wave.row(inst.src[0].index);
  uint32_t *to = wave.row(inst.dst[0].index);
  forEachLane(wave.exec(), [&](unsigned lane) {
    const LaneBits codes = readLane(from, kPackedRows, lane);
    const double scale = scaleOf(wave, inst.src[1], lane);
    LaneBits out;
    for (unsigned i = 0; i < kCount; ++i) {
      const float value = helpers.decodeSmall(codes.get(i * kBits, kBits), formatOf(inst), true);
      const auto scaled = static_cast<float>(static_cast<double>(value) * scale);
      uint32_t bits = 0;
      std::memcpy(&bits, &scaled, 4);
      if (std::isnan(scaled))
        bits = 0x7fc00000U;
      if (wide == Wide::F16)
        bits = std::isnan(scaled) ? 0x7e00U : helpers.narrowF16(scaled);
      else if (wide == Wide::Bf16)
        bits = std::isnan(scaled) ? 0x7fc0U : helpers.narrowBf16(scaled);
      out.put(i * width, width, bits);
    }
    writeLane(to, kCount * width / 32, lane, out);
  });
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
  const Wide wide = wideOf(inst);
  const bool halves = inst.src[1].dwords == kCount / 2; // f32 in two operands, one after the other
  uint32_t *to = wave.row(inst.dst[0].index);
  forEachLane(wave.exec(), [&](unsigned lane) {
    LaneBits values = readLane(wave.row(inst.src[0].index), inst.src[0].dwords, lane);
    if (halves)
      for (unsigned i = 0; i < kCount / 2; ++i)
        values.words[kCount / 2 + i] = wave.row(inst.src[1].index)[i * kLanes + lane];
    const double scale = scaleOf(wave, scaleOperand, lane);
    const uint32_t bits = random != nullptr ? lane32(wave, *random, lane) : 0;
    LaneBits out;
    for (unsigned i = 0; i < kCount; ++i) {
      const auto scaled = static_cast<float>(numberAt(helpers, values, i, wide) / scale);
      if (std::isnan(scaled))
        throw Fault{"a NaN into a 6-bit format, which has none, is not modelled",
                    static_cast<int>(lane)};
      out.put(i * kBits, kBits,
              helpers.encodeSmall(scaled, formatOf(inst), random != nullptr, bits));
    }
    writeLane(to, kPackedRows, lane, out);
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
  static const struct {
    const char *name;
    unsigned format;
  } formats[] = {{"fp6", 2}, {"bf6", 3}};
  static const struct {
    const char *name;
    Wide wide;
  } wides[] = {{"f32", Wide::F32}, {"f16", Wide::F16}, {"bf16", Wide::Bf16}};
  for (const auto &format : formats)
    for (const auto &wide : wides) {
      const std::string stem = "v_cvt_scalef32_";
      const std::string pair = std::string(format.name) + "_" + wide.name;
      const uint32_t parameter = parameterOf(format.format, wide.wide);
      table.add({stem + "pk32_" + wide.name + "_" + format.name, OpClass::VectorAlu, widen, nullptr,
                 parameter, Fidelity::Assumed});
      table.add({stem + (wide.wide == Wide::F32 ? "2xpk16_" : "pk32_") + pair, OpClass::VectorAlu,
                 narrow, nullptr, parameter, Fidelity::Assumed});
      table.add({stem + "sr_pk32_" + pair, OpClass::VectorAlu, narrowStochastic, nullptr, parameter,
                 Fidelity::Assumed});
    }
}

} // namespace flyemu
