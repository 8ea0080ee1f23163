/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels for NVIDIA GPUs, compiled by clang to PTX: what a launch has to bring with it.
 */
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;

#define KERNEL __attribute__((nvptx_kernel)) void
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3)))

static inline int thread(void) { return __nvvm_read_ptx_sreg_tid_x(); }
static inline int block(void) { return __nvvm_read_ptx_sreg_ctaid_x(); }
static inline int index(void) { return block() * __nvvm_read_ptx_sreg_ntid_x() + thread(); }

/* c = a + b */
KERNEL add_kernel_0(const float *a, const float *b, float *c, int n) {
  const int i = index();
  if (i < n)
    c[i] = a[i] + b[i];
}

/* Each block turns its `words` floats round by way of shared memory. */
extern SHARED float dynamic[];
KERNEL reverse_kernel_0(float *a, int words) {
  const int threads = __nvvm_read_ptx_sreg_ntid_x();
  GLOBAL float *mine = (GLOBAL float *)(a + (uint64_t)block() * words);
  for (int i = thread(); i < words; i += threads)
    dynamic[i] = mine[i];
  __asm__ volatile("bar.sync 0;" ::: "memory");
  for (int i = thread(); i < words; i += threads)
    mine[i] = dynamic[words - 1 - i];
}

/* The number of blocks in the block's cluster, and its rank there. */
KERNEL cluster_kernel_0(int *seen) {
  uint32_t size, rank;
  __asm__ volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  __asm__ volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (thread() == 0) {
    seen[2 * block()] = (int)size;
    seen[2 * block() + 1] = (int)rank;
  }
}

/* Message 1, with the block and thread, by each thread; message 2, an assertion, where a[i] < 0. */
GLOBAL uint64_t __flydsl_print;
static inline void say(uint32_t message, uint32_t first, uint32_t second, int values) {
  uint64_t *buffer = (uint64_t *)__flydsl_print;
  const uint64_t at = __atomic_fetch_add(&buffer[0], 1 + values, __ATOMIC_RELAXED);
  if (at + 1 + values > buffer[1]) {
    __atomic_fetch_add(&buffer[2], 1, __ATOMIC_RELAXED);
    return;
  }
  uint32_t *words = (uint32_t *)(buffer + 4) + at;
  words[1] = first;
  if (values > 1)
    words[2] = second;
  words[0] = message;
}
KERNEL speak_kernel_0(const float *a, int n) {
  const int i = index();
  if (i >= n)
    return;
  say(1, (uint32_t)block(), (uint32_t)thread(), 2);
  if (a[i] < 0.0f)
    say(2, (uint32_t)i, 0, 1);
}

/* Writes far outside of everything. */
KERNEL wild_kernel_0(float *a) { *(GLOBAL float *)((uint64_t)a + (1ull << 46)) = 1.0f; }
