// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "profile/issue_model.h"

namespace flyemu {

/// What a wave counts as outstanding, and waits for. Architectures that have fewer counters count
/// stores with loads, or scalar loads with LDS.
enum class WaitCounter : uint8_t { Load, Store, Lds, Scalar };
constexpr size_t kWaitCounters = 4;

constexpr uint8_t kNoWait = 255;

/// An instruction of the kernel, as the model needs it.
struct PathInstruction {
  const Instruction *inst = nullptr;
  IssueCost cost;
  /// Of a wait: by counter, how many may be outstanding; kNoWait for any number.
  std::array<uint8_t, kWaitCounters> keeps = {kNoWait, kNoWait, kNoWait, kNoWait};
  WaitCounter loads = WaitCounter::Load;  ///< that counts what it loads
  WaitCounter stores = WaitCounter::Load; ///< that counts what it stores without a result
  int8_t priority = -1;                   ///< that the wave has from here; -1: as before
  uint8_t elementBits = 0; ///< of what a matrix instruction multiplies; 0: formats of f8f6f4
};

PathInstruction pathInstruction(const Program &program, const Instruction &inst);

} // namespace flyemu
