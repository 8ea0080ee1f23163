// SPDX-License-Identifier: Apache-2.0
#include "ahead.h"

#include "architecture.h"
#include "artifact_state.h"
#include "device.h"
#include "early_modules.h"
#include "error.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <system_error>
#include <thread>

#include <pthread.h>

namespace flydsl::runtime {

namespace {

constexpr std::chrono::microseconds kPause(100);

// Every device that runs our kernels compiles this.
constexpr const char *kNothing = ".version 7.0\n"
                                 ".target sm_80\n"
                                 ".address_size 64\n"
                                 ".visible .entry nothing() { ret; }\n";

// A count, as threads that are joined could not be in a process that was forked off: it has none.
std::atomic<unsigned> going{0};

const bool watching = [] {
  if (pthread_atfork(nullptr, nullptr, [] { going = 0; }) != 0)
    std::abort();
  return true;
}();

// Runs `body` in a thread, in which `device` is current. What it throws is lost: who needs its
// result does the same again, and is told. Without a thread nothing is ahead.
template <typename Body> void in_a_thread(const Devices &all, int device, Body body) {
  ++going;
  try {
    std::thread([&all, device, body = std::move(body)]() mutable {
      (void)guarded([&] {
        const CurrentDevice scope(all, device);
        body(all, all.all[static_cast<size_t>(device)]);
      });
      --going;
    }).detach();
  } catch (const std::system_error &) {
    --going;
  }
}

// The calling thread's device when it has a CUDA context, which nothing here makes; -1 for none.
int device_in_use(const Devices &all) {
  const DeviceApi &api = *all.api;
  void *context = nullptr;
  if (!api.cuda())
    return -1;
  api.call(api.cuCtxGetCurrent, &context);
  return context == nullptr ? -1 : all.current().index;
}

// The device library when the calling thread has a CUDA context there, else null.
struct InUse {
  const Devices *all = chosen_devices();
  int device = all == nullptr ? -1 : device_in_use(*all);
  explicit operator bool() const { return device >= 0; }
};

void load_compiler(const Devices &all, int device) {
  static std::atomic<bool> begun{false};
  if (begun.exchange(true))
    return;
  in_a_thread(all, device, [](const Devices &devices, const Device &) {
    const DeviceApi &api = *devices.api;
    const RelaxedCapture capture(api);
    FunctionHandle function = nullptr;
    // Kept until the process ends, as all modules are.
    ModuleHandle module = api.load_module(kNothing, std::string(kNothing).size());
    api.call(api.moduleGetFunction, &function, module, "nothing");
  });
}

} // namespace

void load_ahead(const FlyArtifact *artifact) {
  const InUse used;
  if (!used)
    return;
  if (artifact == nullptr)
    return load_compiler(*used.all, used.device);
  ArtifactState &state = ArtifactState::of(artifact);
  if (state.loaded_on(used.device) != nullptr)
    return;
  in_a_thread(*used.all, used.device, [&state](const Devices &devices, const Device &where) {
    (void)state.module_on(devices, where);
  });
}

void load_ptx_ahead(std::string_view architecture, std::string_view ptx) {
  const InUse used;
  if (!used)
    return;
  const Device &device = used.all->all[static_cast<size_t>(used.device)];
  if (!runs_on(architecture, device.architecture, /*portable=*/true))
    return;
  std::string text(ptx);
  auto promise = announce_module(used.device, text);
  in_a_thread(*used.all, used.device,
              [text = std::move(text), promise = std::move(promise)](const Devices &devices,
                                                                     const Device &) mutable {
                const DeviceApi &api = *devices.api;
                const RelaxedCapture capture(api);
                promise.set_value(api.load_module(text.data(), text.size()));
              });
}

void finish_loading() {
  while (going != 0)
    std::this_thread::sleep_for(kPause);
}

} // namespace flydsl::runtime
