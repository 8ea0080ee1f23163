// SPDX-License-Identifier: Apache-2.0
//
// The formats of typed buffer accesses on gfx9: how the components of an element lie in memory, and
// what number each is in a register.
#pragma once

#include <cstdint>

#include "execute/lanes/lane_kernel.h"

namespace flyemu {

struct BufferFormat {
  enum class Number : uint8_t { Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Reserved, Float };

  uint8_t components = 0;
  uint8_t bits[4] = {}; ///< of each component, the first in the lowest bits
  Number number = Number::Unorm;

  /// From the DFMT and NFMT fields; throws a Fault for a combination that the architecture does not
  /// have.
  static BufferFormat of(unsigned dataFormat, unsigned numberFormat);

  uint32_t bytes() const { return (bits[0] + bits[1] + bits[2] + bits[3]) / 8U; }
  bool isInteger() const { return number == Number::Uint || number == Number::Sint; }
  /// What a component that the format lacks reads: (0, 0, 0, 1).
  uint32_t missing(unsigned component) const;
  uint32_t one() const { return isInteger() ? 1U : 0x3f800000U; }

  /// A component as the 32 bits of a register, a float or an integer.
  uint32_t load(const LaneHelpers &helpers, const uint8_t *element, unsigned component) const;
  /// Put a register's 32 bits into an element (whose component is zero before). Throws a Fault
  /// where the result is not defined.
  void store(const LaneHelpers &helpers, uint8_t *element, unsigned component,
             uint32_t value) const;
};

} // namespace flyemu
