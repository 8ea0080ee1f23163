// SPDX-License-Identifier: Apache-2.0
//
// The run-time state of stateful atoms, as LLVM structs (contract sections 6.3 to 6.6).

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

using namespace mlir;

namespace fly::rocdl {

static Type structOf(MLIRContext *context, ArrayRef<Type> fields) {
  return LLVM::LLVMStructType::getLiteral(context, fields);
}
static Type integer(MLIRContext *context, unsigned width) {
  return IntegerType::get(context, width);
}
static Type repeated(MLIRContext *context, unsigned width, unsigned count) {
  return structOf(context, SmallVector<Type>(count, integer(context, width)));
}

// soffset
Type CDNA3BufferCopyType::getStateType() const { return repeated(getContext(), 32, 1); }
Type CDNA3BufferAtomicType::getStateType() const { return repeated(getContext(), 32, 1); }
// soffset, imm_offset
Type CDNA3BufferCopyLDSType::getStateType() const { return repeated(getContext(), 32, 2); }
Type CDNA4BufferLoadAsyncLDSType::getStateType() const { return repeated(getContext(), 32, 2); }
// scale_a, scale_b
Type CDNA4MFMAScaleType::getStateType() const { return repeated(getContext(), 32, 2); }
Type GFX1250WMMAScaleType::getStateType() const {
  return repeated(getContext(), getBlockSize() == 16 ? 64 : 32, 2);
}

// workgroup_mask, extent_0..4, stride_0..3, imm_offset
Type GFX1250TDMType::getStateType() const {
  SmallVector<Type> fields(6, integer(getContext(), 32));
  fields.append(5, integer(getContext(), 64));
  return structOf(getContext(), fields);
}

// shared barrier pointer, global base, strides, extents, boundary flags, iteration stride
static void appendTensorFields(MLIRContext *context, SmallVectorImpl<Type> &fields) {
  fields.push_back(LLVM::LLVMPointerType::get(context, 3));
  fields.push_back(LLVM::LLVMPointerType::get(context, 1));
  fields.append(4, integer(context, 64));
  fields.append(5, integer(context, 32));
  fields.append(5, integer(context, 1));
  fields.push_back(integer(context, 64));
}

Type CDNA5TensorLoadType::getStateType() const {
  // workgroup_mask and early_timeout come first, and exist on the load only.
  SmallVector<Type> fields(2, integer(getContext(), 32));
  appendTensorFields(getContext(), fields);
  return structOf(getContext(), fields);
}

Type CDNA5TensorStoreType::getStateType() const {
  SmallVector<Type> fields;
  appendTensorFields(getContext(), fields);
  return structOf(getContext(), fields);
}

} // namespace fly::rocdl
