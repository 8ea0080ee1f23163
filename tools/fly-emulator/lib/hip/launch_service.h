// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "hip/runtime.h"

namespace flyemu {

/// Run a kernel of a module with what is switched on (sanitizers, counters), and keep the results
/// for this thread's later questions.
void launchKernel(Module &module, const KernelMetadata &kernel, const LaunchGeometry &geometry,
                  const std::vector<uint8_t> &arguments, bool cooperative);

} // namespace flyemu
