// SPDX-License-Identifier: Apache-2.0
#ifndef FLYDSL_CSRC_LAUNCH_H
#define FLYDSL_CSRC_LAUNCH_H

#include "device.h"
#include "emulated_memory.h"

namespace flydsl::runtime {

// The checked call that is running on this thread: the device that it made current, which saves
// each launch in it the question, and its tensors in host memory. Both are null outside of such
// calls.
struct RunningCall {
  const Device *device = nullptr;
  EmulatedMemory *memory = nullptr;
};
extern thread_local RunningCall runningCall;

} // namespace flydsl::runtime

#endif // FLYDSL_CSRC_LAUNCH_H
