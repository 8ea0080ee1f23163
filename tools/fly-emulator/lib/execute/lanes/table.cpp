// SPDX-License-Identifier: Apache-2.0
//
// The lane kernels of this instruction set in one table, and the helpers that are no instructions.
#include "execute/lanes/small_float.h"

namespace flyemu::FLYEMU_LANES {

extern const LaneRows kFloat32Rows;
extern const LaneRows kFloat16Rows;
extern const LaneRows kFloat64Rows;
extern const LaneRows kDivisionRows;
extern const LaneRows kTranscendentalRows;
extern const LaneRows kInteger32Rows;
extern const LaneRows kInteger64Rows;
extern const LaneRows kInteger16Rows;
extern const LaneRows kCompareRows;
extern const LaneRows kConvertRows;
extern const LaneRows kConvertSmallRows;
extern const LaneRows kConvertScaledRows;
extern const LaneRows kPackedRows;
extern const LaneRows kDotRows;
extern const LaneRows kRdnaRows;
extern const LaneRows kGfx1250Rows;

namespace {

void blend(uint32_t *d, const uint32_t *t, uint64_t exec, unsigned rows) {
  if (exec == ~uint64_t{0}) {
    // By rows, whose size is known here: a few moves, and no call.
    for (unsigned row = 0; row < rows; ++row)
      __builtin_memcpy(d + row * kLanes, t + row * kLanes, kLanes * sizeof(uint32_t));
    return;
  }
  for (unsigned row = 0; row < rows; ++row, d += kLanes, t += kLanes) {
#ifdef __AVX512F__
    for (unsigned i = 0; i < 4; ++i)
      _mm512_mask_storeu_epi32(d + 16 * i, static_cast<__mmask16>(exec >> (16 * i)),
                               _mm512_loadu_si512(t + 16 * i));
#else
    const auto low = static_cast<uint32_t>(exec);
    const auto high = static_cast<uint32_t>(exec >> 32);
    for (unsigned lane = 0; lane < 32; ++lane)
      d[lane] = (low >> lane & 1U) != 0 ? t[lane] : d[lane];
    for (unsigned lane = 0; lane < 32; ++lane)
      d[32 + lane] = (high >> lane & 1U) != 0 ? t[32 + lane] : d[32 + lane];
#endif
  }
}

void splat(uint32_t *d, uint32_t value) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    d[lane] = value;
}

/// Every element of C is one chain of fused multiply-adds in the order of k, so that the result
/// does not depend on the instruction set.
template <typename T, typename F>
inline void matmul(T *c, const T *a, const T *b, unsigned m, unsigned n, unsigned k,
                   F multiplyAdd) {
  for (unsigned i = 0; i < m; ++i) {
    T *row = c + i * n;
    for (unsigned kk = 0; kk < k; ++kk) {
      const T value = a[kk * m + i];
      const T *brow = b + kk * n;
      _Pragma("clang loop vectorize(assume_safety)") for (unsigned j = 0; j < n; ++j) row[j] =
          multiplyAdd(value, brow[j], row[j]);
    }
  }
}

#ifdef __AVX512F__
/// The same chains with the row of C in registers: n is 16 or 32.
template <unsigned vectors>
inline void matmulRows(float *c, const float *a, const float *b, unsigned m, unsigned k) {
  constexpr unsigned n = 16 * vectors;
  for (unsigned i = 0; i < m; i += 4) {
    __m512 acc[4][vectors];
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned v = 0; v < vectors; ++v)
        acc[r][v] = _mm512_loadu_ps(c + (i + r) * n + 16 * v);
    for (unsigned kk = 0; kk < k; ++kk)
      for (unsigned v = 0; v < vectors; ++v) {
        const __m512 bv = _mm512_loadu_ps(b + kk * n + 16 * v);
        for (unsigned r = 0; r < 4; ++r)
          acc[r][v] = _mm512_fmadd_ps(_mm512_set1_ps(a[kk * m + i + r]), bv, acc[r][v]);
      }
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned v = 0; v < vectors; ++v)
        _mm512_storeu_ps(c + (i + r) * n + 16 * v, acc[r][v]);
  }
}
#endif

void matmulF32(float *c, const float *a, const float *b, unsigned m, unsigned n, unsigned k) {
#ifdef __AVX512F__
  if (n == 16 && m % 4 == 0)
    return matmulRows<1>(c, a, b, m, k);
  if (n == 32 && m % 4 == 0)
    return matmulRows<2>(c, a, b, m, k);
#endif
  matmul(c, a, b, m, n, k, [](float x, float y, float z) { return fma(x, y, z); });
}
void matmulF64(double *c, const double *a, const double *b, unsigned m, unsigned n, unsigned k) {
  matmul(c, a, b, m, n, k, [](double x, double y, double z) { return fma(x, y, z); });
}
void matmulI32(int32_t *c, const int32_t *a, const int32_t *b, unsigned m, unsigned n, unsigned k) {
  matmul(c, a, b, m, n, k, [](int32_t x, int32_t y, int32_t z) {
    return static_cast<int32_t>(static_cast<uint32_t>(z) +
                                static_cast<uint32_t>(x) * static_cast<uint32_t>(y));
  });
}

void widenF16(float *out, const uint16_t *in, unsigned count) {
  _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < count; ++i) out[i] =
      halfToFloat(in[i]);
}
void widenBf16(float *out, const uint16_t *in, unsigned count) {
  _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < count; ++i) out[i] =
      bf16ToFloat(in[i]);
}

/// Formats: 0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4.
float decodeSmallFormat(uint32_t code, unsigned format, bool ocp) {
  switch (format) {
  case 0:
    return decodeSmall(code, ocp ? kFp8Ocp : kFp8Fnuz);
  case 1:
    return decodeSmall(code, ocp ? kBf8Ocp : kBf8Fnuz);
  case 2:
    return decodeSmall(code, kFp6);
  case 3:
    return decodeSmall(code, kBf6);
  default:
    return decodeSmall(code, kFp4);
  }
}

uint32_t encodeSmallFormat(float value, unsigned format, bool saturate, bool stochastic,
                           uint32_t random) {
  static constexpr const SmallFormat *kFormats[] = {&kFp8Ocp, &kBf8Ocp, &kFp6, &kBf6, &kFp4};
  return encodeSmall(value, *kFormats[format], saturate, stochastic, random);
}

uint16_t narrowF16(float value) { return static_cast<uint16_t>(floatToHalf(value)); }
uint16_t narrowBf16(float value) { return static_cast<uint16_t>(floatToBf16(value)); }

#ifdef __F16C__
constexpr bool kHalfRounding = true;
#else
constexpr bool kHalfRounding = false;
#endif

const LaneRows kGroups[] = {
    kFloat32Rows,        kFloat16Rows,   kFloat64Rows,      kDivisionRows,
    kTranscendentalRows, kInteger32Rows, kInteger64Rows,    kInteger16Rows,
    kCompareRows,        kConvertRows,   kConvertSmallRows, kConvertScaledRows,
    kPackedRows,         kDotRows,       kRdnaRows,         kGfx1250Rows};

} // namespace

const LaneTable &table();
const LaneTable &table() {
  static const LaneTable instance = {kGroups,
                                     sizeof kGroups / sizeof *kGroups,
                                     {blend, splat, matmulF32, matmulF64, matmulI32, widenF16,
                                      widenBf16, decodeSmallFormat, encodeSmallFormat, narrowF16,
                                      narrowBf16, kHalfRounding}};
  return instance;
}

} // namespace flyemu::FLYEMU_LANES
