// SPDX-License-Identifier: Apache-2.0
//
// A C++ program that links a compiled artifact and runs it without Python: c = a + b on whatever
// device the runtime finds. The artifact's function has the plain C convention of docs/artifact.md:
// one slot per scalar, and per tensor its data pointer followed by its packed dynamic extents.
//
//   c++ call_from_cpp.cpp -I$(include_dir) vector_add.so -l:libflydsl_runtime.so.0 -o call_from_cpp
#include "flydsl/runtime.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" int32_t vector_add(void **slots);

namespace {

void check(int32_t status) {
  if (status == FLYDSL_OK)
    return;
  std::fprintf(stderr, "%s\n", flydsl_last_error());
  std::exit(1);
}

float *device_copy(const std::vector<float> &values) {
  void *address = nullptr;
  check(flydsl_malloc(&address, values.size() * sizeof(float)));
  check(flydsl_copy(address, values.data(), values.size() * sizeof(float)));
  return static_cast<float *>(address);
}

} // namespace

int main() {
  const char *description = nullptr;
  check(flydsl_describe(&description));
  std::printf("%s\n", description);

  constexpr int32_t n = 1000;
  std::vector<float> a(n), b(n), c(n);
  for (int32_t i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i);
  }
  float *deviceA = device_copy(a);
  float *deviceB = device_copy(b);
  float *deviceC = device_copy(c);
  int32_t extent = n;
  int32_t count = n;
  void *stream = nullptr;
  void *slots[] = {&deviceA, &extent, &deviceB, &extent, &deviceC, &extent, &count, &stream};
  check(vector_add(slots));
  check(flydsl_synchronize(nullptr));
  check(flydsl_copy(c.data(), deviceC, n * sizeof(float)));
  for (void *address : {deviceA, deviceB, deviceC})
    check(flydsl_free(address));

  int wrong = 0;
  for (int32_t i = 0; i < n; ++i)
    wrong += c[i] != static_cast<float>(3 * i);
  std::printf("%d of %d wrong\n", wrong, n);
  return wrong == 0 ? 0 : 1;
}
