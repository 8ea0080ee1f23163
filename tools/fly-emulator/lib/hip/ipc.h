// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hip/hip_types.h"
#include "hip/shared_memory.h"

namespace flyemu {

/// The name under which other processes find an event. EmulatorError: hipErrorInvalidHandle for an
/// event that is not alive, hipErrorInvalidConfiguration for one that was not made for it.
SharedMemory::Name shareEvent(hipEvent_t event);

/// An event that stands for one of another process.
hipEvent_t importEvent();

} // namespace flyemu
