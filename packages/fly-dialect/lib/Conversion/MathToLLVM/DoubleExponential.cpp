// SPDX-License-Identifier: Apache-2.0
//
// Exponential and hyperbolic functions of f64: x = k ln 2 + r with |r| <= ln(2) / 2 (Cody and
// Waite), a polynomial of r, and a scale of 2^k in two steps, of which only the last may round.
#include "DoubleDouble.h"
#include "Patterns.h"

using namespace mlir;
using arith::CmpFPredicate;
using fly::DoubleDouble;
using fly::FloatEmitter;

namespace {

/// The first part leaves room for k, so that their product is exact.
constexpr double ln2[] = {0x1.62e42fefa2000p-1, 0x1.9ef35793c7673p-41};
constexpr double ln2Full[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
constexpr double log2OfE = 0x1.71547652b82fep+0;
/// Adding it leaves a number's integer part in the low bits, rounded to nearest.
constexpr double roundingShift = 0x1.8p+52;
constexpr int64_t roundingShiftBits = 0x4338000000000000;
/// (e^r - 1 - r) / r^2
constexpr double expCoefficients[] = {
    0.5,
    0.16666666666666677,
    0.0416666666666667,
    0.008333333333321532,
    0.0013888888888866568,
    0.0001984126988640145,
    2.480158736105145e-05,
    2.755724391131049e-06,
    2.7557242356578564e-07,
    2.510914751918637e-08,
    2.0924563681140205e-09,
};
/// Below it, x is the value of all odd functions here, and 1 + x is 1.
constexpr double tinyBelow = 0x1p-54;

struct Rounded {
  Value number, integer;
};

/// factor x, rounded to an integer.
Rounded roundProduct(const FloatEmitter &e, Value x, double factor) {
  Value shifted = e.fma(x, e.wide(factor), e.wide(roundingShift));
  return {e.sub(shifted, e.wide(roundingShift)),
          e.isub(e.bitcast(e.i64(), shifted), e.longWord(roundingShiftBits))};
}

/// 2^exponent, a normal number.
Value powerOfTwo(const FloatEmitter &e, Value exponent) {
  Value biased = e.iadd(exponent, e.longWord(1023));
  return e.bitcast(e.f64(), e.shiftLeft(biased, e.longWord(52)));
}

Value scale(const FloatEmitter &e, Value x, Value exponent) {
  Value half = arith::ShRSIOp::create(e.builder, e.loc, exponent, e.longWord(1));
  Value partly = e.mul(x, powerOfTwo(e, half));
  return e.mul(partly, powerOfTwo(e, e.isub(exponent, half)));
}

/// e^r - 1 for |r| <= ln(2) / 2.
Value expm1NearZero(const FloatEmitter &e, DoubleDouble r) {
  Value square = e.mul(r.high, r.high);
  return e.add(r.high, e.fma(square, e.polynomial(r.high, expCoefficients), r.low));
}

/// x - k ln 2
DoubleDouble reduce(const FloatEmitter &e, DoubleDouble x, Value k) {
  Value first = e.fma(k, e.wide(-ln2[0]), x.high);
  return fly::fastTwoSum(e, first, e.fma(k, e.wide(-ln2[1]), x.low));
}

/// NaN stays.
Value clamp(const FloatEmitter &e, Value x, double low, double high) {
  x = e.select(e.is(CmpFPredicate::OGT, x, e.wide(high)), e.wide(high), x);
  return e.select(e.is(CmpFPredicate::OLT, x, e.wide(low)), e.wide(low), x);
}

Value emitExp(const FloatEmitter &e, Value x) { return fly::emitDoubleExp(e, {x, e.wide(0.0)}); }

Value emitExp2(const FloatEmitter &e, Value x) {
  x = clamp(e, x, -1100.0, 1100.0);
  Rounded k = roundProduct(e, x, 1.0);
  Value fraction = e.sub(x, k.number);
  DoubleDouble r = fly::twoProduct(e, fraction, e.wide(ln2Full[0]));
  r.low = e.fma(fraction, e.wide(ln2Full[1]), r.low);
  return scale(e, e.add(e.wide(1.0), expm1NearZero(e, r)), k.integer);
}

/// 2^k (e^r - 1) + (2^k - 1), computed as twice its half because 2^1024 is not a number.
Value emitExpm1(const FloatEmitter &e, Value x) {
  Value bounded = clamp(e, x, -40.0, 710.0);
  Rounded k = roundProduct(e, bounded, log2OfE);
  Value near = expm1NearZero(e, reduce(e, {bounded, e.wide(0.0)}, k.number));
  Value power = powerOfTwo(e, e.isub(k.integer, e.longWord(1)));
  Value half = e.fma(power, near, e.sub(power, e.wide(0.5)));
  Value isTiny = e.is(CmpFPredicate::OLT, e.abs(x), e.wide(tinyBelow));
  return e.select(isTiny, x, e.add(half, half));
}

/// (t + t / (t + 1)) / 2 with t = e^|x| - 1; (e^(|x|/2))^2 / 2 where t could overflow.
Value emitSinh(const FloatEmitter &e, Value x) {
  Value magnitude = e.abs(x), half = e.wide(0.5);
  Value isLarge = e.is(CmpFPredicate::OGT, magnitude, e.wide(40.0));
  Value t = emitExpm1(e, e.select(isLarge, e.mul(magnitude, half), magnitude));
  Value near = e.mul(e.add(t, e.div(t, e.add(t, e.wide(1.0)))), half);
  Value power = e.add(t, e.wide(1.0));
  Value far = e.mul(e.mul(power, half), power);
  Value isTiny = e.is(CmpFPredicate::OLT, magnitude, e.wide(tinyBelow));
  return e.select(isTiny, x, e.copySign(e.select(isLarge, far, near), x));
}

Value emitCosh(const FloatEmitter &e, Value x) {
  Value magnitude = e.abs(x), half = e.wide(0.5);
  Value isLarge = e.is(CmpFPredicate::OGT, magnitude, e.wide(40.0));
  Value power = emitExp(e, e.select(isLarge, e.mul(magnitude, half), magnitude));
  Value rising = e.mul(power, half);
  return e.select(isLarge, e.mul(rising, power), e.add(rising, e.div(half, power)));
}

/// t / (t + 2) with t = e^(2|x|) - 1
Value emitTanh(const FloatEmitter &e, Value x) {
  Value magnitude = clamp(e, e.abs(x), 0.0, 22.0);
  Value t = emitExpm1(e, e.add(magnitude, magnitude));
  Value tangent = e.div(t, e.add(t, e.wide(2.0)));
  Value isTiny = e.is(CmpFPredicate::OLT, magnitude, e.wide(tinyBelow));
  return e.select(isTiny, x, e.copySign(tangent, x));
}

} // namespace

DoubleDouble fly::fastTwoSum(const FloatEmitter &e, Value a, Value b) {
  Value sum = e.add(a, b);
  return {sum, e.add(e.sub(a, sum), b)};
}

DoubleDouble fly::twoSum(const FloatEmitter &e, Value a, Value b) {
  Value sum = e.add(a, b), second = e.sub(sum, a);
  return {sum, e.add(e.sub(a, e.sub(sum, second)), e.sub(b, second))};
}

DoubleDouble fly::twoProduct(const FloatEmitter &e, Value a, Value b) {
  Value product = e.mul(a, b);
  return {product, e.fma(a, b, e.neg(product))};
}

Value fly::emitDoubleExp(const FloatEmitter &e, DoubleDouble x) {
  Value bounded = clamp(e, x.high, -1000.0, 1000.0);
  Value within = e.is(CmpFPredicate::OEQ, bounded, x.high);
  Rounded k = roundProduct(e, bounded, log2OfE);
  DoubleDouble r = reduce(e, {bounded, e.select(within, x.low, e.wide(0.0))}, k.number);
  return scale(e, e.add(e.wide(1.0), expm1NearZero(e, r)), k.integer);
}

void fly::populateDoubleExponentialPatterns(RewritePatternSet &patterns) {
  patterns.add<EmitDouble<math::ExpOp, emitExp>, EmitDouble<math::Exp2Op, emitExp2>,
               EmitDouble<math::ExpM1Op, emitExpm1>, EmitDouble<math::SinhOp, emitSinh>,
               EmitDouble<math::CoshOp, emitCosh>, EmitDouble<math::TanhOp, emitTanh>>(
      patterns.getContext());
}
