// SPDX-License-Identifier: Apache-2.0
//
// Packed arithmetic on two halves or two floats. Operand fetch has already applied op_sel,
// op_sel_hi and the negations, so that the halves are where the arithmetic wants them.
#include "execute/lanes/lane_types.h"

namespace flyemu::FLYEMU_LANES {
namespace {

constexpr Fidelity kExact = Fidelity::Exact;

inline float low(uint32_t v) { return halfToFloat(v & 0xffffU); }
inline float high(uint32_t v) { return halfToFloat(v >> 16); }
inline float lowSignalling(uint32_t v) { return halfToFloatSignalling(v & 0xffffU); }
inline float highSignalling(uint32_t v) { return halfToFloatSignalling(v >> 16); }
inline uint32_t pack(float l, float h) { return floatToHalf(l) | floatToHalf(h) << 16; }

// The expression uses p, q, r for one half of each source.
#define HALVES2(NAME, ...)                                                                         \
  LaneRow {                                                                                        \
    NAME,                                                                                          \
        [](LaneArguments &x) {                                                                     \
          FLYEMU_FOR_LANES {                                                                       \
            const auto f = [&](float p, float q) { return __VA_ARGS__; };                          \
            x.d[lane] = pack(f(low(x.s[0][lane]), low(x.s[1][lane])),                              \
                             f(high(x.s[0][lane]), high(x.s[1][lane])));                           \
          }                                                                                        \
        },                                                                                         \
        Type::PkF16, {Type::PkF16, Type::PkF16, Type::None, Type::None}, 2, 0, kExact              \
  }
#define HALVES3(NAME, FLAGS, ...)                                                                  \
  LaneRow {                                                                                        \
    NAME,                                                                                          \
        [](LaneArguments &x) {                                                                     \
          FLYEMU_FOR_LANES {                                                                       \
            const auto f = [&](float p, float q, float r) { return __VA_ARGS__; };                 \
            x.d[lane] = pack(f(low(x.s[0][lane]), low(x.s[1][lane]), low(x.s[2][lane])),           \
                             f(high(x.s[0][lane]), high(x.s[1][lane]), high(x.s[2][lane])));       \
          }                                                                                        \
        },                                                                                         \
        Type::PkF16, {Type::PkF16, Type::PkF16, Type::PkF16, Type::None}, 3, FLAGS, kExact         \
  }
// Integers: T is int32_t (sign-extended halves) or uint32_t; saturation by x.clamp.
#define WORDS2(NAME, T, ...)                                                                       \
  LaneRow {                                                                                        \
    NAME,                                                                                          \
        [](LaneArguments &x) {                                                                     \
          const bool clamp = x.clamp;                                                              \
          (void)clamp;                                                                             \
          FLYEMU_FOR_LANES {                                                                       \
            const auto f = [&](T p, T q) { return static_cast<uint32_t>(__VA_ARGS__); };           \
            x.d[lane] = (f(lowWord<T>(x.s[0][lane]), lowWord<T>(x.s[1][lane])) & 0xffffU) |        \
                        f(highWord<T>(x.s[0][lane]), highWord<T>(x.s[1][lane])) << 16;             \
          }                                                                                        \
        },                                                                                         \
        Type::PkB16, {Type::PkB16, Type::PkB16, Type::None, Type::None}, 2, kOwnClamp, kExact      \
  }
#define WORDS3(NAME, T, ...)                                                                       \
  LaneRow {                                                                                        \
    NAME,                                                                                          \
        [](LaneArguments &x) {                                                                     \
          const bool clamp = x.clamp;                                                              \
          FLYEMU_FOR_LANES {                                                                       \
            const auto f = [&](T p, T q, T r) { return static_cast<uint32_t>(__VA_ARGS__); };      \
            x.d[lane] =                                                                            \
                (f(lowWord<T>(x.s[0][lane]), lowWord<T>(x.s[1][lane]), lowWord<T>(x.s[2][lane])) & \
                 0xffffU) |                                                                        \
                f(highWord<T>(x.s[0][lane]), highWord<T>(x.s[1][lane]), highWord<T>(x.s[2][lane])) \
                    << 16;                                                                         \
          }                                                                                        \
        },                                                                                         \
        Type::PkB16, {Type::PkB16, Type::PkB16, Type::PkB16, Type::None}, 3, kOwnClamp, kExact     \
  }
// Two floats: the high ones are in the next row.
#define PAIRS(NAME, COUNT, ...)                                                                    \
  LaneRow {                                                                                        \
    NAME,                                                                                          \
        [](LaneArguments &x) {                                                                     \
          _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < 2 * kLanes;      \
                                                              ++i) {                               \
            const float p = F32::load(x.s[0], i);                                                  \
            const float q = F32::load(x.s[1], i);                                                  \
            const float r = (COUNT) == 3 ? F32::load(x.s[2], i) : 0.0F;                            \
            (void)r;                                                                               \
            F32::store(x.d, i, (__VA_ARGS__));                                                     \
          }                                                                                        \
        },                                                                                         \
        Type::PkF32,                                                                               \
        {Type::PkF32, Type::PkF32, (COUNT) == 3 ? Type::PkF32 : Type::None, Type::None}, COUNT, 0, \
        kExact                                                                                     \
  }

template <typename T> inline T lowWord(uint32_t v);
template <> inline uint32_t lowWord<uint32_t>(uint32_t v) { return v & 0xffffU; }
template <> inline int32_t lowWord<int32_t>(uint32_t v) { return static_cast<int16_t>(v); }
template <typename T> inline T highWord(uint32_t v);
template <> inline uint32_t highWord<uint32_t>(uint32_t v) { return v >> 16; }
template <> inline int32_t highWord<int32_t>(uint32_t v) { return static_cast<int32_t>(v) >> 16; }

inline uint32_t saturate(uint32_t v, bool clamp) { return clamp ? smaller(v, 0xffffU) : v; }
inline int32_t saturate(int32_t v, bool clamp) { return clamp ? bounded(v, -32768, 32767) : v; }
inline uint32_t difference(uint32_t p, uint32_t q, bool clamp) {
  return clamp && q > p ? 0U : p - q;
}
inline uint32_t multiplyAdd(uint32_t p, uint32_t q, uint32_t r, bool clamp) {
  const uint64_t wide = uint64_t{p} * q + r;
  return clamp && wide > 0xffffU ? 0xffffU : static_cast<uint32_t>(wide);
}

inline float minimum(float a, float b) {
  const float r = minimumNumber(a, b);
  return isNan(a) ? quiet(a) : (isNan(b) ? quiet(b) : r);
}
inline float maximum(float a, float b) {
  const float r = maximumNumber(a, b);
  return isNan(a) ? quiet(a) : (isNan(b) ? quiet(b) : r);
}

/// Minimum and maximum look at signalling NaNs.
template <typename F> inline void extremes(LaneArguments &x, F &&f) {
  FLYEMU_FOR_LANES {
    const uint32_t a = x.s[0][lane];
    const uint32_t b = x.s[1][lane];
    x.d[lane] =
        pack(f(lowSignalling(a), lowSignalling(b)), f(highSignalling(a), highSignalling(b)));
  }
}

void moveB32(LaneArguments &x) {
  // op_sel picks the half of src0 for the low result, of src1 for the high one.
  FLYEMU_FOR_LANES {
    x.d[lane] = x.s[0][((x.opSel & 1U) != 0 ? kLanes : 0) + lane];
    x.d[kLanes + lane] = x.s[1][((x.opSel & 2U) != 0 ? kLanes : 0) + lane];
  }
}

const LaneRow kRows[] = {
    HALVES2("v_pk_add_f16", nanRule(p + q, p, q)),
    HALVES2("v_pk_mul_f16", nanRule(p *q, p, q)),
    {"v_pk_min_f16",
     [](LaneArguments &x) { extremes(x, [&](float p, float q) { return minMode(p, q, x.ieee); }); },
     Type::PkF16,
     {Type::PkF16, Type::PkF16, Type::None, Type::None},
     2,
     0,
     kExact},
    {"v_pk_max_f16",
     [](LaneArguments &x) { extremes(x, [&](float p, float q) { return maxMode(p, q, x.ieee); }); },
     Type::PkF16,
     {Type::PkF16, Type::PkF16, Type::None, Type::None},
     2,
     0,
     kExact},
    {"v_pk_min_num_f16",
     [](LaneArguments &x) { extremes(x, [](float p, float q) { return minNumber(p, q); }); },
     Type::PkF16,
     {Type::PkF16, Type::PkF16, Type::None, Type::None},
     2,
     0,
     kExact},
    {"v_pk_max_num_f16",
     [](LaneArguments &x) { extremes(x, [](float p, float q) { return maxNumber(p, q); }); },
     Type::PkF16,
     {Type::PkF16, Type::PkF16, Type::None, Type::None},
     2,
     0,
     kExact},
    HALVES2("v_pk_minimum_f16", minimum(p, q)),
    HALVES2("v_pk_maximum_f16", maximum(p, q)),
    HALVES3("v_pk_fma_f16", 0, nanRule(fmaHalf(p, q, r), p, q, r)),
    HALVES3("v_pk_fmac_f16", kReadsDst, nanRule(fmaHalf(p, q, r), p, q, r)),
    HALVES3("v_pk_minimum3_f16", 0, minimum(minimum(p, q), r)),
    HALVES3("v_pk_maximum3_f16", 0, maximum(maximum(p, q), r)),
    WORDS2("v_pk_add_u16", uint32_t, saturate(p + q, clamp)),
    WORDS2("v_pk_sub_u16", uint32_t, difference(p, q, clamp)),
    WORDS2("v_pk_add_i16", int32_t, saturate(p + q, clamp)),
    WORDS2("v_pk_sub_i16", int32_t, saturate(p - q, clamp)),
    WORDS2("v_pk_mul_lo_u16", uint32_t, p *q),
    WORDS2("v_pk_min_u16", uint32_t, smaller(p, q)),
    WORDS2("v_pk_max_u16", uint32_t, larger(p, q)),
    WORDS2("v_pk_min_i16", int32_t, smaller(p, q)),
    WORDS2("v_pk_max_i16", int32_t, larger(p, q)),
    WORDS2("v_pk_lshlrev_b16", uint32_t, q << (p & 15U)),
    WORDS2("v_pk_lshrrev_b16", uint32_t, q >> (p & 15U)),
    WORDS2("v_pk_ashrrev_i16", int32_t, q >> (p & 15)),
    WORDS3("v_pk_mad_u16", uint32_t, multiplyAdd(p, q, r, clamp)),
    WORDS3("v_pk_mad_i16", int32_t, saturate(p *q + r, clamp)),
    PAIRS("v_pk_add_f32", 2, nanRule(p + q, p, q)),
    PAIRS("v_pk_mul_f32", 2, nanRule(p *q, p, q)),
    PAIRS("v_pk_fma_f32", 3, nanRule(fma(p, q, r), p, q, r)),
    {"v_pk_mov_b32",
     moveB32,
     Type::PkB32,
     {Type::B64, Type::B64, Type::None, Type::None},
     2,
     kOwnOpSel,
     kExact},
};

} // namespace

extern const LaneRows kPackedRows;
const LaneRows kPackedRows = {kRows, sizeof kRows / sizeof *kRows};

} // namespace flyemu::FLYEMU_LANES
