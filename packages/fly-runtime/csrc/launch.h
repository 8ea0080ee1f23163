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

// The status of what ran in the call on this thread, whose failure says whether the call launched.
inline int32_t status_in_call(int32_t status) noexcept {
  return status == FLYDSL_OK || !runningCall.launched ? status : record_launched();
}

// A call on this thread for a scope; a call inside of it counts as its own.
class CallScope {
public:
  CallScope(const Device *device, EmulatedMemory *memory) : before(runningCall) {
    runningCall = {device, memory, false};
  }
  ~CallScope() {
    const bool launched = runningCall.launched;
    runningCall = before;
    runningCall.launched |= launched;
  }
  CallScope(const CallScope &) = delete;
  CallScope &operator=(const CallScope &) = delete;

private:
  const RunningCall before;
};

// `guarded`, for a body that may launch: its failures say whether it did.
template <typename Body> int32_t guarded_call(Body &&body) noexcept {
  const CallScope scope(nullptr, nullptr);
  return status_in_call(guarded(body));
}

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_LAUNCH_H
