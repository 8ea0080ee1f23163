// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "decode/instruction.h"

namespace flyemu {

/// The latest instructions of two different waves that touched a place: whichever wave asks, there
/// is one of another wave to name.
class RecentAccesses {
public:
  void note(const Instruction &inst, uint32_t wave) {
    if (inst_[0] != nullptr && wave_[0] != wave) {
      inst_[1] = inst_[0];
      wave_[1] = wave_[0];
    }
    inst_[0] = &inst;
    wave_[0] = static_cast<uint8_t>(wave);
  }
  const Instruction *ofAnother(uint32_t wave) const {
    return inst_[0] != nullptr && wave_[0] != wave ? inst_[0] : inst_[1];
  }

private:
  std::array<const Instruction *, 2> inst_ = {};
  std::array<uint8_t, 2> wave_ = {};
};

} // namespace flyemu
