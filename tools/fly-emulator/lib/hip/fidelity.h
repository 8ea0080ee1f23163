// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hip/runtime.h"

namespace flyemu {

/// How closely a kernel is modelled, as JSON: its opcodes by fidelity ("exact",
/// "within_stated_error", "assumed"), and under "model" what is not a matter of one opcode - modes,
/// memory, waits, order, time, scratch - as far as the kernel has to do with it: {"what",
/// "fidelity", "how"}.
std::string fidelityJson(Module &module, const KernelMetadata &kernel);

} // namespace flyemu
