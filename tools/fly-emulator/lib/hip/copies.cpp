// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills. Every one is done when its call returns, unless a stream captures it.
#include "hip/copies.h"

#include <sys/mman.h>

#include <cstring>

#include "device/memory_map.h"
#include "hip/allocation.h"
#include "hip/device_failure.h"
#include "hip/graph.h"
#include "hip/runtime.h"
#include "support/format.h"

using namespace flyemu;

namespace {

/// Is there anything at these addresses? Where nothing is, the process would end.
bool isMapped(uint64_t address, size_t bytes) {
  const uint64_t first = address / kPageBytes * kPageBytes;
  const uint64_t end = address + bytes;
  return end >= address && msync(reinterpret_cast<void *>(first), end - first, MS_ASYNC) == 0;
}

void checkKind(hipMemcpyKind kind) {
  require(kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault, hipErrorInvalidMemcpyDirection,
          "an unknown copy direction");
}

void copy2d(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width,
            size_t height) {
  require(width <= toPitch && width <= fromPitch, hipErrorInvalidPitchValue,
          "a two-dimensional copy wider than its pitch");
  for (size_t row = 0; row < height; ++row)
    copy(static_cast<uint8_t *>(to) + row * toPitch,
         static_cast<const uint8_t *>(from) + row * fromPitch, width);
}

} // namespace

namespace flyemu {

void checkExtent(const void *pointer, size_t bytes, const char *what) {
  if (bytes == 0)
    return;
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const auto refuse = [&](const std::string &why) {
    throw EmulatorError(hipErrorInvalidValue,
                        format("%s of %llu bytes at %s: ", what,
                               static_cast<unsigned long long>(bytes), hex(address).c_str()) +
                            why);
  };
  if (pointer == nullptr)
    refuse("a null pointer");
  MemoryRange range;
  const bool known = MemoryMap::instance().lookup(address, range);
  // Whoever registers memory may have registered a part of it.
  if (known && range.kind != MemoryKind::Registered) {
    if (bytes > range.end - address)
      refuse(format("%s ends %llu bytes behind that", range.name.c_str(),
                    static_cast<unsigned long long>(range.end - address)));
  } else if (isBehindAllocation(address)) {
    refuse("it begins behind the end of an allocation");
  } else if (!isMapped(address, bytes)) {
    refuse("there is no memory");
  }
}

void copy(void *to, const void *from, size_t bytes) {
  requireUnfailed(Runtime::instance().current());
  if (bytes == 0)
    return;
  checkExtent(from, bytes, "a copy from memory");
  checkExtent(to, bytes, "a copy to memory");
  const auto memory = useMemory();
  std::memmove(to, from, bytes);
  MemoryMap::instance().noteCopied(reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from),
                                   bytes);
}

void fill(void *to, const void *element, size_t elementBytes, size_t count) {
  requireUnfailed(Runtime::instance().current());
  require(count <= SIZE_MAX / elementBytes, hipErrorInvalidValue, "a fill of too many elements");
  checkExtent(to, count * elementBytes, "a fill");
  const auto memory = useMemory();
  auto *bytes = static_cast<uint8_t *>(to);
  if (elementBytes == 1 && count != 0)
    std::memset(to, *static_cast<const uint8_t *>(element), count);
  else
    for (size_t i = 0; i < count; ++i)
      std::memcpy(bytes + i * elementBytes, element, elementBytes);
  MemoryMap::instance().noteWritten(reinterpret_cast<uint64_t>(to), count * elementBytes);
}

} // namespace flyemu

FLYEMU_API hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  return guarded([&] {
    checkKind(kind);
    copy(to, from, bytes);
  });
}
FLYEMU_API hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                                     hipStream_t stream) {
  return guarded([&] {
    checkKind(kind);
    enqueue(stream, hipGraphNodeTypeMemcpy, [=] { copy(to, from, bytes); });
  });
}
FLYEMU_API hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes,
                                          hipMemcpyKind kind, hipStream_t stream) {
  return guarded([&] {
    checkKind(kind);
    refuseWhileCapturing(stream);
    copy(to, from, bytes);
  });
}
FLYEMU_API hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void *from, size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyHostToDevice);
}
FLYEMU_API hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost);
}
FLYEMU_API hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToDevice);
}
FLYEMU_API hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void *from, size_t bytes,
                                         hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyHostToDevice, stream);
}
FLYEMU_API hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes,
                                         hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToHost, stream);
}
FLYEMU_API hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes,
                                         hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}
FLYEMU_API hipError_t hipMemcpyPeer(void *to, int toDevice, const void *from, int fromDevice,
                                    size_t bytes) {
  return guarded([&] {
    Runtime::instance().device(toDevice);
    Runtime::instance().device(fromDevice);
    copy(to, from, bytes);
  });
}
FLYEMU_API hipError_t hipMemcpyPeerAsync(void *to, int toDevice, const void *from, int fromDevice,
                                         size_t bytes, hipStream_t stream) {
  return guarded([&] {
    Runtime::instance().device(toDevice);
    Runtime::instance().device(fromDevice);
    enqueue(stream, hipGraphNodeTypeMemcpy, [=] { copy(to, from, bytes); });
  });
}
FLYEMU_API hipError_t hipMemcpy2D(void *to, size_t toPitch, const void *from, size_t fromPitch,
                                  size_t width, size_t height, hipMemcpyKind kind) {
  return guarded([&] {
    checkKind(kind);
    copy2d(to, toPitch, from, fromPitch, width, height);
  });
}
FLYEMU_API hipError_t hipMemcpy2DAsync(void *to, size_t toPitch, const void *from, size_t fromPitch,
                                       size_t width, size_t height, hipMemcpyKind kind,
                                       hipStream_t stream) {
  return guarded([&] {
    checkKind(kind);
    enqueue(stream, hipGraphNodeTypeMemcpy,
            [=] { copy2d(to, toPitch, from, fromPitch, width, height); });
  });
}

FLYEMU_API hipError_t hipMemset(void *to, int value, size_t bytes) {
  return guarded([&] { fill(to, static_cast<uint8_t>(value), bytes); });
}
FLYEMU_API hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream) {
  return guarded([&] {
    enqueue(stream, hipGraphNodeTypeMemset, [=] { fill(to, static_cast<uint8_t>(value), bytes); });
  });
}
FLYEMU_API hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
  return guarded([&] { fill(to, value, count); });
}
FLYEMU_API hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count,
                                       hipStream_t stream) {
  return guarded([&] { enqueue(stream, hipGraphNodeTypeMemset, [=] { fill(to, value, count); }); });
}
FLYEMU_API hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
  return guarded([&] { fill(to, value, count); });
}
FLYEMU_API hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count,
                                        hipStream_t stream) {
  return guarded([&] { enqueue(stream, hipGraphNodeTypeMemset, [=] { fill(to, value, count); }); });
}
FLYEMU_API hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
  return guarded([&] { fill(to, value, count); });
}
FLYEMU_API hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count,
                                        hipStream_t stream) {
  return guarded([&] { enqueue(stream, hipGraphNodeTypeMemset, [=] { fill(to, value, count); }); });
}
FLYEMU_API hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
  return guarded([&] {
    require(width <= pitch, hipErrorInvalidPitchValue, "hipMemset2D: wider than the pitch");
    for (size_t row = 0; row < height; ++row)
      fill(static_cast<uint8_t *>(to) + row * pitch, static_cast<uint8_t>(value), width);
  });
}
FLYEMU_API hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width,
                                       size_t height, hipStream_t stream) {
  return guarded([&] {
    require(width <= pitch, hipErrorInvalidPitchValue, "hipMemset2D: wider than the pitch");
    enqueue(stream, hipGraphNodeTypeMemset, [=] {
      for (size_t row = 0; row < height; ++row)
        fill(static_cast<uint8_t *>(to) + row * pitch, static_cast<uint8_t>(value), width);
    });
  });
}

FLYEMU_PER_THREAD(hipMemcpy2DAsync)
FLYEMU_PER_THREAD(hipMemcpy2D)
FLYEMU_PER_THREAD(hipMemcpyAsync)
FLYEMU_PER_THREAD(hipMemcpy)
FLYEMU_PER_THREAD(hipMemset2DAsync)
FLYEMU_PER_THREAD(hipMemset2D)
FLYEMU_PER_THREAD(hipMemsetAsync)
FLYEMU_PER_THREAD(hipMemset)
