// SPDX-License-Identifier: Apache-2.0
#ifndef FLYDSL_CSRC_LAUNCH_H
#define FLYDSL_CSRC_LAUNCH_H

#include "device.h"
#include "emulated_memory.h"
#include "error.h"

namespace flydsl::runtime {

// The call that is running on this thread. Of a checked one, the device that it made current, which
// saves each launch in it the question, and its tensors in host memory; both are null in others.
struct RunningCall {
  const Device *device = nullptr;
  EmulatedMemory *memory = nullptr;
  bool launched = false; // the device was given work, whether or not it took it
};
extern thread_local RunningCall runningCall;

// The status of what ran in a call, whose failure says whether the call launched.
inline int32_t status_in_call(const RunningCall &call, int32_t status) noexcept {
  return status == FLYDSL_OK || !call.launched ? status : record_launched();
}

// A call on this thread for a scope; a call inside of it counts as its own. The thread's variable
// is looked up once, by the outermost one, which costs a function call.
class CallScope {
public:
  CallScope() : CallScope(runningCall, nullptr, nullptr) {}
  CallScope(const CallScope &outer, const Device *device, EmulatedMemory *memory)
      : CallScope(outer.running, device, memory) {}
  ~CallScope() {
    const bool launched = running.launched;
    running = before;
    running.launched |= launched;
  }
  CallScope(const CallScope &) = delete;
  CallScope &operator=(const CallScope &) = delete;

  int32_t status(int32_t status) const noexcept { return status_in_call(running, status); }

private:
  CallScope(RunningCall &running, const Device *device, EmulatedMemory *memory)
      : running(running), before(running) {
    running = {device, memory, false};
  }

  RunningCall &running;
  const RunningCall before;
};

// `guarded`, for a body that may launch: its failures say whether it did. The body takes the call's
// scope.
template <typename Body> int32_t guarded_call(Body &&body) noexcept {
  const CallScope scope;
  return scope.status(guarded([&] { body(scope); }));
}

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_LAUNCH_H
