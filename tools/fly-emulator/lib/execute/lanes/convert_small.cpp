// SPDX-License-Identifier: Apache-2.0
//
// Conversions to and from fp8 and bf8, and stochastic rounding to 16 bits.
#include "execute/lanes/small_float.h"

namespace flyemu::FLYEMU_LANES {
namespace {

constexpr Fidelity kExact = Fidelity::Exact;

inline const SmallFormat &fp8(const LaneArguments &x) { return x.ocp ? kFp8Ocp : kFp8Fnuz; }
inline const SmallFormat &bf8(const LaneArguments &x) { return x.ocp ? kBf8Ocp : kBf8Fnuz; }

inline float modified(const LaneArguments &x, float v) {
  v = (x.abs & 1U) != 0 ? absolute(v) : v;
  return (x.neg & 1U) != 0 ? -v : v;
}

/// One float to the byte of the destination that op_sel[3:2] names; the others stay.
template <bool narrow> void stochasticByte(LaneArguments &x) {
  const unsigned byte =
      x.generation >= 12 ? x.byteSelect : (x.opSel >> 2 & 1U) + ((x.opSelHi & 1U) != 0 ? 2U : 0U);
  const SmallFormat &format = narrow ? bf8(x) : fp8(x);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const float a = modified(x, F32::load(x.s[0], lane));
    const uint32_t code = encodeSmall(a, format, x.fp16Overflow, true, x.s[1][lane]);
    x.d[lane] = (x.s[2][lane] & ~(0xffU << (8 * byte))) | code << (8 * byte);
  }
}

inline uint32_t stochasticBf16(float v, uint32_t random) {
  const uint32_t bits = bitCast<uint32_t>(v);
  if ((bits & 0x7fffffffU) >= 0x7f800000U)
    return floatToBf16(v);
  return (bits + (random >> 16)) >> 16;
}

constexpr SmallFormat kHalf = {5, 10, 15, SmallFormat::Specials::Ieee};

struct HalfBits : U16 {
  static constexpr Type kType = Type::F16;
};
struct Bf16Bits : U16 {
  static constexpr Type kType = Type::BF16;
};

const LaneRow kRows[] = {
    FLYEMU_ROW1("v_cvt_f32_fp8", F32, U32, 0, kExact,
                decodeSmall(a >> (8 * x.byteSelect) & 0xffU, fp8(x))),
    FLYEMU_ROW1("v_cvt_f32_bf8", F32, U32, 0, kExact,
                decodeSmall(a >> (8 * x.byteSelect) & 0xffU, bf8(x))),
    {"v_cvt_pk_f32_fp8",
     [](LaneArguments &x) {
       for (unsigned lane = 0; lane < kLanes; ++lane) {
         F32::store(x.d, lane, decodeSmall(x.s[0][lane] & 0xffU, fp8(x)));
         F32::store(x.d, kLanes + lane, decodeSmall(x.s[0][lane] >> 8 & 0xffU, fp8(x)));
       }
     },
     Type::PkB32,
     {Type::B16, Type::None, Type::None, Type::None},
     1,
     0,
     kExact},
    {"v_cvt_pk_f32_bf8",
     [](LaneArguments &x) {
       for (unsigned lane = 0; lane < kLanes; ++lane) {
         F32::store(x.d, lane, decodeSmall(x.s[0][lane] & 0xffU, bf8(x)));
         F32::store(x.d, kLanes + lane, decodeSmall(x.s[0][lane] >> 8 & 0xffU, bf8(x)));
       }
     },
     Type::PkB32,
     {Type::B16, Type::None, Type::None, Type::None},
     1,
     0,
     kExact},
    FLYEMU_ROW2("v_cvt_pk_fp8_f32", B16, F32, F32, kPreservesHigh, kExact,
                encodeSmall(a, fp8(x), x.fp16Overflow, false, 0) |
                    encodeSmall(b, fp8(x), x.fp16Overflow, false, 0) << 8),
    FLYEMU_ROW2("v_cvt_pk_bf8_f32", B16, F32, F32, kPreservesHigh, kExact,
                encodeSmall(a, bf8(x), x.fp16Overflow, false, 0) |
                    encodeSmall(b, bf8(x), x.fp16Overflow, false, 0) << 8),
    {"v_cvt_sr_fp8_f32",
     stochasticByte<false>,
     Type::B32,
     {Type::F32, Type::U32, Type::U32, Type::None},
     3,
     kOwnOpSel,
     kExact},
    {"v_cvt_sr_bf8_f32",
     stochasticByte<true>,
     Type::B32,
     {Type::F32, Type::U32, Type::U32, Type::None},
     3,
     kOwnOpSel,
     kExact},
    FLYEMU_ROW2("v_cvt_sr_bf16_f32", Bf16Bits, F32, U32, kPreservesHigh, Fidelity::Assumed,
                stochasticBf16(a, b)),
    FLYEMU_ROW2("v_cvt_sr_f16_f32", HalfBits, F32, U32, kPreservesHigh, Fidelity::Assumed,
                encodeSmall(a, kHalf, x.fp16Overflow, true, b)),
};

} // namespace

extern const LaneRows kConvertSmallRows;
const LaneRows kConvertSmallRows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES
