// SPDX-License-Identifier: Apache-2.0
//
// Functions by name, profiler switches, limits; and every function of HIP's that the emulator does
// not offer: it returns hipErrorNotSupported, and says so once.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "hip/graph.h"
#include "hip/runtime.h"

using namespace flyemu;

FLYEMU_API hipError_t hipInit(unsigned flags);

// Arguments are ignored, so that one signature serves all.
#define FLYEMU_NOT_OFFERED(NAME)                                                                   \
  FLYEMU_API hipError_t NAME() { return notSupported(#NAME); }
#include "hip/not_offered.inc"
#undef FLYEMU_NOT_OFFERED

/// The function of that name in this library: where its structures changed with ROCm 6, the one for
/// the caller's version (HIP_VERSION; 0 for the present one).
FLYEMU_API hipError_t hipGetProcAddress(const char *name, void **function, int version, uint64_t,
                                        int *status) {
  return guarded([&] {
    require(name != nullptr && function != nullptr, hipErrorInvalidValue,
            "hipGetProcAddress: null pointer");
    constexpr int kFound = 0;
    constexpr int kNotFound = 1;
    constexpr int kVersion6 = 60000000;
    const char *suffix = version == 0 || version >= kVersion6 ? "R0600" : "R0000";
    Dl_info self;
    *function = nullptr;
    if (dladdr(reinterpret_cast<const void *>(&hipGetProcAddress), &self) != 0)
      if (void *library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD); library != nullptr) {
        *function = dlsym(library, (std::string(name) + suffix).c_str());
        if (*function == nullptr)
          *function = dlsym(library, name);
        dlclose(library);
      }
    if (status != nullptr)
      *status = *function != nullptr ? kFound : kNotFound;
    if (*function == nullptr)
      throw EmulatorError(hipErrorInvalidValue, std::string("hipGetProcAddress: no ") + name);
  });
}
FLYEMU_API hipError_t hipGetDriverEntryPoint(const char *name, void **function, uint64_t flags,
                                             int *status) {
  return hipGetProcAddress(name, function, 0, flags, status);
}

/// Numbers of functions, as tracing libraries get them from HIP: none is given out here.
FLYEMU_API const char *hipApiName(uint32_t) { return "unknown"; }
FLYEMU_API hipError_t hip_init() { return hipInit(0); }

/// The headers that HIP's run-time compiler has compiled beforehand; there is none here.
FLYEMU_API void __hipGetPCH(const char **headers, unsigned *size) {
  *headers = nullptr;
  *size = 0;
}

/// Bits of each channel, and of what kind they are.
struct hipChannelFormatDesc {
  int x, y, z, w, kind;
};
FLYEMU_API hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}

FLYEMU_API hipError_t hipProfilerStart() { return hipSuccess; }
FLYEMU_API hipError_t hipProfilerStop() { return hipSuccess; }

namespace {
struct Limit {
  int id;
  size_t value;
};
// Stack, printf buffer and heap of a device; printf and malloc in kernels need ROCm's own library.
constexpr Limit kLimits[] = {{0, 16 * 1024}, {1, 0}, {2, 0}};
} // namespace

FLYEMU_API hipError_t hipDeviceGetLimit(size_t *value, int limit) {
  return guarded([&] {
    require(value != nullptr, hipErrorInvalidValue, "hipDeviceGetLimit: null pointer");
    for (const Limit &entry : kLimits)
      if (entry.id == limit) {
        *value = entry.value;
        return;
      }
    throw EmulatorError(hipErrorUnsupportedLimit, "hipDeviceGetLimit: no such limit");
  });
}
FLYEMU_API hipError_t hipDeviceSetLimit(int limit, size_t) {
  return guarded([&] {
    for (const Limit &entry : kLimits)
      if (entry.id == limit)
        return;
    throw EmulatorError(hipErrorUnsupportedLimit, "hipDeviceSetLimit: no such limit");
  });
}
FLYEMU_API hipError_t hipDeviceGetByPCIBusId(int *device, const char *id) {
  return guarded([&] {
    require(device != nullptr && id != nullptr, hipErrorInvalidValue,
            "hipDeviceGetByPCIBusId: null pointer");
    // "0000:01:00.0": domain, bus, device.
    const char *colon = std::strchr(id, ':');
    const unsigned long bus = colon == nullptr ? 0 : std::strtoul(colon + 1, nullptr, 16);
    require(bus != 0 && bus <= 0xff, hipErrorInvalidValue, "hipDeviceGetByPCIBusId: no bus id");
    *device = Runtime::instance().device(static_cast<int>(bus) - 1).ordinal;
  });
}

FLYEMU_PER_THREAD(hipGetDriverEntryPoint)
FLYEMU_PER_THREAD(hipGetProcAddress)
