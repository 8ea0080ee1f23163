// SPDX-License-Identifier: Apache-2.0
//
// gfx950's scaled conversions of one or two numbers (v_cvt_scalef32_*). The scale is the exponent
// part of a float (the form that an E8M0 code takes when it is shifted into the exponent), whatever
// sign and mantissa are; widening multiplies by it, narrowing divides by it, each with one
// rounding. Both numbers of a stochastic pair are rounded by the same random bits. What AMD's
// documents leave open is refused: NaNs into formats that have none.
#include "execute/lanes/small_float.h"

namespace flyemu::FLYEMU_LANES {
namespace {

constexpr Fidelity kAssumed = Fidelity::Assumed;

enum class Wide { F32, F16, BF16 };
enum class Small { Fp8, Bf8, Fp4 };

template <Small small> const SmallFormat &formatOf() {
  return small == Small::Fp8 ? kFp8Ocp : small == Small::Bf8 ? kBf8Ocp : kFp4;
}

/// A lane's scale: the code 0 of E8M0 is 2^-127, the code 255 NaN.
double scaleOf(uint32_t bits) {
  const uint32_t exponent = bits >> 23 & 0xffU;
  if (exponent == 0xff)
    return __builtin_nan("");
  return bitCast<double>(static_cast<uint64_t>(static_cast<int64_t>(exponent) - 127 + 1023) << 52);
}

double inverseOf(uint32_t bits) { return 1.0 / scaleOf(bits); }

/// A number of a packed or single source, with its modifiers.
template <Wide wide>
float sourceOf(const LaneArguments &x, unsigned source, unsigned part, unsigned lane) {
  const uint32_t bits = x.s[source][lane];
  float v = wide == Wide::F32   ? bitCast<float>(bits)
            : wide == Wide::F16 ? halfToFloat(bits >> (16 * part) & 0xffffU)
                                : bf16ToFloat(bits >> (16 * part));
  v = (x.abs >> source & 1U) != 0 ? absolute(v) : v;
  return (x.neg >> source & 1U) != 0 ? -v : v;
}

template <Small small>
uint32_t narrowed(LaneArguments &x, float value, double inverse, unsigned lane, bool stochastic,
                  uint32_t random) {
  const auto scaled = static_cast<float>(static_cast<double>(value) * inverse);
  if (small == Small::Fp4 && isNan(scaled) && (x.exec >> lane & 1U) != 0)
    x.fault = "a NaN into fp4, which has none, is not modelled";
  return encodeSmall(scaled, formatOf<small>(), x.fp16Overflow, stochastic, random);
}

template <Wide wide> uint32_t widened(float value, double scale) {
  const auto r = static_cast<float>(static_cast<double>(value) * scale);
  if constexpr (wide == Wide::F32)
    return bitCast<uint32_t>(nanRule(r, value));
  else if constexpr (wide == Wide::F16)
    return floatToHalf(nanRule(r, value));
  else
    return floatToBf16(nanRule(r, value));
}

uint32_t insert(uint32_t old, uint32_t value, unsigned shift, unsigned bits) {
  const uint32_t mask = ((1U << bits) - 1U) << shift;
  return (old & ~mask) | (value << shift & mask);
}

/// Where op_sel puts a byte, and takes one from.
unsigned byteOfResult(const LaneArguments &x) {
  return (x.opSel >> 2 & 1U) + ((x.opSelHi & 1U) != 0 ? 2U : 0U);
}
unsigned byteOfSource(const LaneArguments &x) { return (x.opSel & 1U) + (x.opSel >> 1 & 1U) * 2; }

/// Two numbers to two bytes (a half of the register) or two nibbles (a byte of it).
template <Small small, Wide wide> void narrowPair(LaneArguments &x) {
  constexpr unsigned kScale = wide == Wide::F32 ? 2 : 1;
  constexpr unsigned kBits = small == Small::Fp4 ? 4 : 8;
  const unsigned shift = small == Small::Fp4 ? 8 * byteOfResult(x) : 16 * (x.opSelHi & 1U);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const double inverse = inverseOf(x.s[kScale][lane]);
    const float first = sourceOf<wide>(x, 0, 0, lane);
    const float second =
        wide == Wide::F32 ? sourceOf<wide>(x, 1, 0, lane) : sourceOf<wide>(x, 0, 1, lane);
    const uint32_t pair = narrowed<small>(x, first, inverse, lane, false, 0) |
                          narrowed<small>(x, second, inverse, lane, false, 0) << kBits;
    x.d[lane] = insert(x.s[kScale + 1][lane], pair, shift, 2 * kBits);
  }
}

/// One number to a byte, rounded by the random number in the second source.
template <Small small, Wide wide> void narrowStochastic(LaneArguments &x) {
  const unsigned part = x.opSel & 1U;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const double inverse = inverseOf(x.s[2][lane]);
    const uint32_t code =
        narrowed<small>(x, sourceOf<wide>(x, 0, part, lane), inverse, lane, true, x.s[1][lane]);
    x.d[lane] = insert(x.s[3][lane], code, 8 * byteOfResult(x), 8);
  }
}

/// Two numbers (an f32 pair lies in two registers) to two nibbles, both rounded by the random
/// number in the second source.
template <Small small, Wide wide> void narrowPairStochastic(LaneArguments &x) {
  constexpr unsigned kBits = 4;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const double inverse = inverseOf(x.s[2][lane]);
    uint32_t pair = 0;
    for (unsigned part = 0; part < 2; ++part) {
      const unsigned row = wide == Wide::F32 ? part * kLanes : 0;
      const float value = sourceOf<wide>(x, 0, part, row + lane);
      pair |= narrowed<small>(x, value, inverse, lane, true, x.s[1][lane]) << (part * kBits);
    }
    x.d[lane] = insert(x.s[3][lane], pair, 8 * byteOfResult(x), 2 * kBits);
  }
}

/// One byte to a number; halves go to a half of the register.
template <Small small, Wide wide> void widenOne(LaneArguments &x) {
  const unsigned shift = 8 * byteOfSource(x);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const double scale = scaleOf(x.s[1][lane]);
    const uint32_t value =
        widened<wide>(decodeSmall(x.s[0][lane] >> shift & 0xffU, formatOf<small>()), scale);
    x.d[lane] = wide == Wide::F32 ? value : insert(x.s[2][lane], value, 16 * (x.opSelHi & 1U), 16);
  }
}

/// Two bytes (of a half) or two nibbles (of a byte) to two numbers.
template <Small small, Wide wide> void widenPair(LaneArguments &x) {
  constexpr unsigned kBits = small == Small::Fp4 ? 4 : 8;
  const unsigned shift = small == Small::Fp4 ? 8 * byteOfSource(x) : 16 * (x.opSel & 1U);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const double scale = scaleOf(x.s[1][lane]);
    const uint32_t codes = x.s[0][lane] >> shift;
    constexpr uint32_t kMask = (1U << kBits) - 1U;
    const uint32_t first = widened<wide>(decodeSmall(codes & kMask, formatOf<small>()), scale);
    const uint32_t second =
        widened<wide>(decodeSmall(codes >> kBits & kMask, formatOf<small>()), scale);
    if (wide == Wide::F32) {
      x.d[lane] = first;
      x.d[kLanes + lane] = second;
    } else {
      x.d[lane] = first | second << 16;
    }
  }
}

constexpr LaneRow row(const char *name, LaneFunction function, Type dst, uint8_t sources) {
  return {name,
          function,
          dst,
          {Type::U32, Type::U32, sources > 2 ? Type::U32 : Type::None,
           sources > 3 ? Type::U32 : Type::None},
          sources,
          kOwnOpSel,
          kAssumed};
}

#define NARROW_PAIR(SMALL, small, WIDE, wide, COUNT)                                               \
  row("v_cvt_scalef32_pk_" small "_" wide, narrowPair<Small::SMALL, Wide::WIDE>, Type::B32, COUNT)
#define STOCHASTIC(SMALL, small, WIDE, wide)                                                       \
  row("v_cvt_scalef32_sr_" small "_" wide, narrowStochastic<Small::SMALL, Wide::WIDE>, Type::B32, 4)
// LLVM's disassembler leaves out the old value of the destination.
#define STOCHASTIC_PAIR(WIDE, wide)                                                                \
  LaneRow {                                                                                        \
    "v_cvt_scalef32_sr_pk_fp4_" wide, narrowPairStochastic<Small::Fp4, Wide::WIDE>, Type::B32,     \
        {Wide::WIDE == Wide::F32 ? Type::B64 : Type::U32, Type::U32, Type::U32, Type::U32}, 4,     \
        kOwnOpSel | kReadsDst, kAssumed                                                            \
  }
#define WIDEN_PAIR(SMALL, small, WIDE, wide)                                                       \
  row("v_cvt_scalef32_pk_" wide "_" small, widenPair<Small::SMALL, Wide::WIDE>,                    \
      Wide::WIDE == Wide::F32 ? Type::PkB32 : Type::B32, 2)
#define WIDEN_ONE(SMALL, small, WIDE, wide, COUNT)                                                 \
  row("v_cvt_scalef32_" wide "_" small, widenOne<Small::SMALL, Wide::WIDE>, Type::B32, COUNT)
#define PAIRS_OF(SMALL, small)                                                                     \
  NARROW_PAIR(SMALL, small, F32, "f32", 4), NARROW_PAIR(SMALL, small, F16, "f16", 3),              \
      NARROW_PAIR(SMALL, small, BF16, "bf16", 3), WIDEN_PAIR(SMALL, small, F32, "f32"),            \
      WIDEN_PAIR(SMALL, small, F16, "f16"), WIDEN_PAIR(SMALL, small, BF16, "bf16")
#define BYTES_OF(SMALL, small)                                                                     \
  STOCHASTIC(SMALL, small, F32, "f32"), STOCHASTIC(SMALL, small, F16, "f16"),                      \
      STOCHASTIC(SMALL, small, BF16, "bf16"), WIDEN_ONE(SMALL, small, F32, "f32", 2),              \
      WIDEN_ONE(SMALL, small, F16, "f16", 3)

const LaneRow kRows[] = {
    PAIRS_OF(Fp8, "fp8"),        PAIRS_OF(Bf8, "bf8"),          PAIRS_OF(Fp4, "fp4"),
    BYTES_OF(Fp8, "fp8"),        BYTES_OF(Bf8, "bf8"),          STOCHASTIC_PAIR(F32, "f32"),
    STOCHASTIC_PAIR(F16, "f16"), STOCHASTIC_PAIR(BF16, "bf16"),
};

} // namespace

extern const LaneRows kConvertScaledRows;
const LaneRows kConvertScaledRows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES
