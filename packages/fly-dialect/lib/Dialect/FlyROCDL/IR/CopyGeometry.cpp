// SPDX-License-Identifier: Apache-2.0
//
// Geometry and run-time state of the copy atoms.

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

using namespace mlir;

namespace fly::rocdl {

static LLVM::LLVMStructType structOf(MLIRContext *context, ArrayRef<unsigned> widths) {
  SmallVector<Type> fields;
  for (unsigned width : widths)
    fields.push_back(IntegerType::get(context, width));
  return LLVM::LLVMStructType::getLiteral(context, fields);
}

// --- atoms of one lane ---------------------------------------------------------------------------

// One lane that moves `bits` bits, which lie in the same order everywhere.
static Layout oneThread() { return Layout(1, 1); }
static Layout oneThreadBits(int32_t bits) {
  return Layout(IntTuple::tuple({1, bits}), IntTuple::tuple({1, 1}));
}

#define FLY_ROCDL_ONE_THREAD_COPY(TYPE, BITS)                                                      \
  Layout TYPE::getThreadLayout() const { return oneThread(); }                                     \
  Layout TYPE::getSourceBitLayout() const { return oneThreadBits(BITS); }                          \
  Layout TYPE::getDestinationBitLayout() const { return oneThreadBits(BITS); }                     \
  Layout TYPE::getReferenceBitLayout() const { return oneThreadBits(BITS); }

static int32_t bitsOf(Type valueType) {
  if (auto vector = dyn_cast<VectorType>(valueType))
    return vector.getNumElements() * getElementBitWidth(vector.getElementType());
  return getElementBitWidth(valueType);
}

FLY_ROCDL_ONE_THREAD_COPY(CDNA3BufferCopyType, getBits())
FLY_ROCDL_ONE_THREAD_COPY(CDNA3BufferCopyLDSType, getBits())
FLY_ROCDL_ONE_THREAD_COPY(CDNA3BufferAtomicType, bitsOf(getValueType()))
FLY_ROCDL_ONE_THREAD_COPY(CDNA4BufferLoadAsyncLDSType, getBits())
FLY_ROCDL_ONE_THREAD_COPY(CDNA4GlobalLoadAsyncLDSType, getBits())

static constexpr StringLiteral offsets[] = {"soffset", "imm_offset"};

#define FLY_ROCDL_OFFSETS(TYPE, COUNT)                                                             \
  ArrayRef<StringLiteral> TYPE::getStateMembers() const {                                          \
    return ArrayRef(offsets).take_front(COUNT);                                                    \
  }                                                                                                \
  Type TYPE::getStateType() const {                                                                \
    return structOf(getContext(), SmallVector<unsigned>(COUNT, 32));                               \
  }

FLY_ROCDL_OFFSETS(CDNA3BufferCopyType, 1)
FLY_ROCDL_OFFSETS(CDNA3BufferAtomicType, 1)
FLY_ROCDL_OFFSETS(CDNA3BufferCopyLDSType, 2)
FLY_ROCDL_OFFSETS(CDNA4BufferLoadAsyncLDSType, 2)

std::optional<int32_t> CDNA3BufferCopyType::getOperandBits() const { return getBits(); }

#define FLY_ROCDL_UNSWIZZLED(TYPE, OPERAND)                                                        \
  std::optional<CopyOperand> TYPE::getUnswizzledOperand() const { return CopyOperand::OPERAND; }

FLY_ROCDL_UNSWIZZLED(CDNA3BufferCopyLDSType, Destination)
FLY_ROCDL_UNSWIZZLED(CDNA4BufferLoadAsyncLDSType, Destination)
FLY_ROCDL_UNSWIZZLED(CDNA4GlobalLoadAsyncLDSType, Destination)
FLY_ROCDL_UNSWIZZLED(CDNA4LdsReadTransType, Source)

// --- transposing LDS read ------------------------------------------------------------------------

// Sixteen lanes read a 16 x n matrix of G-bit elements, a row each, and get a column each.

Layout CDNA4LdsReadTransType::getThreadLayout() const { return Layout(16, 1); }

Layout CDNA4LdsReadTransType::getSourceBitLayout() const {
  return Layout(IntTuple::tuple({16, getBits()}), IntTuple::tuple({getBits(), 1}));
}

Layout CDNA4LdsReadTransType::getDestinationBitLayout() const {
  int32_t granularity = getGranularity();
  int32_t elements = granularity > 0 ? getBits() / granularity : 0;
  return Layout(IntTuple::tuple({16, IntTuple::tuple({granularity, elements})}),
                IntTuple::tuple({granularity, IntTuple::tuple({1, 16 * granularity})}));
}

Layout CDNA4LdsReadTransType::getReferenceBitLayout() const { return getDestinationBitLayout(); }

} // namespace fly::rocdl
