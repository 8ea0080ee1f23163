// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "execute/wave.h"

namespace flyemu {

/// The 16-bit halves of a dword, one bit each.
namespace half {
constexpr uint8_t kLow = 1;
constexpr uint8_t kHigh = 2;
constexpr uint8_t kBoth = 3;
} // namespace half

/// The halves of a source of one dword that an instruction reads: halves of a dword are loaded and
/// masked one by one, and used so.
uint8_t halvesRead(const Instruction &inst, unsigned source);

/// For one half of a result: which halves of each source it is made of.
using HalfSources = std::array<uint8_t, 3>;

/// For instructions that put dwords together from halves (permutes, bit fields, shifts by 16,
/// packed operations): what each half of the result is made of. False for other instructions.
bool halvesOfResult(const Wave &wave, const Instruction &inst, HalfSources &low, HalfSources &high);

} // namespace flyemu
