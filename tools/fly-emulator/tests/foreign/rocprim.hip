// SPDX-License-Identifier: Apache-2.0
// rocPRIM's device-wide algorithms against the standard library's.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

// Of the device library that HIP 5.2 links, the only function in use.
extern "C" __device__ void __atomic_work_item_fence(__cl_mem_fence_flags, __memory_order,
                                                    __memory_scope) {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}

#include <rocprim/rocprim.hpp>

namespace {

constexpr size_t kCount = 50000;
int wrong = 0;
bool segmentedSort = true;
std::mt19937 random32(1);

void require(hipError_t error, const char *what) {
  if (error == hipSuccess)
    return;
  std::printf("%s: %s\n", what, hipGetErrorString(error));
  std::exit(1);
}

template <typename T> T *device(const std::vector<T> &values) {
  void *memory = nullptr;
  require(hipMalloc(&memory, values.size() * sizeof(T)), "hipMalloc");
  require(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice),
          "hipMemcpy");
  return static_cast<T *>(memory);
}
template <typename T> T *empty(size_t count) { return device(std::vector<T>(count)); }
template <typename T> std::vector<T> host(const T *memory, size_t count) {
  std::vector<T> values(count);
  require(hipMemcpy(values.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost), "hipMemcpy");
  return values;
}

/// Ask for the size of the temporary storage, then run.
template <typename F> void run(const char *name, F &&algorithm, size_t slack = 0) {
  size_t bytes = 0;
  void *storage = nullptr;
  require(algorithm(nullptr, bytes), name);
  require(hipMalloc(&storage, bytes + slack), name);
  require(algorithm(storage, bytes), name);
  require(hipDeviceSynchronize(), name);
  require(hipFree(storage), name);
}
#define RUN(NAME, CALL) run(NAME, [&](void *t, size_t &b) { return rocprim::CALL; })

void expect(const char *name, bool holds) {
  std::printf("%-22s %s\n", name, holds ? "right" : "WRONG");
  wrong += holds ? 0 : 1;
}

std::vector<int> integers(int low, int high) {
  std::vector<int> values(kCount);
  for (int &value : values)
    value = std::uniform_int_distribution<int>(low, high)(random32);
  return values;
}

void sorts() {
  std::vector<unsigned> keys(kCount);
  std::generate(keys.begin(), keys.end(), random32);
  std::vector<int> order(kCount);
  std::iota(order.begin(), order.end(), 0);
  unsigned *keysIn = device(keys), *keysOut = empty<unsigned>(kCount);
  int *valuesIn = device(order), *valuesOut = empty<int>(kCount);
  RUN("radix_sort_pairs", radix_sort_pairs(t, b, keysIn, keysOut, valuesIn, valuesOut, kCount));
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) { return keys[x] < keys[y]; });
  std::sort(keys.begin(), keys.end());
  expect("radix_sort_pairs", host(keysOut, kCount) == keys && host(valuesOut, kCount) == order);

  std::vector<float> floats(kCount);
  for (float &value : floats)
    value = std::normal_distribution<float>()(random32);
  float *in = device(floats), *out = empty<float>(kCount);
  RUN("radix_sort_keys_desc", radix_sort_keys_desc(t, b, in, out, kCount));
  std::sort(floats.rbegin(), floats.rend());
  expect("radix_sort_keys_desc", host(out, kCount) == floats);
  RUN("merge_sort", merge_sort(t, b, in, out, kCount, rocprim::less<float>()));
  std::sort(floats.begin(), floats.end());
  expect("merge_sort", host(out, kCount) == floats);
}

void scansAndReductions() {
  const std::vector<int> x = integers(-500, 500);
  int *in = device(x), *out = empty<int>(kCount);
  std::vector<int> sums(kCount);
  RUN("inclusive_scan", inclusive_scan(t, b, in, out, kCount, rocprim::plus<int>()));
  std::partial_sum(x.begin(), x.end(), sums.begin());
  expect("inclusive_scan", host(out, kCount) == sums);
  RUN("exclusive_scan", exclusive_scan(t, b, in, out, 7, kCount, rocprim::plus<int>()));
  std::exclusive_scan(x.begin(), x.end(), sums.begin(), 7);
  expect("exclusive_scan", host(out, kCount) == sums);
  auto *total = empty<long long>(1);
  RUN("reduce", reduce(t, b, in, total, 0LL, kCount, rocprim::plus<long long>()));
  expect("reduce", host(total, 1)[0] == std::accumulate(x.begin(), x.end(), 0LL));

  const std::vector<int> edges = {0, 10, 10, 3000, 3001, 40000, int{kCount}};
  const unsigned segments = edges.size() - 1;
  int *offsets = device(edges), *each = empty<int>(segments);
  RUN("segmented_reduce",
      segmented_reduce(t, b, in, each, segments, offsets, offsets + 1, rocprim::plus<int>(), 0));
  std::vector<int> expected, sorted = x;
  for (unsigned i = 0; i < segments; ++i) {
    expected.push_back(std::accumulate(x.begin() + edges[i], x.begin() + edges[i + 1], 0));
    std::sort(sorted.begin() + edges[i], sorted.begin() + edges[i + 1]);
  }
  expect("segmented_reduce", host(each, segments) == expected);
  if (!segmentedSort)
    return;
  RUN("segmented_radix_sort",
      segmented_radix_sort_keys(t, b, in, out, kCount, segments, offsets, offsets + 1));
  expect("segmented_radix_sort", host(out, kCount) == sorted);
}

void runsAndSelections() {
  std::vector<int> x;
  while (x.size() < kCount)
    x.insert(x.end(), std::min<size_t>(random32() % 5 + 1, kCount - x.size()), random32() % 9);
  std::vector<int> values, counts, sums;
  for (const int value : x) {
    if (values.empty() || values.back() != value) {
      values.push_back(value);
      counts.push_back(0);
    }
    ++counts.back();
  }
  for (size_t i = 0; i < values.size(); ++i)
    sums.push_back(values[i] * counts[i]);
  int *in = device(x), *out = empty<int>(kCount), *other = empty<int>(kCount),
      *number = empty<int>(1);
  const auto outIs = [&](const std::vector<int> &expected) {
    return host(number, 1)[0] == static_cast<int>(expected.size()) &&
           host(out, expected.size()) == expected;
  };
  RUN("run_length_encode", run_length_encode(t, b, in, kCount, out, other, number));
  expect("run_length_encode", outIs(values) && host(other, counts.size()) == counts);
  RUN("unique", unique(t, b, in, out, number, kCount));
  expect("unique", outIs(values));
  RUN("reduce_by_key", reduce_by_key(t, b, in, in, kCount, out, other, number));
  expect("reduce_by_key", outIs(values) && host(other, sums.size()) == sums);
  RUN("select", select(t, b, in, out, number, kCount, [] __device__(int v) { return v > 4; }));
  std::vector<int> chosen, rest;
  for (const int value : x)
    (value > 4 ? chosen : rest).push_back(value);
  expect("select", outIs(chosen));
  RUN("partition",
      partition(t, b, in, out, number, kCount, [] __device__(int v) { return v > 4; }));
  std::reverse(rest.begin(), rest.end());
  chosen.insert(chosen.end(), rest.begin(), rest.end());
  expect("partition", host(out, kCount) == chosen);
}

void others() {
  std::vector<float> x(kCount);
  for (float &value : x)
    value = std::uniform_real_distribution<float>()(random32);
  float *samples = device(x);
  int *bins = empty<int>(64);
  RUN("histogram_even", histogram_even(t, b, samples, kCount, bins, 65, 0.0f, 1.0f));
  std::vector<int> expected(64);
  for (const float value : x)
    ++expected[std::min(63, static_cast<int>(value * 64))];
  expect("histogram_even", host(bins, 64) == expected);

  std::vector<int> a = integers(0, 100000), c = integers(0, 100000), merged(2 * kCount), places;
  std::sort(a.begin(), a.end());
  std::sort(c.begin(), c.end());
  int *first = device(a), *second = device(c), *out = empty<int>(2 * kCount);
  // Threads of the last block write behind the table of partitions, which needs room for that.
  run(
      "merge",
      [&](void *t, size_t &b) { return rocprim::merge(t, b, first, second, out, kCount, kCount); },
      4096);
  std::merge(a.begin(), a.end(), c.begin(), c.end(), merged.begin());
  expect("merge", host(out, merged.size()) == merged);
  RUN("lower_bound", lower_bound(t, b, first, second, out, kCount, kCount));
  for (const int value : c)
    places.push_back(std::lower_bound(a.begin(), a.end(), value) - a.begin());
  expect("lower_bound", host(out, kCount) == places);
  require(rocprim::transform(first, out, kCount, [] __device__(int v) { return v * 3; }),
          "transform");
  std::transform(a.begin(), a.end(), a.begin(), [](int v) { return v * 3; });
  expect("transform", host(out, kCount) == a);
}

} // namespace

/// With an argument: without the segmented sort, whose blocks read LDS that nobody wrote.
int main(int argc, char **) {
  segmentedSort = argc == 1;
  sorts();
  scansAndReductions();
  runsAndSelections();
  others();
  std::puts(wrong == 0 ? "all right" : "wrong");
  return wrong;
}
