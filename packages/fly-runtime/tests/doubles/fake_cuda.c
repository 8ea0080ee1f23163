/* SPDX-License-Identifier: Apache-2.0
 *
 * A test double for the library of CUDA's driver: it writes down every call, and fails on request
 * (recorder.h). Contexts are as the driver has them: current for a thread, none at first; modules,
 * functions and memory need one, and a function runs only where its module was loaded.
 * FAKE_CAPABILITIES lists its devices ("90,80" by default). It executes nothing but the vector
 * addition of examples/call_from_cpp.cpp. Compiled with -DNO_CLUSTERS it lacks what CUDA 11 lacks.
 * Loading a module takes FAKE_LOAD_MILLISECONDS.
 */
#include "recorder.h"

#include <unistd.h>

typedef int CUresult;

enum { MOST = 8, INVALID_VALUE = 1, NO_DEVICE = 100, INVALID_CONTEXT = 201, INVALID_HANDLE = 400 };

typedef struct {
  int device;
  int retained;
} Context;
typedef struct {
  Context *context;
} Module;
typedef struct {
  Module *module;
  char *name;
  int most_dynamic;
  int any_cluster;
} Function;

static Context primary[MOST];
static Context own_context; /* of a program that makes one, on device 0 */
static __thread Context *current;
static __thread int capture_mode;

static int capability(int wanted) {
  const char *list = getenv("FAKE_CAPABILITIES");
  int count = 0, found = -1;
  for (const char *at = list == NULL ? "90,80" : list; *at != '\0';) {
    char *end;
    const int value = (int)strtol(at, &end, 10);
    if (count++ == wanted)
      found = value;
    at = *end == ',' ? end + 1 : end;
  }
  return wanted < 0 ? count : found;
}

static int in_context(const char *function) {
  return current == NULL ? INVALID_CONTEXT : outcome(function);
}

/* ---- what tests call, beside recorder.h ---- */

/* The device whose primary context is current for the thread; -1: none is, -2: another one. */
int fake_current(void) {
  if (current == NULL)
    return -1;
  return current == &own_context ? -2 : current->device;
}

void fake_enter_own_context(void) { current = &own_context; }
void fake_leave_contexts(void) { current = NULL; }
int fake_capture_mode(void) { return capture_mode; }

/* Makes the kernel that runs next leave a record of message number `message` without values. */
static uint32_t spoken;
void fake_speak(uint32_t message) { spoken = message; }

/* ---- the double ---- */

CUresult cuInit(unsigned flags) {
  (void)flags;
  return outcome("cuInit");
}

CUresult cuDriverGetVersion(int *version) {
  const char *wanted = getenv("FAKE_DRIVER_VERSION");
  *version = wanted == NULL ? 13000 : atoi(wanted);
  return outcome("cuDriverGetVersion");
}

CUresult cuDeviceGetCount(int *count) {
  *count = capability(-1);
  return outcome("cuDeviceGetCount");
}

CUresult cuDeviceGetName(char *name, int bytes, int device) {
  snprintf(name, (size_t)bytes, "Fake H%d", device);
  return outcome("cuDeviceGetName");
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, int device) {
  (void)device;
  *bytes = (size_t)1 << 34;
  return outcome("cuDeviceTotalMem_v2");
}

CUresult cuDeviceGetAttribute(int *value, int attribute, int device) {
  const int number = capability(device);
  switch (attribute) {
  case 1: /* threads per block */
  case 2: /* block x */
  case 3: /* block y */
    *value = 1024;
    break;
  case 4: /* block z */
    *value = 64;
    break;
  case 5: /* grid x */
    *value = 2147483647;
    break;
  case 6: /* grid y */
  case 7: /* grid z */
    *value = 65535;
    break;
  case 10: /* warp */
    *value = 32;
    break;
  case 16: /* multiprocessors */
    *value = 132;
    break;
  case 75:
    *value = number / 10;
    break;
  case 76:
    *value = number % 10;
    break;
  case 97: /* shared memory per block, when asked for */
    *value = 232448;
    break;
  default:
    return INVALID_VALUE;
  }
  return outcome("cuDeviceGetAttribute");
}

CUresult cuGetErrorName(CUresult error, const char **name) {
  *name = error == 719   ? "CUDA_ERROR_LAUNCH_FAILED"
          : error == 218 ? "CUDA_ERROR_INVALID_PTX"
          : error == 2   ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == 1   ? "CUDA_ERROR_INVALID_VALUE"
                         : NULL;
  return *name == NULL ? INVALID_VALUE : 0;
}

CUresult cuGetErrorString(CUresult error, const char **string) {
  *string = error == 719 ? "unspecified launch failure" : "some failure";
  return 0;
}

CUresult cuDevicePrimaryCtxRetain(Context **context, int device) {
  if (device < 0 || device >= capability(-1))
    return 101;
  const CUresult result = outcome("cuDevicePrimaryCtxRetain");
  if (result != 0)
    return result;
  note("retain %d", device);
  primary[device].device = device;
  ++primary[device].retained;
  *context = &primary[device];
  return 0;
}

CUresult cuCtxGetCurrent(Context **context) {
  *context = current;
  return outcome("cuCtxGetCurrent");
}

CUresult cuCtxSetCurrent(Context *context) {
  const CUresult result = outcome("cuCtxSetCurrent");
  if (result == 0)
    current = context;
  return result;
}

CUresult cuCtxGetDevice(int *device) {
  if (current != NULL)
    *device = current->device;
  return in_context("cuCtxGetDevice");
}

CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
  const int before = capture_mode;
  capture_mode = *mode;
  *mode = before;
  return 0;
}

CUresult cuModuleLoadDataEx(Module **module, const void *image, unsigned options, int *names,
                            void **values) {
  const CUresult result = in_context("cuModuleLoadDataEx");
  const char *milliseconds = getenv("FAKE_LOAD_MILLISECONDS");
  if (milliseconds != NULL)
    usleep(1000 * (useconds_t)atoi(milliseconds));
  note("load on %d in mode %d: %s", current == NULL ? -1 : current->device, capture_mode,
       (const char *)image);
  for (unsigned option = 0; option < options; ++option)
    if (result != 0 && names[option] == 5)
      strcpy(values[option], "ptxas application ptx input, line 7; error : Unknown symbol 'f00'");
  *module = malloc(sizeof **module);
  (*module)->context = current;
  return result;
}

CUresult cuModuleGetFunction(Function **function, Module *module, const char *name) {
  *function = calloc(1, sizeof **function);
  (*function)->module = module;
  (*function)->name = strdup(name);
  (*function)->most_dynamic = 49152;
  return in_context("cuModuleGetFunction");
}

/* Where printing kernels find their buffer; one per process will do. */
static void *print_buffer;

CUresult cuModuleGetGlobal_v2(void **address, size_t *bytes, Module *module, const char *name) {
  (void)module;
  note("global %s", name);
  *address = &print_buffer;
  *bytes = sizeof print_buffer;
  return in_context("cuModuleGetGlobal_v2");
}

CUresult cuFuncGetAttribute(int *value, int attribute, Function *function) {
  (void)function;
  const char *reserved = getenv("FAKE_STATIC_SHARED");
  *value = reserved == NULL ? 1024 : atoi(reserved);
  return attribute == 1 ? in_context("cuFuncGetAttribute") : INVALID_VALUE;
}

CUresult cuFuncSetAttribute(Function *function, int attribute, int value) {
  if (attribute == 8)
    function->most_dynamic = value;
  else if (attribute == 14)
    function->any_cluster = value;
  else
    return INVALID_VALUE;
  return in_context("cuFuncSetAttribute");
}

static CUresult run(const char *api, Function *function, const unsigned *grid,
                    const unsigned *block, const unsigned *cluster, unsigned shared, void *stream,
                    void **params) {
  if (current == NULL)
    return INVALID_CONTEXT;
  if (function->module->context != current)
    return INVALID_HANDLE;
  if ((int)shared > function->most_dynamic ||
      (cluster[0] * cluster[1] * cluster[2] > 8 && !function->any_cluster))
    return INVALID_VALUE;
  if (strcmp(function->name, "vector_add_kernel_0") == 0) {
    const float *a = *(float **)params[0], *b = *(float **)params[2];
    float *c = *(float **)params[4];
    for (int i = 0; i < *(int *)params[6]; ++i)
      c[i] = a[i] + b[i];
  }
  note("launch %s on %d: grid %u %u %u block %u %u %u cluster %u %u %u shared %u stream %ld",
       function->name, current->device, grid[0], grid[1], grid[2], block[0], block[1], block[2],
       cluster[0], cluster[1], cluster[2], shared, (long)stream);
  if (spoken != 0 && print_buffer != NULL) {
    *(uint64_t *)print_buffer += 1;
    ((uint32_t *)print_buffer)[8] = spoken;
    spoken = 0;
  }
  return outcome(api);
}

CUresult cuLaunchKernel(Function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                        void **extra) {
  (void)extra;
  const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz}, cluster[] = {1, 1, 1};
  return run("cuLaunchKernel", function, grid, block, cluster, shared, stream, params);
}

#ifndef NO_CLUSTERS
typedef struct {
  int id;
  unsigned pad;
  unsigned value[16];
} Attribute;
typedef struct {
  unsigned grid[3], block[3], shared;
  void *stream;
  Attribute *attributes;
  unsigned count;
} Config;

CUresult cuLaunchKernelEx(const Config *config, Function *function, void **params, void **extra) {
  (void)extra;
  unsigned cluster[] = {1, 1, 1};
  for (unsigned number = 0; number < config->count; ++number) {
    const Attribute *attribute = &config->attributes[number];
    if (attribute->id == 4)
      memcpy(cluster, attribute->value, sizeof cluster);
    else if (attribute->id == 6)
      note("programmatic %u", attribute->value[0]);
    else
      return INVALID_VALUE;
  }
  return run("cuLaunchKernelEx", function, config->grid, config->block, cluster, config->shared,
             config->stream, params);
}

CUresult cuTensorMapEncodeTiled(uint64_t *map, int type, unsigned rank, void *address,
                                const uint64_t *dims, const uint64_t *strides, const unsigned *box,
                                const unsigned *element_strides, int interleave, int swizzle,
                                int promotion, int fill) {
  if (box[1] > 256)
    return INVALID_VALUE;
  note("map type %d rank %u: dims %lu %lu stride %lu box %u %u steps %u %u options %d %d %d %d",
       type, rank, (long)dims[0], (long)dims[1], (long)strides[0], box[0], box[1],
       element_strides[0], element_strides[1], interleave, swizzle, promotion, fill);
  map[0] = (uint64_t)address;
  return outcome("cuTensorMapEncodeTiled");
}
#endif

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function *function, int threads,
                                                     size_t shared) {
  (void)function;
  note("occupancy of %d threads and %zu bytes", threads, shared);
  *blocks = 3;
  return in_context("cuOccupancyMaxActiveBlocksPerMultiprocessor");
}

CUresult cuMemAlloc_v2(void **address, size_t bytes) {
  *address = malloc(bytes);
  return in_context("cuMemAlloc_v2");
}

CUresult cuMemFree_v2(void *address) {
  note("free");
  free(address);
  return in_context("cuMemFree_v2");
}

CUresult cuMemcpy(void *destination, const void *source, size_t bytes) {
  const CUresult result = in_context("cuMemcpy");
  if (result == 0)
    memcpy(destination, source, bytes);
  return result;
}

CUresult cuCtxSynchronize(void) {
  note("synchronize device");
  return in_context("cuCtxSynchronize");
}

CUresult cuStreamSynchronize(void *stream) {
  note("synchronize %ld", (long)stream);
  return in_context("cuStreamSynchronize");
}

CUresult cuStreamIsCapturing(void *stream, int *status) {
  *status = (long)stream == 4712; /* the stream that tests take for one under capture */
  return in_context("cuStreamIsCapturing");
}
