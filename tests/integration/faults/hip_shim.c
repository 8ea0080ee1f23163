/* SPDX-License-Identifier: Apache-2.0
 *
 * A HIP library whose n-th call fails (shim.c counts): every other one goes to the library that
 * FAULT_HIP_LIBRARY names. Those are the functions that fly-runtime looks up.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { HIP = 5 };
extern int fault_hits(int kind) __attribute__((weak));

/* hipErrorOutOfMemory, hipErrorUnknown, ... */
static int failure = 2;
void fault_hip_error(int error) { failure = error; }

static void *real(const char *name) {
  static void *library;
  if (library == NULL && (library = dlopen(getenv("FAULT_HIP_LIBRARY"), RTLD_NOW)) == NULL) {
    fprintf(stderr, "hip_shim: %s\n", dlerror());
    abort();
  }
  return dlsym(library, name);
}

#define FORWARD(name, parameters, arguments)                                                       \
  int name parameters {                                                                            \
    int(*function) parameters;                                                                     \
    *(void **)&function = real(#name);                                                             \
    if (fault_hits != NULL && fault_hits(HIP))                                                     \
      return failure;                                                                              \
    return function arguments;                                                                     \
  }
FORWARD(hipInit, (unsigned a), (a))
FORWARD(hipGetDeviceCount, (int *a), (a))
FORWARD(hipGetDevice, (int *a), (a))
FORWARD(hipSetDevice, (int a), (a))
FORWARD(hipGetDevicePropertiesR0600, (void *a, int b), (a, b))
FORWARD(hipModuleLoadData, (void **a, const void *b), (a, b))
FORWARD(hipModuleGetFunction, (void **a, void *b, const char *c), (a, b, c))
FORWARD(hipModuleGetGlobal, (void **a, size_t *b, void *c, const char *d), (a, b, c, d))
FORWARD(hipModuleLaunchKernel,
        (void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g,
         unsigned h, void *s, void **p, void **x),
        (f, a, b, c, d, e, g, h, s, p, x))
FORWARD(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, (int *a, void *b, int c, size_t d),
        (a, b, c, d))
FORWARD(hipMalloc, (void **a, size_t b), (a, b))
FORWARD(hipFree, (void *a), (a))
FORWARD(hipMemcpy, (void *a, const void *b, size_t c, int d), (a, b, c, d))
FORWARD(hipPointerGetAttributes, (void *a, const void *b), (a, b))
FORWARD(hipStreamSynchronize, (void *a), (a))
FORWARD(hipStreamIsCapturing, (void *a, int *b), (a, b))
FORWARD(hipDeviceSynchronize, (void), ())
FORWARD(flyemu_register_memory, (const void *a, size_t b, int c, const char *d), (a, b, c, d))
FORWARD(flyemu_register_tensor,
        (const void *a, size_t b, int c, const char *d, const void *e, unsigned f, int g,
         const long long *h, const long long *i),
        (a, b, c, d, e, f, g, h, i))
FORWARD(flyemu_set_devices, (const char *a), (a))

/* What never fails. */
int flyemu_unregister_memory(const void *address) {
  int (*function)(const void *);
  *(void **)&function = real("flyemu_unregister_memory");
  return function(address);
}
#define TEXT(name, parameters, arguments)                                                          \
  const char *name parameters {                                                                    \
    const char *(*function)parameters;                                                             \
    *(void **)&function = real(#name);                                                             \
    return function arguments;                                                                     \
  }
TEXT(hipGetErrorName, (int error), (error))
TEXT(hipGetErrorString, (int error), (error))
TEXT(flyemu_version, (void), ())
TEXT(flyemu_last_error, (void), ())
