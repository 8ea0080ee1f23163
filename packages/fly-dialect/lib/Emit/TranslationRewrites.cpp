// SPDX-License-Identifier: Apache-2.0
#include "TranslationRewrites.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

using namespace mlir;

void fly::adoptLoopAnnotations(Operation *gpuModule) {
  gpuModule->walk([](Operation *op) {
    auto annotation = op->getAttrOfType<LLVM::LoopAnnotationAttr>("llvm.loop_annotation");
    if (!annotation)
      return;
    if (auto branch = dyn_cast<LLVM::BrOp>(op); branch && !branch.getLoopAnnotationAttr())
      branch.setLoopAnnotationAttr(annotation);
    else if (auto branch = dyn_cast<LLVM::CondBrOp>(op); branch && !branch.getLoopAnnotationAttr())
      branch.setLoopAnnotationAttr(annotation);
  });
}

void fly::foldDynamicImmediates(Operation *gpuModule) {
  gpuModule->walk([](ROCDL::RawPtrBufferLoadLdsOp load) {
    if (matchPattern(load.getOffset(), m_Constant()))
      return;
    OpBuilder builder(load);
    Location loc = load.getLoc();
    Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
    Value sum = LLVM::AddOp::create(builder, loc, load.getVoffset(), load.getOffset());
    load.getVoffsetMutable().assign(sum);
    load.getOffsetMutable().assign(zero);
  });
}

/// The pointer that `pointer` is `bytes` behind, if that is a constant multiple of `granularity`.
static Value baseBehind(Value pointer, int64_t granularity, int64_t &bytes) {
  auto access = pointer.getDefiningOp<LLVM::GEPOp>();
  if (!access || access.getIndices().size() != 1)
    return Value();
  APInt index;
  auto only = access.getIndices()[0];
  if (auto attribute = dyn_cast<IntegerAttr>(only))
    index = attribute.getValue();
  else if (!matchPattern(cast<Value>(only), m_ConstantInt(&index)))
    return Value();
  int64_t size = DataLayout::closest(access).getTypeSize(access.getElemType());
  int64_t offset = index.getSExtValue() * size;
  if (offset % granularity != 0)
    return Value();
  bytes += offset;
  return access.getBase();
}

void fly::offsetSwizzledAddresses(Operation *gpuModule) {
  gpuModule->walk([](LLVM::IntToPtrOp access) {
    auto moved = access.getArg().getDefiningOp<LLVM::XOrOp>();
    auto shifted = moved ? moved.getRhs().getDefiningOp<LLVM::LShrOp>() : LLVM::LShrOp();
    auto masked = shifted ? shifted.getLhs().getDefiningOp<LLVM::AndOp>() : LLVM::AndOp();
    auto number = moved ? moved.getLhs().getDefiningOp<LLVM::PtrToIntOp>() : LLVM::PtrToIntOp();
    APInt mask, shift;
    if (!masked || !number || masked.getLhs() != moved.getLhs() ||
        number.getArg().getType() != access.getType() ||
        !matchPattern(masked.getRhs(), m_ConstantInt(&mask)) ||
        !matchPattern(shifted.getRhs(), m_ConstantInt(&shift)) || mask.getActiveBits() > 31)
      return;
    int64_t granularity = int64_t(1) << mask.getActiveBits(), bytes = 0;
    Value pointer = number.getArg();
    while (Value base = baseBehind(pointer, granularity, bytes))
      pointer = base;

    OpBuilder builder(access);
    Location loc = access.getLoc();
    Type type = access.getType();
    Type word = builder.getIntegerType(DataLayout::closest(access).getTypeSizeInBits(type));
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(builder, loc, builder.getIntegerAttr(word, value));
    };
    Value from = LLVM::PtrToIntOp::create(builder, loc, word, pointer);
    Value read = LLVM::AndOp::create(builder, loc, from, constant(mask.getZExtValue()));
    Value written = LLVM::LShrOp::create(builder, loc, read, constant(shift.getZExtValue()));
    Value to = LLVM::XOrOp::create(builder, loc, from, written);
    Value distance = LLVM::SubOp::create(builder, loc, to, from);
    Type octet = builder.getI8Type();
    Value there = LLVM::GEPOp::create(builder, loc, type, octet, pointer, ValueRange(distance));
    if (bytes != 0)
      there = LLVM::GEPOp::create(builder, loc, type, octet, there,
                                  ArrayRef<LLVM::GEPArg>(static_cast<int32_t>(bytes)));
    access.replaceAllUsesWith(there);
    access.erase();
  });
}
