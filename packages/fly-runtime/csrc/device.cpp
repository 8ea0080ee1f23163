// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include "architecture.h"
#include "error.h"

#include <atomic>
#include <mutex>

namespace flydsl::runtime {

namespace {

std::atomic<const Devices *> chosen{nullptr};
std::mutex choiceMutex;

Device read_hip_device(const DeviceApi &api, int index) {
  HipDeviceProperties properties{};
  api.call(api.hipGetDevicePropertiesR0600, &properties, index);
  properties.name[sizeof properties.name - 1] = '\0';
  properties.gcnArchName[sizeof properties.gcnArchName - 1] = '\0';
  Device device{};
  device.index = index;
  device.name = properties.name;
  device.architecture = properties.gcnArchName;
  device.warpSize = properties.warpSize;
  device.computeUnits = properties.multiProcessorCount;
  device.memoryBytes = static_cast<int64_t>(properties.totalGlobalMem);
  device.ldsBytes = static_cast<int64_t>(properties.sharedMemPerBlock);
  device.maxThreads = properties.maxThreadsPerBlock;
  for (int axis = 0; axis < 3; ++axis) {
    device.maxBlock[axis] = properties.maxThreadsDim[axis];
    device.maxGrid[axis] = properties.maxGridSize[axis];
  }
  return device;
}

// The compute capability as compilers name it. From 9.0 on a chip has instructions that no later
// one keeps, and code that uses them is named with an "a".
std::string cuda_architecture(int major, int minor) {
  return "sm_" + std::to_string(major * 10 + minor) + (major >= 9 ? "a" : "");
}

Device read_cuda_device(const DeviceApi &api, int index) {
  const auto attribute = [&](int number) {
    int value = 0;
    api.call(api.cuDeviceGetAttribute, &value, number, index);
    return value;
  };
  char name[256] = "";
  size_t bytes = 0;
  api.call(api.cuDeviceGetName, static_cast<char *>(name), static_cast<int>(sizeof name), index);
  api.call(api.cuDeviceTotalMem_v2, &bytes, index);
  name[sizeof name - 1] = '\0';
  Device device{};
  device.index = index;
  device.name = name;
  device.architecture = cuda_architecture(attribute(kCudaMajor), attribute(kCudaMinor));
  device.warpSize = attribute(kCudaWarpSize);
  device.computeUnits = attribute(kCudaMultiprocessorCount);
  device.memoryBytes = static_cast<int64_t>(bytes);
  device.ldsBytes = attribute(kCudaMaxSharedBytesOptIn);
  device.maxThreads = attribute(kCudaMaxThreadsPerBlock);
  for (int axis = 0; axis < 3; ++axis) {
    device.maxBlock[axis] = attribute(kCudaMaxBlockDim[axis]);
    device.maxGrid[axis] = attribute(kCudaMaxGridDim[axis]);
  }
  return device;
}

bool has_programmatic_launches(const DeviceApi &api) {
  int version = 0;
  return api.cuda() && api.cuLaunchKernelEx && api.cuDriverGetVersion &&
         api.cuDriverGetVersion.function(&version) == kSuccess &&
         version >= kCudaProgrammaticCapture;
}

// The number of the calling thread's current device. A thread without a CUDA context has the first
// one, as in CUDA's own runtime.
int current_index(const DeviceApi &api) {
  int index = 0;
  if (!api.cuda()) {
    api.call(api.hipGetDevice, &index);
    return index;
  }
  void *context = nullptr;
  api.call(api.cuCtxGetCurrent, &context);
  if (context != nullptr)
    api.call(api.cuCtxGetDevice, &index);
  return index;
}

} // namespace

std::string Device::describe(bool emulated) const {
  return "device " + std::to_string(index) + " (" + std::string(processor(architecture)) +
         (emulated ? ", emulated)" : ")");
}

const Device &Devices::current() const {
  const int index = current_index(*api);
  if (index < 0 || static_cast<size_t>(index) >= all.size())
    fail(FLYDSL_ERROR_RUNTIME, "the current device is " + std::to_string(index) + ", but " +
                                   api->path + " had " + std::to_string(all.size()) +
                                   " when it was loaded");
  return all[static_cast<size_t>(index)];
}

const Devices *chosen_devices() { return chosen.load(std::memory_order_acquire); }

const Devices &devices() {
  if (const Devices *ready = chosen_devices())
    return *ready;
  std::vector<Attempt> attempts;
  const Devices *found = find_devices(attempts);
  if (found == nullptr)
    fail(FLYDSL_ERROR_RUNTIME, explain_nothing_found(attempts));
  return *found;
}

const Devices *find_devices(std::vector<Attempt> &attempts) {
  const std::lock_guard<std::mutex> lock(choiceMutex);
  if (const Devices *ready = chosen.load(std::memory_order_acquire))
    return ready;
  SearchResult found = search_library();
  if (found.api == nullptr) {
    attempts = std::move(found.attempts);
    return nullptr;
  }
  auto result = std::make_unique<Devices>();
  result->api = std::move(found.api);
  result->attempts = std::move(found.attempts);
  for (int index = 0; index < found.deviceCount; ++index)
    result->all.push_back(result->api->cuda() ? read_cuda_device(*result->api, index)
                                              : read_hip_device(*result->api, index));
  result->programmaticLaunches = has_programmatic_launches(*result->api);
  // Never freed: artifacts use it until the process ends, after static destructors too.
  const Devices *ready = result.release();
  chosen.store(ready, std::memory_order_release);
  return ready;
}

void *Devices::primary_context(int device) const {
  std::atomic<void *> &slot = contexts[static_cast<size_t>(device)];
  if (void *ready = slot.load(std::memory_order_acquire))
    return ready;
  // Two threads may both come here: a context is counted, and both get the same one.
  void *context = nullptr;
  api->call(api->cuDevicePrimaryCtxRetain, &context, device);
  slot.store(context, std::memory_order_release);
  return context;
}

void set_device(const Devices &devices, int wanted) {
  const DeviceApi &api = *devices.api;
  if (api.cuda())
    api.call(api.cuCtxSetCurrent, devices.primary_context(wanted));
  else
    api.call(api.hipSetDevice, wanted);
}

CurrentDevice::CurrentDevice(const Devices &devices, int wanted) : api(*devices.api) {
  if (api.cuda()) {
    enter_context(devices, wanted);
    return;
  }
  api.call(api.hipGetDevice, &before);
  if (before == wanted)
    return;
  api.call(api.hipSetDevice, wanted);
  changed = true;
}

CurrentDevice::CurrentDevice(const Devices &devices) : api(*devices.api) {
  if (api.cuda())
    enter_context(devices, devices.current().index);
}

void CurrentDevice::enter_context(const Devices &devices, int wanted) {
  void *context = devices.primary_context(wanted);
  api.call(api.cuCtxGetCurrent, &contextBefore);
  if (contextBefore == context)
    return;
  api.call(api.cuCtxSetCurrent, context);
  // A thread without a context has the first device, so this changes nothing that it can see, and
  // the next call of it finds the context.
  changed = contextBefore != nullptr || wanted != 0;
}

CurrentDevice::~CurrentDevice() {
  if (!changed)
    return;
  if (api.cuda())
    (void)api.cuCtxSetCurrent.function(contextBefore); // it was current a moment ago
  else
    (void)api.hipSetDevice.function(before);
}

} // namespace flydsl::runtime
