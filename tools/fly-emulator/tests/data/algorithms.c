// SPDX-License-Identifier: Apache-2.0
// Algorithms of GPUs as libraries write them, on compilers' builtins; one workgroup of N threads
// each.
#define N 256
#define WAVES (N / 64)

static unsigned laneId(void) {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}

KERNEL void bitonic_sort(const GLOBAL int *in, GLOBAL int *out) {
  static SHARED int tile[N];
  const unsigned t = TID;
  tile[t] = in[BID * N + t];
  barrier();
  for (unsigned size = 2; size <= N; size *= 2)
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      const unsigned other = t ^ stride;
      const int mine = tile[t], theirs = tile[other];
      const int ascending = (t & size) == 0, low = t < other;
      const int keep =
          (ascending == low) ? (mine < theirs ? mine : theirs) : (mine > theirs ? mine : theirs);
      barrier();
      tile[t] = keep;
      barrier();
    }
  out[BID * N + t] = tile[t];
}

static unsigned scanWave(unsigned value) { // inclusive, by permutes
  for (unsigned step = 1; step < 64; step *= 2) {
    const unsigned lane = laneId();
    const unsigned below =
        (unsigned)__builtin_amdgcn_ds_bpermute((int)((lane - step) * 4), (int)value);
    value += lane >= step ? below : 0;
  }
  return value;
}

/// Stable, one bit a pass.
KERNEL void radix_sort(const GLOBAL unsigned *in, GLOBAL unsigned *out) {
  static SHARED unsigned keys[N];
  static SHARED unsigned totals[WAVES];
  const unsigned t = TID;
  unsigned key = in[BID * N + t];
  for (unsigned bit = 0; bit < 32; ++bit) {
    const unsigned zero = !(key >> bit & 1);
    const unsigned inclusive = scanWave(zero);
    if (laneId() == 63)
      totals[t / 64] = inclusive;
    barrier();
    unsigned before = 0, zeros = 0;
    for (unsigned wave = 0; wave < WAVES; ++wave) {
      before += wave < t / 64 ? totals[wave] : 0;
      zeros += totals[wave];
    }
    const unsigned rank = before + inclusive - zero; // of the zeros below
    keys[zero ? rank : zeros + t - rank] = key;
    barrier();
    key = keys[t];
    barrier();
  }
  out[BID * N + t] = key;
}

static float add(float a, int b) { return a + __builtin_bit_cast(float, b); }
#define DPP(x, control)                                                                            \
  __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, x), control, 0xf, 0xf, 1)

KERNEL void reduce_by_dpp(const GLOBAL float *in, GLOBAL float *out) {
  float sum = in[BID * 64 + TID];
  sum = add(sum, DPP(sum, 0xb1));  // quad_perm:[1,0,3,2]
  sum = add(sum, DPP(sum, 0x4e));  // quad_perm:[2,3,0,1]
  sum = add(sum, DPP(sum, 0x141)); // row_half_mirror
  sum = add(sum, DPP(sum, 0x140)); // row_mirror
  sum = add(sum, __builtin_amdgcn_ds_swizzle(__builtin_bit_cast(int, sum), 0x401f)); // lane ^ 16
  const float high =
      __builtin_bit_cast(float, __builtin_amdgcn_readlane(__builtin_bit_cast(int, sum), 32));
  if (TID == 0)
    out[BID] = sum + high;
}

KERNEL void transpose(const GLOBAL float *in, GLOBAL float *out, int n) {
  static SHARED float tile[16][17];
  const unsigned x = TID % 16, y = TID / 16, tiles = (unsigned)n / 16;
  const unsigned row = BID / tiles * 16, column = BID % tiles * 16;
  tile[y][x] = in[(row + y) * (unsigned)n + column + x];
  barrier();
  out[(column + y) * (unsigned)n + row + x] = tile[x][y];
}

/// The number of equal bytes, by ballots and LDS atomics.
KERNEL void histogram(const GLOBAL unsigned char *in, GLOBAL unsigned *out, int n) {
  static SHARED unsigned bins[256];
  bins[TID] = 0;
  barrier();
  for (unsigned i = TID; i < (unsigned)n; i += N)
    __hip_atomic_fetch_add(&bins[in[i]], 1, __ATOMIC_RELAXED, 3);
  barrier();
  out[TID] = bins[TID];
}

/// Positions of what passes, kept in order.
KERNEL void compact(const GLOBAL int *in, GLOBAL int *out, GLOBAL int *count) {
  static SHARED int totals[WAVES];
  const int value = in[TID];
  const int passes = value > 0;
  const unsigned long mask = __builtin_amdgcn_ballot_w64(passes);
  const int below = (int)__builtin_amdgcn_mbcnt_hi((unsigned)(mask >> 32),
                                                   __builtin_amdgcn_mbcnt_lo((unsigned)mask, 0));
  if (laneId() == 0)
    totals[TID / 64] = __builtin_popcountl(mask);
  barrier();
  int before = 0;
  for (unsigned wave = 0; wave < TID / 64; ++wave)
    before += totals[wave];
  if (passes)
    out[before + below] = value;
  if (TID == N - 1)
    *count = before + below + passes;
}

/// One builtin each, of the groups that the other kernels have not.
KERNEL void builtins(const GLOBAL unsigned *in, GLOBAL unsigned *out) {
  const unsigned a = in[TID], b = in[TID + 64], c = in[TID + 128];
  const float x = __builtin_bit_cast(float, (a & 0x7fffff) | 0x3f800000),
              y = __builtin_bit_cast(float, (b & 0x7fffff) | 0x40000000);
  GLOBAL unsigned *o = out + TID * 16;
  o[0] = __builtin_amdgcn_perm(a, b, 0x07020500);
  o[1] = __builtin_amdgcn_alignbyte(a, b, 3);
  o[2] = __builtin_amdgcn_ubfe(a, 5, 11);
  o[3] = (unsigned)__builtin_amdgcn_sbfe((int)a, 7, 9);
  o[4] = __builtin_amdgcn_sad_u8(a, b, c);
  o[5] = (unsigned)__builtin_amdgcn_sdot4((int)a, (int)b, (int)(c & 0xffff), 0);
  o[6] = __builtin_amdgcn_lerp(a, b, c);
  o[7] = __builtin_amdgcn_alignbit(a, b, 13);
  o[8] = __builtin_bit_cast(unsigned, __builtin_amdgcn_fmed3f(x, y, 1.5f));
  o[9] = __builtin_bit_cast(unsigned, __builtin_amdgcn_ldexpf(x, 5));
  o[10] = (unsigned)__builtin_amdgcn_frexp_expf(y * 8);
  o[11] = __builtin_bit_cast(unsigned, __builtin_amdgcn_fractf(y));
  o[12] = __builtin_amdgcn_class(x, 0x100);
  o[13] = __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(x, y));
  o[14] = (unsigned)__builtin_amdgcn_readfirstlane((int)a);
  o[15] = __builtin_amdgcn_msad_u8(a, b, c);
}
