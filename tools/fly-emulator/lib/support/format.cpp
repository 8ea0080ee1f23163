// SPDX-License-Identifier: Apache-2.0
#include "support/format.h"

#include <cstdarg>
#include <cstdio>

namespace flyemu {

std::string format(const char *pattern, ...) {
  va_list args;
  va_start(args, pattern);
  va_list again;
  va_copy(again, args);
  const int size = std::vsnprintf(nullptr, 0, pattern, args);
  va_end(args);
  std::string text(size > 0 ? static_cast<size_t>(size) : 0, '\0');
  if (size > 0)
    std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  return text;
}

std::string hex(uint64_t value) { return format("0x%llx", static_cast<unsigned long long>(value)); }

std::string jsonString(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += format("\\u%04x", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

} // namespace flyemu
