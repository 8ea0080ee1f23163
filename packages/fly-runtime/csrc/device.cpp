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

Device read_device(const HipApi &api, int index) {
  HipDeviceProperties properties{};
  FLYDSL_HIP_CALL(api, hipGetDevicePropertiesR0600, &properties, index);
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

} // namespace

std::string Device::describe(bool emulated) const {
  return "device " + std::to_string(index) + " (" + std::string(processor(architecture)) +
         (emulated ? ", emulated)" : ")");
}

const Device &Devices::current() const {
  int index = 0;
  FLYDSL_HIP_CALL(*api, hipGetDevice, &index);
  if (index < 0 || static_cast<size_t>(index) >= all.size())
    fail(FLYDSL_ERROR_RUNTIME, "hipGetDevice gives device " + std::to_string(index) + ", but " +
                                   api->path + " had " + std::to_string(all.size()) +
                                   " when it was loaded");
  return all[static_cast<size_t>(index)];
}

const Devices &devices() {
  if (const Devices *ready = chosen.load(std::memory_order_acquire))
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
    result->all.push_back(read_device(*result->api, index));
  // Never freed: artifacts use it until the process ends, after static destructors too.
  const Devices *ready = result.release();
  chosen.store(ready, std::memory_order_release);
  return ready;
}

CurrentDevice::CurrentDevice(const Devices &devices, int wanted) : api(*devices.api) {
  FLYDSL_HIP_CALL(api, hipGetDevice, &before);
  if (before == wanted)
    return;
  FLYDSL_HIP_CALL(api, hipSetDevice, wanted);
  changed = true;
}

CurrentDevice::~CurrentDevice() {
  if (changed)
    (void)api.hipSetDevice(before); // it was current a moment ago
}

} // namespace flydsl::runtime
