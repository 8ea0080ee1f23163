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

/// A pointer as a base, what is added to it at run time, and a constant number of bytes.
namespace {
struct Address {
  Value base;
  SmallVector<LLVM::GEPOp> steps; ///< with an index known at run time only, the last one first
  int64_t bytes = 0;
  bool movesConstants = false; ///< some of `bytes` were added before the last of `steps`
};
} // namespace

static Address addressOf(Value pointer) {
  Address address;
  for (address.base = pointer;;) {
    auto step = address.base.getDefiningOp<LLVM::GEPOp>();
    if (!step || step.getIndices().size() != 1)
      return address;
    APInt index;
    auto only = step.getIndices()[0];
    auto attribute = dyn_cast<IntegerAttr>(only);
    if (attribute || matchPattern(cast<Value>(only), m_ConstantInt(&index))) {
      if (attribute)
        index = attribute.getValue();
      int64_t size = DataLayout::closest(step).getTypeSize(step.getElemType());
      address.bytes += index.getSExtValue() * size;
      address.movesConstants |= !address.steps.empty();
    } else {
      address.steps.push_back(step);
    }
    address.base = step.getBase();
  }
}

/// The pointer of `address` without its constants.
static Value withoutConstants(OpBuilder &builder, Location loc, const Address &address) {
  Value pointer = address.base;
  if (!address.movesConstants && !address.steps.empty()) {
    LLVM::GEPOp last = address.steps.front();
    return last.getResult();
  }
  for (LLVM::GEPOp step : llvm::reverse(address.steps))
    pointer = LLVM::GEPOp::create(builder, loc, step.getType(), step.getElemType(), pointer,
                                  ValueRange(step.getDynamicIndices()));
  return pointer;
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
    // Of the constants, those below this number take part in the swizzle.
    int64_t granularity = int64_t(1) << mask.getActiveBits();

    OpBuilder builder(access);
    Location loc = access.getLoc();
    Type type = access.getType();
    Type word = builder.getIntegerType(DataLayout::closest(access).getTypeSizeInBits(type));
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(builder, loc, builder.getIntegerAttr(word, value));
    };
    Type octet = builder.getI8Type();
    auto behind = [&](Value pointer, int64_t bytes) -> Value {
      if (bytes == 0)
        return pointer;
      // More than an index in an attribute can be.
      if (word.isInteger(64) && !llvm::isInt<32>(bytes))
        return LLVM::GEPOp::create(builder, loc, type, octet, pointer, ValueRange(constant(bytes)));
      return LLVM::GEPOp::create(builder, loc, type, octet, pointer,
                                 ArrayRef<LLVM::GEPArg>(static_cast<int32_t>(bytes)));
    };
    Address address = addressOf(number.getArg());
    int64_t taking = address.bytes & (granularity - 1);
    Value pointer = behind(withoutConstants(builder, loc, address), taking);
    Value from = LLVM::PtrToIntOp::create(builder, loc, word, pointer);
    Value read = LLVM::AndOp::create(builder, loc, from, constant(mask.getZExtValue()));
    Value written = LLVM::LShrOp::create(builder, loc, read, constant(shift.getZExtValue()));
    Value to = LLVM::XOrOp::create(builder, loc, from, written);
    Value distance = LLVM::SubOp::create(builder, loc, to, from);
    Value there = LLVM::GEPOp::create(builder, loc, type, octet, pointer, ValueRange(distance));
    access.replaceAllUsesWith(behind(there, address.bytes - taking));
    access.erase();
  });
}
