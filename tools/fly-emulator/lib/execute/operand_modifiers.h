// SPDX-License-Identifier: Apache-2.0
//
// What the modifiers of vector instructions do to rows: negation, absolute value and op_sel of
// sources; output modifier, clamp and half registers of results; MODE's denormals.
#pragma once

#include <cstdint>

#include "decode/instruction.h"
#include "execute/lanes/lane_kernel.h"

namespace flyemu {

inline bool isHalf(Type type) {
  return type == Type::B16 || type == Type::U16 || type == Type::I16 || type == Type::F16 ||
         type == Type::BF16;
}
inline bool isPackedHalf(Type type) {
  return type == Type::PkB16 || type == Type::PkF16 || type == Type::PkBF16;
}
inline bool isFloat(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 || type == Type::F64;
}
inline bool isFloatHalf(Type type) { return type == Type::F16 || type == Type::PkF16; }

/// Absolute value and negation of one float operand.
void applyFloatModifiers(uint32_t *rows, Type type, uint8_t modifiers);

/// Packed halves: choose the half of each result lane, and negate.
void selectPackedHalves(uint32_t *rows, Type type, uint8_t modifiers);

/// Pairs of f32: choose the one of each result lane, and negate.
void selectPackedFloats(uint32_t *rows, uint8_t modifiers);

/// Output modifier and clamp of a float result, as MODE lets them act.
void finishFloat(uint32_t *rows, Type type, const Modifiers &modifiers, uint32_t mode);

/// Whether MODE wants no denormals of a format, in sources or in results.
bool isFlushed(Type type, uint32_t mode, bool result);

/// Denormal numbers to zeros of their sign.
void flushDenormals(uint32_t *rows, Type type);

/// Put a 16-bit result into its half of the old register.
void mergeHalf(uint32_t *result, const uint32_t *old, bool high);

} // namespace flyemu
