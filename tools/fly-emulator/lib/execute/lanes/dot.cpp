// SPDX-License-Identifier: Apache-2.0
//
// Dot products of packed integers and halves, and multiply-add of mixed precision.
#include "execute/lanes/lane_types.h"

namespace flyemu::FLYEMU_LANES {
namespace {

constexpr Fidelity kExact = Fidelity::Exact;

template <typename T, unsigned bits> inline T element(uint32_t v, unsigned i);
template <> inline uint32_t element<uint32_t, 4>(uint32_t v, unsigned i) {
  return v >> (4 * i) & 0xfU;
}
template <> inline int32_t element<int32_t, 4>(uint32_t v, unsigned i) {
  return static_cast<int32_t>(v << (28 - 4 * i)) >> 28;
}
template <> inline uint32_t element<uint32_t, 8>(uint32_t v, unsigned i) {
  return v >> (8 * i) & 0xffU;
}
template <> inline int32_t element<int32_t, 8>(uint32_t v, unsigned i) {
  return static_cast<int8_t>(v >> (8 * i));
}
template <> inline uint32_t element<uint32_t, 16>(uint32_t v, unsigned i) {
  return v >> (16 * i) & 0xffffU;
}
template <> inline int32_t element<int32_t, 16>(uint32_t v, unsigned i) {
  return static_cast<int16_t>(v >> (16 * i));
}

template <unsigned bits> void dotSigned(LaneArguments &x) {
  FLYEMU_FOR_LANES {
    int64_t sum = I32::load(x.s[2], lane);
    for (unsigned i = 0; i < 32 / bits; ++i)
      sum += int64_t{element<int32_t, bits>(x.s[0][lane], i)} *
             element<int32_t, bits>(x.s[1][lane], i);
    const int64_t limited = bounded<int64_t>(sum, INT32_MIN, INT32_MAX);
    x.d[lane] = static_cast<uint32_t>(x.clamp ? limited : sum);
  }
}

template <unsigned bits> void dotUnsigned(LaneArguments &x) {
  FLYEMU_FOR_LANES {
    uint64_t sum = x.s[2][lane];
    for (unsigned i = 0; i < 32 / bits; ++i)
      sum += uint64_t{element<uint32_t, bits>(x.s[0][lane], i)} *
             element<uint32_t, bits>(x.s[1][lane], i);
    x.d[lane] = static_cast<uint32_t>(x.clamp ? smaller<uint64_t>(sum, 0xffffffffU) : sum);
  }
}

// The products are exact in double; their sum with the accumulator is rounded once.
void dotHalf(LaneArguments &x) {
  FLYEMU_FOR_LANES {
    const uint32_t a = x.s[0][lane];
    const uint32_t b = x.s[1][lane];
    const auto r = static_cast<float>(
        sumToOdd(static_cast<double>(halfToFloat(a & 0xffffU)) * halfToFloat(b & 0xffffU),
                 static_cast<double>(halfToFloat(a >> 16)) * halfToFloat(b >> 16),
                 static_cast<double>(F32::load(x.s[2], lane))));
    F32::store(x.d, lane, nanRule(r, r));
  }
}

void dotBf16(LaneArguments &x) {
  FLYEMU_FOR_LANES {
    const uint32_t a = x.s[0][lane];
    const uint32_t b = x.s[1][lane];
    const auto r = static_cast<float>(
        sumToOdd(static_cast<double>(bf16ToFloat(a)) * bf16ToFloat(b),
                 static_cast<double>(bf16ToFloat(a >> 16)) * bf16ToFloat(b >> 16),
                 static_cast<double>(F32::load(x.s[2], lane))));
    F32::store(x.d, lane, nanRule(r, r));
  }
}

/// A source of v_fma_mix: f32, or the half that op_sel names; then absolute value and negation.
inline float mixSource(const LaneArguments &x, unsigned i, unsigned lane) {
  const uint32_t bits = x.s[i][lane];
  const bool half = (x.opSelHi >> i & 1U) != 0;
  const bool upper = (x.opSel >> i & 1U) != 0;
  uint32_t chosen = upper ? bits >> 16 : bits & 0xffffU;
  if (x.flushHalves && (chosen & 0x7c00U) == 0)
    chosen &= 0x8000U;
  float v = half ? halfToFloat(chosen) : bitCast<float>(bits);
  v = (x.abs >> i & 1U) != 0 ? absolute(v) : v;
  return (x.neg >> i & 1U) != 0 ? -v : v;
}

inline float mixFma(const LaneArguments &x, unsigned lane) {
  const float a = mixSource(x, 0, lane);
  const float b = mixSource(x, 1, lane);
  const float c = mixSource(x, 2, lane);
  return nanRule(fma(a, b, c), a, b, c);
}

void mixF32(LaneArguments &x) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    F32::store(x.d, lane, mixFma(x, lane));
}
// The f16 forms round to f32 and then to f16: AMD's documents say so, and LLVM makes one of a
// conversion of a fused multiply-add.
void mixF16(LaneArguments &x) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    F16::store(x.d, lane, mixFma(x, lane));
}

#define DOT(NAME, FUNCTION, D, A, C, FLAGS, FIDELITY)                                              \
  {NAME, FUNCTION, Type::D, {Type::A, Type::A, Type::C, Type::None}, 3, FLAGS, FIDELITY}

const LaneRow kRows[] = {
    DOT("v_dot2_i32_i16", dotSigned<16>, I32, PkB16, I32, kOwnClamp, kExact),
    DOT("v_dot2_u32_u16", dotUnsigned<16>, U32, PkB16, U32, kOwnClamp, kExact),
    DOT("v_dot4_i32_i8", dotSigned<8>, I32, B32, I32, kOwnClamp, kExact),
    DOT("v_dot4_u32_u8", dotUnsigned<8>, U32, B32, U32, kOwnClamp, kExact),
    DOT("v_dot8_i32_i4", dotSigned<4>, I32, B32, I32, kOwnClamp, kExact),
    DOT("v_dot8_u32_u4", dotUnsigned<4>, U32, B32, U32, kOwnClamp, kExact),
    DOT("v_dot2c_i32_i16", dotSigned<16>, I32, PkB16, I32, kOwnClamp, kExact),
    DOT("v_dot4c_i32_i8", dotSigned<8>, I32, B32, I32, kOwnClamp, kExact),
    DOT("v_dot8c_i32_i4", dotSigned<4>, I32, B32, I32, kOwnClamp, kExact),
    DOT("v_dot2_f32_f16", dotHalf, F32, PkF16, F32, 0, Fidelity::Assumed),
    DOT("v_dot2c_f32_f16", dotHalf, F32, PkF16, F32, 0, Fidelity::Assumed),
    DOT("v_dot2_f32_bf16", dotBf16, F32, PkBF16, F32, 0, Fidelity::Assumed),
    DOT("v_dot2c_f32_bf16", dotBf16, F32, PkBF16, F32, 0, Fidelity::Assumed),
    DOT("v_fma_mix_f32", mixF32, F32, B32, B32, kOwnOpSel, kExact),
    DOT("v_fma_mixlo_f16", mixF16, F16, B32, B32, kOwnOpSel | kPreservesHigh, kExact),
    DOT("v_fma_mixhi_f16", mixF16, F16, B32, B32, kOwnOpSel | kPreservesHigh | kWritesHigh, kExact),
};

} // namespace

extern const LaneRows kDotRows;
const LaneRows kDotRows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES
