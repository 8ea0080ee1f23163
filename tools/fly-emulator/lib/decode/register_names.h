// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "decode/instruction.h"

namespace flyemu {

/// The operand that LLVM's name of a register stands for ("VGPR2_VGPR3", "SGPR4", "EXEC", ...).
/// kind None for a register that no instruction here can use.
Operand parseRegister(const std::string &name);

} // namespace flyemu
