// SPDX-License-Identifier: Apache-2.0
//
// Geometry and run-time state of the tensor data movers.

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

using namespace mlir;

namespace fly::rocdl {

static Layout oneThread() { return Layout(1, 1); }
static Layout oneThreadBits(int32_t bits) {
  return Layout(IntTuple::tuple({1, bits}), IntTuple::tuple({1, 1}));
}

// --- gfx1250.tdm ---------------------------------------------------------------------------------

// The memref says how much is moved; to tilings the atom is one opaque value.
Layout GFX1250TDMType::getThreadLayout() const { return oneThread(); }
Layout GFX1250TDMType::getSourceBitLayout() const { return oneThreadBits(1); }
Layout GFX1250TDMType::getDestinationBitLayout() const { return oneThreadBits(1); }
Layout GFX1250TDMType::getReferenceBitLayout() const { return oneThreadBits(1); }
bool GFX1250TDMType::isWholeTileCopy() const { return true; }

ArrayRef<StringLiteral> GFX1250TDMType::getStateMembers() const {
  static constexpr StringLiteral members[] = {"workgroup_mask", "extent_0", "extent_1",  "extent_2",
                                              "extent_3",       "extent_4", "stride_0",  "stride_1",
                                              "stride_2",       "stride_3", "imm_offset"};
  return members;
}
Type GFX1250TDMType::getStateType() const {
  Type i32 = IntegerType::get(getContext(), 32);
  Type i64 = IntegerType::get(getContext(), 64);
  return LLVM::LLVMStructType::getLiteral(getContext(),
                                          {i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64});
}

// --- cdna5.tensor_load, cdna5.tensor_store -------------------------------------------------------

// The box, once per iteration.
static Layout boxBits(ArrayRef<int32_t> shape, int32_t iterations, Type element) {
  int64_t bits = int64_t(iterations) * getElementBitWidth(element);
  for (int32_t extent : shape)
    bits = std::min<int64_t>(bits * extent, std::numeric_limits<int32_t>::max());
  return oneThreadBits(static_cast<int32_t>(bits));
}

#define FLY_ROCDL_BOX_COPY(TYPE)                                                                   \
  Layout TYPE::getThreadLayout() const { return oneThread(); }                                     \
  Layout TYPE::getSourceBitLayout() const {                                                        \
    return boxBits(getShape(), getIterCount(), getElem());                                         \
  }                                                                                                \
  Layout TYPE::getDestinationBitLayout() const { return getSourceBitLayout(); }                    \
  Layout TYPE::getReferenceBitLayout() const { return getSourceBitLayout(); }                      \
  bool TYPE::isWholeTileCopy() const { return true; }

FLY_ROCDL_BOX_COPY(CDNA5TensorLoadType)
FLY_ROCDL_BOX_COPY(CDNA5TensorStoreType)

// {barrier, base, 4 strides, 5 extents, 5 boundary flags, iteration stride}, after what only loads
// have.
static Type tensorState(MLIRContext *context, bool isLoad) {
  Type i1 = IntegerType::get(context, 1);
  Type i32 = IntegerType::get(context, 32);
  Type i64 = IntegerType::get(context, 64);
  SmallVector<Type> fields;
  if (isLoad)
    fields.append({i32, i32}); // workgroup_mask, early_timeout
  fields.push_back(LLVM::LLVMPointerType::get(context, 3));
  fields.push_back(LLVM::LLVMPointerType::get(context, 1));
  fields.append(4, i64);
  fields.append(5, i32);
  fields.append(5, i1);
  fields.push_back(i64);
  return LLVM::LLVMStructType::getLiteral(context, fields);
}

Type CDNA5TensorLoadType::getStateType() const { return tensorState(getContext(), true); }
Type CDNA5TensorStoreType::getStateType() const { return tensorState(getContext(), false); }

ArrayRef<StringLiteral> CDNA5TensorLoadType::getStateMembers() const {
  static constexpr StringLiteral members[] = {"workgroup_mask", "early_timeout",
                                              "atomic_barrier_addr"};
  return ArrayRef(members).drop_back(getAtomicBarrier() ? 0 : 1);
}
ArrayRef<StringLiteral> CDNA5TensorStoreType::getStateMembers() const {
  static constexpr StringLiteral members[] = {"atomic_barrier_addr"};
  return ArrayRef(members).drop_back(getAtomicBarrier() ? 0 : 1);
}

// One number per mode of the tensor, for several members.
static SmallVector<StringRef> withBoundaryCheck(ArrayRef<StringLiteral> members) {
  SmallVector<StringRef> fields(members);
  fields.push_back("boundary_check");
  return fields;
}
SmallVector<StringRef> CDNA5TensorLoadType::getStateFields() const {
  return withBoundaryCheck(getStateMembers());
}
SmallVector<StringRef> CDNA5TensorStoreType::getStateFields() const {
  return withBoundaryCheck(getStateMembers());
}

} // namespace fly::rocdl
