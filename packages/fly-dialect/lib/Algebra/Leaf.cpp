// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Leaf.h"

#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using namespace fly;
using Op = RuntimeArith::Op;

//===----------------------------------------------------------------------===//
// Building results
//===----------------------------------------------------------------------===//

static IntTuple staticResult(AlgebraContext &cx, const IntTuple &a, llvm::StringRef op,
                             const IntTuple &b, int64_t value) {
  if (llvm::isInt<32>(value))
    return static_cast<int32_t>(value);
  cx.fail(a.str() + " " + op + " " + b.str() + " does not fit int32");
  return 0;
}

/// Fails, and returns false, unless both are leaves without a basis path.
static bool requirePlain(AlgebraContext &cx, const IntTuple &a, llvm::StringRef op,
                         const IntTuple &b) {
  if (a.isLeaf() && b.isLeaf() && !a.isBasis() && !b.isBasis())
    return !cx.failed();
  cx.fail(a.str() + " " + op + " " + b.str() + ": only integers can be operands");
  return false;
}

static bool requireNonZero(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  if (!b.isStaticInt(0))
    return true;
  cx.fail("division of " + a.str() + " by zero");
  return false;
}

static bool bothStatic(const IntTuple &a, const IntTuple &b) {
  return a.isStaticLeaf() && b.isStaticLeaf();
}

/// The handle of `leaf` at the given width.
static RuntimeHandle operand(AlgebraContext &cx, const IntTuple &leaf, unsigned width) {
  RuntimeArith &runtime = *cx.runtime();
  if (leaf.isStaticLeaf())
    return runtime.constant(leaf.staticValue(), width);
  if (!leaf.handle()) {
    cx.fail("dynamic leaf " + leaf.str() + " has no run-time value");
    return nullptr;
  }
  return leaf.width() < width ? runtime.extend(leaf.handle()) : leaf.handle();
}

static unsigned commonWidth(const IntTuple &a, const IntTuple &b) {
  return std::max({a.width(), b.width(), 32u});
}

static IntTuple dynamicResult(AlgebraContext &cx, Op op, const IntTuple &a, const IntTuple &b,
                              int32_t divisibility) {
  const unsigned width = commonWidth(a, b);
  RuntimeHandle handle = nullptr;
  if (cx.runtime()) {
    RuntimeHandle left = operand(cx, a, width);
    RuntimeHandle right = operand(cx, b, width);
    if (!cx.failed())
      handle = cx.runtime()->binary(op, left, right);
  }
  return IntTuple::dynamic(width, divisibility, handle);
}

/// The greatest common divisor of what both are known to be multiples of.
static int32_t commonDivisor(const IntTuple &a, const IntTuple &b) {
  const int64_t divisor =
      std::gcd(static_cast<int64_t>(a.divisibility()), static_cast<int64_t>(b.divisibility()));
  // Only two operands of INT32_MIN exceed int32.
  return divisor > std::numeric_limits<int32_t>::max() ? 1 << 30 : static_cast<int32_t>(divisor);
}

/// What the product of a multiple of `a` and a multiple of `b` is known to be a multiple of. A
/// product that int32 can't express is replaced by a divisor of it.
static int32_t productDivisibility(int32_t a, int32_t b) {
  int64_t product = static_cast<int64_t>(a) * b;
  while (!llvm::isInt<32>(product) && product % 2 == 0)
    product /= 2;
  if (llvm::isInt<32>(product))
    return static_cast<int32_t>(product);
  return std::abs(static_cast<int64_t>(a)) > std::abs(static_cast<int64_t>(b)) ? a : b;
}

/// `a` as an operand or result of arithmetic, in which None counts as 0.
static IntTuple asInteger(const IntTuple &a) { return a.isNone() ? IntTuple(0) : a; }

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

IntTuple fly::leafAdd(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  if (!requirePlain(cx, a, "+", b))
    return 0;
  if (bothStatic(a, b))
    return staticResult(cx, a, "+", b, int64_t(a.staticValue()) + b.staticValue());
  if (a.isStaticInt(0))
    return b;
  if (b.isStaticInt(0))
    return a;
  return dynamicResult(cx, Op::Add, a, b, commonDivisor(a, b));
}

IntTuple fly::leafSub(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  if (!requirePlain(cx, a, "-", b))
    return 0;
  if (bothStatic(a, b))
    return staticResult(cx, a, "-", b, int64_t(a.staticValue()) - b.staticValue());
  if (b.isStaticInt(0))
    return a;
  const int32_t divisibility = a.isStaticInt(0) ? b.divisibility() : commonDivisor(a, b);
  return dynamicResult(cx, Op::Sub, a, b, divisibility);
}

IntTuple fly::leafMul(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  if (a.isLeaf() && b.isLeaf() && a.isBasis() != b.isBasis()) {
    const BasisPath path = a.isBasis() ? a.path() : b.path();
    return leafMul(cx, a.withPath({}), b.withPath({})).withPath(path);
  }
  if (!requirePlain(cx, a, "*", b))
    return 0;
  if (bothStatic(a, b))
    return staticResult(cx, a, "*", b, int64_t(a.staticValue()) * b.staticValue());
  if (a.isStaticInt(0) || b.isStaticInt(0))
    return 0;
  if (a.isStaticInt(1))
    return b;
  if (b.isStaticInt(1))
    return a;
  return dynamicResult(cx, Op::Mul, a, b, productDivisibility(a.divisibility(), b.divisibility()));
}

IntTuple fly::leafDiv(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  if (!requirePlain(cx, a, "/", b))
    return 0;
  if (bothStatic(a, b)) {
    if (!requireNonZero(cx, a, b))
      return 0;
    return staticResult(cx, a, "/", b, int64_t(a.staticValue()) / b.staticValue());
  }
  if (a.isStaticInt(0))
    return 0;
  return dynamicResult(cx, Op::Div, a, b, 1);
}

IntTuple fly::leafMod(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  if (!requirePlain(cx, a, "mod", b))
    return 0;
  if (bothStatic(a, b)) {
    if (!requireNonZero(cx, a, b))
      return 0;
    return staticResult(cx, a, "mod", b, int64_t(a.staticValue()) % b.staticValue());
  }
  if (a.isStaticInt(0) || b.isStaticInt(1))
    return 0;
  return dynamicResult(cx, Op::Rem, a, b, commonDivisor(a, b));
}

IntTuple fly::leafMin(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  if (!requirePlain(cx, a, "min", b))
    return 0;
  if (bothStatic(a, b))
    return std::min(a.staticValue(), b.staticValue());
  return dynamicResult(cx, Op::Min, a, b, commonDivisor(a, b));
}

/// The quotient, rounded towards positive infinity like the run-time operation.
static int64_t ceilDivide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  const bool roundedDown = a % b != 0 && (a < 0) == (b < 0);
  return quotient + roundedDown;
}

IntTuple fly::leafCeilDiv(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  if (a.isLeaf() && a.isBasis() && b.isLeaf() && !b.isBasis())
    return leafCeilDiv(cx, a.withPath({}), b).withPath(a.path());
  if (!requirePlain(cx, a, "ceil_div", b) || !requireNonZero(cx, a, b))
    return 0;
  if (bothStatic(a, b))
    return staticResult(cx, a, "ceil_div", b, ceilDivide(a.staticValue(), b.staticValue()));
  if (a.isStaticInt(0) || a.isStaticInt(1))
    return asInteger(a);
  return dynamicResult(cx, Op::CeilDiv, a, b, 1);
}

IntTuple fly::leafShapeDiv(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  if (requirePlain(cx, a, "shape_div", b) && bothStatic(a, b) && requireNonZero(cx, a, b)) {
    const int64_t x = a.staticValue(), y = b.staticValue();
    if (x != 0 && x != 1 && x % y != 0 && y % x != 0)
      cx.fail("neither of " + a.str() + " and " + b.str() + " divides the other");
  }
  return leafCeilDiv(cx, a, b);
}

IntTuple fly::leafExactDiv(AlgebraContext &cx, const IntTuple &a, int32_t divisor) {
  if (!requirePlain(cx, a, "/", divisor))
    return 0;
  if (a.divisibility() % divisor != 0) {
    cx.fail(a.str() + " is not known to be divisible by " + llvm::Twine(divisor));
    return 0;
  }
  if (a.isStaticLeaf())
    return a.staticValue() / divisor;
  if (divisor == 1)
    return a;
  return dynamicResult(cx, Op::Div, a, divisor, 1);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

IntTuple fly::leafAnd(AlgebraContext &cx, const IntTuple &a, int32_t mask) {
  if (!requirePlain(cx, a, "and", mask))
    return 0;
  if (a.isStaticLeaf())
    return a.staticValue() & mask;
  return dynamicResult(cx, Op::And, a, mask, 1);
}

IntTuple fly::leafShiftLeft(AlgebraContext &cx, const IntTuple &a, int32_t count) {
  if (!requirePlain(cx, a, "<<", count))
    return 0;
  if (count == 0)
    return asInteger(a);
  if (a.isStaticLeaf())
    return static_cast<int32_t>(static_cast<uint32_t>(a.staticValue()) << count);
  return dynamicResult(cx, Op::ShiftLeft, a, count, 1);
}

IntTuple fly::leafShiftRight(AlgebraContext &cx, const IntTuple &a, int32_t count) {
  if (!requirePlain(cx, a, ">>", count))
    return 0;
  if (count == 0)
    return asInteger(a);
  if (a.isStaticLeaf())
    return static_cast<int32_t>(static_cast<uint32_t>(a.staticValue()) >> count);
  return dynamicResult(cx, Op::ShiftRight, a, count, 1);
}

IntTuple fly::leafXor(AlgebraContext &cx, const IntTuple &a, const IntTuple &b,
                      int32_t divisibility) {
  if (!requirePlain(cx, a, "xor", b))
    return 0;
  if (bothStatic(a, b))
    return a.staticValue() ^ b.staticValue();
  return dynamicResult(cx, Op::Xor, a, b, divisibility);
}

void fly::announceConstants(AlgebraContext &cx, llvm::ArrayRef<int32_t> values, unsigned width) {
  if (cx.runtime() && !cx.failed())
    for (int32_t value : values)
      cx.runtime()->constant(value, width);
}

//===----------------------------------------------------------------------===//
// Truth values
//===----------------------------------------------------------------------===//

static Truth compare(AlgebraContext &cx, RuntimeArith::Predicate predicate, const IntTuple &a,
                     const IntTuple &b) {
  Truth result;
  if (!cx.runtime())
    return result;
  const unsigned width = commonWidth(a, b);
  RuntimeHandle left = operand(cx, a, width);
  RuntimeHandle right = operand(cx, b, width);
  if (!cx.failed())
    result.handle = cx.runtime()->compare(predicate, left, right);
  return result;
}

Truth fly::leafLess(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  if (!requirePlain(cx, a, "<", b))
    return Truth::always(false);
  if (bothStatic(a, b))
    return Truth::always(a.staticValue() < b.staticValue());
  return compare(cx, RuntimeArith::Predicate::Less, a, b);
}

Truth fly::leafEqual(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  if (a.path() != b.path() || a.isNone() != b.isNone())
    return Truth::always(false);
  if (bothStatic(a, b))
    return Truth::always(a.staticValue() == b.staticValue());
  return compare(cx, RuntimeArith::Predicate::Equal, a, b);
}

Truth fly::truthAnd(AlgebraContext &cx, const Truth &a, const Truth &b) {
  if (a.isFalse() || b.isFalse())
    return Truth::always(false);
  if (a.known)
    return b;
  if (b.known)
    return a;
  Truth result;
  if (cx.runtime() && !cx.failed())
    result.handle = cx.runtime()->both(a.handle, b.handle);
  return result;
}
