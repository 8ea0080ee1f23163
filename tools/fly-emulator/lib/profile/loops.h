// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "decode/instruction.h"

namespace flyemu {

/// A loop of the machine code: from the target of a backward branch to the last branch back to it.
struct Loop {
  const Instruction *header = nullptr;
  const Instruction *latch = nullptr; ///< the last backward branch
  unsigned depth = 0;                 ///< 0: in no other loop
  bool innermost = true;

  bool contains(const Instruction &inst) const {
    return inst.address >= header->address && inst.address <= latch->address;
  }
};

/// The loops that direct branches among these instructions make, by address. Loops with one header
/// are one loop.
std::vector<Loop> findLoops(const std::vector<const Instruction *> &instructions);

} // namespace flyemu
