/* SPDX-License-Identifier: Apache-2.0
 *
 * A HIP library that does nothing, successfully: what is left of a launch is the caller's own
 * overhead. tools/bench/launch_overhead.py puts it under both compilers, as libamdhip64.so.7 with
 * HIP's symbol version for one, as an emulator's library for the other. It counts launches, so that
 * a call that was skipped is noticed.
 */
#include <stdlib.h>
#include <string.h>

#define SUCCESS(name)                                                                              \
  int name(void) { return 0; }

static long launches;
long null_hip_launches(void) { return launches; }

SUCCESS(hipInit)
SUCCESS(hipSetDevice)
SUCCESS(hipFree)
SUCCESS(hipMemcpy)
SUCCESS(hipMemcpyAsync)
SUCCESS(hipMemset)
SUCCESS(hipMemsetD16Async)
SUCCESS(hipMemsetD32Async)
SUCCESS(hipModuleUnload)
SUCCESS(hipDeviceSynchronize)
SUCCESS(hipGetLastError)
SUCCESS(hipStreamDestroy)
SUCCESS(hipStreamSynchronize)
SUCCESS(hipStreamWaitEvent)
SUCCESS(hipStreamIsCapturing)
SUCCESS(hipEventDestroy)
SUCCESS(hipEventRecord)
SUCCESS(hipEventSynchronize)
SUCCESS(hipHostRegister)
SUCCESS(hipHostUnregister)
SUCCESS(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor)
SUCCESS(flyemu_register_memory)
SUCCESS(flyemu_unregister_memory)
SUCCESS(flyemu_set_devices)

const char *hipGetErrorName(int error) { return error == 0 ? "hipSuccess" : "hipErrorUnknown"; }
const char *hipGetErrorString(int error) { return hipGetErrorName(error); }
const char *flyemu_version(void) { return "null"; }
const char *flyemu_last_error(void) { return ""; }

int hipGetDeviceCount(int *count) { return *count = 1, 0; }
int hipGetDevice(int *device) { return *device = 0, 0; }
int hipMalloc(void **address, size_t bytes) { return *address = malloc(bytes), 0; }
int hipStreamCreate(void **stream) { return *stream = &launches, 0; }
int hipEventCreateWithFlags(void **event) { return *event = &launches, 0; }
int hipHostGetDevicePointer(void **device, void *host) { return *device = host, 0; }
int hipModuleLoadData(void **module) { return *module = &launches, 0; }
int hipModuleGetFunction(void **function) { return *function = &launches, 0; }
int hipModuleLaunchKernel(void) { return ++launches, 0; }

/* Offsets are those of hipDeviceProp_tR0600. */
int hipGetDevicePropertiesR0600(char *properties) {
  memset(properties, 0, 1472);
  strcpy(properties, "null device");
  *(size_t *)(properties + 288) = (size_t)1 << 34; /* totalGlobalMem */
  *(size_t *)(properties + 296) = 65536;           /* sharedMemPerBlock */
  *(int *)(properties + 308) = 64;                 /* warpSize */
  *(int *)(properties + 320) = 1024;               /* maxThreadsPerBlock */
  for (int axis = 0; axis < 3; ++axis) {
    *(int *)(properties + 324 + 4 * axis) = 1024;                           /* maxThreadsDim */
    *(int *)(properties + 336 + 4 * axis) = axis == 0 ? 2147483647 : 65536; /* maxGridSize */
  }
  *(int *)(properties + 388) = 304;    /* multiProcessorCount */
  strcpy(properties + 1160, "gfx942"); /* gcnArchName */
  return 0;
}
