// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "decode/instruction.h"

namespace flyemu {

/// Read the keyed modifiers ("clamp", "offset:16", "row_shr:1", ...) of an instruction in LLVM's
/// assembly syntax, which names each of them, where the operand lists of MCInst only number them.
/// Returns an unknown modifier's text, or the empty string.
std::string parseModifiers(const std::string &text, Modifiers &out);

} // namespace flyemu
