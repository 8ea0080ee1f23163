// SPDX-License-Identifier: Apache-2.0
//
// Devices, their properties and attributes, and the contexts of the driver-style API.
#include <algorithm>
#include <cstring>
#include <string>

#include "device/memory_map.h"
#include "hip/runtime.h"

using namespace flyemu;

namespace {

constexpr int kRuntimeVersion = 60443480; ///< ROCm 6.4
constexpr int kThreadsPerBlock = 1024;
constexpr int kThreadsPerComputeUnit = 2048;
constexpr int kRegistersPerBlock = 65536;

Runtime &runtime() { return Runtime::instance(); }

void fillProperties(hipDeviceProp_tR0600 &p, const Device &device) {
  std::memset(&p, 0, sizeof p);
  const Architecture &a = *device.architecture;
  const std::string name = std::string(a.product) + " (emulated)";
  std::strncpy(p.name, name.c_str(), sizeof p.name - 1);
  std::strncpy(p.gcnArchName, a.name, sizeof p.gcnArchName - 1);
  std::snprintf(p.uuid.bytes, sizeof p.uuid.bytes, "FLYEMU%09d", device.ordinal);
  p.totalGlobalMem = a.memoryBytes;
  p.sharedMemPerBlock = a.ldsBytes;
  p.sharedMemPerBlockOptin = a.ldsBytes;
  p.sharedMemPerMultiprocessor = a.ldsBytes;
  p.maxSharedMemoryPerMultiProcessor = a.ldsBytes;
  p.regsPerBlock = kRegistersPerBlock;
  p.regsPerMultiprocessor = 2 * kRegistersPerBlock;
  p.warpSize = 64;
  p.memPitch = 2147483647;
  p.maxThreadsPerBlock = kThreadsPerBlock;
  for (int &dim : p.maxThreadsDim)
    dim = kThreadsPerBlock;
  p.maxGridSize[0] = 2147483647;
  p.maxGridSize[1] = p.maxGridSize[2] = 65536;
  p.clockRate = static_cast<int>(a.clockKHz);
  p.clockInstructionRate = 100000;
  p.memoryClockRate = static_cast<int>(a.memoryClockKHz);
  p.memoryBusWidth = static_cast<int>(a.memoryBusBits);
  p.l2CacheSize = static_cast<int>(a.l2Bytes);
  p.totalConstMem = 2147483647;
  // "gfx942": major 9, minor 4 (stepping 2).
  p.major = a.name[3] - '0';
  p.minor = a.name[4] - '0';
  p.textureAlignment = 256;
  p.texturePitchAlignment = 256;
  p.multiProcessorCount = static_cast<int>(a.computeUnits);
  p.maxThreadsPerMultiProcessor = kThreadsPerComputeUnit;
  p.maxBlocksPerMultiProcessor = 2;
  p.canMapHostMemory = 1;
  p.concurrentKernels = 1;
  p.pciBusID = device.ordinal + 1;
  p.asyncEngineCount = 1;
  p.unifiedAddressing = 1;
  p.managedMemory = 1;
  p.concurrentManagedAccess = 1;
  p.pageableMemoryAccess = 0;
  p.hostNativeAtomicSupported = 1;
  p.hostRegisterSupported = 1;
  p.cooperativeLaunch = 1;
  p.isLargeBar = 1;
  p.integrated = 0;
  p.arch = 0x7ffff; // every feature bit that HIP defines
}

// Numbers of hipDeviceAttribute_t (ROCm 6) that map to a property.
struct Attribute {
  int id;
  int (*value)(const hipDeviceProp_tR0600 &);
};
#define PROPERTY(ID, EXPRESSION)                                                                   \
  {ID, [](const hipDeviceProp_tR0600 &p) -> int { return static_cast<int>(EXPRESSION); }}
const Attribute kAttributes[] = {
    PROPERTY(0, p.ECCEnabled),
    PROPERTY(1, p.accessPolicyMaxWindowSize),
    PROPERTY(2, p.asyncEngineCount),
    PROPERTY(3, p.canMapHostMemory),
    PROPERTY(4, p.canUseHostPointerForRegisteredMem),
    PROPERTY(5, p.clockRate),
    PROPERTY(6, p.computeMode),
    PROPERTY(7, p.computePreemptionSupported),
    PROPERTY(8, p.concurrentKernels),
    PROPERTY(9, p.concurrentManagedAccess),
    PROPERTY(10, p.cooperativeLaunch),
    PROPERTY(11, p.cooperativeMultiDeviceLaunch),
    PROPERTY(12, p.deviceOverlap),
    PROPERTY(13, p.directManagedMemAccessFromHost),
    PROPERTY(14, p.globalL1CacheSupported),
    PROPERTY(15, p.hostNativeAtomicSupported),
    PROPERTY(16, p.integrated),
    PROPERTY(17, p.isMultiGpuBoard),
    PROPERTY(18, p.kernelExecTimeoutEnabled),
    PROPERTY(19, p.l2CacheSize),
    PROPERTY(20, p.localL1CacheSupported),
    PROPERTY(22, p.major),
    PROPERTY(23, p.managedMemory),
    PROPERTY(24, p.maxBlocksPerMultiProcessor),
    PROPERTY(25, p.maxThreadsDim[0]),
    PROPERTY(26, p.maxThreadsDim[1]),
    PROPERTY(27, p.maxThreadsDim[2]),
    PROPERTY(28, p.maxGridSize[0]),
    PROPERTY(29, p.maxGridSize[1]),
    PROPERTY(30, p.maxGridSize[2]),
    PROPERTY(55, p.maxThreadsPerBlock),
    PROPERTY(56, p.maxThreadsPerMultiProcessor),
    PROPERTY(57, p.memPitch),
    PROPERTY(58, p.memoryBusWidth),
    PROPERTY(59, p.memoryClockRate),
    PROPERTY(60, p.minor),
    PROPERTY(61, p.multiGpuBoardGroupID),
    PROPERTY(62, p.multiProcessorCount),
    PROPERTY(64, p.pageableMemoryAccess),
    PROPERTY(65, p.pageableMemoryAccessUsesHostPageTables),
    PROPERTY(66, p.pciBusID),
    PROPERTY(67, p.pciDeviceID),
    PROPERTY(68, p.pciDomainID),
    PROPERTY(69, p.persistingL2CacheMaxSize),
    PROPERTY(70, p.regsPerBlock),
    PROPERTY(71, p.regsPerMultiprocessor),
    PROPERTY(72, p.reservedSharedMemPerBlock),
    PROPERTY(73, p.sharedMemPerBlock),
    PROPERTY(74, p.sharedMemPerBlockOptin),
    PROPERTY(75, p.sharedMemPerMultiprocessor),
    PROPERTY(76, p.singleToDoublePrecisionPerfRatio),
    PROPERTY(77, p.streamPrioritiesSupported),
    PROPERTY(78, p.surfaceAlignment),
    PROPERTY(79, p.tccDriver),
    PROPERTY(80, p.textureAlignment),
    PROPERTY(81, p.texturePitchAlignment),
    PROPERTY(82, p.totalConstMem),
    PROPERTY(83, p.totalGlobalMem > 2147483647 ? 2147483647 : p.totalGlobalMem),
    PROPERTY(84, p.unifiedAddressing),
    PROPERTY(87, p.warpSize),
    PROPERTY(88, p.memoryPoolsSupported),
    PROPERTY(10000, p.clockInstructionRate),
    PROPERTY(10002, p.maxSharedMemoryPerMultiProcessor),
};

} // namespace

FLYEMU_API hipError_t hipInit(unsigned flags) {
  return guarded([&] {
    require(flags == 0, hipErrorInvalidValue, "hipInit: flags must be 0");
    runtime().devices();
  });
}

FLYEMU_API hipError_t hipGetDeviceCount(int *count) {
  return guarded([&] {
    require(count != nullptr, hipErrorInvalidValue, "hipGetDeviceCount: null pointer");
    *count = static_cast<int>(runtime().devices().size());
  });
}

FLYEMU_API hipError_t hipGetDevice(int *device) {
  return guarded([&] {
    require(device != nullptr, hipErrorInvalidValue, "hipGetDevice: null pointer");
    *device = runtime().current();
  });
}

FLYEMU_API hipError_t hipSetDevice(int device) {
  return guarded([&] { runtime().setCurrent(device); });
}

FLYEMU_API hipError_t hipDeviceGet(hipDevice_t *device, int ordinal) {
  return guarded([&] {
    require(device != nullptr, hipErrorInvalidValue, "hipDeviceGet: null pointer");
    *device = runtime().device(ordinal).ordinal;
  });
}

FLYEMU_API hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *properties, int device) {
  return guarded([&] {
    require(properties != nullptr, hipErrorInvalidValue, "hipGetDeviceProperties: null pointer");
    fillProperties(*properties, runtime().device(device));
  });
}

FLYEMU_API hipError_t hipDeviceGetAttribute(int *value, int attribute, int device) {
  return guarded([&] {
    require(value != nullptr, hipErrorInvalidValue, "hipDeviceGetAttribute: null pointer");
    hipDeviceProp_tR0600 properties;
    fillProperties(properties, runtime().device(device));
    for (const Attribute &entry : kAttributes)
      if (entry.id == attribute) {
        *value = entry.value(properties);
        return;
      }
    throw EmulatorError(hipErrorInvalidValue, "hipDeviceGetAttribute: attribute " +
                                                  std::to_string(attribute) + " is not known");
  });
}

FLYEMU_API hipError_t hipDeviceGetName(char *name, int length, hipDevice_t device) {
  return guarded([&] {
    require(name != nullptr && length > 0, hipErrorInvalidValue, "hipDeviceGetName: no room");
    hipDeviceProp_tR0600 properties;
    fillProperties(properties, runtime().device(device));
    std::snprintf(name, static_cast<size_t>(length), "%s", properties.name);
  });
}

FLYEMU_API hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device) {
  return guarded([&] {
    require(uuid != nullptr, hipErrorInvalidValue, "hipDeviceGetUuid: null pointer");
    hipDeviceProp_tR0600 properties;
    fillProperties(properties, runtime().device(device));
    *uuid = properties.uuid;
  });
}

FLYEMU_API hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device) {
  return guarded([&] {
    require(bytes != nullptr, hipErrorInvalidValue, "hipDeviceTotalMem: null pointer");
    *bytes = runtime().device(device).architecture->memoryBytes;
  });
}

FLYEMU_API hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device) {
  return guarded([&] {
    require(major != nullptr && minor != nullptr, hipErrorInvalidValue,
            "hipDeviceComputeCapability: null pointer");
    const char *name = runtime().device(device).architecture->name;
    *major = name[3] - '0';
    *minor = name[4] - '0';
  });
}

FLYEMU_API hipError_t hipDeviceGetPCIBusId(char *id, int length, int device) {
  return guarded([&] {
    require(id != nullptr && length > 0, hipErrorInvalidValue, "hipDeviceGetPCIBusId: no room");
    runtime().device(device);
    std::snprintf(id, static_cast<size_t>(length), "0000:%02x:00.0", device + 1);
  });
}

FLYEMU_API hipError_t hipDeviceSynchronize() {
  return guarded([] { runtime().devices(); });
}

FLYEMU_API hipError_t hipDeviceReset() {
  return guarded([] { runtime().devices(); });
}

FLYEMU_API hipError_t hipDriverGetVersion(int *version) {
  return guarded([&] {
    require(version != nullptr, hipErrorInvalidValue, "hipDriverGetVersion: null pointer");
    *version = kRuntimeVersion;
  });
}

FLYEMU_API hipError_t hipRuntimeGetVersion(int *version) { return hipDriverGetVersion(version); }

FLYEMU_API hipError_t hipSetDeviceFlags(unsigned) { return hipSuccess; }
FLYEMU_API hipError_t hipGetDeviceFlags(unsigned *flags) {
  return guarded([&] {
    require(flags != nullptr, hipErrorInvalidValue, "hipGetDeviceFlags: null pointer");
    *flags = 0;
  });
}
FLYEMU_API hipError_t hipDeviceSetCacheConfig(int) { return hipSuccess; }
FLYEMU_API hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  if (least != nullptr)
    *least = 0;
  if (greatest != nullptr)
    *greatest = 0;
  return hipSuccess;
}

// Peer access: all emulated devices live in one address space.
FLYEMU_API hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer) {
  return guarded([&] {
    require(can != nullptr, hipErrorInvalidValue, "hipDeviceCanAccessPeer: null pointer");
    runtime().device(device);
    runtime().device(peer);
    *can = device != peer ? 1 : 0;
  });
}

FLYEMU_API hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return guarded([&] {
    require(flags == 0, hipErrorInvalidValue, "hipDeviceEnablePeerAccess: flags must be 0");
    Device &device = runtime().device(runtime().current());
    require(runtime().device(peer).ordinal != device.ordinal, hipErrorInvalidDevice,
            "hipDeviceEnablePeerAccess: a device is no peer of itself");
    const uint64_t bit = uint64_t{1} << peer;
    require((device.peers & bit) == 0, hipErrorPeerAccessAlreadyEnabled,
            "hipDeviceEnablePeerAccess: it is enabled already");
    device.peers |= bit;
  });
}

FLYEMU_API hipError_t hipDeviceDisablePeerAccess(int peer) {
  return guarded([&] {
    Device &device = runtime().device(runtime().current());
    runtime().device(peer);
    const uint64_t bit = uint64_t{1} << peer;
    require((device.peers & bit) != 0, hipErrorPeerAccessNotEnabled,
            "hipDeviceDisablePeerAccess: it was not enabled");
    device.peers &= ~bit;
  });
}

// Contexts: a device's primary context is its ordinal in disguise.
namespace {
hipCtx_t contextOf(int ordinal) {
  return reinterpret_cast<hipCtx_t>(static_cast<uintptr_t>(ordinal) + 1);
}
int ordinalOf(hipCtx_t context) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 1;
}
} // namespace

FLYEMU_API hipError_t hipCtxCreate(hipCtx_t *context, unsigned, hipDevice_t device) {
  return guarded([&] {
    require(context != nullptr, hipErrorInvalidValue, "hipCtxCreate: null pointer");
    runtime().setCurrent(device);
    *context = contextOf(device);
  });
}
FLYEMU_API hipError_t hipCtxDestroy(hipCtx_t) { return hipSuccess; }
FLYEMU_API hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context, hipDevice_t device) {
  return guarded([&] {
    require(context != nullptr, hipErrorInvalidValue, "hipDevicePrimaryCtxRetain: null pointer");
    *context = contextOf(runtime().device(device).ordinal);
  });
}
FLYEMU_API hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  return guarded([&] { runtime().device(device); });
}
FLYEMU_API hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned *flags,
                                                  int *active) {
  return guarded([&] {
    runtime().device(device);
    if (flags != nullptr)
      *flags = 0;
    if (active != nullptr)
      *active = 1;
  });
}
FLYEMU_API hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return guarded([&] {
    if (context != nullptr)
      runtime().setCurrent(ordinalOf(context));
  });
}
FLYEMU_API hipError_t hipCtxPushCurrent(hipCtx_t context) { return hipCtxSetCurrent(context); }
FLYEMU_API hipError_t hipCtxGetCurrent(hipCtx_t *context) {
  return guarded([&] {
    require(context != nullptr, hipErrorInvalidValue, "hipCtxGetCurrent: null pointer");
    *context = contextOf(runtime().current());
  });
}
FLYEMU_API hipError_t hipCtxPopCurrent(hipCtx_t *context) {
  return context == nullptr ? hipSuccess : hipCtxGetCurrent(context);
}
FLYEMU_API hipError_t hipCtxGetDevice(hipDevice_t *device) { return hipGetDevice(device); }
FLYEMU_API hipError_t hipCtxSynchronize() { return hipDeviceSynchronize(); }
