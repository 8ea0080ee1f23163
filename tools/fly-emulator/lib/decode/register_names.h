// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "decode/instruction.h"

namespace flyemu {

/// The operand that LLVM's name of a register stands for ("VGPR2_VGPR3", "SGPR4", "EXEC", ...).
/// kind None for a register that no instruction here can use. The high half of a register
/// ("VGPR2_HI16") has modifier::kHigh, and each half is named in `halves`.
Operand parseRegister(const std::string &fullName);

} // namespace flyemu
