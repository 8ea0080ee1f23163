// SPDX-License-Identifier: Apache-2.0
//
// Devices, peer access, and the contexts of the driver-style API.
#include <cstdio>
#include <string>

#include "hip/device_failure.h"
#include "hip/device_properties.h"
#include "hip/runtime.h"

using namespace flyemu;

namespace {

constexpr int kRuntimeVersion = 60443480; ///< ROCm 6.4

Runtime &runtime() { return Runtime::instance(); }

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

FLYEMU_API hipError_t hipDeviceGetName(char *name, int length, hipDevice_t device) {
  return guarded([&] {
    require(name != nullptr && length > 0, hipErrorInvalidValue, "hipDeviceGetName: no room");
    const hipDeviceProp_tR0600 properties = propertiesOf(runtime().device(device));
    std::snprintf(name, static_cast<size_t>(length), "%s", properties.name);
  });
}

FLYEMU_API hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device) {
  return guarded([&] {
    require(uuid != nullptr, hipErrorInvalidValue, "hipDeviceGetUuid: null pointer");
    const hipDeviceProp_tR0600 properties = propertiesOf(runtime().device(device));
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
  return guarded([] { requireUnfailed(runtime().current()); });
}

/// Memory and modules stay: clients free them themselves, before or after.
FLYEMU_API hipError_t hipDeviceReset() {
  return guarded([] { forgetDeviceFailure(runtime().current()); });
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
FLYEMU_API hipError_t hipDeviceGetCacheConfig(int *config) {
  return guarded([&] {
    require(config != nullptr, hipErrorInvalidValue, "hipDeviceGetCacheConfig: null pointer");
    *config = 0; // hipFuncCachePreferNone
  });
}
FLYEMU_API hipError_t hipDeviceSetSharedMemConfig(int) { return hipSuccess; }
FLYEMU_API hipError_t hipDeviceGetSharedMemConfig(int *config) {
  return guarded([&] {
    require(config != nullptr, hipErrorInvalidValue, "hipDeviceGetSharedMemConfig: null pointer");
    *config = 1; // hipSharedMemBankSizeFourByte
  });
}
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

FLYEMU_API hipError_t hipDeviceGetP2PAttribute(int *value, int attribute, int from, int to) {
  return guarded([&] {
    enum { kPerformanceRank = 0, kAccessSupported, kNativeAtomicSupported, kArrayAccessSupported };
    require(value != nullptr, hipErrorInvalidValue, "hipDeviceGetP2PAttribute: null pointer");
    runtime().device(from);
    runtime().device(to);
    require(from != to, hipErrorInvalidDevice,
            "hipDeviceGetP2PAttribute: a device is no peer of itself");
    require(attribute >= kPerformanceRank && attribute <= kArrayAccessSupported,
            hipErrorInvalidValue, "hipDeviceGetP2PAttribute: no such attribute");
    *value = attribute == kAccessSupported || attribute == kNativeAtomicSupported ? 1 : 0;
  });
}

/// As between the devices of one node: XGMI, one hop.
FLYEMU_API hipError_t hipExtGetLinkTypeAndHopCount(int from, int to, uint32_t *type,
                                                   uint32_t *hops) {
  return guarded([&] {
    constexpr uint32_t kXgmi = 4; // HSA_AMD_LINK_INFO_TYPE_XGMI
    require(type != nullptr && hops != nullptr && from != to, hipErrorInvalidValue,
            "hipExtGetLinkTypeAndHopCount: null pointer, or twice the same device");
    runtime().device(from);
    runtime().device(to);
    *type = kXgmi;
    *hops = 1;
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
hipCtx_t flyemu::contextOf(int ordinal) {
  return reinterpret_cast<hipCtx_t>(static_cast<uintptr_t>(ordinal) + 1);
}
namespace {
/// The devices that were current before each hipCtxPushCurrent of this thread.
std::vector<int> &pushed() {
  thread_local std::vector<int> devices;
  return devices;
}
int ordinalOf(hipCtx_t context) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 1;
}
} // namespace

FLYEMU_API hipError_t hipCtxCreate(hipCtx_t *context, unsigned, hipDevice_t device) {
  return guarded([&] {
    require(context != nullptr, hipErrorInvalidValue, "hipCtxCreate: null pointer");
    const int before = runtime().current();
    runtime().setCurrent(device);
    pushed().push_back(before);
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
/// A primary context has nothing of its own here: what there is belongs to its device.
FLYEMU_API hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) {
  return guarded([&] { forgetDeviceFailure(runtime().device(device).ordinal); });
}
FLYEMU_API hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned) {
  return guarded([&] {
    runtime().device(device);
    throw EmulatorError(static_cast<hipError_t>(216), // hipErrorContextAlreadyInUse, as in HIP
                        "hipDevicePrimaryCtxSetFlags: the context is always active");
  });
}
FLYEMU_API hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return guarded([&] {
    if (context != nullptr)
      runtime().setCurrent(ordinalOf(context));
  });
}
FLYEMU_API hipError_t hipCtxPushCurrent(hipCtx_t context) {
  return guarded([&] {
    require(context != nullptr, hipErrorInvalidContext, "hipCtxPushCurrent: null context");
    const int before = runtime().current();
    runtime().setCurrent(ordinalOf(context));
    pushed().push_back(before);
  });
}
FLYEMU_API hipError_t hipCtxGetCurrent(hipCtx_t *context) {
  return guarded([&] {
    require(context != nullptr, hipErrorInvalidValue, "hipCtxGetCurrent: null pointer");
    *context = contextOf(runtime().current());
  });
}
FLYEMU_API hipError_t hipCtxPopCurrent(hipCtx_t *context) {
  return guarded([&] {
    require(!pushed().empty(), hipErrorInvalidContext, "hipCtxPopCurrent: nothing was pushed");
    if (context != nullptr)
      *context = contextOf(runtime().current());
    runtime().setCurrent(pushed().back());
    pushed().pop_back();
  });
}
FLYEMU_API hipError_t hipCtxGetDevice(hipDevice_t *device) { return hipGetDevice(device); }
FLYEMU_API hipError_t hipCtxSynchronize() { return hipDeviceSynchronize(); }
