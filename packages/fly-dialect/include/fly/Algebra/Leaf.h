// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on leaves: static integers are computed, overflow of int32 and division by zero being
// errors; with a dynamic operand the result is dynamic, as wide as the wider operand, and what is
// known of its divisibility is derived.

#ifndef FLY_ALGEBRA_LEAF_H
#define FLY_ALGEBRA_LEAF_H

#include "fly/Algebra/Context.h"

#include <optional>

namespace fly {

// None counts as 0. Only leafMul and leafCeilDiv accept basis elements (as one of the factors, and
// as dividend): they work on the value and keep the path.
IntTuple leafAdd(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
IntTuple leafSub(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
IntTuple leafMul(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
/// Truncating division.
IntTuple leafDiv(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
/// The remainder of leafDiv.
IntTuple leafMod(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
IntTuple leafMin(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
IntTuple leafCeilDiv(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
/// Like leafCeilDiv; two static operands must divide one another.
IntTuple leafShapeDiv(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
/// a / divisor, which must be known to leave no remainder. Requires divisor > 0.
IntTuple leafExactDiv(AlgebraContext &cx, const IntTuple &a, int32_t divisor);
/// a & mask, a << count, a >> count (logical), a ^ b on non-basis leaves; the last with the
/// divisibility that the caller knows.
IntTuple leafAnd(AlgebraContext &cx, const IntTuple &a, int32_t mask);
IntTuple leafShiftLeft(AlgebraContext &cx, const IntTuple &a, int32_t count);
IntTuple leafShiftRight(AlgebraContext &cx, const IntTuple &a, int32_t count);
IntTuple leafXor(AlgebraContext &cx, const IntTuple &a, const IntTuple &b, int32_t divisibility);

/// Emits the constants of `width` bits now, if anything is emitted at all. Constants are printed in
/// the reverse of this order, which tests of the lowering see.
void announceConstants(AlgebraContext &cx, llvm::ArrayRef<int32_t> values, unsigned width = 32);

/// A truth value: known, or represented by a handle.
struct Truth {
  std::optional<bool> known;
  RuntimeHandle handle = nullptr;

  static Truth always(bool value) { return {value, nullptr}; }
  bool isFalse() const { return known == false; }
};
/// Signed less-than of two non-basis leaves.
Truth leafLess(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
/// Equality; an integer and a basis element, or two of different paths, are never equal.
Truth leafEqual(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
Truth truthAnd(AlgebraContext &cx, const Truth &a, const Truth &b);

} // namespace fly

#endif // FLY_ALGEBRA_LEAF_H
