// SPDX-License-Identifier: Apache-2.0
//
// The part of HIP's C interface that the runtime uses, declared here because neither ROCm's headers
// nor its library need to be present when this library is built. HIP 6 and 7 share these layouts.
#ifndef FLYDSL_CSRC_HIP_TYPES_H
#define FLYDSL_CSRC_HIP_TYPES_H

#include <cstddef>

namespace flydsl::runtime {

constexpr int kHipMemcpyDefault = 4;
constexpr int kHipMemoryTypeUnregistered = 0;

// hipPointerAttribute_t.
struct HipPointerAttributes {
  int type;
  int device;
  void *devicePointer;
  void *hostPointer;
  int isManaged;
  unsigned allocationFlags;
};

// hipDeviceProp_tR0600. Names are HIP's; what the runtime doesn't read is counted, not named.
struct HipDeviceProperties {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned int luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  char upToArchitecture[1160 - 392];
  char gcnArchName[256];
  char afterArchitecture[1024]; // sizeof is 1472; the rest is room for what later versions append
};
static_assert(offsetof(HipDeviceProperties, totalGlobalMem) == 288, "hipDeviceProp_tR0600");
static_assert(offsetof(HipDeviceProperties, maxThreadsPerBlock) == 320, "hipDeviceProp_tR0600");
static_assert(offsetof(HipDeviceProperties, multiProcessorCount) == 388, "hipDeviceProp_tR0600");
static_assert(offsetof(HipDeviceProperties, gcnArchName) == 1160, "hipDeviceProp_tR0600");

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_HIP_TYPES_H
