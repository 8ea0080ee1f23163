// SPDX-License-Identifier: Apache-2.0
//
// sin, cos and tan: x = k pi/2 + r with |r| <= pi/4, then polynomials of r, chosen by k modulo 4.
//
// Up to 2^16, r is x minus k times pi/2 in three parts (Cody and Waite); beyond, the fraction of
// x 2/pi is computed from the bits of 2/pi that matter (Payne and Hanek). x is m 2^e with an
// integer m of 24 bits: bits of 2/pi that make multiples of 4 are skipped, the next 96 multiplied.
#include "Patterns.h"
#include "Quadrants.h"
#include "RareBranch.h"

#include <array>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;
using fly::FloatEmitter;

namespace {

/// pi/2 as a sum of three f32.
constexpr double halfPi[] = {0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50};
constexpr double twoOverPi = 0x1.45f306p-1;
/// Adding it leaves a number's integer part in the low bits, rounded to nearest.
constexpr double roundingShift = 0x1.8p+23;
/// Where k stays exact in f32 and k times the error of the three parts is still negligible.
constexpr double longReductionFrom = 0x1p+16;
/// The bits of 2/pi after the binary point, behind one word of zeros.
constexpr std::array<uint32_t, 8> twoOverPiBits = {0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                                   0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

constexpr double sinCoefficients[] = {-1.6666654e-01F, 8.332113e-03F, -1.9508741e-04F};
constexpr double cosCoefficients[] = {4.1666646e-02F, -1.3887251e-03F, 2.4425683e-05F};
constexpr double tanCoefficients[] = {3.3333352e-01F, 1.3332559e-01F, 5.407202e-02F,
                                      2.1218223e-02F, 1.1005161e-02F, -1.2932655e-04F,
                                      4.4861534e-03F};

/// x - k pi/2, and k, of which the last two bits count.
struct Reduced {
  Value rest, quadrant;
};

Reduced reduceShort(const FloatEmitter &e, Value x) {
  Value shifted = e.fma(x, e.single(twoOverPi), e.single(roundingShift));
  Value k = e.sub(shifted, e.single(roundingShift));
  Value first = e.fma(k, e.single(-halfPi[0]), x); // exact, for it has no bits below 2^-24
  Value rest = e.fma(k, e.single(-halfPi[2]), e.fma(k, e.single(-halfPi[1]), first));
  return {rest, e.bitcast(e.i32(), shifted)};
}

/// The 96 bits of 2/pi from bit `start` of the table on.
std::array<Value, 3> windowOf(const FloatEmitter &e, Value start) {
  SmallVector<Value> words;
  for (uint32_t bits : twoOverPiBits)
    words.push_back(e.word(static_cast<int32_t>(bits)));
  return fly::bitsFrom(e, std::move(words), start);
}

/// For finite |x| of at least `longReductionFrom`.
Reduced reduceLong(const FloatEmitter &e, Value x) {
  Value bits = e.bitcast(e.i32(), x);
  Value exponent = e.bitAnd(e.shiftRight(bits, e.word(23)), e.word(255));
  Value mantissa = e.bitOr(e.bitAnd(bits, e.word(0x7fffff)), e.word(0x800000));
  std::array<Value, 3> window = windowOf(e, e.isub(exponent, e.word(120)));

  Value factor = e.extend(mantissa);
  Value low = e.shiftRight(e.imul(factor, e.extend(window[2])), e.longWord(32));
  Value middle = e.iadd(e.imul(factor, e.extend(window[1])), low);
  Value top = e.shiftLeft(e.extend(e.imul(mantissa, window[0])), e.longWord(32));
  Value quarters = e.iadd(top, middle); // of a turn, in units of 2^-62
  Value rounded = e.iadd(quarters, e.longWord(int64_t(1) << 61));
  Value quadrant = e.truncate(e.shiftRight(rounded, e.longWord(62)));
  Value fraction =
      arith::SIToFPOp::create(e.builder, e.loc, e.f32(), e.shiftLeft(quarters, e.longWord(2)));
  Value rest = e.fma(fraction, e.single(halfPi[0] * 0x1p-64),
                     e.mul(fraction, e.single(halfPi[1] * 0x1p-64)));

  Value negative = e.is(CmpIPredicate::slt, bits, e.word(0));
  rest = e.select(negative, e.neg(rest), rest);
  quadrant = e.select(negative, e.isub(e.word(0), quadrant), quadrant);
  return {e.add(rest, e.sub(x, x)), quadrant}; // x - x makes NaN of infinity
}

Reduced reduce(const FloatEmitter &e, Value x) {
  Reduced usual = reduceShort(e, x);
  Value large = e.is(CmpFPredicate::OGE, e.abs(x), e.single(longReductionFrom));
  auto both =
      fly::replaceWhere(e, large, {usual.rest, usual.quadrant}, [&](const FloatEmitter &inner) {
        Reduced rare = reduceLong(inner, x);
        return SmallVector<Value>{rare.rest, rare.quadrant};
      });
  return {both[0], both[1]};
}

Value sinNearZero(const FloatEmitter &e, Value r) { return e.oddPolynomial(r, sinCoefficients); }

Value cosNearZero(const FloatEmitter &e, Value r) {
  Value square = e.mul(r, r);
  Value start = e.fma(square, e.single(-0.5), e.single(1.0));
  return e.fma(e.mul(square, square), e.polynomial(square, cosCoefficients), start);
}

/// Keeps the sign of a zero, which the reduction loses.
Value keepZero(const FloatEmitter &e, Value x, Value value) {
  return e.select(e.is(CmpFPredicate::OEQ, x, e.single(0.0)), x, value);
}

std::array<Value, 2> emitSinCos(const FloatEmitter &e, Value x) {
  auto [rest, quadrant] = reduce(e, x);
  Value sine = sinNearZero(e, rest), cosine = cosNearZero(e, rest);
  std::array<Value, 2> both = fly::inQuadrant(e, sine, cosine, quadrant);
  return {keepZero(e, x, both[0]), both[1]};
}

Value emitSin(const FloatEmitter &e, Value x) { return emitSinCos(e, x)[0]; }

Value emitCos(const FloatEmitter &e, Value x) { return emitSinCos(e, x)[1]; }

Value emitTan(const FloatEmitter &e, Value x) {
  auto [rest, quadrant] = reduce(e, x);
  Value tangent = e.oddPolynomial(rest, tanCoefficients);
  Value beyond = e.div(e.single(-1.0), tangent);
  return keepZero(e, x, e.select(fly::isOdd(e, quadrant), beyond, tangent));
}

} // namespace

void fly::populateTrigonometryPatterns(RewritePatternSet &patterns) {
  patterns.add<EmitSingle<math::SinOp, emitSin>, EmitSingle<math::CosOp, emitCos>,
               EmitSingle<math::TanOp, emitTan>, fly::EmitSinCos<Float32Type, emitSinCos>>(
      patterns.getContext());
}
