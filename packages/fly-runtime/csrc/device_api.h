// SPDX-License-Identifier: Apache-2.0
//
// The table of device functions of one opened library: HIP's (hardware or the emulator), or the
// CUDA driver's. Most functions have one signature under two names; what the two interfaces say
// differently has one meaning here, as a member function.
#ifndef FLYDSL_CSRC_DEVICE_API_H
#define FLYDSL_CSRC_DEVICE_API_H

#include "cuda_types.h"
#include "hip_types.h"

#include <string>

namespace flydsl::runtime {

using ApiError = int; // hipError_t or CUresult
using ModuleHandle = void *;
using FunctionHandle = void *;
using StreamHandle = void *;

// The same numbers in both interfaces.
constexpr ApiError kSuccess = 0;
constexpr ApiError kErrorOutOfMemory = 2;
constexpr ApiError kErrorLaunchOutOfResources = 701;

// X(name here, HIP's name, the CUDA driver's name, parameters...). A CUdeviceptr, which is a 64-bit
// integer, is passed as the pointer that it is in HIP.
#define FLYDSL_DEVICE_FUNCTIONS(X)                                                                 \
  X(init, "hipInit", "cuInit", unsigned flags)                                                     \
  X(getDeviceCount, "hipGetDeviceCount", "cuDeviceGetCount", int *count)                           \
  X(moduleGetFunction, "hipModuleGetFunction", "cuModuleGetFunction", FunctionHandle *function,    \
    ModuleHandle module, const char *name)                                                         \
  X(moduleGetGlobal, "hipModuleGetGlobal", "cuModuleGetGlobal_v2", void **address, size_t *bytes,  \
    ModuleHandle module, const char *name)                                                         \
  X(launchKernel, "hipModuleLaunchKernel", "cuLaunchKernel", FunctionHandle function,              \
    unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,              \
    unsigned blockZ, unsigned sharedBytes, StreamHandle stream, void **params, void **extra)       \
  X(maxActiveBlocks, "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",                         \
    "cuOccupancyMaxActiveBlocksPerMultiprocessor", int *blocks, FunctionHandle function,           \
    int threads, size_t sharedBytes)                                                               \
  X(allocate, "hipMalloc", "cuMemAlloc_v2", void **address, size_t bytes)                          \
  X(release, "hipFree", "cuMemFree_v2", void *address)                                             \
  X(streamSynchronize, "hipStreamSynchronize", "cuStreamSynchronize", StreamHandle stream)         \
  X(streamIsCapturing, "hipStreamIsCapturing", "cuStreamIsCapturing", StreamHandle stream,         \
    int *status)                                                                                   \
  X(deviceSynchronize, "hipDeviceSynchronize", "cuCtxSynchronize")

// What only HIP has in this form: X(HIP's name, parameters...).
#define FLYDSL_HIP_FUNCTIONS(X)                                                                    \
  X(hipGetDevice, int *device)                                                                     \
  X(hipSetDevice, int device)                                                                      \
  X(hipGetDevicePropertiesR0600, HipDeviceProperties *properties, int device)                      \
  X(hipModuleLoadData, ModuleHandle *module, const void *image)                                    \
  X(hipMemcpy, void *destination, const void *source, size_t bytes, int kind)                      \
  X(hipPointerGetAttributes, HipPointerAttributes *attributes, const void *pointer)

// What only the emulator's library exports; absent on hardware.
#define FLYDSL_EMULATOR_FUNCTIONS(X)                                                               \
  X(flyemu_register_memory, const void *address, size_t bytes, int readOnly, const char *name)     \
  X(flyemu_register_tensor, const void *low, size_t bytes, int readOnly, const char *name,         \
    const void *data, unsigned itemBytes, int rank, const long long *shape,                        \
    const long long *byteStrides)                                                                  \
  X(flyemu_unregister_memory, const void *address)                                                 \
  X(flyemu_set_devices, const char *architectures)

// What only the CUDA driver has, or has in this form. A CUdevice is the device's number.
#define FLYDSL_CUDA_FUNCTIONS(X)                                                                   \
  X(cuDriverGetVersion, int *version)                                                              \
  X(cuDeviceGetName, char *name, int bytes, int device)                                            \
  X(cuDeviceTotalMem_v2, size_t *bytes, int device)                                                \
  X(cuDeviceGetAttribute, int *value, int attribute, int device)                                   \
  X(cuDevicePrimaryCtxRetain, void **context, int device)                                          \
  X(cuCtxGetCurrent, void **context)                                                               \
  X(cuCtxSetCurrent, void *context)                                                                \
  X(cuCtxGetDevice, int *device)                                                                   \
  X(cuThreadExchangeStreamCaptureMode, int *mode)                                                  \
  X(cuModuleLoadDataEx, ModuleHandle *module, const void *image, unsigned options, int *names,     \
    void **values)                                                                                 \
  X(cuFuncGetAttribute, int *value, int attribute, FunctionHandle function)                        \
  X(cuFuncSetAttribute, FunctionHandle function, int attribute, int value)                         \
  X(cuLaunchKernelEx, const CudaLaunchConfig *config, FunctionHandle function, void **params,      \
    void **extra)                                                                                  \
  X(cuMemcpy, void *destination, const void *source, size_t bytes)                                 \
  X(cuTensorMapEncodeTiled, void *map, int dataType, unsigned rank, void *address,                 \
    const uint64_t *dims, const uint64_t *strides, const uint32_t *box,                            \
    const uint32_t *elementStrides, int interleave, int swizzle, int l2Promotion, int fill)

// One function of the library: null when it has none, and the name that it has there.
template <typename Signature> struct ApiFunction {
  Signature *function = nullptr;
  const char *name = "";

  explicit operator bool() const { return function != nullptr; }
};

enum class Vendor { Hip, Cuda };

struct DeviceApi {
#define FLYDSL_MEMBER(name, hip, cuda, ...) ApiFunction<ApiError(__VA_ARGS__)> name;
  FLYDSL_DEVICE_FUNCTIONS(FLYDSL_MEMBER)
#undef FLYDSL_MEMBER
#define FLYDSL_MEMBER(name, ...) ApiFunction<ApiError(__VA_ARGS__)> name;
  FLYDSL_HIP_FUNCTIONS(FLYDSL_MEMBER)
  FLYDSL_EMULATOR_FUNCTIONS(FLYDSL_MEMBER)
  FLYDSL_CUDA_FUNCTIONS(FLYDSL_MEMBER)
#undef FLYDSL_MEMBER
  const char *(*hipGetErrorName)(ApiError) = nullptr;
  const char *(*hipGetErrorString)(ApiError) = nullptr;
  ApiError (*cuGetErrorName)(ApiError, const char **) = nullptr;
  ApiError (*cuGetErrorString)(ApiError, const char **) = nullptr;
  const char *(*flyemu_version)() = nullptr;
  const char *(*flyemu_last_error)() = nullptr;
  void (*flyemu_forget_failures)() = nullptr;

  Vendor vendor = Vendor::Hip;
  std::string path; // of the library, as the loader resolved it

  bool emulated() const { return flyemu_version != nullptr; }
  bool cuda() const { return vendor == Vendor::Cuda; }
  const char *kind() const { return cuda() ? "cuda" : emulated() ? "emulator" : "hip"; }

  // "hipErrorInvalidValue (1): text", followed by the emulator's report if there is one.
  std::string describe(ApiError error) const;

  // Throws a runtime Failure if the library lacks the function, or when it fails.
  template <typename... Parameters, typename... Arguments>
  void call(const ApiFunction<ApiError(Parameters...)> &function, Arguments... arguments) const {
    if (!function)
      missing(function.name);
    if (const ApiError error = function.function(arguments...); error != kSuccess)
      failed(function.name, error);
  }

  // Copies between any two places; which memory is whose the library finds from the addresses.
  void copy(void *destination, const void *source, size_t bytes) const;

  // Loads a code object of `bytes` bytes: machine code, or PTX, which the driver compiles. What the
  // driver has to say of a PTX that it refuses is in the Failure's text.
  ModuleHandle load_module(const void *image, size_t bytes) const;

  // Resolves every function that the library `handle` exports.
  static DeviceApi resolve(void *handle, Vendor vendor, const std::string &fallbackPath);

private:
  [[noreturn]] void missing(const char *name) const;
  [[noreturn]] void failed(const char *name, ApiError error,
                           const std::string &details = std::string()) const;
};

// CUDA's strict modes of capture fail what loads code or allocates, on any stream of the thread; a
// first launch inside of a capture is no mistake of the caller's. For a scope this is allowed.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const DeviceApi &api) : api(api) { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  void exchange();

  const DeviceApi &api;
  int mode = kCudaCaptureRelaxed;
};

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_DEVICE_API_H
