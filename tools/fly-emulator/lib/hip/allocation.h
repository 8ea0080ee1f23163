// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <shared_mutex>

#include "device/memory_map.h"
#include "hip/shared_memory.h"

namespace flyemu {

// Allocations are pages of their own, with one behind that belongs to nobody, so that running over
// an end is seen. Pitches are multiples of kPitchAlignment.
constexpr size_t kPageBytes = 4096;
constexpr size_t kPitchAlignment = 256;

/// Memory of the current device, registered; null for no bytes. EmulatorError
/// (hipErrorOutOfMemory) where the device has less left. `flags` are the caller's, for questions.
void *allocate(size_t bytes, MemoryKind kind, unsigned flags);

/// Give an allocation back, when the kernels that run have ended; false where none of that kind
/// begins there. The addresses of the latest that were freed are not given out again.
bool release(void *pointer, MemoryKind kind);

/// Does the address lie in what belongs to nobody: behind an allocation, or in a freed one?
bool isBehindAllocation(uint64_t address);

/// The name under which other processes find the allocation that begins there, whose memory moves
/// into a shared file when it is first asked for. EmulatorError (hipErrorInvalidValue) for what is
/// no allocation.
SharedMemory::Name shareAllocation(uint64_t begin);

/// Is any memory shared with other processes?
bool sharesMemory();

/// The allocation of this process that has that name; false if it is gone.
bool isShared(uint64_t begin, const SharedMemory::Name &name);

/// Held while kernels run and copies are made: memory that goes away or moves waits for them.
std::shared_lock<std::shared_mutex> useMemory();
/// Held while memory goes away or moves: what runs has ended.
std::unique_lock<std::shared_mutex> changeMemory();

} // namespace flyemu
