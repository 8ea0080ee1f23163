// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace flyemu {

/// The value of an environment variable, or `fallback` where it is unset or empty.
std::string environmentString(const char *name, const std::string &fallback);

/// The same as an unsigned number (decimal or 0x...); an EmulatorError names a value that is none.
uint64_t environmentNumber(const char *name, uint64_t fallback);

} // namespace flyemu
