// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/instruction.h"
#include "execute/lanes/lane_kernel.h"

namespace flyemu {

struct Wave;

/// Dwords that a value of a type takes.
unsigned dwordsOf(Type type);

/// After decoding: check an instruction's operands against its lane kernel, fill in the VCC that
/// short encodings imply, and see whether it needs the general path.
/// `generation` and `lanes` are of the instruction set and of the wave.
void prepareVectorAlu(Instruction &inst, bool shortEncoding, uint32_t generation, uint32_t lanes);

} // namespace flyemu
