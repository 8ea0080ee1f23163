// SPDX-License-Identifier: Apache-2.0
//
// Loading, storing and the basic arithmetic of lane kernels, in the namespace of the host's
// instruction set that this file is compiled for.
#pragma once

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "execute/lanes/lane_kernel.h"

namespace flyemu::FLYEMU_LANES {

template <typename To, typename From> [[gnu::always_inline]] inline To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bit casts keep the size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

[[gnu::always_inline]] inline float halfToFloat(uint32_t half) {
#ifdef __F16C__
  return static_cast<float>(bitCast<_Float16>(static_cast<uint16_t>(half)));
#else
  const uint32_t sign = (half & 0x8000U) << 16;
  const uint32_t magnitude = half & 0x7fffU;
  // Normal numbers by moving the exponent, subnormal ones by a subtraction that normalises.
  const float normal = bitCast<float>((magnitude << 13) + (112U << 23));
  const float small = bitCast<float>((magnitude << 13) + (113U << 23)) - 6.103515625e-05F;
  uint32_t bits = bitCast<uint32_t>(magnitude < 0x400U ? small : normal);
  bits = magnitude >= 0x7c00U ? (0x7f800000U | ((magnitude & 0x3ffU) << 13)) : bits;
  return bitCast<float>(bits | sign);
#endif
}

/// The same, and a signalling NaN stays one, which the host's conversion would quiet.
[[gnu::always_inline]] inline float halfToFloatSignalling(uint32_t half) {
  const uint32_t bits = bitCast<uint32_t>(halfToFloat(half));
  const uint32_t magnitude = half & 0x7fffU;
  const bool signalling = magnitude > 0x7c00U && magnitude < 0x7e00U;
  return bitCast<float>(signalling ? bits & ~0x00400000U : bits);
}

/// Round to nearest, ties to even (with F16C: as MXCSR says); NaNs keep their payload's top bits.
[[gnu::always_inline]] inline uint32_t floatToHalf(float value) {
#ifdef __F16C__
  return bitCast<uint16_t>(static_cast<_Float16>(value));
#else
  const uint32_t bits = bitCast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t magnitude = bits & 0x7fffffffU;
  const uint32_t rounded = (magnitude + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
  const uint32_t normal = rounded - (112U << 10);
  // Adding 0.5 puts the result's unit in the last place at 2^-24.
  const uint32_t small = bitCast<uint32_t>(bitCast<float>(magnitude) + 0.5F) - 0x3f000000U;
  uint32_t half = magnitude < 0x38800000U ? small : normal;
  half = magnitude >= 0x477ff000U ? 0x7c00U : half;
  half = magnitude > 0x7f800000U ? (0x7e00U | ((magnitude >> 13) & 0x3ffU)) : half;
  return half | sign;
#endif
}

/// From double with a single rounding: the float in between is rounded to odd.
[[gnu::always_inline]] inline float doubleToFloatOdd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  uint32_t bits = bitCast<uint32_t>(nearest);
  const bool inexact = back != value && value == value;
  // Step towards zero if rounding went away from it, then set the lowest bit.
  const bool away = (back < 0 ? -back : back) > (value < 0 ? -value : value);
  bits = inexact ? ((away ? bits - 1U : bits) | 1U) : bits;
  return bitCast<float>(bits);
}

[[gnu::always_inline]] inline float bf16ToFloat(uint32_t bits) {
  return bitCast<float>((bits & 0xffffU) << 16);
}

[[gnu::always_inline]] inline uint32_t floatToBf16(float value) {
  const uint32_t bits = bitCast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  return (bits & 0x7fffffffU) > 0x7f800000U ? (bits >> 16) | 0x40U : rounded;
}

// Type tags: `Value` is what expressions compute with.
struct U32 {
  using Value = uint32_t;
  static constexpr Type kType = Type::U32;
  [[gnu::always_inline]] static Value load(const uint32_t *p, unsigned l) { return p[l]; }
  [[gnu::always_inline]] static void store(uint32_t *p, unsigned l, Value v) { p[l] = v; }
};
struct B32 : U32 {
  static constexpr Type kType = Type::B32;
};
struct I32 {
  using Value = int32_t;
  static constexpr Type kType = Type::I32;
  [[gnu::always_inline]] static Value load(const uint32_t *p, unsigned l) {
    return static_cast<int32_t>(p[l]);
  }
  [[gnu::always_inline]] static void store(uint32_t *p, unsigned l, Value v) {
    p[l] = static_cast<uint32_t>(v);
  }
};
struct F32 {
  using Value = float;
  static constexpr Type kType = Type::F32;
  [[gnu::always_inline]] static Value load(const uint32_t *p, unsigned l) {
    return bitCast<float>(p[l]);
  }
  [[gnu::always_inline]] static void store(uint32_t *p, unsigned l, Value v) {
    p[l] = bitCast<uint32_t>(v);
  }
};
struct U16 {
  using Value = uint32_t;
  static constexpr Type kType = Type::U16;
  [[gnu::always_inline]] static Value load(const uint32_t *p, unsigned l) { return p[l] & 0xffffU; }
  [[gnu::always_inline]] static void store(uint32_t *p, unsigned l, Value v) { p[l] = v & 0xffffU; }
};
struct B16 : U16 {
  static constexpr Type kType = Type::B16;
};
struct I16 {
  using Value = int32_t;
  static constexpr Type kType = Type::I16;
  [[gnu::always_inline]] static Value load(const uint32_t *p, unsigned l) {
    return static_cast<int16_t>(p[l]);
  }
  [[gnu::always_inline]] static void store(uint32_t *p, unsigned l, Value v) {
    p[l] = static_cast<uint32_t>(v) & 0xffffU;
  }
};
struct F16 {
  using Value = float;
  static constexpr Type kType = Type::F16;
  [[gnu::always_inline]] static Value load(const uint32_t *p, unsigned l) {
    return halfToFloat(p[l]);
  }
  [[gnu::always_inline]] static void store(uint32_t *p, unsigned l, Value v) {
    p[l] = floatToHalf(v);
  }
};
/// For minimum and maximum, to which a signalling NaN matters.
struct F16Signalling : F16 {
  [[gnu::always_inline]] static Value load(const uint32_t *p, unsigned l) {
    return halfToFloatSignalling(p[l]);
  }
};
struct BF16 {
  using Value = float;
  static constexpr Type kType = Type::BF16;
  [[gnu::always_inline]] static Value load(const uint32_t *p, unsigned l) {
    return bf16ToFloat(p[l]);
  }
  [[gnu::always_inline]] static void store(uint32_t *p, unsigned l, Value v) {
    p[l] = floatToBf16(v);
  }
};
struct U64 {
  using Value = uint64_t;
  static constexpr Type kType = Type::U64;
  [[gnu::always_inline]] static Value load(const uint32_t *p, unsigned l) {
    return p[l] | (uint64_t{p[kLanes + l]} << 32);
  }
  [[gnu::always_inline]] static void store(uint32_t *p, unsigned l, Value v) {
    p[l] = static_cast<uint32_t>(v);
    p[kLanes + l] = static_cast<uint32_t>(v >> 32);
  }
};
struct B64 : U64 {
  static constexpr Type kType = Type::B64;
};
struct I64 {
  using Value = int64_t;
  static constexpr Type kType = Type::I64;
  [[gnu::always_inline]] static Value load(const uint32_t *p, unsigned l) {
    return static_cast<int64_t>(U64::load(p, l));
  }
  [[gnu::always_inline]] static void store(uint32_t *p, unsigned l, Value v) {
    U64::store(p, l, static_cast<uint64_t>(v));
  }
};
struct F64 {
  using Value = double;
  static constexpr Type kType = Type::F64;
  [[gnu::always_inline]] static Value load(const uint32_t *p, unsigned l) {
    return bitCast<double>(U64::load(p, l));
  }
  [[gnu::always_inline]] static void store(uint32_t *p, unsigned l, Value v) {
    U64::store(p, l, bitCast<uint64_t>(v));
  }
};
/// Two f16 lanes, handled by the kernel's loop a half at a time.
struct PkF16 : U32 {
  static constexpr Type kType = Type::PkF16;
};
struct PkBF16 : U32 {
  static constexpr Type kType = Type::PkBF16;
};
struct PkB16 : U32 {
  static constexpr Type kType = Type::PkB16;
};

[[gnu::always_inline]] inline bool isNan(float v) { return v != v; }
[[gnu::always_inline]] inline bool isNan(double v) { return v != v; }
[[gnu::always_inline]] inline float quiet(float v) {
  return bitCast<float>(bitCast<uint32_t>(v) | 0x00400000U);
}
[[gnu::always_inline]] inline double quiet(double v) {
  return bitCast<double>(bitCast<uint64_t>(v) | 0x0008000000000000ULL);
}
[[gnu::always_inline]] inline float defaultNan(float) { return bitCast<float>(0x7fc00000U); }
[[gnu::always_inline]] inline double defaultNan(double) {
  return bitCast<double>(uint64_t{0x7ff8000000000000ULL});
}

/// The NaN that AMD returns where x86 would have another one: the first NaN operand, quieted, or
/// the positive default NaN.
template <typename T> [[gnu::always_inline]] inline T nanRule(T r, T a, T b) {
  T nan = isNan(b) ? quiet(b) : defaultNan(r);
  nan = isNan(a) ? quiet(a) : nan;
  return isNan(r) ? nan : r;
}
template <typename T> [[gnu::always_inline]] inline T nanRule(T r, T a, T b, T c) {
  T nan = isNan(c) ? quiet(c) : defaultNan(r);
  nan = isNan(b) ? quiet(b) : nan;
  nan = isNan(a) ? quiet(a) : nan;
  return isNan(r) ? nan : r;
}
template <typename T> [[gnu::always_inline]] inline T nanRule(T r, T a) {
  return isNan(r) ? (isNan(a) ? quiet(a) : defaultNan(r)) : r;
}

[[gnu::always_inline]] inline float copySign(float magnitude, float sign) {
  return __builtin_copysignf(magnitude, sign);
}
[[gnu::always_inline]] inline float absolute(float v) { return __builtin_fabsf(v); }
[[gnu::always_inline]] inline double absolute(double v) { return __builtin_fabs(v); }
[[gnu::always_inline]] inline float fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
[[gnu::always_inline]] inline double fma(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
/// f16's fused multiply-add on values held as floats: in double the product is exact and the sum
/// has room enough that rounding once more cannot change the result.
[[gnu::always_inline]] inline float fmaHalf(float a, float b, float c) {
  return doubleToFloatOdd(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c));
}

/// a + b + c rounded to odd: what is lost of the exact sum sets the last bit, so that one more
/// rounding, to float, is the only one.
inline double sumToOdd(double a, double b, double c) {
  const auto error = [](double x, double y, double sum) {
    const double part = sum - x;
    return (x - (sum - part)) + (y - part);
  };
  const double first = a + b;
  const double second = first + c;
  if (!(absolute(second) <= 1.7976931348623157e308))
    return second;
  const double rest = error(a, b, first) + error(first, c, second);
  if (!(rest < 0.0 || rest > 0.0))
    return second; // exact, and a zero has its sign
  const double sum = second + rest;
  const double lost = error(second, rest, sum);
  const uint64_t bits = bitCast<uint64_t>(sum);
  if (!(lost < 0.0 || lost > 0.0) || (bits & 1U) != 0)
    return sum; // exact, odd, or no number
  // An even neighbour of the exact sum: its odd one lies where the lost part points.
  return bitCast<double>((lost < 0.0) == (sum < 0.0) ? bits + 1U : bits - 1U);
}

/// ldexp, out of line: clang 22 fails to select the vector form that inlining leads to.
[[gnu::noinline]] inline double scaleDouble(double v, int n) { return __builtin_ldexp(v, n); }
[[gnu::noinline]] inline float scaleFloat(float v, int n) { return __builtin_ldexpf(v, n); }

/// minNum and maxNum: a NaN operand gives the other one; -0 is below +0. In IEEE mode a signalling
/// NaN gives its quieted self.
template <typename T> [[gnu::always_inline]] inline T minimumNumber(T a, T b) {
  T r = a < b ? a : b;
  r = (a == b) && __builtin_signbit(a) ? a : r;
  r = isNan(a) ? b : r;
  return isNan(b) ? a : r;
}
template <typename T> [[gnu::always_inline]] inline T maximumNumber(T a, T b) {
  T r = a > b ? a : b;
  r = (a == b) && !__builtin_signbit(a) ? a : r;
  r = isNan(a) ? b : r;
  return isNan(b) ? a : r;
}
[[gnu::always_inline]] inline bool isSignalling(float v) {
  return isNan(v) && (bitCast<uint32_t>(v) & 0x00400000U) == 0;
}
[[gnu::always_inline]] inline bool isSignalling(double v) {
  return isNan(v) && (bitCast<uint64_t>(v) & 0x0008000000000000ULL) == 0;
}
template <typename T> [[gnu::always_inline]] inline T minMode(T a, T b, bool ieee) {
  T r = minimumNumber(a, b);
  r = ieee && isSignalling(b) ? quiet(b) : r;
  r = ieee && isSignalling(a) ? quiet(a) : r;
  return isNan(a) && isNan(b) && ieee ? quiet(a) : r;
}
template <typename T> [[gnu::always_inline]] inline T maxMode(T a, T b, bool ieee) {
  T r = maximumNumber(a, b);
  r = ieee && isSignalling(b) ? quiet(b) : r;
  r = ieee && isSignalling(a) ? quiet(a) : r;
  return isNan(a) && isNan(b) && ieee ? quiet(a) : r;
}

/// gfx12's minimum_number and maximum_number: without a mode, and of two NaNs the first, quieted.
template <typename T> [[gnu::always_inline]] inline T minNumber(T a, T b) {
  return isNan(a) && isNan(b) ? quiet(a) : minimumNumber(a, b);
}
template <typename T> [[gnu::always_inline]] inline T maxNumber(T a, T b) {
  return isNan(a) && isNan(b) ? quiet(a) : maximumNumber(a, b);
}

template <typename T> [[gnu::always_inline]] inline T smaller(T a, T b) { return a < b ? a : b; }
template <typename T> [[gnu::always_inline]] inline T larger(T a, T b) { return a > b ? a : b; }
template <typename T> [[gnu::always_inline]] inline T bounded(T v, T low, T high) {
  return v < low ? low : (v > high ? high : v);
}

template <typename D, typename Value>
[[gnu::always_inline]] inline void put(const LaneArguments &x, unsigned lane, Value value) {
  D::store(x.d, lane, static_cast<typename D::Value>(value));
}

/// One bit a lane from 64 zero-or-one words.
[[gnu::always_inline]] inline uint64_t packMask(const uint32_t *bits) {
  uint64_t mask = 0;
#ifdef __AVX512F__
  for (unsigned group = 0; group < 4; ++group) {
    const __m512i words = _mm512_load_si512(bits + group * 16);
    mask |= uint64_t{_mm512_test_epi32_mask(words, words)} << (group * 16);
  }
#else
  for (unsigned group = 0; group < 8; ++group) {
    uint32_t byte = 0;
    for (unsigned i = 0; i < 8; ++i)
      byte |= bits[group * 8 + i] << i;
    mask |= uint64_t{byte} << (group * 8);
  }
#endif
  return mask;
}

} // namespace flyemu::FLYEMU_LANES

// Sources, result and arguments never overlap, and no lane looks at another.
#define FLYEMU_FOR_LANES                                                                           \
  _Pragma("clang loop vectorize(assume_safety)") for (unsigned lane = 0; lane < kLanes; ++lane)

// A row of a table: the expression may use a, b, c (the sources), lane and x (the arguments).
#define FLYEMU_ROW1(NAME, D, A, FLAGS, FIDELITY, ...)                                              \
  LaneRow {                                                                                        \
    NAME,                                                                                          \
        [](LaneArguments &x) {                                                                     \
          FLYEMU_FOR_LANES {                                                                       \
            const A::Value a = A::load(x.s[0], lane);                                              \
            put<D>(x, lane, (__VA_ARGS__));                                                        \
          }                                                                                        \
        },                                                                                         \
        D::kType, {A::kType, Type::None, Type::None, Type::None}, 1, FLAGS, FIDELITY               \
  }
#define FLYEMU_ROW2(NAME, D, A, B, FLAGS, FIDELITY, ...)                                           \
  LaneRow {                                                                                        \
    NAME,                                                                                          \
        [](LaneArguments &x) {                                                                     \
          FLYEMU_FOR_LANES {                                                                       \
            const A::Value a = A::load(x.s[0], lane);                                              \
            const B::Value b = B::load(x.s[1], lane);                                              \
            put<D>(x, lane, (__VA_ARGS__));                                                        \
          }                                                                                        \
        },                                                                                         \
        D::kType, {A::kType, B::kType, Type::None, Type::None}, 2, FLAGS, FIDELITY                 \
  }
#define FLYEMU_ROW3(NAME, D, A, B, C, FLAGS, FIDELITY, ...)                                        \
  LaneRow {                                                                                        \
    NAME,                                                                                          \
        [](LaneArguments &x) {                                                                     \
          FLYEMU_FOR_LANES {                                                                       \
            const A::Value a = A::load(x.s[0], lane);                                              \
            const B::Value b = B::load(x.s[1], lane);                                              \
            const C::Value c = C::load(x.s[2], lane);                                              \
            put<D>(x, lane, (__VA_ARGS__));                                                        \
          }                                                                                        \
        },                                                                                         \
        D::kType, {A::kType, B::kType, C::kType, Type::None}, 3, FLAGS, FIDELITY                   \
  }
// A comparison: the expression is a condition.
#define FLYEMU_COMPARE(NAME, T, B, FLAGS, ...)                                                     \
  LaneRow {                                                                                        \
    NAME,                                                                                          \
        [](LaneArguments &x) {                                                                     \
          alignas(64) uint32_t bits[kLanes];                                                       \
          FLYEMU_FOR_LANES {                                                                       \
            const T::Value a = T::load(x.s[0], lane);                                              \
            const B::Value b = B::load(x.s[1], lane);                                              \
            (void)a;                                                                               \
            (void)b;                                                                               \
            bits[lane] = (__VA_ARGS__) ? 1U : 0U;                                                  \
          }                                                                                        \
          x.maskOut = packMask(bits);                                                              \
        },                                                                                         \
        Type::Mask, {T::kType, B::kType, Type::None, Type::None}, 2, FLAGS, Fidelity::Exact        \
  }
