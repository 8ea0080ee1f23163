// SPDX-License-Identifier: Apache-2.0
//
// Properties of devices: the structure of ROCm 6 and later, and the one before.
#include "hip/device_properties.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace flyemu {
namespace {

constexpr int kThreadsPerBlock = 1024;
constexpr int kThreadsPerComputeUnit = 2048;
constexpr int kRegistersPerBlock = 65536;
constexpr unsigned kArchitectureFeatures = 0x7ffff; ///< every bit of hipDeviceArch_t

} // namespace

hipDeviceProp_tR0600 propertiesOf(const Device &device) {
  hipDeviceProp_tR0600 p;
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
  p.warpSize = static_cast<int>(a.lanes);
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
  // "gfx1201": major 12, minor 0 (stepping 1).
  constexpr uint32_t kLastMajor = 12;
  p.major = static_cast<int>(std::min(a.generation, kLastMajor));
  p.minor = a.name[std::strlen(a.name) - 2] - '0';
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
  p.memoryPoolsSupported = 1;
  p.directManagedMemAccessFromHost = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.arch = kArchitectureFeatures;
  return p;
}

namespace {

/// The same in the layout of ROCm 5.
hipDeviceProp_tR0000 olderLayout(const hipDeviceProp_tR0600 &p) {
  hipDeviceProp_tR0000 o;
  std::memset(&o, 0, sizeof o);
  std::memcpy(o.name, p.name, sizeof o.name);
  std::memcpy(o.gcnArchName, p.gcnArchName, sizeof o.gcnArchName);
  o.totalGlobalMem = p.totalGlobalMem;
  o.sharedMemPerBlock = p.sharedMemPerBlock;
  o.regsPerBlock = p.regsPerBlock;
  o.warpSize = p.warpSize;
  o.maxThreadsPerBlock = p.maxThreadsPerBlock;
  std::copy(p.maxThreadsDim, p.maxThreadsDim + 3, o.maxThreadsDim);
  std::copy(p.maxGridSize, p.maxGridSize + 3, o.maxGridSize);
  o.clockRate = p.clockRate;
  o.memoryClockRate = p.memoryClockRate;
  o.memoryBusWidth = p.memoryBusWidth;
  o.totalConstMem = p.totalConstMem;
  o.major = p.major;
  o.minor = p.minor;
  o.multiProcessorCount = p.multiProcessorCount;
  o.l2CacheSize = p.l2CacheSize;
  o.maxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor;
  o.computeMode = p.computeMode;
  o.clockInstructionRate = p.clockInstructionRate;
  o.arch = p.arch;
  o.concurrentKernels = p.concurrentKernels;
  o.pciDomainID = p.pciDomainID;
  o.pciBusID = p.pciBusID;
  o.pciDeviceID = p.pciDeviceID;
  o.maxSharedMemoryPerMultiProcessor = p.maxSharedMemoryPerMultiProcessor;
  o.isMultiGpuBoard = p.isMultiGpuBoard;
  o.canMapHostMemory = p.canMapHostMemory;
  o.gcnArch = static_cast<int>(std::strtol(p.gcnArchName + 3, nullptr, 10)); // "gfx942": 942
  o.integrated = p.integrated;
  o.cooperativeLaunch = p.cooperativeLaunch;
  o.cooperativeMultiDeviceLaunch = p.cooperativeMultiDeviceLaunch;
  o.memPitch = p.memPitch;
  o.textureAlignment = p.textureAlignment;
  o.texturePitchAlignment = p.texturePitchAlignment;
  o.isLargeBar = p.isLargeBar;
  o.managedMemory = p.managedMemory;
  o.directManagedMemAccessFromHost = p.directManagedMemAccessFromHost;
  o.concurrentManagedAccess = p.concurrentManagedAccess;
  o.pageableMemoryAccess = p.pageableMemoryAccess;
  return o;
}

/// The device that agrees with the most of what is asked for: name, size, version.
template <typename P> int closestDevice(const P &wanted) {
  int best = 0;
  int most = -1;
  for (const Device &device : Runtime::instance().devices()) {
    const hipDeviceProp_tR0600 has = propertiesOf(device);
    const int score = (wanted.major != 0 && has.major >= wanted.major ? 1 : 0) +
                      (wanted.minor != 0 && has.minor >= wanted.minor ? 1 : 0) +
                      (has.totalGlobalMem >= wanted.totalGlobalMem ? 1 : 0) +
                      (has.sharedMemPerBlock >= wanted.sharedMemPerBlock ? 1 : 0) +
                      (has.maxThreadsPerBlock >= wanted.maxThreadsPerBlock ? 1 : 0) +
                      (std::strncmp(has.gcnArchName, wanted.gcnArchName, 256) == 0 ? 1 : 0);
    if (score > most) {
      most = score;
      best = device.ordinal;
    }
  }
  return best;
}

template <typename P, typename F>
hipError_t getProperties(P *properties, int device, const F &layout) {
  return guarded([&] {
    require(properties != nullptr, hipErrorInvalidValue, "hipGetDeviceProperties: null pointer");
    *properties = layout(propertiesOf(Runtime::instance().device(device)));
  });
}

template <typename P> hipError_t chooseDevice(int *device, const P *wanted) {
  return guarded([&] {
    require(device != nullptr && wanted != nullptr, hipErrorInvalidValue,
            "hipChooseDevice: null pointer");
    *device = closestDevice(*wanted);
  });
}

} // namespace
} // namespace flyemu

using namespace flyemu;

FLYEMU_API hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *properties, int device) {
  return getProperties(properties, device, [](const hipDeviceProp_tR0600 &p) { return p; });
}
FLYEMU_API hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000 *properties, int device) {
  return getProperties(properties, device, olderLayout);
}
/// Programs built before ROCm 6 call it by this name; later ones by the versioned one.
FLYEMU_API hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000 *properties, int device) {
  return hipGetDevicePropertiesR0000(properties, device);
}
FLYEMU_API hipError_t hipChooseDeviceR0600(int *device, const hipDeviceProp_tR0600 *wanted) {
  return chooseDevice(device, wanted);
}
FLYEMU_API hipError_t hipChooseDeviceR0000(int *device, const hipDeviceProp_tR0000 *wanted) {
  return chooseDevice(device, wanted);
}
FLYEMU_API hipError_t hipChooseDevice(int *device, const hipDeviceProp_tR0000 *wanted) {
  return chooseDevice(device, wanted);
}
