// SPDX-License-Identifier: Apache-2.0
#include "support/environment.h"

#include <cstdlib>

#include "support/error.h"

namespace flyemu {

std::string environmentString(const char *name, const std::string &fallback) {
  const char *value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : fallback;
}

uint64_t environmentNumber(const char *name, uint64_t fallback) {
  const std::string text = environmentString(name, "");
  if (text.empty())
    return fallback;
  char *end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 0);
  if (*end != '\0' || text[0] == '-')
    throw EmulatorError(hipErrorInvalidValue,
                        std::string(name) + "=" + text + ": expected an unsigned number");
  return value;
}

} // namespace flyemu
