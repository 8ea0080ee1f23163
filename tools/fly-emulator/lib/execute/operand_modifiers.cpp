// SPDX-License-Identifier: Apache-2.0
#include "execute/operand_modifiers.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "execute/lane_tables.h"
#include "execute/vector_alu.h"
#include "execute/wave.h"

namespace flyemu {
namespace {

float halfBitsToFloat(uint16_t bits) {
  float out;
  // Sixteen at a time is the helper's unit.
  alignas(64) uint16_t in[16] = {bits};
  alignas(64) float wide[16];
  laneTable().helpers.widenF16(wide, in, 16);
  out = wide[0];
  return out;
}

constexpr double kOutputFactors[] = {1.0, 2.0, 4.0, 0.5};

/// MODE lets an output modifier act only where the result's denormals are flushed and IEEE mode is
/// off; everywhere else the hardware ignores it.
uint8_t outputModifierOf(const Modifiers &m, Type type, uint32_t mode) {
  const bool single = type == Type::F32 || type == Type::PkF32;
  const bool keepsDenormals = (mode & (single ? 1U << 5 : 1U << 7)) != 0;
  const bool ieee = (mode & (1U << 9)) != 0;
  return keepsDenormals || ieee ? 0 : m.outputModifier;
}

/// Output modifier (times 2, 4, 1/2), which makes -0 and denormals +0, and clamp to [0, 1].
template <typename T> T finish(T value, uint8_t outputModifier, bool clamp, bool dx10Clamp) {
  if (outputModifier != 0) {
    value = static_cast<T>(value * static_cast<T>(kOutputFactors[outputModifier]));
    if (std::fabs(value) < std::numeric_limits<T>::min())
      value = T(0);
  }
  if (!clamp)
    return value;
  if (std::isnan(value))
    return dx10Clamp ? T(0) : value;
  return value < T(0) ? T(0) : (value > T(1) ? T(1) : (value == T(0) ? T(0) : value));
}

uint16_t finishHalf(uint16_t bits, uint8_t outputModifier, bool clamp, bool dx10Clamp) {
  constexpr uint16_t kSmallestNormal = 0x400;
  if (outputModifier != 0) {
    const auto factor = static_cast<float>(kOutputFactors[outputModifier]);
    bits = laneTable().helpers.narrowF16(halfBitsToFloat(bits) * factor);
    if ((bits & 0x7fffU) < kSmallestNormal)
      bits = 0;
  }
  if (!clamp)
    return bits;
  const float value = halfBitsToFloat(bits);
  if (std::isnan(value))
    return dx10Clamp ? 0 : bits;
  if ((bits & 0x8000U) != 0)
    return 0;
  return value > 1.0F ? 0x3c00 : bits;
}

} // namespace

void applyFloatModifiers(uint32_t *rows, Type type, uint8_t modifiers) {
  const unsigned top = type == Type::F64 ? kLanes : 0;
  const uint32_t sign = isHalf(type) ? 0x8000U : 0x80000000U;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t value = rows[top + lane];
    if ((modifiers & modifier::kAbs) != 0)
      value &= ~sign;
    if ((modifiers & modifier::kNeg) != 0)
      value ^= sign;
    rows[top + lane] = value;
  }
}

void selectPackedHalves(uint32_t *rows, Type type, uint8_t modifiers) {
  const unsigned lowShift = (modifiers & modifier::kOpSel) != 0 ? 16 : 0;
  const unsigned highShift = (modifiers & modifier::kOpSelHi) != 0 ? 16 : 0;
  const bool floats = type != Type::PkB16;
  const uint32_t flip = (floats && (modifiers & modifier::kNeg) != 0 ? 0x8000U : 0U) |
                        (floats && (modifiers & modifier::kAbs) != 0 ? 0x80000000U : 0U);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint32_t value = rows[lane];
    rows[lane] = (((value >> lowShift) & 0xffffU) | ((value >> highShift) & 0xffffU) << 16) ^ flip;
  }
}

void selectPackedFloats(uint32_t *rows, uint8_t modifiers) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint32_t low = rows[lane];
    const uint32_t high = rows[kLanes + lane];
    uint32_t first = (modifiers & modifier::kOpSel) != 0 ? high : low;
    uint32_t second = (modifiers & modifier::kOpSelHi) != 0 ? high : low;
    if ((modifiers & modifier::kNeg) != 0)
      first ^= 0x80000000U;
    if ((modifiers & modifier::kAbs) != 0)
      second ^= 0x80000000U;
    rows[lane] = first;
    rows[kLanes + lane] = second;
  }
}

void finishFloat(uint32_t *rows, Type type, const Modifiers &modifiers, uint32_t mode) {
  const bool dx10 = (mode & (1U << 8)) != 0;
  const uint8_t outputModifier = outputModifierOf(modifiers, type, mode);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (type == Type::F32 || type == Type::PkF32) {
      for (unsigned i = 0; i < dwordsOf(type); ++i) {
        float value;
        std::memcpy(&value, rows + i * kLanes + lane, 4);
        value = finish(value, outputModifier, modifiers.clamp, dx10);
        std::memcpy(rows + i * kLanes + lane, &value, 4);
      }
    } else if (type == Type::F64) {
      uint64_t bits = rows[lane] | (uint64_t{rows[kLanes + lane]} << 32);
      double value;
      std::memcpy(&value, &bits, 8);
      value = finish(value, outputModifier, modifiers.clamp, dx10);
      std::memcpy(&bits, &value, 8);
      rows[lane] = static_cast<uint32_t>(bits);
      rows[kLanes + lane] = static_cast<uint32_t>(bits >> 32);
    } else if (type == Type::F16 || type == Type::PkF16) {
      const uint32_t value = rows[lane];
      const auto half = [&](uint32_t shift) {
        return uint32_t{finishHalf(static_cast<uint16_t>(value >> shift), outputModifier,
                                   modifiers.clamp, dx10)}
               << shift;
      };
      rows[lane] = half(0) | (type == Type::PkF16 ? half(16) : 0U);
    } else {
      throw Fault{"clamp or output modifier on a result that is no float is not modelled"};
    }
  }
}

bool isFlushed(Type type, uint32_t mode, bool result) {
  switch (type) {
  case Type::F32:
  case Type::PkF32:
    return (mode & (result ? 1U << 5 : 1U << 4)) == 0;
  case Type::F16:
  case Type::PkF16:
  case Type::F64:
    return (mode & (result ? 1U << 7 : 1U << 6)) == 0;
  default:
    return false;
  }
}

void flushDenormals(uint32_t *rows, Type type) {
  constexpr uint32_t kSign = 0x80000000U;
  // Loops that the compiler makes vectors of.
  if (type == Type::F64) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const uint32_t high = rows[kLanes + lane];
      const uint32_t kept = (high & 0x7ff00000U) != 0 ? ~0U : 0U;
      rows[kLanes + lane] = high & (kept | kSign);
      rows[lane] &= kept;
    }
  } else if (type == Type::F32 || type == Type::PkF32) {
    for (unsigned i = 0; i < dwordsOf(type) * kLanes; ++i)
      rows[i] = (rows[i] & 0x7f800000U) != 0 ? rows[i] : rows[i] & kSign;
  } else {
    const uint32_t high = type == Type::PkF16 ? 0x7c000000U : 0U;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const uint32_t value = rows[lane];
      const uint32_t low = (value & 0x7c00U) != 0 ? ~0U : 0xfffffc00U;
      rows[lane] = value & low & ((value & high) != 0 || high == 0 ? ~0U : 0xfc00ffffU);
    }
  }
}

void mergeHalf(uint32_t *result, const uint32_t *old, bool high) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result[lane] = high ? (old[lane] & 0xffffU) | result[lane] << 16
                        : (old[lane] & 0xffff0000U) | (result[lane] & 0xffffU);
}

} // namespace flyemu
