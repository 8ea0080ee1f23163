// SPDX-License-Identifier: Apache-2.0
//
// Thread-value layouts and run-time state of the matrix atoms. They map
// (thread, value) to the column-major index of an (M,K), (N,K) or (M,N) matrix.

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

using namespace mlir;

namespace fly::rocdl {

static IntTuple tuple(std::initializer_list<IntTuple> modes) {
  return IntTuple::tuple(ArrayRef<IntTuple>(modes.begin(), modes.size()));
}

static bool isInput(MmaOperand operand) {
  return operand == MmaOperand::A || operand == MmaOperand::B;
}

template <typename Atom> static Type elementTypeOf(Atom atom, MmaOperand operand) {
  Type element = operand == MmaOperand::A   ? atom.getElemTyA()
                 : operand == MmaOperand::B ? atom.getElemTyB()
                                            : atom.getElemTyAcc();
  // The instruction drops the low bits of f32 itself.
  return isa<FloatTF32Type>(element) ? Float32Type::get(element.getContext()) : element;
}

#define FLY_ROCDL_MMA(TYPE, LANES)                                                                 \
  std::array<int32_t, 3> TYPE::getShapeMNK() const { return {getM(), getN(), getK()}; }            \
  Layout TYPE::getThreadLayout() const { return Layout(LANES, 1); }                                \
  Type TYPE::getElementType(MmaOperand operand) const { return elementTypeOf(*this, operand); }

FLY_ROCDL_MMA(CDNA3MFMAType, 64)
FLY_ROCDL_MMA(CDNA3SMFMACType, 64)
FLY_ROCDL_MMA(CDNA4MFMAScaleType, 64)
FLY_ROCDL_MMA(GFX11WMMAType, 32)
FLY_ROCDL_MMA(GFX120XWMMAType, 32)
FLY_ROCDL_MMA(GFX1250WMMAType, 32)
FLY_ROCDL_MMA(GFX1250WMMAScaleType, 32)

// --- MFMA ----------------------------------------------------------------------------------------

// The 64 lanes are `groups` groups of M lanes. A group holds consecutive elements along K; of C it
// holds rows in runs of four.
static Layout mfmaLayout(int32_t m, int32_t k, MmaOperand operand) {
  if (m <= 0 || m > 64)
    return Layout(tuple({64, 1}), tuple({0, 0})); // No instruction; the lowering says so.
  int32_t groups = 64 / m;
  if (isInput(operand)) {
    int32_t kPerLane = k / groups;
    return Layout(tuple({tuple({m, groups}), kPerLane}), tuple({tuple({1, m * kPerLane}), m}));
  }
  return Layout(tuple({tuple({m, groups}), tuple({4, m / (4 * groups)})}),
                tuple({tuple({m, 4}), tuple({1, 4 * groups})}));
}

// The lanes are one group of M lanes per block: lane l holds all K of its row.
static Layout mfmaBlocksLayout(int32_t m, int32_t k, int32_t blocks, MmaOperand operand) {
  if (isInput(operand))
    return Layout(tuple({tuple({m, blocks}), k}), tuple({tuple({1, m * k}), m}));
  if (m == 4) // One run of four rows: the groups of lanes are the blocks.
    return Layout(tuple({tuple({m, blocks}), 4}), tuple({tuple({m, m * m}), 1}));
  int32_t groups = 64 / m;
  return Layout(tuple({tuple({m, groups}), tuple({4, m / (4 * groups), blocks})}),
                tuple({tuple({m, 4}), tuple({1, 4 * groups, m * m})}));
}

// Of f64 a lane holds one k, and every fourth row of C.
static Layout mfmaFloat64Layout(int32_t m, int32_t blocks, MmaOperand operand) {
  if (blocks == 1)
    return isInput(operand) ? Layout(tuple({tuple({16, 4}), 1}), tuple({tuple({1, 16}), 16}))
                            : Layout(tuple({tuple({16, 4}), 4}), tuple({tuple({16, 1}), 4}));
  return isInput(operand)
             ? Layout(tuple({tuple({m, blocks, 4}), 1}), tuple({tuple({1, m * 4, m}), 0}))
             : Layout(tuple({tuple({m * blocks, 4}), 1}), tuple({tuple({m, 1}), 0}));
}

Layout CDNA3MFMAType::getThreadValueLayout(MmaOperand operand) const {
  if (getElemTyA().isF64())
    return mfmaFloat64Layout(getM(), getBlocks(), operand);
  if (getBlocks() != 1)
    return mfmaBlocksLayout(getM(), getK(), getBlocks(), operand);
  return mfmaLayout(getM(), getK(), operand);
}
bool CDNA3MFMAType::isTileable() const { return getBlocks() == 1; }

// A has the columns that are stored.
Layout CDNA3SMFMACType::getThreadValueLayout(MmaOperand operand) const {
  return mfmaLayout(getM(), operand == MmaOperand::A ? getK() / 2 : getK(), operand);
}
bool CDNA3SMFMACType::isTileable() const { return false; }

Layout CDNA4MFMAScaleType::getThreadValueLayout(MmaOperand operand) const {
  return mfmaLayout(getM(), getK(), operand);
}

// --- WMMA ----------------------------------------------------------------------------------------

// C of gfx12: half a wave holds eight rows of its column.
static Layout wmmaAccumulator() {
  return Layout(tuple({tuple({16, 2}), 8}), tuple({tuple({16, 8}), 1}));
}

// A and B of gfx1250: runs of eight along K, alternating between the halves of the wave.
static Layout wmmaInterleaved(int32_t k) {
  return Layout(tuple({tuple({16, 2}), tuple({8, k / 16})}),
                tuple({tuple({1, 128}), tuple({16, 256})}));
}

Layout GFX11WMMAType::getThreadValueLayout(MmaOperand operand) const {
  if (isInput(operand)) // Both halves of the wave hold the same data.
    return Layout(tuple({tuple({16, 2}), 16}), tuple({tuple({1, 0}), 16}));
  return Layout(tuple({tuple({16, 2}), 8}), tuple({tuple({16, 1}), 2}));
}

Layout GFX120XWMMAType::getThreadValueLayout(MmaOperand operand) const {
  if (!isInput(operand))
    return wmmaAccumulator();
  int32_t kPerLane = getK() / 2;
  return Layout(tuple({tuple({16, 2}), kPerLane}), tuple({tuple({1, 16 * kPerLane}), 16}));
}

Layout GFX1250WMMAType::getThreadValueLayout(MmaOperand operand) const {
  if (!isInput(operand)) {
    if (getElementBitWidth(getElemTyAcc()) == 32)
      return wmmaAccumulator();
    // Two rows share a register.
    return Layout(tuple({tuple({16, 2}), tuple({4, 2})}), tuple({tuple({16, 8}), tuple({2, 1})}));
  }
  if (getElemTyA().isF32())
    return Layout(tuple({tuple({16, 2}), 2}), tuple({tuple({1, 32}), 16}));
  return wmmaInterleaved(getK());
}

// The layouts of the 32-row form are those that existing kernels are written for; they have not
// been compared with hardware.
Layout GFX1250WMMAScaleType::getThreadValueLayout(MmaOperand operand) const {
  bool tall = getM() == 32;
  if (operand == MmaOperand::A && tall)
    return Layout(tuple({32, 128}), tuple({1, 32}));
  if (isInput(operand))
    return wmmaInterleaved(getK());
  if (tall)
    return Layout(tuple({tuple({16, 2}), 16}), tuple({tuple({16, 16}), 1}));
  return wmmaAccumulator();
}

// --- state ---------------------------------------------------------------------------------------

static constexpr StringLiteral sparseMembers[] = {"sparse_index"};
ArrayRef<StringLiteral> CDNA3SMFMACType::getStateMembers() const { return sparseMembers; }
Type CDNA3SMFMACType::getStateType() const {
  return LLVM::LLVMStructType::getLiteral(getContext(), {IntegerType::get(getContext(), 32)});
}

static constexpr StringLiteral scaleMembers[] = {"scale_a", "scale_b"};
static Type scaleState(MLIRContext *context, unsigned width) {
  Type scale = IntegerType::get(context, width);
  return LLVM::LLVMStructType::getLiteral(context, {scale, scale});
}

ArrayRef<StringLiteral> CDNA4MFMAScaleType::getStateMembers() const { return scaleMembers; }
Type CDNA4MFMAScaleType::getStateType() const { return scaleState(getContext(), 32); }
ArrayRef<StringLiteral> GFX1250WMMAScaleType::getStateMembers() const { return scaleMembers; }
Type GFX1250WMMAScaleType::getStateType() const {
  return scaleState(getContext(), getBlockSize() == 16 ? 64 : 32);
}

} // namespace fly::rocdl
