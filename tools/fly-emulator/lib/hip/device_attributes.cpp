// SPDX-License-Identifier: Apache-2.0
//
// hipDeviceGetAttribute: numbers of hipDeviceAttribute_t (ROCm 5 to 7) and what they ask for.
#include <algorithm>
#include <climits>

#include "hip/device_properties.h"

using namespace flyemu;

namespace {

using Properties = hipDeviceProp_tR0600;

struct Attribute {
  int id;
  int64_t (*value)(const Properties &);
};
#define PROPERTY(ID, NAME, EXPRESSION)                                                             \
  {ID, []([[maybe_unused]] const Properties &p) { return static_cast<int64_t>(EXPRESSION); }}
// Missing are the ones that hold no number (a LUID, a name), and the registers that flush HDP.
const Attribute kAttributes[] = {
    PROPERTY(0, EccEnabled, p.ECCEnabled),
    PROPERTY(1, AccessPolicyMaxWindowSize, p.accessPolicyMaxWindowSize),
    PROPERTY(2, AsyncEngineCount, p.asyncEngineCount),
    PROPERTY(3, CanMapHostMemory, p.canMapHostMemory),
    PROPERTY(4, CanUseHostPointerForRegisteredMem, p.canUseHostPointerForRegisteredMem),
    PROPERTY(5, ClockRate, p.clockRate),
    PROPERTY(6, ComputeMode, p.computeMode),
    PROPERTY(7, ComputePreemptionSupported, p.computePreemptionSupported),
    PROPERTY(8, ConcurrentKernels, p.concurrentKernels),
    PROPERTY(9, ConcurrentManagedAccess, p.concurrentManagedAccess),
    PROPERTY(10, CooperativeLaunch, p.cooperativeLaunch),
    PROPERTY(11, CooperativeMultiDeviceLaunch, p.cooperativeMultiDeviceLaunch),
    PROPERTY(12, DeviceOverlap, p.deviceOverlap),
    PROPERTY(13, DirectManagedMemAccessFromHost, p.directManagedMemAccessFromHost),
    PROPERTY(14, GlobalL1CacheSupported, p.globalL1CacheSupported),
    PROPERTY(15, HostNativeAtomicSupported, p.hostNativeAtomicSupported),
    PROPERTY(16, Integrated, p.integrated),
    PROPERTY(17, IsMultiGpuBoard, p.isMultiGpuBoard),
    PROPERTY(18, KernelExecTimeout, p.kernelExecTimeoutEnabled),
    PROPERTY(19, L2CacheSize, p.l2CacheSize),
    PROPERTY(20, LocalL1CacheSupported, p.localL1CacheSupported),
    PROPERTY(22, LuidDeviceNodeMask, p.luidDeviceNodeMask),
    PROPERTY(23, ComputeCapabilityMajor, p.major),
    PROPERTY(24, ManagedMemory, p.managedMemory),
    PROPERTY(25, MaxBlocksPerMultiProcessor, p.maxBlocksPerMultiProcessor),
    PROPERTY(26, MaxBlockDimX, p.maxThreadsDim[0]),
    PROPERTY(27, MaxBlockDimY, p.maxThreadsDim[1]),
    PROPERTY(28, MaxBlockDimZ, p.maxThreadsDim[2]),
    PROPERTY(29, MaxGridDimX, p.maxGridSize[0]),
    PROPERTY(30, MaxGridDimY, p.maxGridSize[1]),
    PROPERTY(31, MaxGridDimZ, p.maxGridSize[2]),
    PROPERTY(32, MaxSurface1D, p.maxSurface1D),
    PROPERTY(33, MaxSurface1DLayered, p.maxSurface1DLayered[0]),
    PROPERTY(34, MaxSurface2D, p.maxSurface2D[0]),
    PROPERTY(35, MaxSurface2DLayered, p.maxSurface2DLayered[0]),
    PROPERTY(36, MaxSurface3D, p.maxSurface3D[0]),
    PROPERTY(37, MaxSurfaceCubemap, p.maxSurfaceCubemap),
    PROPERTY(38, MaxSurfaceCubemapLayered, p.maxSurfaceCubemapLayered[0]),
    PROPERTY(39, MaxTexture1DWidth, p.maxTexture1D),
    PROPERTY(40, MaxTexture1DLayered, p.maxTexture1DLayered[0]),
    PROPERTY(41, MaxTexture1DLinear, p.maxTexture1DLinear),
    PROPERTY(42, MaxTexture1DMipmap, p.maxTexture1DMipmap),
    PROPERTY(43, MaxTexture2DWidth, p.maxTexture2D[0]),
    PROPERTY(44, MaxTexture2DHeight, p.maxTexture2D[1]),
    PROPERTY(45, MaxTexture2DGather, p.maxTexture2DGather[0]),
    PROPERTY(46, MaxTexture2DLayered, p.maxTexture2DLayered[0]),
    PROPERTY(47, MaxTexture2DLinear, p.maxTexture2DLinear[0]),
    PROPERTY(48, MaxTexture2DMipmap, p.maxTexture2DMipmap[0]),
    PROPERTY(49, MaxTexture3DWidth, p.maxTexture3D[0]),
    PROPERTY(50, MaxTexture3DHeight, p.maxTexture3D[1]),
    PROPERTY(51, MaxTexture3DDepth, p.maxTexture3D[2]),
    PROPERTY(52, MaxTexture3DAlt, p.maxTexture3DAlt[0]),
    PROPERTY(53, MaxTextureCubemap, p.maxTextureCubemap),
    PROPERTY(54, MaxTextureCubemapLayered, p.maxTextureCubemapLayered[0]),
    PROPERTY(55, MaxThreadsDim, p.maxThreadsDim[0]),
    PROPERTY(56, MaxThreadsPerBlock, p.maxThreadsPerBlock),
    PROPERTY(57, MaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor),
    PROPERTY(58, MaxPitch, p.memPitch),
    PROPERTY(59, MemoryBusWidth, p.memoryBusWidth),
    PROPERTY(60, MemoryClockRate, p.memoryClockRate),
    PROPERTY(61, ComputeCapabilityMinor, p.minor),
    PROPERTY(62, MultiGpuBoardGroupID, p.multiGpuBoardGroupID),
    PROPERTY(63, MultiprocessorCount, p.multiProcessorCount),
    PROPERTY(65, PageableMemoryAccess, p.pageableMemoryAccess),
    PROPERTY(66, PageableMemoryAccessUsesHostPageTables, p.pageableMemoryAccessUsesHostPageTables),
    PROPERTY(67, PciBusId, p.pciBusID),
    PROPERTY(68, PciDeviceId, p.pciDeviceID),
    PROPERTY(69, PciDomainId, p.pciDomainID),
    PROPERTY(70, PersistingL2CacheMaxSize, p.persistingL2CacheMaxSize),
    PROPERTY(71, MaxRegistersPerBlock, p.regsPerBlock),
    PROPERTY(72, MaxRegistersPerMultiprocessor, p.regsPerMultiprocessor),
    PROPERTY(73, ReservedSharedMemPerBlock, p.reservedSharedMemPerBlock),
    PROPERTY(74, MaxSharedMemoryPerBlock, p.sharedMemPerBlock),
    PROPERTY(75, SharedMemPerBlockOptin, p.sharedMemPerBlockOptin),
    PROPERTY(76, SharedMemPerMultiprocessor, p.sharedMemPerMultiprocessor),
    PROPERTY(77, SingleToDoublePrecisionPerfRatio, p.singleToDoublePrecisionPerfRatio),
    PROPERTY(78, StreamPrioritiesSupported, p.streamPrioritiesSupported),
    PROPERTY(79, SurfaceAlignment, p.surfaceAlignment),
    PROPERTY(80, TccDriver, p.tccDriver),
    PROPERTY(81, TextureAlignment, p.textureAlignment),
    PROPERTY(82, TexturePitchAlignment, p.texturePitchAlignment),
    PROPERTY(83, TotalConstantMemory, p.totalConstMem),
    PROPERTY(84, TotalGlobalMem, p.totalGlobalMem),
    PROPERTY(85, UnifiedAddressing, p.unifiedAddressing),
    PROPERTY(87, WarpSize, p.warpSize),
    PROPERTY(88, MemoryPoolsSupported, p.memoryPoolsSupported),
    PROPERTY(89, VirtualMemoryManagementSupported, 0),
    PROPERTY(90, HostRegisterSupported, p.hostRegisterSupported),
    PROPERTY(91, MemoryPoolSupportedHandleTypes, p.memoryPoolSupportedHandleTypes),
    PROPERTY(92, HostNumaId, 0),
    PROPERTY(10000, ClockInstructionRate, p.clockInstructionRate),
    PROPERTY(10002, MaxSharedMemoryPerMultiprocessor, p.maxSharedMemoryPerMultiProcessor),
    PROPERTY(10007, CooperativeMultiDeviceUnmatchedFunc, p.cooperativeMultiDeviceUnmatchedFunc),
    PROPERTY(10008, CooperativeMultiDeviceUnmatchedGridDim,
             p.cooperativeMultiDeviceUnmatchedGridDim),
    PROPERTY(10009, CooperativeMultiDeviceUnmatchedBlockDim,
             p.cooperativeMultiDeviceUnmatchedBlockDim),
    PROPERTY(10010, CooperativeMultiDeviceUnmatchedSharedMem,
             p.cooperativeMultiDeviceUnmatchedSharedMem),
    PROPERTY(10011, IsLargeBar, p.isLargeBar),
    PROPERTY(10012, AsicRevision, p.asicRevision),
    PROPERTY(10013, CanUseStreamWaitValue, 0),
    PROPERTY(10014, ImageSupport, 0),
    PROPERTY(10015, PhysicalMultiProcessorCount, p.multiProcessorCount),
    PROPERTY(10016, FineGrainSupport, 1),
    PROPERTY(10017, WallClockRate, p.clockInstructionRate),
    PROPERTY(10018, NumberOfXccs, 8),
    PROPERTY(10019, MaxAvailableVgprsPerThread, 512),
    PROPERTY(10020, PciChipId, p.pciDeviceID),
};
#undef PROPERTY

} // namespace

FLYEMU_API hipError_t hipDeviceGetAttribute(int *value, int attribute, int device) {
  return guarded([&] {
    require(value != nullptr, hipErrorInvalidValue, "hipDeviceGetAttribute: null pointer");
    const Properties properties = propertiesOf(Runtime::instance().device(device));
    for (const Attribute &entry : kAttributes)
      if (entry.id == attribute) {
        *value = static_cast<int>(std::min<int64_t>(entry.value(properties), INT_MAX));
        return;
      }
    throw EmulatorError(hipErrorInvalidValue, "hipDeviceGetAttribute: attribute " +
                                                  std::to_string(attribute) + " is not known");
  });
}
