// SPDX-License-Identifier: Apache-2.0
#include "hip/device_failure.h"

#include <atomic>
#include <map>
#include <mutex>

#include "support/error.h"

namespace flyemu {
namespace {

struct Failure {
  hipError_t code;
  std::string report;
};

struct Failures {
  std::mutex mutex;
  std::map<int, Failure> byDevice;
  std::atomic<size_t> count{0}; ///< spares the lock where nothing has failed
};

Failures &failures() {
  static auto *all = new Failures; // never destroyed: clients call from static destructors
  return *all;
}

} // namespace

void noteDeviceFailure(int device, hipError_t code, const std::string &report) {
  Failures &all = failures();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.byDevice.emplace(device, Failure{code, report});
  all.count = all.byDevice.size();
}

hipError_t deviceFailure(int device) {
  Failures &all = failures();
  if (all.count.load(std::memory_order_relaxed) == 0)
    return hipSuccess;
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.byDevice.find(device);
  return found == all.byDevice.end() ? hipSuccess : found->second.code;
}

void requireUnfailed(int device) {
  Failures &all = failures();
  if (all.count.load(std::memory_order_relaxed) == 0)
    return;
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (const auto found = all.byDevice.find(device); found != all.byDevice.end())
    throw EmulatorError(found->second.code,
                        "an earlier launch failed, and device " + std::to_string(device) +
                            " stays failed until hipDeviceReset:\n" + found->second.report);
}

void forgetDeviceFailure(int device) {
  Failures &all = failures();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (device < 0)
    all.byDevice.clear();
  else
    all.byDevice.erase(device);
  all.count = all.byDevice.size();
}

} // namespace flyemu
