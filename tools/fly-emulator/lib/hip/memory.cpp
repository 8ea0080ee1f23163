// SPDX-License-Identifier: Apache-2.0
//
// Allocation, registration, pointer attributes. Device memory is host memory.
#include <algorithm>
#include <cstring>

#include "device/memory_map.h"
#include "hip/allocation.h"
#include "hip/graph.h"
#include "hip/runtime.h"
#include "support/format.h"

using namespace flyemu;

namespace {

constexpr char kHostRegistered[] = "registered host memory";

bool releaseAny(void *pointer, std::initializer_list<MemoryKind> kinds) {
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](MemoryKind kind) { return release(pointer, kind); });
}

hipMemoryType memoryType(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::Device:
  case MemoryKind::Imported:
  case MemoryKind::CodeObject:
    return hipMemoryTypeDevice;
  case MemoryKind::Managed:
    return hipMemoryTypeManaged;
  default:
    return hipMemoryTypeHost;
  }
}

} // namespace

FLYEMU_API hipError_t hipMalloc(void **pointer, size_t bytes) {
  return guarded([&] {
    require(pointer != nullptr, hipErrorInvalidValue, "hipMalloc: null pointer");
    *pointer = allocate(bytes, MemoryKind::Device, 0);
  });
}
FLYEMU_API hipError_t hipExtMallocWithFlags(void **pointer, size_t bytes, unsigned) {
  return hipMalloc(pointer, bytes);
}
FLYEMU_API hipError_t hipMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  return guarded([&] {
    require(pointer != nullptr && bytes != 0, hipErrorInvalidValue,
            "hipMallocManaged: null pointer or no bytes");
    *pointer = allocate(bytes, MemoryKind::Managed, flags);
  });
}
FLYEMU_API hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  return guarded([&] {
    require(pointer != nullptr && pitch != nullptr, hipErrorInvalidValue,
            "hipMallocPitch: null pointer");
    *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    require(height == 0 || *pitch <= SIZE_MAX / height, hipErrorOutOfMemory,
            "hipMallocPitch: too large");
    *pointer = allocate(*pitch * height, MemoryKind::Device, 0);
  });
}
FLYEMU_API hipError_t hipFree(void *pointer) {
  return guarded([&] {
    Runtime::instance().devices();
    require(pointer == nullptr || releaseAny(pointer, {MemoryKind::Device, MemoryKind::Managed}),
            hipErrorInvalidValue, "hipFree: not the start of a device allocation");
  });
}
/// Captured, the memory is freed by each launch, as HIP says: once.
FLYEMU_API hipError_t hipFreeAsync(void *pointer, hipStream_t stream) {
  return guarded([&] {
    enqueue(stream, hipGraphNodeTypeEmpty, [=] {
      if (hipFree(pointer) != hipSuccess)
        throw EmulatorError(hipErrorInvalidValue,
                            "hipFreeAsync: not the start of a device allocation");
    });
  });
}

FLYEMU_API hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags) {
  return guarded([&] {
    require(pointer != nullptr, hipErrorInvalidValue, "hipHostMalloc: null pointer");
    *pointer = allocate(bytes, MemoryKind::Host, flags);
  });
}
FLYEMU_API hipError_t hipMallocHost(void **pointer, size_t bytes) {
  return hipHostMalloc(pointer, bytes, 0);
}
FLYEMU_API hipError_t hipHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  return hipHostMalloc(pointer, bytes, flags);
}
FLYEMU_API hipError_t hipExtHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  return hipHostMalloc(pointer, bytes, flags);
}
FLYEMU_API hipError_t hipMemAllocHost(void **pointer, size_t bytes) {
  return hipHostMalloc(pointer, bytes, 0);
}
FLYEMU_API hipError_t hipHostFree(void *pointer) {
  return guarded([&] {
    require(pointer == nullptr || releaseAny(pointer, {MemoryKind::Host}), hipErrorInvalidValue,
            "hipHostFree: not the start of a host allocation");
  });
}
FLYEMU_API hipError_t hipFreeHost(void *pointer) { return hipHostFree(pointer); }

FLYEMU_API hipError_t hipHostRegister(void *pointer, size_t bytes, unsigned flags) {
  return guarded([&] {
    require(pointer != nullptr && bytes != 0, hipErrorInvalidValue,
            "hipHostRegister: null pointer or no bytes");
    constexpr unsigned kFlags = 0x8000000f; // portable, mapped, I/O memory, read-only, uncached
    require((flags & ~kFlags) == 0, hipErrorInvalidValue,
            "hipHostRegister: flags that there are not");
    MemoryRange known;
    require(!MemoryMap::instance().lookup(reinterpret_cast<uint64_t>(pointer), known) ||
                known.begin != reinterpret_cast<uint64_t>(pointer) || known.name != kHostRegistered,
            hipErrorHostMemoryAlreadyRegistered, "hipHostRegister: it is registered already");
    MemoryRange range;
    range.begin = reinterpret_cast<uint64_t>(pointer);
    range.end = range.begin + bytes;
    range.kind = MemoryKind::Registered;
    range.device = Runtime::instance().current();
    range.flags = flags;
    range.name = kHostRegistered;
    MemoryMap::instance().add(range);
  });
}
FLYEMU_API hipError_t hipHostUnregister(void *pointer) {
  return guarded([&] {
    require(
        MemoryMap::instance().remove(reinterpret_cast<uint64_t>(pointer), MemoryKind::Registered),
        hipErrorHostMemoryNotRegistered, "hipHostUnregister: not registered");
  });
}
FLYEMU_API hipError_t hipHostGetDevicePointer(void **device, void *host, unsigned) {
  return guarded([&] {
    MemoryRange range;
    require(device != nullptr &&
                MemoryMap::instance().lookup(reinterpret_cast<uint64_t>(host), range),
            hipErrorInvalidValue, "hipHostGetDevicePointer: not registered memory");
    *device = host;
  });
}
FLYEMU_API hipError_t hipHostGetFlags(unsigned *flags, void *host) {
  return guarded([&] {
    MemoryRange range;
    require(flags != nullptr &&
                MemoryMap::instance().lookup(reinterpret_cast<uint64_t>(host), range),
            hipErrorInvalidValue, "hipHostGetFlags: not registered memory");
    *flags = range.flags;
  });
}

FLYEMU_API hipError_t hipMemGetInfo(size_t *free, size_t *total) {
  return guarded([&] {
    Runtime &runtime = Runtime::instance();
    const Device &device = runtime.device(runtime.current());
    const uint64_t all = device.architecture->memoryBytes;
    if (total != nullptr)
      *total = all;
    if (free != nullptr)
      *free = all - std::min(all, MemoryMap::instance().allocated(device.ordinal));
  });
}
FLYEMU_API hipError_t hipMemPtrGetInfo(void *pointer, size_t *bytes) {
  return guarded([&] {
    MemoryRange range;
    require(bytes != nullptr &&
                MemoryMap::instance().lookup(reinterpret_cast<uint64_t>(pointer), range),
            hipErrorInvalidValue, "hipMemPtrGetInfo: not an allocation");
    *bytes = range.end - range.begin;
  });
}
FLYEMU_API hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *bytes,
                                            hipDeviceptr_t pointer) {
  return guarded([&] {
    MemoryRange range;
    require(MemoryMap::instance().lookup(reinterpret_cast<uint64_t>(pointer), range),
            hipErrorNotFound, "hipMemGetAddressRange: not an allocation");
    if (base != nullptr)
      *base = reinterpret_cast<void *>(range.begin);
    if (bytes != nullptr)
      *bytes = range.end - range.begin;
  });
}

FLYEMU_API hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes,
                                              const void *pointer) {
  return guarded([&] {
    require(attributes != nullptr, hipErrorInvalidValue, "hipPointerGetAttributes: null pointer");
    std::memset(attributes, 0, sizeof *attributes);
    MemoryRange range;
    if (!MemoryMap::instance().lookup(reinterpret_cast<uint64_t>(pointer), range)) {
      // As ROCm 6: memory that nobody registered is no error.
      attributes->type = hipMemoryTypeUnregistered;
      attributes->device = -2;
      return;
    }
    attributes->type = memoryType(range.kind);
    attributes->device = range.device;
    attributes->devicePointer = const_cast<void *>(pointer);
    attributes->hostPointer =
        attributes->type == hipMemoryTypeDevice ? nullptr : const_cast<void *>(pointer);
    attributes->isManaged = range.kind == MemoryKind::Managed ? 1 : 0;
    attributes->allocationFlags = range.flags;
  });
}
FLYEMU_API hipError_t hipPointerGetAttribute(void *data, int attribute, hipDeviceptr_t pointer) {
  return guarded([&] {
    MemoryRange range;
    require(data != nullptr &&
                MemoryMap::instance().lookup(reinterpret_cast<uint64_t>(pointer), range),
            hipErrorInvalidValue, "hipPointerGetAttribute: not an allocation");
    const hipMemoryType type = memoryType(range.kind);
    const auto answer = [&](auto value) { std::memcpy(data, &value, sizeof value); };
    switch (attribute) {
    case 1: // HIP_POINTER_ATTRIBUTE_CONTEXT
      answer(reinterpret_cast<uint64_t>(contextOf(range.device)));
      break;
    case 2: // HIP_POINTER_ATTRIBUTE_MEMORY_TYPE
      answer(static_cast<unsigned>(type));
      break;
    case 3: // HIP_POINTER_ATTRIBUTE_DEVICE_POINTER
      answer(reinterpret_cast<uint64_t>(pointer));
      break;
    case 4: // HIP_POINTER_ATTRIBUTE_HOST_POINTER
      require(type != hipMemoryTypeDevice, hipErrorInvalidValue,
              "hipPointerGetAttribute: the host cannot reach device memory");
      answer(reinterpret_cast<uint64_t>(pointer));
      break;
    case 6: // HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS: every copy is done when it returns
      answer(true);
      break;
    case 7: // HIP_POINTER_ATTRIBUTE_BUFFER_ID
      answer(range.serial);
      break;
    case 8: // HIP_POINTER_ATTRIBUTE_IS_MANAGED
      answer(type == hipMemoryTypeManaged);
      break;
    case 9: // HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL
      answer(range.device);
      break;
    case 10: // HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE
      answer(range.kind == MemoryKind::Device);
      break;
    case 11: // HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR
      answer(range.begin);
      break;
    case 12: // HIP_POINTER_ATTRIBUTE_RANGE_SIZE
      answer(size_t{range.end - range.begin});
      break;
    case 13: // HIP_POINTER_ATTRIBUTE_MAPPED
      answer(true);
      break;
    case 14: // HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: none of virtual memory management
      answer(uint64_t{0});
      break;
    case 15: // HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
      answer(false);
      break;
    case 16: // HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS: read and write
      answer(3U);
      break;
    default:
      throw EmulatorError(hipErrorInvalidValue, "hipPointerGetAttribute: attribute " +
                                                    std::to_string(attribute) + " is not known");
    }
  });
}

/// Attributes that a pointer hasn't got are zero, as HIP says.
FLYEMU_API hipError_t hipDrvPointerGetAttributes(unsigned count, const int *attributes, void **data,
                                                 hipDeviceptr_t pointer) {
  return guarded([&] {
    require(attributes != nullptr && data != nullptr, hipErrorInvalidValue,
            "hipDrvPointerGetAttributes: null pointer");
    // Bytes of each attribute's value, by its number.
    constexpr uint8_t kSizes[] = {0, 8, 4, 8, 8, 16, 1, 8, 1, 4, 1, 8, 8, 1, 8, 1, 4, 8};
    for (unsigned i = 0; i < count; ++i) {
      const auto attribute = static_cast<size_t>(attributes[i]);
      require(data[i] != nullptr && attribute != 0 && attribute < sizeof kSizes,
              hipErrorInvalidValue, "hipDrvPointerGetAttributes: null pointer, or no attribute");
      if (hipPointerGetAttribute(data[i], attributes[i], pointer) != hipSuccess)
        std::memset(data[i], 0, kSizes[attribute]);
    }
    threadErrors().last = hipSuccess;
  });
}
FLYEMU_API hipError_t hipPointerSetAttribute(const void *value, int attribute,
                                             hipDeviceptr_t pointer) {
  return guarded([&] {
    constexpr int kSyncMemops = 6; // which every copy here does
    MemoryRange range;
    require(value != nullptr && attribute == kSyncMemops &&
                MemoryMap::instance().lookup(reinterpret_cast<uint64_t>(pointer), range),
            hipErrorInvalidValue,
            "hipPointerSetAttribute: null pointer, no allocation, or no attribute that can be set");
  });
}

FLYEMU_API hipError_t hipMemPrefetchAsync(const void *, size_t, int, hipStream_t) {
  return hipSuccess;
}
FLYEMU_API hipError_t hipMemAdvise(const void *, size_t, int, int) { return hipSuccess; }
