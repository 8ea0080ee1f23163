/* SPDX-License-Identifier: Apache-2.0
 *
 * A test double for HIP's library: it has devices, writes down every call, and fails on request.
 * It executes nothing but the vector addition of examples/call_from_cpp.cpp. FAKE_ARCHS lists its
 * devices' architectures. Compiled with -DEMULATOR it also exports the emulator's extensions; with
 * -DNO_LAUNCH it lacks hipModuleLaunchKernel; with -DNO_DEVICE it has no device.
 */
#include "recorder.h"

typedef int hipError_t;

static __thread int current_device;

/* ---- what tests call, beside recorder.h ---- */

/* While held, launches on a stream that isn't the default one don't return. */
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static int held;

void fake_hold(int hold) {
  pthread_mutex_lock(&lock);
  held = hold;
  pthread_cond_broadcast(&released);
  pthread_mutex_unlock(&lock);
}

/* ---- the double ---- */

static int device_architecture(int wanted, char *into, size_t size) {
  const char *list = getenv("FAKE_ARCHS");
  if (list == NULL)
    list = "gfx942:sramecc+:xnack-";
#ifdef NO_DEVICE
  list = "";
#endif
  int count = 0;
  while (*list != '\0') {
    size_t length = strcspn(list, ",");
    if (count++ == wanted && into != NULL)
      snprintf(into, size, "%.*s", (int)length, list);
    list += length + (list[length] == ',');
  }
  return count;
}

hipError_t hipInit(unsigned flags) {
  (void)flags;
  return outcome("hipInit");
}

hipError_t hipGetDeviceCount(int *count) {
  *count = device_architecture(-1, NULL, 0);
  return *count == 0 ? 100 : outcome("hipGetDeviceCount");
}

hipError_t hipGetDevice(int *device) {
  *device = current_device;
  return 0;
}

hipError_t hipSetDevice(int device) {
  note("hipSetDevice %d", device);
  current_device = device;
  return outcome("hipSetDevice");
}

hipError_t hipGetDevicePropertiesR0600(void *properties, int device) {
  char *bytes = properties;
  memset(bytes, 0, 1472);
  snprintf(bytes, 256, "Fake Instinct %d", device);
  *(size_t *)(bytes + 288) = (size_t)1 << 34; /* totalGlobalMem */
  *(size_t *)(bytes + 296) = 65536;           /* sharedMemPerBlock */
  *(int *)(bytes + 308) = 64;                 /* warpSize */
  *(int *)(bytes + 320) = 1024;               /* maxThreadsPerBlock */
  for (int axis = 0; axis < 3; ++axis) {
    *(int *)(bytes + 324 + 4 * axis) = 1024;                           /* maxThreadsDim */
    *(int *)(bytes + 336 + 4 * axis) = axis == 0 ? 2147483647 : 65536; /* maxGridSize */
  }
  *(int *)(bytes + 388) = 304; /* multiProcessorCount */
  device_architecture(device, bytes + 1160, 256);
  return 0;
}

const char *hipGetErrorName(hipError_t error) {
  return error == 719 ? "hipErrorLaunchFailure" : "hipErrorUnknown";
}

const char *hipGetErrorString(hipError_t error) {
  return error == 719 ? "unspecified launch failure" : "unknown error";
}

hipError_t hipModuleLoadData(void **module, const void *image) {
  note("hipModuleLoadData on %d: %.8s", current_device, (const char *)image);
  *module = (void *)image;
  return outcome("hipModuleLoadData");
}

hipError_t hipModuleGetFunction(void **function, void *module, const char *name) {
  (void)module;
  *function = strdup(name);
  return outcome("hipModuleGetFunction");
}

/* Where printing kernels find their buffer; one per process will do. */
static void *print_buffer;

hipError_t hipModuleGetGlobal(void **address, size_t *bytes, void *module, const char *name) {
  (void)module;
  note("hipModuleGetGlobal %s", name);
  *address = &print_buffer;
  *bytes = sizeof print_buffer;
  return outcome("hipModuleGetGlobal");
}

/* Makes the kernel that runs next leave a record of message number `message` without values. */
static uint32_t spoken;
void fake_speak(uint32_t message) { spoken = message; }

#ifndef NO_LAUNCH
static void wait_while_held(void) {
  pthread_mutex_lock(&lock);
  while (held)
    pthread_cond_wait(&released, &lock);
  pthread_mutex_unlock(&lock);
}

hipError_t hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned shared, void *stream,
                                 void **params, void **extra) {
  (void)extra;
  if (strcmp(function, "vector_add_kernel_0") == 0) {
    const float *a = *(float **)params[0], *b = *(float **)params[2];
    float *c = *(float **)params[4];
    for (int i = 0; i < *(int *)params[6]; ++i)
      c[i] = a[i] + b[i];
  }
  note("launch %s on %d: grid %u %u %u block %u %u %u shared %u stream %ld", (char *)function,
       current_device, gx, gy, gz, bx, by, bz, shared, (long)stream);
  if (spoken != 0 && print_buffer != NULL) {
    *(uint64_t *)print_buffer += 1;
    ((uint32_t *)print_buffer)[8] = spoken;
    spoken = 0;
  }
  if (stream != NULL)
    wait_while_held();
  return outcome("hipModuleLaunchKernel");
}
#endif

hipError_t hipMalloc(void **address, size_t bytes) {
  *address = malloc(bytes);
  return *address == NULL ? 2 : outcome("hipMalloc");
}

hipError_t hipFree(void *address) {
  note("free");
  free(address);
  return outcome("hipFree");
}

hipError_t hipMemcpy(void *destination, const void *source, size_t bytes, int kind) {
  memcpy(destination, source, bytes);
  return kind == 4 ? outcome("hipMemcpy") : 1;
}

// Memory that FAKE_ALLOCATION="<address> <bytes>" names is the device's; other memory nobody
// registered.
hipError_t hipPointerGetAttributes(void *attributes, const void *pointer) {
  unsigned long long low = 0, bytes = 0;
  const char *text = getenv("FAKE_ALLOCATION");
  if (text != NULL)
    sscanf(text, "%llu %llu", &low, &bytes);
  const unsigned long long address = (unsigned long long)(size_t)pointer;
  *(int *)attributes = address >= low && address - low < bytes ? 2 : 0;
  return 0;
}

hipError_t hipDeviceSynchronize(void) {
  note("synchronize device");
  return outcome("hipDeviceSynchronize");
}

hipError_t hipStreamSynchronize(void *stream) {
  note("synchronize %ld", (long)stream);
  return outcome("hipStreamSynchronize");
}

#ifdef EMULATOR
const char *flyemu_version(void) { return "9.9.9"; }

const char *flyemu_last_error(void) { return report; }

hipError_t flyemu_register_memory(const void *address, size_t bytes, int read_only,
                                  const char *name) {
  note("register %s %p %zu %s", name, address, bytes, read_only ? "read" : "write");
  return outcome("flyemu_register_memory");
}

hipError_t flyemu_set_devices(const char *architectures) {
  note("set_devices %s", architectures);
  setenv("FAKE_ARCHS", architectures, 1);
  return outcome("flyemu_set_devices");
}

hipError_t flyemu_unregister_memory(const void *address) {
  note("unregister %p", address);
  return 0;
}
#endif
