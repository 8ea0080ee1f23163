// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "device/memory_map.h"

namespace flyemu {

// Allocations start on their own page-like unit, with room around them that belongs to nobody, so
// that running over an end is seen.
constexpr size_t kAllocationAlignment = 256;
constexpr size_t kAllocationGuard = 256;

/// Memory of the current device, registered; null for no bytes. EmulatorError
/// (hipErrorOutOfMemory) where the device has less left. `flags` are the caller's, for questions.
void *allocate(size_t bytes, MemoryKind kind, unsigned flags);

} // namespace flyemu
