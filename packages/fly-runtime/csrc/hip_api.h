// SPDX-License-Identifier: Apache-2.0
//
// The table of HIP functions (and of the emulator's own) of one opened library.
#ifndef FLYDSL_CSRC_HIP_API_H
#define FLYDSL_CSRC_HIP_API_H

#include "hip_types.h"

#include <string>
#include <type_traits>

namespace flydsl::runtime {

// Every HIP function the runtime calls: X(name, parameters...).
#define FLYDSL_HIP_FUNCTIONS(X)                                                                    \
  X(hipInit, unsigned flags)                                                                       \
  X(hipGetDeviceCount, int *count)                                                                 \
  X(hipGetDevice, int *device)                                                                     \
  X(hipSetDevice, int device)                                                                      \
  X(hipGetDevicePropertiesR0600, HipDeviceProperties *properties, int device)                      \
  X(hipModuleLoadData, HipModule *module, const void *image)                                       \
  X(hipModuleGetFunction, HipFunction *function, HipModule module, const char *name)               \
  X(hipModuleGetGlobal, void **address, size_t *bytes, HipModule module, const char *name)         \
  X(hipModuleLaunchKernel, HipFunction function, unsigned gridX, unsigned gridY, unsigned gridZ,   \
    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes, HipStream stream,     \
    void **params, void **extra)                                                                   \
  X(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, HipFunction function,         \
    int threads, size_t sharedBytes)                                                               \
  X(hipMalloc, void **address, size_t bytes)                                                       \
  X(hipFree, void *address)                                                                        \
  X(hipMemcpy, void *destination, const void *source, size_t bytes, int kind)                      \
  X(hipPointerGetAttributes, HipPointerAttributes *attributes, const void *pointer)                \
  X(hipStreamSynchronize, HipStream stream)                                                        \
  X(hipStreamIsCapturing, HipStream stream, int *status)                                           \
  X(hipDeviceSynchronize)

// What only the emulator's library exports; absent on hardware.
#define FLYDSL_EMULATOR_FUNCTIONS(X)                                                               \
  X(flyemu_register_memory, const void *address, size_t bytes, int readOnly, const char *name)     \
  X(flyemu_register_tensor, const void *low, size_t bytes, int readOnly, const char *name,         \
    const void *data, unsigned itemBytes, int rank, const long long *shape,                        \
    const long long *byteStrides)                                                                  \
  X(flyemu_unregister_memory, const void *address)                                                 \
  X(flyemu_set_devices, const char *architectures)

struct HipApi {
#define FLYDSL_MEMBER(name, ...) std::add_pointer_t<HipError(__VA_ARGS__)> name = nullptr;
  FLYDSL_HIP_FUNCTIONS(FLYDSL_MEMBER)
  FLYDSL_EMULATOR_FUNCTIONS(FLYDSL_MEMBER)
#undef FLYDSL_MEMBER
  const char *(*hipGetErrorName)(HipError) = nullptr;
  const char *(*hipGetErrorString)(HipError) = nullptr;
  const char *(*flyemu_version)() = nullptr;
  const char *(*flyemu_last_error)() = nullptr;
  void (*flyemu_forget_failures)() = nullptr;

  std::string path; // of the library, as the loader resolved it

  bool emulated() const { return flyemu_version != nullptr; }

  // "hipErrorInvalidValue (1): text", followed by the emulator's report if there is one.
  std::string describe(HipError error) const;

  // Throws a runtime Failure if the library lacks the function, or when it fails.
  template <typename... Parameters, typename... Arguments>
  void call(const char *name, HipError (*function)(Parameters...), Arguments... arguments) const {
    if (function == nullptr)
      missing(name);
    if (const HipError error = function(arguments...); error != kHipSuccess)
      failed(name, error);
  }

  // Resolves every function that the library `handle` exports.
  static HipApi resolve(void *handle, const std::string &fallbackPath);

private:
  [[noreturn]] void missing(const char *name) const;
  [[noreturn]] void failed(const char *name, HipError error) const;
};

// FLYDSL_HIP_CALL(api, hipSetDevice, 0): calls, and throws a Failure that names the function.
#define FLYDSL_HIP_CALL(api, name, ...) (api).call(#name, (api).name, __VA_ARGS__)

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_HIP_API_H
