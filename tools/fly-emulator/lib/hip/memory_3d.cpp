// SPDX-License-Identifier: Apache-2.0
//
// Pitched memory of two and three dimensions: allocation, copies, fills. Arrays are not offered.
#include <cstring>

#include "hip/allocation.h"
#include "hip/copies.h"
#include "hip/graph.h"
#include "hip/runtime.h"

using namespace flyemu;

namespace {

struct PitchedPointer {
  void *pointer;
  size_t pitch; ///< bytes of a row
  size_t width;
  size_t height; ///< rows of a slice
};
struct Extent {
  size_t width; ///< bytes
  size_t height;
  size_t depth;
};
struct Position {
  size_t x; ///< bytes
  size_t y;
  size_t z;
};

/// hipMemcpy3DParms
struct Copy3D {
  void *fromArray;
  Position fromPosition;
  PitchedPointer from;
  void *toArray;
  Position toPosition;
  PitchedPointer to;
  Extent extent;
  hipMemcpyKind kind;
};

/// One side of the driver's copies (ROCm 6): HIP_MEMCPY3D has the levels, hip_Memcpy2D has not.
struct DriverSide3D {
  size_t x;
  size_t y;
  size_t z;
  size_t level;
  hipMemoryType type;
  void *host;
  void *device;
  void *array;
  size_t pitch;
  size_t height;
};
struct DriverCopy3D {
  DriverSide3D from;
  DriverSide3D to;
  Extent extent;
};
struct DriverSide2D {
  size_t x;
  size_t y;
  hipMemoryType type;
  void *host;
  void *device;
  void *array;
  size_t pitch;
};
struct DriverCopy2D {
  DriverSide2D from;
  DriverSide2D to;
  size_t width;
  size_t height;
};

/// A box in memory.
struct Box {
  uint8_t *origin;
  size_t pitch;
  size_t slice; ///< bytes
};

Box boxOf(const PitchedPointer &memory, const Position &at, const Extent &extent) {
  require(memory.pointer != nullptr, hipErrorInvalidValue, "a three-dimensional copy of null");
  require(at.x + extent.width <= memory.pitch || (extent.height <= 1 && extent.depth <= 1),
          hipErrorInvalidPitchValue, "a three-dimensional copy wider than its pitch");
  const size_t slice = memory.pitch * memory.height;
  return {static_cast<uint8_t *>(memory.pointer) + at.x + at.y * memory.pitch + at.z * slice,
          memory.pitch, slice};
}

template <typename Side> void *pointerOf(const Side &side) {
  if (side.type == hipMemoryTypeArray || side.array != nullptr)
    throw EmulatorError(hipErrorNotSupported, "copies of arrays are not offered by the emulator");
  return side.type == hipMemoryTypeHost ? side.host : side.device;
}

void copyBox(const Box &to, const Box &from, const Extent &extent) {
  for (size_t z = 0; z < extent.depth; ++z)
    for (size_t y = 0; y < extent.height; ++y)
      copy(to.origin + z * to.slice + y * to.pitch, from.origin + z * from.slice + y * from.pitch,
           extent.width);
}

std::function<void()> copyWork(const Copy3D *p) {
  require(p != nullptr, hipErrorInvalidValue, "hipMemcpy3D: null pointer");
  if (p->fromArray != nullptr || p->toArray != nullptr)
    throw EmulatorError(hipErrorNotSupported, "copies of arrays are not offered by the emulator");
  require(p->kind >= hipMemcpyHostToHost && p->kind <= hipMemcpyDefault,
          hipErrorInvalidMemcpyDirection, "an unknown copy direction");
  const Box from = boxOf(p->from, p->fromPosition, p->extent);
  const Box to = boxOf(p->to, p->toPosition, p->extent);
  return [=, extent = p->extent] { copyBox(to, from, extent); };
}

std::function<void()> copyWork(const DriverCopy3D *p) {
  require(p != nullptr, hipErrorInvalidValue, "hipDrvMemcpy3D: null pointer");
  const auto box = [&](const DriverSide3D &side) {
    return boxOf({pointerOf(side), side.pitch, 0, side.height}, {side.x, side.y, side.z},
                 p->extent);
  };
  return [from = box(p->from), to = box(p->to), extent = p->extent] { copyBox(to, from, extent); };
}

std::function<void()> copyWork(const DriverCopy2D *p) {
  require(p != nullptr, hipErrorInvalidValue, "hipMemcpyParam2D: null pointer");
  const Extent extent = {p->width, p->height, 1};
  const auto box = [&](const DriverSide2D &side) {
    return boxOf({pointerOf(side), side.pitch, 0, p->height}, {side.x, side.y, 0}, extent);
  };
  return [from = box(p->from), to = box(p->to), extent] { copyBox(to, from, extent); };
}

template <typename P> hipError_t copyNow(const P *parameters) {
  return guarded([&] { copyWork(parameters)(); });
}
template <typename P> hipError_t copyIn(hipStream_t stream, const P *parameters) {
  return guarded([&] { enqueue(stream, hipGraphNodeTypeMemcpy, copyWork(parameters)); });
}

/// Fill rows of `count` elements.
template <typename T>
std::function<void()> fillWork(void *to, size_t pitch, size_t slice, T value, size_t count,
                               size_t height, size_t depth) {
  require(to != nullptr, hipErrorInvalidValue, "a fill of null");
  require(count * sizeof(T) <= pitch || height <= 1, hipErrorInvalidPitchValue,
          "a fill wider than the pitch");
  return [=] {
    for (size_t z = 0; z < depth; ++z)
      for (size_t y = 0; y < height; ++y)
        fill(static_cast<uint8_t *>(to) + z * slice + y * pitch, value, count);
  };
}
template <typename T>
hipError_t fillRows(void *to, size_t pitch, T value, size_t width, size_t height) {
  return guarded([&] { fillWork<T>(to, pitch, 0, value, width, height, 1)(); });
}
template <typename T>
hipError_t fillRowsIn(hipStream_t stream, void *to, size_t pitch, T value, size_t width,
                      size_t height) {
  return guarded([&] {
    enqueue(stream, hipGraphNodeTypeMemset, fillWork<T>(to, pitch, 0, value, width, height, 1));
  });
}
std::function<void()> fillBox(const PitchedPointer &to, int value, const Extent &extent) {
  return fillWork(to.pointer, to.pitch, to.pitch * to.height, static_cast<uint8_t>(value),
                  extent.width, extent.height, extent.depth);
}

} // namespace

FLYEMU_API hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);

FLYEMU_API hipError_t hipMalloc3D(PitchedPointer *pointer, Extent extent) {
  return guarded([&] {
    require(pointer != nullptr, hipErrorInvalidValue, "hipMalloc3D: null pointer");
    require(extent.depth == 0 || extent.height <= SIZE_MAX / extent.depth, hipErrorOutOfMemory,
            "hipMalloc3D: too large");
    void *memory = nullptr;
    size_t pitch = 0;
    if (const hipError_t error =
            hipMallocPitch(&memory, &pitch, extent.width, extent.height * extent.depth);
        error != hipSuccess)
      throw EmulatorError(error, threadErrors().text);
    *pointer = {memory, pitch, extent.width, extent.height};
  });
}
FLYEMU_API hipError_t hipMemAllocPitch(void **pointer, size_t *pitch, size_t width, size_t height,
                                       unsigned) {
  return hipMallocPitch(pointer, pitch, width, height);
}

FLYEMU_API hipError_t hipMemcpy3D(const Copy3D *parameters) { return copyNow(parameters); }
FLYEMU_API hipError_t hipMemcpy3DAsync(const Copy3D *parameters, hipStream_t stream) {
  return copyIn(stream, parameters);
}
FLYEMU_API hipError_t hipDrvMemcpy3D(const DriverCopy3D *parameters) { return copyNow(parameters); }
FLYEMU_API hipError_t hipDrvMemcpy3DAsync(const DriverCopy3D *parameters, hipStream_t stream) {
  return copyIn(stream, parameters);
}
FLYEMU_API hipError_t hipMemcpyParam2D(const DriverCopy2D *parameters) {
  return copyNow(parameters);
}
FLYEMU_API hipError_t hipDrvMemcpy2DUnaligned(const DriverCopy2D *parameters) {
  return copyNow(parameters);
}
FLYEMU_API hipError_t hipMemcpyParam2DAsync(const DriverCopy2D *parameters, hipStream_t stream) {
  return copyIn(stream, parameters);
}

FLYEMU_API hipError_t hipMemset3D(PitchedPointer to, int value, Extent extent) {
  return guarded([&] { fillBox(to, value, extent)(); });
}
FLYEMU_API hipError_t hipMemset3DAsync(PitchedPointer to, int value, Extent extent,
                                       hipStream_t stream) {
  return guarded([&] { enqueue(stream, hipGraphNodeTypeMemset, fillBox(to, value, extent)); });
}
FLYEMU_API hipError_t hipMemsetD2D8(hipDeviceptr_t to, size_t pitch, unsigned char value,
                                    size_t width, size_t height) {
  return fillRows(to, pitch, value, width, height);
}
FLYEMU_API hipError_t hipMemsetD2D16(hipDeviceptr_t to, size_t pitch, unsigned short value,
                                     size_t width, size_t height) {
  return fillRows(to, pitch, value, width, height);
}
FLYEMU_API hipError_t hipMemsetD2D32(hipDeviceptr_t to, size_t pitch, unsigned value, size_t width,
                                     size_t height) {
  return fillRows(to, pitch, value, width, height);
}
FLYEMU_API hipError_t hipMemsetD2D8Async(hipDeviceptr_t to, size_t pitch, unsigned char value,
                                         size_t width, size_t height, hipStream_t stream) {
  return fillRowsIn(stream, to, pitch, value, width, height);
}
FLYEMU_API hipError_t hipMemsetD2D16Async(hipDeviceptr_t to, size_t pitch, unsigned short value,
                                          size_t width, size_t height, hipStream_t stream) {
  return fillRowsIn(stream, to, pitch, value, width, height);
}
FLYEMU_API hipError_t hipMemsetD2D32Async(hipDeviceptr_t to, size_t pitch, unsigned value,
                                          size_t width, size_t height, hipStream_t stream) {
  return fillRowsIn(stream, to, pitch, value, width, height);
}

FLYEMU_PER_THREAD(hipMemcpy3DAsync)
FLYEMU_PER_THREAD(hipMemcpy3D)
FLYEMU_PER_THREAD(hipMemset3DAsync)
FLYEMU_PER_THREAD(hipMemset3D)
