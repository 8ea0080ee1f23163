// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace flyemu {

/// printf into a std::string.
[[gnu::format(printf, 1, 2)]] std::string format(const char *pattern, ...);

/// 0x-prefixed lower-case hexadecimal.
std::string hex(uint64_t value);

/// `text` as a JSON string, with its quotes.
std::string jsonString(const std::string &text);

} // namespace flyemu
