// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "hip/hip_types.h"

namespace flyemu {

/// A failed call: the HIP error it returns, and the text that flyemu_last_error() gives.
class EmulatorError : public std::exception {
public:
  EmulatorError(hipError_t code, std::string text) : code_(code), text_(std::move(text)) {}

  hipError_t code() const noexcept { return code_; }
  const char *what() const noexcept override { return text_.c_str(); }

private:
  hipError_t code_;
  std::string text_;
};

} // namespace flyemu
