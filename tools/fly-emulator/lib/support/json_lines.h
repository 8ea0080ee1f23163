// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace flyemu {

/// Append a line to the file that an environment variable names; nothing if it is unset. The text
/// is only made if there is a file. Processes may share one file: each line is one write. A file
/// that cannot be written is an EmulatorError that names both.
void appendJsonLine(const char *variable, const std::function<std::string()> &text);

} // namespace flyemu
