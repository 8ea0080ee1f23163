// SPDX-License-Identifier: Apache-2.0
// A HIP program as clang compiles it: kernels and variables in a fat binary, <<<>>> launches,
// graphs.
#include "hip_api.h"

#include <stdio.h>
#include <vector>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __managed__ __attribute__((managed))

#define CHECK(CALL)                                                                                \
  do {                                                                                             \
    const hipError_t e = (CALL);                                                                   \
    if (e != 0) {                                                                                  \
      printf("line %d: %s: %d %s\n", __LINE__, #CALL, e, hipGetErrorString(e));                    \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)
#define EXPECT(CONDITION)                                                                          \
  do {                                                                                             \
    if (!(CONDITION)) {                                                                            \
      printf("line %d: not so: %s\n", __LINE__, #CONDITION);                                       \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

__device__ int counter;
__constant__ float factor;
__managed__ int both = 5; ///< the same memory for the host and the device

__device__ static inline unsigned tid() {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
         __builtin_amdgcn_workitem_id_x();
}

__global__ void scale(float *x, int n) {
  const unsigned i = tid();
  if (i < (unsigned)n)
    x[i] *= factor;
}

template <typename T> __global__ void add(T *x, T value) {
  x[tid()] += value;
  if (__builtin_amdgcn_workitem_id_x() == 0)
    __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
}

__global__ void countOn() { both += 2; }

/// Every block waits for all others: only a cooperative launch ends.
__global__ void meet(int *arrived, int blocks) {
  if (__builtin_amdgcn_workitem_id_x() != 0)
    return;
  __atomic_fetch_add(arrived, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(arrived, __ATOMIC_SEQ_CST) < blocks)
    __builtin_amdgcn_s_sleep(1);
}

static void count(void *data) { ++*static_cast<int *>(data); }

int main() {
  constexpr int n = 1000;
  std::vector<float> host(n, 3.0f);
  float *x = nullptr;
  CHECK(hipMalloc((void **)&x, n * sizeof(float)));
  CHECK(hipMemcpy(x, host.data(), n * sizeof(float), hipMemcpyHostToDevice));
  const float two = 2.0f;
  size_t bytes = 0;
  CHECK(hipGetSymbolSize(&bytes, &factor));
  EXPECT(bytes == 4);
  CHECK(hipMemcpyToSymbol(&factor, &two, 4, 0, hipMemcpyHostToDevice));
  scale<<<dim3(4), dim3(256)>>>(x, n);
  CHECK(hipGetLastError());
  add<float><<<dim3(1), dim3(100)>>>(x, 1.0f);
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpy(host.data(), x, n * sizeof(float), hipMemcpyDeviceToHost));
  EXPECT(host[0] == 7.0f && host[99] == 7.0f && host[100] == 6.0f && host[999] == 6.0f);
  both *= 2;
  countOn<<<dim3(1), dim3(1)>>>();
  CHECK(hipDeviceSynchronize());
  EXPECT(both == 12);
  CHECK(hipGetSymbolSize(&bytes, &both));
  EXPECT(bytes == sizeof both);
  int launches = 0;
  CHECK(hipMemcpyFromSymbol(&launches, &counter, 4, 0, hipMemcpyDeviceToHost));
  EXPECT(launches == 1);
  EXPECT(hipMemcpyFromSymbol(&launches, &counter, 4, 4, hipMemcpyDeviceToHost) == 1);
  int blocks = 0;
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)scale, 256, 0));
  EXPECT(blocks >= 1);

  // A captured graph: copy, fill, kernels on two streams, a host function; launched three times.
  hipStream_t first, second;
  hipEvent_t forked, joined;
  CHECK(hipStreamCreate(&first));
  CHECK(hipStreamCreate(&second));
  CHECK(hipEventCreate(&forked));
  CHECK(hipEventCreate(&joined));
  float *y = nullptr;
  CHECK(hipMalloc((void **)&y, n * sizeof(float)));
  int calls = 0, capturing = 0;
  CHECK(hipStreamBeginCapture(first, 0));
  CHECK(hipStreamIsCapturing(first, &capturing));
  EXPECT(capturing == 1);
  CHECK(hipMemcpyAsync(y, x, n * sizeof(float), hipMemcpyDeviceToDevice, first));
  CHECK(hipEventRecord(forked, first));
  CHECK(hipStreamWaitEvent(second, forked, 0));
  add<float><<<dim3(1), dim3(10), 0, second>>>(y, 10.0f);
  CHECK(hipEventRecord(joined, second));
  CHECK(hipMemsetAsync(y + 500, 0, 400, first));
  CHECK(hipStreamWaitEvent(first, joined, 0));
  add<float><<<dim3(1), dim3(20), 0, first>>>(y, 100.0f);
  CHECK(hipLaunchHostFunc(first, count, &calls));
  hipGraph_t graph;
  CHECK(hipStreamEndCapture(first, &graph));
  EXPECT(calls == 0);
  size_t nodes = 0;
  CHECK(hipGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 5);
  hipGraphExec_t instance;
  CHECK(hipGraphInstantiate(&instance, graph, nullptr, nullptr, 0));
  CHECK(hipGraphDestroy(graph));
  for (int i = 0; i < 3; ++i)
    CHECK(hipGraphLaunch(instance, first));
  CHECK(hipStreamSynchronize(first));
  EXPECT(calls == 3);
  CHECK(hipMemcpy(host.data(), y, n * sizeof(float), hipMemcpyDeviceToHost));
  EXPECT(host[0] == 117.0f && host[15] == 107.0f && host[30] == 7.0f && host[500] == 0.0f &&
         host[600] == 6.0f);
  CHECK(hipGraphExecDestroy(instance));

  // What cannot be captured spoils the capture; a stream that is not joined does too.
  CHECK(hipStreamBeginCapture(first, 0));
  EXPECT(hipStreamSynchronize(first) == 900);
  EXPECT(hipStreamEndCapture(first, &graph) == 901);
  CHECK(hipStreamBeginCapture(first, 0));
  CHECK(hipEventRecord(forked, first));
  CHECK(hipStreamWaitEvent(second, forked, 0));
  CHECK(hipMemsetAsync(y, 0, 4, second));
  EXPECT(hipStreamEndCapture(first, &graph) == 904);

  int *arrived = nullptr;
  CHECK(hipMalloc((void **)&arrived, 4));
  CHECK(hipMemsetAsync(arrived, 0, 4, nullptr));
  int wanted = 12;
  void *arguments[] = {&arrived, &wanted};
  CHECK(hipLaunchCooperativeKernel((const void *)meet, dim3(12), dim3(64), arguments, 0, nullptr));

  EXPECT(hipLaunchKernel((const void *)main, dim3(1), dim3(1), arguments, 0, nullptr) != 0);
  EXPECT(hipMalloc3DArray() == 801);
  CHECK(hipFree(x));
  CHECK(hipFree(y));
  CHECK(hipFree(arrived));
  puts("all right");
  return 0;
}
