// SPDX-License-Identifier: Apache-2.0
//
// Thread-value layouts of the matrix operations (contract section 6.4): (thread, value) to a
// column-major index of the (M,K), (N,K) or (M,N) matrix.

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

using namespace mlir;

namespace fly::rocdl {

static IntTuple pair(const IntTuple &first, const IntTuple &second) {
  return IntTuple::tuple({first, second});
}

// ((threads), (values)) with their strides.
static Layout threadValue(const IntTuple &threads, const IntTuple &values,
                          const IntTuple &threadStrides, const IntTuple &valueStrides) {
  return Layout(pair(threads, values), pair(threadStrides, valueStrides));
}

static bool isAccumulator(MmaOperand operand) {
  return operand == MmaOperand::C || operand == MmaOperand::D;
}

static Type elementType(MmaOperand operand, Type a, Type b, Type acc) {
  return operand == MmaOperand::A ? a : operand == MmaOperand::B ? b : acc;
}

// --- MFMA: 64 lanes --------------------------------------------------------------------------------------

// M = N lanes hold the rows; the g = 64/M groups of lanes share out K, or the rows of C in blocks of 4.
static Layout mfmaLayout(int32_t m, int32_t n, int32_t k, MmaOperand operand) {
  int32_t groups = 64 / m;
  if (isAccumulator(operand))
    return threadValue(pair(n, groups), pair(4, m / (4 * groups)), pair(m, 4),
                       pair(1, 4 * groups));
  int32_t kPerGroup = k / groups;
  return threadValue(pair(m, groups), kPerGroup, pair(1, m * kPerGroup), m);
}

// --- WMMA: 32 lanes, 16 of which hold the rows -------------------------------------------------------------

// A and B of gfx1250's 8, 16 and 4 bit formats: each lane half takes runs of 8 values of K in turn.
static Layout interleavedHalves(int32_t k) {
  return threadValue(pair(16, 2), pair(8, k / 16), pair(1, 128), pair(16, 256));
}

// A and B where each lane half holds one contiguous half of K.
static Layout contiguousHalves(int32_t k) {
  return threadValue(pair(16, 2), k / 2, pair(1, 16 * (k / 2)), 16);
}

// C where each lane half holds 8 contiguous rows of 16.
static Layout eightRows() { return threadValue(pair(16, 2), 8, pair(16, 8), 1); }

// --- the operations ------------------------------------------------------------------------------------

#define FLY_MMA_COMMON(TYPE, LANES)                                                                \
  std::array<int32_t, 3> TYPE::getShapeMNK() const { return {getM(), getN(), getK()}; }            \
  Layout TYPE::getThreadLayout() const { return Layout(LANES, 1); }                                \
  Type TYPE::getElementType(MmaOperand operand) const {                                            \
    return elementType(operand, getElemTyA(), getElemTyB(), getElemTyAcc());                       \
  }

FLY_MMA_COMMON(CDNA3MFMAType, 64)
FLY_MMA_COMMON(CDNA4MFMAScaleType, 64)
FLY_MMA_COMMON(GFX11WMMAType, 32)
FLY_MMA_COMMON(GFX120XWMMAType, 32)
FLY_MMA_COMMON(GFX1250WMMAType, 32)
FLY_MMA_COMMON(GFX1250WMMAScaleType, 32)

#undef FLY_MMA_COMMON

Layout CDNA3MFMAType::getThreadValueLayout(MmaOperand operand) const {
  return mfmaLayout(getM(), getN(), getK(), operand);
}

Layout CDNA4MFMAScaleType::getThreadValueLayout(MmaOperand operand) const {
  return mfmaLayout(getM(), getN(), getK(), operand);
}

Layout GFX11WMMAType::getThreadValueLayout(MmaOperand operand) const {
  if (isAccumulator(operand))
    return threadValue(pair(16, 2), 8, pair(16, 1), 2);
  // Both lane halves hold the same data.
  return threadValue(pair(16, 2), 16, pair(1, 0), 16);
}

Layout GFX120XWMMAType::getThreadValueLayout(MmaOperand operand) const {
  return isAccumulator(operand) ? eightRows() : contiguousHalves(getK());
}

Layout GFX1250WMMAType::getThreadValueLayout(MmaOperand operand) const {
  if (!isAccumulator(operand))
    return getElemTyA().isF32() ? contiguousHalves(getK()) : interleavedHalves(getK());
  // Accumulators of 16 bits are packed in pairs of rows.
  if (getElementBitWidth(getElemTyAcc()) == 16)
    return threadValue(pair(16, 2), pair(4, 2), pair(16, 8), pair(2, 1));
  return eightRows();
}

Layout GFX1250WMMAScaleType::getThreadValueLayout(MmaOperand operand) const {
  bool isA = operand == MmaOperand::A;
  if (getM() == 16)
    return isAccumulator(operand) ? eightRows() : interleavedHalves(getK());
  // 32x16x128. These follow the reference, which calls them provisional.
  if (isAccumulator(operand))
    return threadValue(pair(16, 2), 16, pair(16, 16), 1);
  return isA ? Layout(pair(32, getK()), pair(1, 32)) : interleavedHalves(getK());
}

} // namespace fly::rocdl
