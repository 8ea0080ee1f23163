// SPDX-License-Identifier: Apache-2.0
#include "execute/wave_elements.h"

#include <cmath>
#include <cstring>

#include "execute/lane_tables.h"

namespace flyemu {
namespace {

float wordValue(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

float halfValue(const Wave &wave, uint32_t bits, WaveElement element) {
  alignas(64) uint16_t in[16] = {static_cast<uint16_t>(bits)};
  alignas(64) float out[16];
  const LaneHelpers &helpers = *wave.launch->helpers;
  (element == WaveElement::Bf16 ? helpers.widenBf16 : helpers.widenF16)(out, in, 16);
  return out[0];
}

} // namespace

unsigned bitsOf(WaveElement element) {
  switch (element) {
  case WaveElement::Fp8:
  case WaveElement::Bf8:
  case WaveElement::I8:
    return 8;
  case WaveElement::Fp6:
  case WaveElement::Bf6:
    return 6;
  case WaveElement::Fp4:
  case WaveElement::I4:
    return 4;
  case WaveElement::F16:
  case WaveElement::Bf16:
    return 16;
  case WaveElement::F32:
  case WaveElement::I32:
    return 32;
  }
  return 32;
}

const uint32_t *matrixRows(const Wave &wave, const Operand &operand) {
  if (!operand.isVector())
    throw Fault{"a matrix operand is no vector register"};
  return wave.row(operand.index);
}

uint32_t fieldOf(const uint32_t *rows, unsigned lane, unsigned element, unsigned bits) {
  const unsigned bit = element * bits;
  uint64_t word = rows[size_t{bit / 32} * kLanes + lane];
  if (bit % 32 + bits > 32) // of six bits, some lie in two registers
    word |= uint64_t{rows[size_t{bit / 32 + 1} * kLanes + lane]} << 32;
  return static_cast<uint32_t>(word >> (bit % 32) & ((uint64_t{1} << bits) - 1));
}

float floatValue(const Wave &wave, uint32_t bits, WaveElement element, unsigned e,
                 uint8_t modifiers) {
  float value = 0;
  switch (element) {
  case WaveElement::F32:
    value = wordValue(bits);
    break;
  case WaveElement::F16:
  case WaveElement::Bf16:
    value = halfValue(wave, bits, element);
    break;
  default:
    return wave.launch->helpers->decodeSmall(bits, static_cast<unsigned>(element), true);
  }
  // neg_lo and neg_hi of pairs
  const uint8_t negation =
      e % 2 == 0 || element == WaveElement::F32 ? modifier::kNeg : modifier::kAbs;
  return (modifiers & negation) != 0 ? -value : value;
}

int32_t integerValue(uint32_t bits, WaveElement element, bool isSigned) {
  const uint32_t sign = 1U << (bitsOf(element) - 1);
  return static_cast<int32_t>(isSigned ? (bits ^ sign) - sign : bits);
}

float loadC(const Wave &wave, const Operand &c, WaveElement element, const WaveSlot &slot) {
  const uint32_t word = c.isVector()
                            ? wave.row(c.index)[size_t{slot.reg} * kLanes + slot.lane] >> slot.shift
                            : readScalar(wave, c);
  float value = element == WaveElement::F32 ? wordValue(word) : halfValue(wave, word, element);
  if ((c.modifiers & modifier::kAbs) != 0)
    value = std::fabs(value);
  return (c.modifiers & modifier::kNeg) != 0 ? -value : value;
}

void storeD(Wave &wave, const Operand &d, WaveElement element, const WaveSlot &slot, float value) {
  uint32_t &to = wave.row(d.index)[size_t{slot.reg} * kLanes + slot.lane];
  uint32_t bits = 0x7fc00000U; // of every NaN
  if (!std::isnan(value))
    std::memcpy(&bits, &value, sizeof bits);
  if (element == WaveElement::F32) {
    to = bits;
    return;
  }
  const LaneHelpers &helpers = *wave.launch->helpers;
  const uint32_t half = element == WaveElement::F16 ? helpers.narrowF16(wordValue(bits))
                                                    : helpers.narrowBf16(wordValue(bits));
  to = (to & ~(0xffffU << slot.shift)) | half << slot.shift;
}

} // namespace flyemu
