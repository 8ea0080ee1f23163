// SPDX-License-Identifier: Apache-2.0
KERNEL void vector_add(const GLOBAL float *a, const GLOBAL float *b, GLOBAL float *c, int n) {
  int i = BID * BDIM + TID;
  if (i < n)
    c[i] = a[i] + b[i];
}

// A 64x64 tile of dwords through LDS, 16-byte vectors, columns XOR-swizzled by row; transposed out.
static SHARED uint4_t tile[64 * 16];
KERNEL void swizzled_copy(const GLOBAL uint4_t *in, GLOBAL unsigned *out, int columns) {
  int t = TID;
  for (int i = 0; i < 4; ++i) {
    int row = t / 16 + 16 * i, col = t % 16;
    tile[row * 16 + (col ^ (row & 15))] = in[((BIDY * 64 + row) * columns + BID * 64) / 4 + col];
  }
  barrier();
  const LDS unsigned *words = (const LDS unsigned *)tile;
  for (int i = 0; i < 16; ++i) {
    int row = t % 64, col = t / 64 + 4 * i;
    out[(BID * 64 + col) * (64 * __builtin_amdgcn_grid_size_y()) + BIDY * 64 + row] =
        words[(row * 16 + ((col / 4) ^ (row & 15))) * 4 + col % 4];
  }
}

// C = A * B^T, f16 inputs, f32 result; a wave makes a 32x32 tile, 4 waves a block of 64x64.
static SHARED half8 a_tile[64 * 4], b_tile[64 * 4];
KERNEL void gemm_f16(const GLOBAL _Float16 *a, const GLOBAL _Float16 *b, GLOBAL float *c, int m,
                     int n, int k) {
  int t = TID, lane = t % 64, wave = t / 64;
  int wm = wave / 2 * 32, wn = wave % 2 * 32;
  float16_t acc = 0;
  for (int k0 = 0; k0 < k; k0 += 32) {
    int row = t / 4, col = t % 4;
    a_tile[row * 4 + (col ^ (row & 3))] =
        *(const GLOBAL half8 *)(a + (long)(BIDY * 64 + row) * k + k0 + col * 8);
    b_tile[row * 4 + (col ^ (row & 3))] =
        *(const GLOBAL half8 *)(b + (long)(BID * 64 + row) * k + k0 + col * 8);
    barrier();
#ifdef __gfx950__
    for (int kk = 0; kk < 2; ++kk) {
      int chunk = kk * 2 + lane / 32;
      half8 x = a_tile[(wm + lane % 32) * 4 + (chunk ^ (lane & 3))];
      half8 y = b_tile[(wn + lane % 32) * 4 + (chunk ^ (lane & 3))];
      acc = __builtin_amdgcn_mfma_f32_32x32x16_f16(x, y, acc, 0, 0, 0);
    }
#else
    for (int kk = 0; kk < 4; ++kk) {
      half4 x =
          ((const LDS half4 *)a_tile)[((wm + lane % 32) * 4 + (kk ^ (lane & 3))) * 2 + lane / 32];
      half4 y =
          ((const LDS half4 *)b_tile)[((wn + lane % 32) * 4 + (kk ^ (lane & 3))) * 2 + lane / 32];
      acc = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, acc, 0, 0, 0);
    }
#endif
    barrier();
  }
  for (int r = 0; r < 16; ++r)
    c[(long)(BIDY * 64 + wm + 8 * (r / 4) + 4 * (lane / 32) + r % 4) * n + BID * 64 + wn +
      lane % 32] = acc[r];
}

// Row softmax with wave shuffles and an LDS reduction over the waves.
static SHARED float partial[16];
static float wave_reduce(float v, int is_max) {
  for (int mask = 32; mask > 0; mask >>= 1) {
    int other_lane = (__builtin_amdgcn_mbcnt_hi(-1, __builtin_amdgcn_mbcnt_lo(-1, 0)) ^ mask) * 4;
    float other = __builtin_bit_cast(
        float, __builtin_amdgcn_ds_bpermute(other_lane, __builtin_bit_cast(int, v)));
    v = is_max ? __builtin_fmaxf(v, other) : v + other;
  }
  return v;
}
static float block_reduce(float v, int is_max, float identity) {
  v = wave_reduce(v, is_max);
  barrier();
  if (TID % 64 == 0)
    partial[TID / 64] = v;
  barrier();
  v = TID % 64 < BDIM / 64 ? partial[TID % 64 & 15] : identity;
  return wave_reduce(v, is_max);
}
#define SOFTMAX(NAME, T)                                                                           \
  KERNEL void NAME(const GLOBAL T *in, GLOBAL T *out, int n, int stride) {                         \
    const GLOBAL T *x = in + (long)BID * stride;                                                   \
    float top = -__builtin_inff();                                                                 \
    for (int i = TID; i < n; i += BDIM)                                                            \
      top = __builtin_fmaxf(top, (float)x[i]);                                                     \
    top = block_reduce(top, 1, -__builtin_inff());                                                 \
    float sum = 0;                                                                                 \
    for (int i = TID; i < n; i += BDIM)                                                            \
      sum += __builtin_expf((float)x[i] - top);                                                    \
    sum = block_reduce(sum, 0, 0);                                                                 \
    for (int i = TID; i < n; i += BDIM)                                                            \
      out[(long)BID * stride + i] = (T)(__builtin_expf((float)x[i] - top) / sum);                  \
  }
SOFTMAX(softmax_f32, float)
SOFTMAX(softmax_bf16, __bf16)
SOFTMAX(softmax_f16, _Float16)

// Private arrays, calls and recursion: scratch memory, the stack, flat addresses.
__attribute__((noinline)) static int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__attribute__((noinline)) static void add_all(int *values, int n, int by) {
  for (int i = 0; i < n; ++i)
    values[i] += by;
}
static SHARED int shared_values[64];
KERNEL void stack(GLOBAL int *out, int n) {
  int values[16];
  for (int i = 0; i < 16; ++i)
    values[i] = i * (int)TID;
  add_all(values, n, 3);
  shared_values[TID] = 5 * TID;
  add_all((int *)&shared_values[TID], 1, 7);
  add_all((int *)&out[64 + TID], 1, 9);
  out[TID] = values[(TID + 1) & 15] + fibonacci(TID & 7) + shared_values[TID];
}
