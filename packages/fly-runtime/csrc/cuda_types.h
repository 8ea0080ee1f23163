// SPDX-License-Identifier: Apache-2.0
//
// The part of the CUDA driver's C interface that the runtime uses, declared here because neither
// the toolkit's headers nor the driver need to be present when this library is built. The numbers
// and layouts are those of the driver API's reference, which keeps them for good.
#ifndef FLYDSL_CSRC_CUDA_TYPES_H
#define FLYDSL_CSRC_CUDA_TYPES_H

#include <cstddef>
#include <cstdint>

namespace flydsl::runtime {

// CUresult.
constexpr int kCudaErrorInvalidValue = 1;
constexpr int kCudaErrorIllegalAddress = 700;
constexpr int kCudaErrorLaunchTimeout = 702;
constexpr int kCudaErrorAssert = 710;
constexpr int kCudaErrorHardwareStack = 714; // the first of those that a kernel leaves behind
constexpr int kCudaErrorLaunchFailed = 719;  // the last of them

// CUdevice_attribute.
constexpr int kCudaMaxThreadsPerBlock = 1;
constexpr int kCudaMaxBlockDim[3] = {2, 3, 4};
constexpr int kCudaMaxGridDim[3] = {5, 6, 7};
constexpr int kCudaWarpSize = 10;
constexpr int kCudaMultiprocessorCount = 16;
constexpr int kCudaMajor = 75;
constexpr int kCudaMinor = 76;
constexpr int kCudaMaxSharedBytesOptIn = 97; // per block

// CUfunction_attribute.
constexpr int kCudaFunctionSharedBytes = 1; // static
constexpr int kCudaFunctionMaxDynamicSharedBytes = 8;
constexpr int kCudaFunctionNonPortableClusters = 14;

// CUjit_option.
constexpr int kCudaJitErrorLog = 5;
constexpr int kCudaJitErrorLogBytes = 6;

// CUstreamCaptureMode.
constexpr int kCudaCaptureRelaxed = 2;

// The first version of CUDA that captures programmatic launches into graphs, as cuDriverGetVersion
// counts.
constexpr int kCudaProgrammaticCapture = 12030;

// CUlaunchAttribute, of which the runtime sets two kinds.
constexpr int kCudaLaunchCluster = 4;      // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
constexpr int kCudaLaunchProgrammatic = 6; // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
struct CudaLaunchAttribute {
  int id;
  char pad[4];
  union {
    unsigned cluster[3];
    int allowed;
    char bytes[64];
  };
};
static_assert(sizeof(CudaLaunchAttribute) == 72, "CUlaunchAttribute");

// CUlaunchConfig.
struct CudaLaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  void *stream;
  CudaLaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(CudaLaunchConfig) == 56 && offsetof(CudaLaunchConfig, stream) == 32,
              "CUlaunchConfig");

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_CUDA_TYPES_H
