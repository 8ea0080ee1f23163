// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace flyemu {

/// Refuse what would run beyond an allocation or touch addresses where nothing is: EmulatorError
/// (hipErrorInvalidValue) that begins with `what`.
void checkExtent(const void *pointer, size_t bytes, const char *what);

/// Copy between any two memories, which may overlap. EmulatorError as `checkExtent`.
void copy(void *to, const void *from, size_t bytes);

/// Store an element again and again. EmulatorError as `checkExtent`.
void fill(void *to, const void *element, size_t elementBytes, size_t count);
template <typename T> void fill(void *to, T value, size_t count) {
  fill(to, static_cast<const void *>(&value), sizeof value, count);
}

} // namespace flyemu
