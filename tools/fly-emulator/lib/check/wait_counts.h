// SPDX-License-Identifier: Apache-2.0
//
// The hardware's counters of outstanding memory operations, and the instructions that wait for
// them, of each generation.
#pragma once

#include <cstdint>

#include "decode/instruction.h"

namespace flyemu {

/// Which counter an operation is one of. gfx9 counts stores with the loads, and gfx9 and gfx11
/// scalar loads with the accesses to LDS. Async and Tensor are gfx1250's: copies between memory and
/// LDS by lanes, and by the tensor data mover.
enum class Counter : uint8_t { Load, Store, Local, Scalar, Async, Tensor };

/// The counters of a generation of instruction sets (9, 11, 12; 13 is gfx1250).
class CounterSet {
public:
  explicit CounterSet(uint32_t generation) : generation_(generation) {}

  bool separateStores() const { return generation_ >= 10; }
  bool separateScalars() const { return generation_ >= 12; }

  /// The counter that counts for another one: itself, where there is such a counter.
  Counter home(Counter counter) const {
    if (counter == Counter::Store && !separateStores())
      return Counter::Load;
    return counter == Counter::Scalar && !separateScalars() ? Counter::Local : counter;
  }
  /// What it can hold: hardware waits for the oldest before it issues one more.
  uint32_t most(Counter counter) const;
  /// What waits for it, for reports: "s_waitcnt vmcnt", "s_wait_loadcnt".
  const char *wait(Counter counter) const;

private:
  const uint32_t generation_;
};

/// How many operations of each counter may be outstanding behind a wait.
struct WaitCounts {
  static constexpr uint32_t kAny = ~0U;
  uint32_t loads = kAny;
  uint32_t stores = kAny;
  uint32_t local = kAny;
  uint32_t scalars = kAny;
  uint32_t async = kAny;
  uint32_t tensor = kAny;
};

/// What an instruction of OpClass::Wait waits for.
WaitCounts waitCounts(const Instruction &inst, uint32_t generation);

/// The counter of a vector memory instruction that returns to LDS, or from there to memory, by a
/// counter of its own; Load for all others.
Counter copyCounter(const Instruction &inst);

/// Does a vector memory instruction count as a store: one that returns nothing?
inline bool countsAsStore(const Instruction &inst) { return inst.dstCount == 0; }

} // namespace flyemu
