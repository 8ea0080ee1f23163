// SPDX-License-Identifier: Apache-2.0
//
// The process's device library and its devices: chosen once, at the first use that succeeds.
#ifndef FLYDSL_CSRC_DEVICE_H
#define FLYDSL_CSRC_DEVICE_H

#include "device_api.h"
#include "library_search.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace flydsl::runtime {

// Device numbers from this on are refused; HIP machines have up to 64 (8 GPUs in 8 partitions).
constexpr int kMaxDevices = 256;

struct Device {
  int index;
  std::string name;
  std::string architecture; // with features, as HIP reports it; "sm_90a" for CUDA
  int warpSize;
  int computeUnits;
  int64_t memoryBytes;
  int64_t ldsBytes;   // per workgroup
  int64_t maxThreads; // per workgroup
  int64_t maxBlock[3];
  int64_t maxGrid[3]; // in workgroups

  // "device 0 (gfx942, emulated)"
  std::string describe(bool emulated) const;
};

struct Devices {
  std::unique_ptr<DeviceApi> api;
  std::vector<Device> all;
  std::vector<Attempt> attempts; // how the library was found
  // CUDA 12.3 and later: a kernel may begin while those before it end, in captured streams too.
  bool programmaticLaunches = false;

  bool emulated() const { return api->emulated(); }
  const Device &current() const; // the calling thread's current device

  // CUDA: the context that everybody in the process shares (torch's memory is in it), kept until
  // the process ends.
  void *primary_context(int device) const;

private:
  mutable std::array<std::atomic<void *>, kMaxDevices> contexts{};
};

// Throws a Failure that lists every place searched when there is no device. The choice is made
// once; a failed search is repeated at the next call, so that a corrected setting takes effect.
const Devices &devices();

// The same when the choice was made already, else null: nothing is searched.
const Devices *chosen_devices();

// The same, but null when there is no device, with the places searched in `attempts`.
const Devices *find_devices(std::vector<Attempt> &attempts);

// Makes a device current for the calling thread, for good.
void set_device(const Devices &devices, int wanted);

// Makes a device current for a scope, and the one before current again afterwards.
class CurrentDevice {
public:
  CurrentDevice(const Devices &devices, int wanted);
  // The thread's device stays. On CUDA a thread may have none yet, or a context of its own that
  // knows neither the frameworks' memory nor our modules: the primary one is made current then.
  explicit CurrentDevice(const Devices &devices);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice &) = delete;
  CurrentDevice &operator=(const CurrentDevice &) = delete;

private:
  void enter_context(const Devices &devices, int wanted);

  const DeviceApi &api;
  int before = 0;                // HIP
  void *contextBefore = nullptr; // CUDA
  bool changed = false;
};

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_DEVICE_H
