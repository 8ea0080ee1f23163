// SPDX-License-Identifier: Apache-2.0
//
// Error names and texts, and the thread's last error.
#include "hip/device_failure.h"
#include "hip/runtime.h"

namespace {

const struct {
  hipError_t code;
  const char *name;
  const char *text;
} kErrors[] = {
    {hipSuccess, "hipSuccess", "no error"},
    {hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {hipErrorNotInitialized, "hipErrorNotInitialized", "initialization error"},
    {hipErrorDeinitialized, "hipErrorDeinitialized", "driver shutting down"},
    {hipErrorInvalidConfiguration, "hipErrorInvalidConfiguration",
     "invalid configuration argument"},
    {hipErrorInvalidPitchValue, "hipErrorInvalidPitchValue", "invalid pitch argument"},
    {hipErrorInvalidSymbol, "hipErrorInvalidSymbol", "invalid device symbol"},
    {hipErrorInvalidDevicePointer, "hipErrorInvalidDevicePointer", "invalid device pointer"},
    {hipErrorInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {hipErrorInsufficientDriver, "hipErrorInsufficientDriver",
     "driver version is insufficient for runtime version"},
    {hipErrorInvalidDeviceFunction, "hipErrorInvalidDeviceFunction", "invalid device function"},
    {hipErrorNoDevice, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {hipErrorInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {hipErrorInvalidImage, "hipErrorInvalidImage", "device kernel image is invalid"},
    {hipErrorInvalidContext, "hipErrorInvalidContext", "invalid device context"},
    {hipErrorNoBinaryForGpu, "hipErrorNoBinaryForGpu",
     "no kernel image is available for execution on the device"},
    {hipErrorUnsupportedLimit, "hipErrorUnsupportedLimit",
     "limit is not supported on this architecture"},
    {hipErrorPeerAccessUnsupported, "hipErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {hipErrorInvalidKernelFile, "hipErrorInvalidKernelFile", "invalid kernel file"},
    {hipErrorFileNotFound, "hipErrorFileNotFound", "file not found"},
    {hipErrorInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {hipErrorNotFound, "hipErrorNotFound", "named symbol not found"},
    {hipErrorNotReady, "hipErrorNotReady", "device not ready"},
    {hipErrorIllegalAddress, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {hipErrorLaunchOutOfResources, "hipErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {hipErrorLaunchTimeOut, "hipErrorLaunchTimeOut", "the launch timed out and was terminated"},
    {hipErrorPeerAccessAlreadyEnabled, "hipErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {hipErrorPeerAccessNotEnabled, "hipErrorPeerAccessNotEnabled",
     "peer access has not been enabled"},
    {hipErrorContextIsDestroyed, "hipErrorContextIsDestroyed", "context is destroyed"},
    {hipErrorAssert, "hipErrorAssert", "device-side assert triggered"},
    {hipErrorHostMemoryAlreadyRegistered, "hipErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {hipErrorHostMemoryNotRegistered, "hipErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {hipErrorLaunchFailure, "hipErrorLaunchFailure", "unspecified launch failure"},
    {hipErrorCooperativeLaunchTooLarge, "hipErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {hipErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
    {hipErrorIllegalState, "hipErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {hipErrorStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {hipErrorStreamCaptureInvalidated, "hipErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {hipErrorStreamCaptureMerge, "hipErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {hipErrorStreamCaptureUnmatched, "hipErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {hipErrorStreamCaptureUnjoined, "hipErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    // What the emulator never returns has a name all the same.
    {hipError_t(5), "hipErrorProfilerDisabled",
     "profiler disabled while using external profiling tool"},
    {hipError_t(6), "hipErrorProfilerNotInitialized", "profiler is not initialized"},
    {hipError_t(7), "hipErrorProfilerAlreadyStarted", "profiler already started"},
    {hipError_t(8), "hipErrorProfilerAlreadyStopped", "profiler already stopped"},
    {hipError_t(52), "hipErrorMissingConfiguration", "__global__ function call is not configured"},
    {hipError_t(53), "hipErrorPriorLaunchFailure", "unspecified launch failure in prior launch"},
    {hipError_t(202), "hipErrorContextAlreadyCurrent", "context is already current context"},
    {hipError_t(205), "hipErrorMapFailed", "mapping of buffer object failed"},
    {hipError_t(206), "hipErrorUnmapFailed", "unmapping of buffer object failed"},
    {hipError_t(207), "hipErrorArrayIsMapped", "array is mapped"},
    {hipError_t(208), "hipErrorAlreadyMapped", "resource already mapped"},
    {hipError_t(210), "hipErrorAlreadyAcquired", "resource already acquired"},
    {hipError_t(211), "hipErrorNotMapped", "resource not mapped"},
    {hipError_t(212), "hipErrorNotMappedAsArray", "resource not mapped as array"},
    {hipError_t(213), "hipErrorNotMappedAsPointer", "resource not mapped as pointer"},
    {hipError_t(214), "hipErrorECCNotCorrectable", "uncorrectable ECC error encountered"},
    {hipError_t(216), "hipErrorContextAlreadyInUse",
     "exclusive-thread device already in use by a different thread"},
    {hipError_t(219), "hipErrorInvalidGraphicsContext", "invalid OpenGL or DirectX context"},
    {hipError_t(300), "hipErrorInvalidSource", "device kernel image is invalid"},
    {hipError_t(302), "hipErrorSharedObjectSymbolNotFound", "shared object symbol not found"},
    {hipError_t(303), "hipErrorSharedObjectInitFailed", "shared object initialization failed"},
    {hipError_t(304), "hipErrorOperatingSystem",
     "OS call failed or operation not supported on this OS"},
    {hipError_t(708), "hipErrorSetOnActiveProcess",
     "cannot set while device is active in this process"},
    {hipError_t(905), "hipErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {hipError_t(906), "hipErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {hipError_t(907), "hipErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {hipError_t(908), "hipErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {hipError_t(910), "hipErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints"},
    {hipError_t(911), "hipErrorInvalidChannelDescriptor", "invalid channel descriptor"},
    {hipError_t(912), "hipErrorInvalidTexture", "invalid texture"},
    // 914 to 916, and 1054 as it is here: HIP 10.
    {hipError_t(914), "hipErrorInvalidResourceType", "invalid resource type"},
    {hipError_t(915), "hipErrorInvalidResourceConfiguration", "invalid resource configuration"},
    {hipError_t(916), "hipErrorStreamDetached", "the stream has been detached from its context"},
    {hipError_t(1052), "hipErrorRuntimeMemory", "runtime memory call returned error"},
    {hipError_t(1053), "hipErrorRuntimeOther", "runtime call other than memory returned error"},
    {hipError_t(1054), "hipErrorInvalidClusterSize", "invalid cluster size"},
    {hipError_t(1055), "hipErrorTbd", "marks the end of the range of error codes"},
    {hipErrorUnknown, "hipErrorUnknown", "unknown error"},
};

const auto &find(hipError_t code) {
  for (const auto &entry : kErrors)
    if (entry.code == code)
      return entry;
  return kErrors[sizeof kErrors / sizeof *kErrors - 1];
}

} // namespace

FLYEMU_API const char *hipGetErrorName(hipError_t error) { return find(error).name; }
FLYEMU_API const char *hipGetErrorString(hipError_t error) { return find(error).text; }

FLYEMU_API hipError_t hipDrvGetErrorName(hipError_t error, const char **name) {
  if (name == nullptr)
    return hipErrorInvalidValue;
  *name = find(error).name;
  return hipSuccess;
}
FLYEMU_API hipError_t hipDrvGetErrorString(hipError_t error, const char **text) {
  if (text == nullptr)
    return hipErrorInvalidValue;
  *text = find(error).text;
  return hipSuccess;
}

/// A device that has failed is the last error of every thread that uses it, however often it is
/// asked for.
FLYEMU_API hipError_t hipPeekAtLastError() {
  const hipError_t last = flyemu::threadErrors().last;
  if (last != hipSuccess)
    return last;
  try {
    return flyemu::deviceFailure(flyemu::Runtime::instance().current());
  } catch (const flyemu::EmulatorError &) {
    return hipSuccess; // no devices yet: nothing can have failed
  }
}
FLYEMU_API hipError_t hipGetLastError() {
  const hipError_t last = hipPeekAtLastError();
  flyemu::threadErrors().last = hipSuccess;
  return last;
}
FLYEMU_API hipError_t hipExtGetLastError() { return hipGetLastError(); }
