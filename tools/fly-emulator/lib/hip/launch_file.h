// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hip/runtime.h"

namespace flyemu {

/// Write what a launch needs to be run again into one file of `folder`, before it runs: the code
/// object, the arguments, and the memory that they point into (all registered and allocated memory
/// if it is 64 MiB or less). Files are numbered in the order of launches. EmulatorError if that
/// cannot be written. docs/emulator/replay.md has the format.
void saveLaunch(const std::string &folder, const Module &module, const KernelMetadata &kernel,
                const LaunchGeometry &geometry, const std::vector<uint8_t> &arguments,
                bool cooperative);

} // namespace flyemu
