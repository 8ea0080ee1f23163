// SPDX-License-Identifier: Apache-2.0
// A C client that links nothing of HIP's: it loads the library as it would load libamdhip64.so,
// asks for functions by name, and launches a kernel of a code object from a file.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip_api.h"

#define LOAD(NAME)                                                                                 \
  __typeof__(&NAME) NAME##_ = (__typeof__(&NAME))dlsym(library, #NAME);                            \
  if (NAME##_ == NULL)                                                                             \
  return printf("no %s\n", #NAME), 1
#define CHECK(CALL)                                                                                \
  do {                                                                                             \
    const hipError_t e = (CALL);                                                                   \
    if (e != 0)                                                                                    \
      return printf("line %d: error %d\n", __LINE__, e), 1;                                        \
  } while (0)

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    return printf("%s\n", dlerror()), 1;
  hipError_t (*find)(const char *, void **, int, uint64_t, int *) =
      (hipError_t (*)(const char *, void **, int, uint64_t, int *))dlsym(library,
                                                                         "hipGetProcAddress");
  if (find == NULL)
    return puts("no hipGetProcAddress"), 1;
  LOAD(hipInit);
  LOAD(hipModuleLoadData);
  LOAD(hipModuleGetFunction);
  LOAD(hipModuleLaunchKernel);
  LOAD(hipMalloc);
  LOAD(hipMemcpy);
  LOAD(hipStreamCreate);
  LOAD(hipEventCreate);
  LOAD(hipEventRecord);
  LOAD(hipEventSynchronize);
  LOAD(hipEventElapsedTime);
  LOAD(hipModuleUnload);
  void *properties = NULL;
  CHECK(find("hipGetDeviceProperties", &properties, 60000000, 0, NULL));
  char *bytes = calloc(1, 4096);
  CHECK(((hipError_t (*)(void *, int))properties)(bytes, 0));
  if (strstr(bytes, "emulated") == NULL || strncmp(bytes + 1160, "gfx", 3) != 0)
    return puts("no properties"), 1;
  if (find("hipNoSuchFunction", &properties, 0, 0, NULL) == 0)
    return puts("a function that there isn't"), 1;

  FILE *file = fopen(argv[2], "rb");
  char *image = malloc(1 << 20);
  if (file == NULL || fread(image, 1, 1 << 20, file) < 64)
    return puts("no code object"), 1;
  hipModule_t module;
  hipFunction_t function;
  hipStream_t stream;
  hipEvent_t start, stop;
  float *x, host[256], milliseconds = -1;
  for (int i = 0; i < 256; ++i)
    host[i] = (float)i;
  CHECK(hipInit_(0));
  CHECK(hipModuleLoadData_(&module, image));
  CHECK(hipModuleGetFunction_(&function, module, "vector_add"));
  CHECK(hipMalloc_((void **)&x, sizeof host));
  CHECK(hipMemcpy_(x, host, sizeof host, hipMemcpyHostToDevice));
  CHECK(hipStreamCreate_(&stream));
  CHECK(hipEventCreate_(&start));
  CHECK(hipEventCreate_(&stop));
  int n = 256;
  void *arguments[] = {&x, &x, &x, &n};
  CHECK(hipEventRecord_(start, stream));
  CHECK(hipModuleLaunchKernel_(function, 1, 1, 1, 256, 1, 1, 0, stream, arguments, NULL));
  CHECK(hipEventRecord_(stop, stream));
  CHECK(hipEventSynchronize_(stop));
  CHECK(hipEventElapsedTime_(&milliseconds, start, stop));
  CHECK(hipMemcpy_(host, x, sizeof host, hipMemcpyDeviceToHost));
  for (int i = 0; i < 256; ++i)
    if (host[i] != 2.0f * (float)i)
      return printf("element %d is %g\n", i, host[i]), 1;
  if (milliseconds < 0)
    return puts("no time has passed"), 1;
  CHECK(hipModuleUnload_(module));
  puts("all right");
  return 0;
}
