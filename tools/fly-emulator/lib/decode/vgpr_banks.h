// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/instruction.h"

namespace flyemu {

/// gfx1250 has 1,024 vector registers, and instructions number 256 of them: MODE has two more bits
/// for each of four roles (first, second and third source, destination), which s_set_vgpr_msb
/// writes.
///
/// Registers are numbered in full when code is decoded, which takes the bits of the instruction
/// before in memory. That is what a wave has where control flow keeps to it: a branch between
/// places with other bits is refused, and so are calls while any are set (LLVM clears them before
/// both).
class VgprBanks {
public:
  /// Of the instructions decoded so far, two bits a role: 0, 2, 4 for the sources, 6.
  uint8_t state() const { return state_; }
  void reset() { state_ = 0; }
  /// Number the registers of the next instruction in full; `tied`: the source that has
  /// to be the destination, or -1.
  void apply(Instruction &inst, int tied);

private:
  uint8_t state_ = 0;
};

/// Executed in place of a jump that leads between places with other bits.
void refuseBankJump(Wave &wave, const Instruction &inst);

} // namespace flyemu
