// SPDX-License-Identifier: Apache-2.0
//
// Launches on several devices at once. Their kernels run at the same time, and may wait for each
// other.
#include <algorithm>
#include <exception>
#include <set>
#include <thread>

#include "hip/functions.h"
#include "hip/runtime.h"

using namespace flyemu;

namespace {

constexpr unsigned kAllFlags = 3; ///< no synchronisation before, none after: nothing to leave out

/// hipLaunchParams
struct StubLaunch {
  void *function;
  dim3 grid;
  dim3 block;
  void **arguments;
  size_t dynamicLds;
  hipStream_t stream;
};

/// hipFunctionLaunchParams
struct FunctionLaunch {
  hipFunction_t function;
  dim3 grid;
  dim3 block;
  unsigned dynamicLds;
  hipStream_t stream;
  void **arguments;
};

/// Makes the device of a stream the current one, until the end of a scope.
class OnDevice {
public:
  explicit OnDevice(hipStream_t stream) : before_(Runtime::instance().current()) {
    Runtime::instance().setCurrent(deviceOf(stream));
  }
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;
  ~OnDevice() { Runtime::instance().setCurrent(before_); }

private:
  int before_;
};

/// What a launch left behind in its thread.
struct Outcome {
  std::exception_ptr failure;
  ThreadErrors results;
};

void runTogether(const std::vector<std::function<void()>> &launches) {
  std::vector<Outcome> outcomes(launches.size());
  std::vector<std::thread> threads;
  threads.reserve(launches.size());
  for (size_t i = 0; i < launches.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        launches[i]();
      } catch (...) {
        outcomes[i].failure = std::current_exception();
      }
      outcomes[i].results = threadErrors();
    });
  for (std::thread &thread : threads)
    thread.join();
  // The first failure, with its findings; else what the last launch left.
  const Outcome *shown = &outcomes.back();
  for (const Outcome &outcome : outcomes)
    if (outcome.failure != nullptr && shown->failure == nullptr)
      shown = &outcome;
  ThreadErrors &results = threadErrors();
  results.reports = shown->results.reports;
  results.profile = shown->results.profile;
  results.fidelity = shown->results.fidelity;
  if (shown->failure != nullptr)
    std::rethrow_exception(shown->failure);
}

template <typename Launch>
hipError_t launchAll(const Launch *list, unsigned count, unsigned flags, bool cooperative) {
  return guarded([&] {
    require(list != nullptr && count != 0 && flags <= kAllFlags, hipErrorInvalidValue,
            "launch on several devices: no launches, or unknown flags");
    std::vector<std::function<void()>> launches;
    std::set<int> devices;
    for (const Launch *launch = list; launch != list + count; ++launch) {
      const OnDevice scope(launch->stream);
      require(devices.insert(Runtime::instance().current()).second, hipErrorInvalidDevice,
              "launch on several devices: two launches on the same one");
      refuseWhileCapturing(launch->stream);
      hipKernelNodeParams parameters = {};
      parameters.func = launch->function;
      parameters.gridDim = launch->grid;
      parameters.blockDim = launch->block;
      parameters.kernelParams = launch->arguments;
      parameters.sharedMemBytes = static_cast<unsigned>(launch->dynamicLds);
      launches.push_back(kernelWork(parameters, cooperative));
    }
    runTogether(launches);
  });
}

} // namespace

FLYEMU_API hipError_t hipLaunchCooperativeKernelMultiDevice(const StubLaunch *list, int count,
                                                            unsigned flags) {
  return launchAll(list, static_cast<unsigned>(std::max(count, 0)), flags, true);
}
FLYEMU_API hipError_t hipModuleLaunchCooperativeKernelMultiDevice(const FunctionLaunch *list,
                                                                  unsigned count, unsigned flags) {
  return launchAll(list, count, flags, true);
}
FLYEMU_API hipError_t hipExtLaunchMultiKernelMultiDevice(const StubLaunch *list, int count,
                                                         unsigned flags) {
  return launchAll(list, static_cast<unsigned>(std::max(count, 0)), flags, false);
}
