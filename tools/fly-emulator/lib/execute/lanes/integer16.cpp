// SPDX-License-Identifier: Apache-2.0
//
// 16-bit integer arithmetic and sums of absolute differences over bytes.
#include "execute/lanes/lane_types.h"

namespace flyemu::FLYEMU_LANES {
namespace {

constexpr Fidelity kExact = Fidelity::Exact;

#define BIN(NAME, ...) FLYEMU_ROW2(NAME, U16, U16, U16, 0, kExact, __VA_ARGS__)
#define BINS(NAME, ...) FLYEMU_ROW2(NAME, I16, I16, I16, 0, kExact, __VA_ARGS__)
#define TRI(NAME, T, ...) FLYEMU_ROW3(NAME, T, T, T, T, kPreservesHigh, kExact, __VA_ARGS__)

inline uint32_t addUnsigned(uint32_t a, uint32_t b, bool clamp) {
  return clamp ? smaller(a + b, 0xffffU) : a + b;
}
inline uint32_t subUnsigned(uint32_t a, uint32_t b, bool clamp) {
  return clamp && b > a ? 0U : a - b;
}
inline int32_t saturate16(int32_t v, bool clamp) { return clamp ? bounded(v, -32768, 32767) : v; }
template <typename T> inline T median(T a, T b, T c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}
inline uint32_t absoluteDifference(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }
inline uint32_t byteAt(uint32_t v, unsigned i) { return (v >> (8 * i)) & 0xffU; }
inline uint32_t sad8(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (unsigned i = 0; i < 4; ++i)
    sum += absoluteDifference(byteAt(a, i), byteAt(b, i));
  return sum;
}
/// Bytes of the reference (b) that are zero don't count.
inline uint32_t maskedSad8(uint32_t a, uint32_t b) {
  uint32_t sum = 0;
  for (unsigned i = 0; i < 4; ++i)
    sum += byteAt(b, i) == 0 ? 0U : absoluteDifference(byteAt(a, i), byteAt(b, i));
  return sum;
}
/// Four (masked) sums over a sliding window of eight bytes, added to four 16-bit halves.
template <bool masked> inline uint64_t quadSad(uint64_t a, uint32_t b, uint64_t c, bool clamp) {
  uint64_t r = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const auto window = static_cast<uint32_t>(a >> (8 * i));
    const uint32_t sum = (masked ? maskedSad8(window, b) : sad8(window, b)) +
                         static_cast<uint32_t>((c >> (16 * i)) & 0xffffU);
    r |= uint64_t{clamp ? smaller(sum, 0xffffU) : sum & 0xffffU} << (16 * i);
  }
  return r;
}
void maskedQuadSad32(LaneArguments &x) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint64_t a = U64::load(x.s[0], lane);
    for (unsigned i = 0; i < 4; ++i) {
      const uint64_t sum = uint64_t{maskedSad8(static_cast<uint32_t>(a >> (8 * i)), x.s[1][lane])} +
                           x.s[2][i * kLanes + lane];
      x.d[i * kLanes + lane] =
          static_cast<uint32_t>(x.clamp ? smaller<uint64_t>(sum, 0xffffffffU) : sum);
    }
  }
}
inline uint32_t lerp(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r = 0;
  for (unsigned i = 0; i < 4; ++i)
    r |= ((byteAt(a, i) + byteAt(b, i) + (byteAt(c, i) & 1U)) >> 1) << (8 * i);
  return r;
}
inline uint32_t saturatePackU8(uint32_t v) {
  const auto low = static_cast<int32_t>(static_cast<int16_t>(v));
  const int32_t high = static_cast<int32_t>(v) >> 16;
  return static_cast<uint32_t>(bounded(low, 0, 255)) | static_cast<uint32_t>(bounded(high, 0, 255))
                                                           << 8;
}

void packHalves(LaneArguments &x) {
  FLYEMU_FOR_LANES x.d[lane] = (x.s[0][lane] & 0xffffU) | x.s[1][lane] << 16;
}

/// Two numbers shifted right and saturated to bytes.
inline uint32_t shiftPack(int32_t a, int32_t b, uint32_t shift, int32_t low, int32_t high) {
  const uint32_t n = shift & 31U;
  return (static_cast<uint32_t>(bounded(a >> n, low, high)) & 0xffU) |
         (static_cast<uint32_t>(bounded(b >> n, low, high)) & 0xffU) << 8;
}

const LaneRow kRows[] = {
    FLYEMU_ROW3("v_ashr_pk_i8_i32", B16, I32, I32, U32, kPreservesHigh, kExact,
                shiftPack(a, b, c, -128, 127)),
    FLYEMU_ROW3("v_ashr_pk_u8_i32", B16, I32, I32, U32, kPreservesHigh, kExact,
                shiftPack(a, b, c, 0, 255)),
    FLYEMU_ROW2("v_add_u16", U16, U16, U16, kOwnClamp, kExact, addUnsigned(a, b, x.clamp)),
    FLYEMU_ROW2("v_sub_u16", U16, U16, U16, kOwnClamp, kExact, subUnsigned(a, b, x.clamp)),
    FLYEMU_ROW2("v_subrev_u16", U16, U16, U16, kOwnClamp, kExact, subUnsigned(b, a, x.clamp)),
    FLYEMU_ROW2("v_add_i16", I16, I16, I16, kOwnClamp | kPreservesHigh, kExact,
                saturate16(a + b, x.clamp)),
    FLYEMU_ROW2("v_sub_i16", I16, I16, I16, kOwnClamp | kPreservesHigh, kExact,
                saturate16(a - b, x.clamp)),
    BIN("v_mul_lo_u16", a *b),
    BIN("v_min_u16", smaller(a, b)),
    BIN("v_max_u16", larger(a, b)),
    BINS("v_min_i16", smaller(a, b)),
    BINS("v_max_i16", larger(a, b)),
    BIN("v_lshlrev_b16", b << (a & 15U)),
    BIN("v_lshrrev_b16", b >> (a & 15U)),
    FLYEMU_ROW2("v_ashrrev_i16", I16, U16, I16, 0, kExact, b >> (a & 15U)),
    FLYEMU_ROW3("v_mad_u16", U16, U16, U16, U16, kOwnClamp | kPreservesHigh, kExact,
                x.clamp ? static_cast<uint32_t>(smaller<uint64_t>(uint64_t{a} * b + c, 0xffffU))
                        : a *b + c),
    FLYEMU_ROW3("v_mad_i16", I16, I16, I16, I16, kOwnClamp | kPreservesHigh, kExact,
                saturate16(a *b + c, x.clamp)),
    FLYEMU_ROW3("v_mad_legacy_u16", U16, U16, U16, U16, 0, kExact, a *b + c),
    FLYEMU_ROW3("v_mad_legacy_i16", I16, I16, I16, I16, 0, kExact, a *b + c),
    FLYEMU_ROW3("v_mad_u32_u16", U32, U16, U16, U32, kOwnClamp, kExact,
                x.clamp ? static_cast<uint32_t>(smaller<uint64_t>(uint64_t{a} * b + c, 0xffffffffU))
                        : a *b + c),
    FLYEMU_ROW3(
        "v_mad_i32_i16", I32, I16, I16, I32, kOwnClamp, kExact,
        static_cast<int32_t>(x.clamp ? bounded<int64_t>(int64_t{a} * b + c, INT32_MIN, INT32_MAX)
                                     : int64_t{a} * b + c)),
    TRI("v_min3_u16", U16, smaller(smaller(a, b), c)),
    TRI("v_max3_u16", U16, larger(larger(a, b), c)),
    TRI("v_med3_u16", U16, median(a, b, c)),
    TRI("v_min3_i16", I16, smaller(smaller(a, b), c)),
    TRI("v_max3_i16", I16, larger(larger(a, b), c)),
    TRI("v_med3_i16", I16, median(a, b, c)),
    // The halves arrive selected by op_sel; as bits, so that NaNs stay as they are.
    {"v_pack_b32_f16",
     packHalves,
     Type::B32,
     {Type::F16, Type::F16, Type::None, Type::None},
     2,
     0,
     kExact},
    FLYEMU_ROW3("v_sad_u8", U32, U32, U32, U32, kOwnClamp, kExact, sad8(a, b) + c),
    FLYEMU_ROW3("v_sad_hi_u8", U32, U32, U32, U32, kOwnClamp, kExact, (sad8(a, b) << 16) + c),
    FLYEMU_ROW3("v_sad_u16", U32, U32, U32, U32, kOwnClamp, kExact,
                absoluteDifference(a & 0xffffU, b & 0xffffU) +
                    absoluteDifference(a >> 16, b >> 16) + c),
    FLYEMU_ROW3("v_sad_u32", U32, U32, U32, U32, kOwnClamp, kExact, absoluteDifference(a, b) + c),
    FLYEMU_ROW3("v_msad_u8", U32, U32, U32, U32, kOwnClamp, kExact, maskedSad8(a, b) + c),
    FLYEMU_ROW3("v_qsad_pk_u16_u8", U64, U64, U32, U64, kOwnClamp, kExact,
                quadSad<false>(a, b, c, x.clamp)),
    FLYEMU_ROW3("v_mqsad_pk_u16_u8", U64, U64, U32, U64, kOwnClamp, kExact,
                quadSad<true>(a, b, c, x.clamp)),
    {"v_mqsad_u32_u8",
     maskedQuadSad32,
     Type::B128,
     {Type::U64, Type::U32, Type::B128, Type::None},
     3,
     kOwnClamp,
     kExact},
    FLYEMU_ROW3("v_lerp_u8", U32, U32, U32, U32, 0, kExact, lerp(a, b, c)),
    FLYEMU_ROW1("v_sat_pk_u8_i16", B16, U32, 0, kExact, saturatePackU8(a)),
};

} // namespace

extern const LaneRows kInteger16Rows;
const LaneRows kInteger16Rows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES
