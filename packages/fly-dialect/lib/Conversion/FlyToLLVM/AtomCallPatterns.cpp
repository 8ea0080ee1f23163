// SPDX-License-Identifier: Apache-2.0
#include "Addressing.h"
#include "AtomCalls.h"
#include "Contiguity.h"
#include "DeviceConversion.h"
#include "Patterns.h"
#include "TypeConverter.h"
#include "fly/Conversion/StorageType.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Dialect/Fly/IR/MemoryOperandInterface.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly::lowering {

bool CallOperand::isPlainMemory() const {
  return memref() && isa<LLVM::LLVMPointerType>(converted.getType());
}

static CopyResult lowerCopyCall(OpBuilder &builder, Type operation, const CopyCall &call) {
  return llvm::TypeSwitch<Type, CopyResult>(operation)
      .Case([&](UniversalCopyType type) { return lowerUniversalCopy(builder, type, call); })
      .Case([&](UniversalAtomicType type) { return lowerUniversalAtomic(builder, type, call); })
      .Default([&](Type type) { return call.device->lowerCopy(builder, type, call); });
}

static FailureOr<Value> lowerMmaCall(OpBuilder &builder, const DeviceConversion &device,
                                     Type operation, const MmaCall &call) {
  if (!device.takesAuxiliaryOperands(operation) && (call.a.size() != 1 || call.b.size() != 1))
    return call.op->emitError("this MMA atom does not support auxiliary operands");
  return llvm::TypeSwitch<Type, FailureOr<Value>>(operation)
      .Case([&](UniversalFMAType type) { return lowerUniversalFMA(builder, type, call); })
      .Default([&](Type type) { return device.lowerMma(builder, type, call); });
}

FailureOr<Value> createIntrinsic(OpBuilder &builder, Operation *call, const Twine &name,
                                 ValueRange operands, Type resultType,
                                 ArrayRef<NamedAttribute> attributes) {
  std::string text = name.str();
  if (!RegisteredOperationName::lookup(text, call->getContext()))
    return call->emitError("this LLVM has no ") << text;
  OperationState state(call->getLoc(), text);
  state.addOperands(operands);
  state.addTypes(resultType);
  state.addAttributes(attributes);
  return builder.create(state)->getResult(0);
}

Value readSource(OpBuilder &builder, const CopyCall &call, Type type) {
  if (call.source.isValue())
    return reinterpret(builder, call.loc(), call.source.converted, type);
  if (!call.source.isPlainMemory())
    return Value();
  Value address =
      swizzlePointer(builder, call.loc(), call.source.converted, call.source.memref().getSwizzle());
  return LLVM::LoadOp::create(builder, call.loc(), type, address,
                              call.device->getLoadAlignment(call.source.memref()));
}

CopyResult writeResult(OpBuilder &builder, const CopyCall &call, Value value) {
  if (call.resultType) {
    Value result = reinterpret(builder, call.loc(), value, call.resultType);
    if (!result)
      return failure();
    return result;
  }
  if (!call.destination.isPlainMemory())
    return failure();
  Value address = swizzlePointer(builder, call.loc(), call.destination.converted,
                                 call.destination.memref().getSwizzle());
  LLVM::StoreOp::create(builder, call.loc(), value, address);
  return Value();
}

namespace {

/// The predicate of a call as an i1: a value, or the first element of a memref of i1. Null when it
/// is neither.
Value loadPredicate(OpBuilder &builder, Location loc, const CallOperand &predicate) {
  if (predicate.isValue())
    return predicate.converted.getType().isInteger(1) ? predicate.converted : Value();
  if (!predicate.isPlainMemory() || !predicate.memref().getElementType().isInteger(1))
    return Value();
  Value address =
      swizzlePointer(builder, loc, predicate.converted, predicate.memref().getSwizzle());
  return LLVM::LoadOp::create(builder, loc, builder.getI1Type(), address);
}

/// Replaces the call `op` by its lowering, which a predicate makes conditional. Where it is false,
/// a call with a result yields the destination's old value.
LogicalResult lowerPredicated(ConversionPatternRewriter &rewriter, Type operation, CopyCall call,
                              const CallOperand &predicate) {
  if (failed(checkContiguity(operation, call)) || failed(checkSwizzles(operation, call)))
    return failure();
  Location loc = call.loc();
  const bool takesPredicate = predicate && call.device->fillsWithZeros(operation);
  if (takesPredicate && !(call.predicate = loadPredicate(rewriter, loc, predicate)))
    return failure();
  if (!predicate || takesPredicate) {
    CopyResult result = lowerCopyCall(rewriter, operation, call);
    if (failed(result))
      return failure();
    if (*result)
      rewriter.replaceOp(call.op, *result);
    else
      rewriter.eraseOp(call.op);
    return success();
  }
  Value condition = loadPredicate(rewriter, loc, predicate);
  if (!condition || (call.resultType && !call.destination.isValue()))
    return failure();
  SmallVector<Type, 1> types;
  Value old;
  if (call.resultType) {
    types.push_back(call.resultType);
    old = call.device->keepOldValue(rewriter, loc, call.destination.converted);
  }
  auto branch = scf::IfOp::create(rewriter, loc, types, condition,
                                  /*withElseRegion=*/static_cast<bool>(call.resultType));
  rewriter.setInsertionPointToStart(branch.thenBlock());
  CopyResult result = lowerCopyCall(rewriter, operation, call);
  if (failed(result))
    return failure();
  if (!call.resultType) {
    rewriter.eraseOp(call.op);
    return success();
  }
  scf::YieldOp::create(rewriter, loc, *result);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(rewriter, loc, old);
  rewriter.replaceOp(call.op, branch.getResults());
  return success();
}

/// Memory to memory copies move elements of one type.
bool elementTypesAgree(const CopyCall &call) {
  fly::MemRefType source = call.source.memref();
  fly::MemRefType destination = call.destination.memref();
  return !source || !destination || source.getElementType() == destination.getElementType();
}

/// `op` as its lowering sees it, without a result.
template <typename Op, typename Adaptor>
CopyCall copyCall(const DeviceConversion &device, Op op, Adaptor adaptor) {
  return {op,
          adaptor.getAtom(),
          {op.getSrc(), adaptor.getSrc()},
          {op.getDst(), adaptor.getDst()},
          Type(),
          &device};
}

struct CopyAtomCallLowering : OpConversionPattern<CopyAtomCallOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(CopyAtomCallOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    CopyCall call = copyCall(deviceOf(*this), op, adaptor);
    if (!elementTypesAgree(call))
      return rewriter.notifyMatchFailure(op, "the memrefs' element types differ");
    return lowerPredicated(rewriter, getAtomOperation(op.getAtom().getType()), call,
                           {op.getPred(), adaptor.getPred()});
  }
};

struct CopyAtomCallSSALowering : OpConversionPattern<CopyAtomCallSSAOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(CopyAtomCallSSAOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    CopyCall call = copyCall(deviceOf(*this), op, adaptor);
    if (Value result = op.getResult())
      call.resultType = getTypeConverter()->convertType(result.getType());
    return lowerPredicated(rewriter, getAtomOperation(op.getAtom().getType()), call,
                           {op.getPred(), adaptor.getPred()});
  }
};

/// The lane values of an operand: itself, or what lies in a contiguous tensor in plain memory. Null
/// when it is neither.
Value loadFragment(OpBuilder &builder, const DeviceConversion &device, Operation *call,
                   Value original, Value pointer) {
  Location loc = call->getLoc();
  auto type = dyn_cast<fly::MemRefType>(original.getType());
  if (!type)
    return pointer; // A value already.
  if (!isa<LLVM::LLVMPointerType>(pointer.getType()) || !isContiguous(type.getLayout()))
    return Value();
  int64_t elements = 1;
  forEachLeaf(type.getLayout().plain().shape(),
              [&](const IntTuple &leaf) { elements *= leaf.staticValue(); });
  if (elements < 1)
    return Value();
  Type element = getStorageType(type.getElementType());
  Type value = elements == 1 ? element : VectorType::get(elements, element);
  if (failed(checkSwizzle(call, "operand", type, bitWidthOf(value))))
    return Value();
  Value address = swizzlePointer(builder, loc, pointer, type.getSwizzle());
  return LLVM::LoadOp::create(builder, loc, value, address, device.getLoadAlignment(type));
}

/// Reads the operands of a call of a matrix atom, lowers it, and stores to `destination` if that is
/// memory.
template <typename Op, typename Adaptor>
FailureOr<Value> lowerMma(ConversionPatternRewriter &rewriter, const DeviceConversion &device,
                          Op op, Adaptor adaptor, Type resultType) {
  Location loc = op.getLoc();
  MmaCall call{op, adaptor.getAtom(), {}, {}, Value(), {}, {}};
  auto reader = dyn_cast<MemoryOperandTypeInterface>(getAtomOperation(op.getAtom().getType()));
  for (auto [operand, group, memory, originals, values] :
       {std::tuple(MmaOperand::A, &call.a, &call.memoryA, ValueRange(op.getA()),
                   ValueRange(adaptor.getA())),
        std::tuple(MmaOperand::B, &call.b, &call.memoryB, ValueRange(op.getB()),
                   ValueRange(adaptor.getB()))}) {
    if (reader && reader.readsMemory(operand)) {
      *memory = dyn_cast<fly::MemRefType>(originals.front().getType());
      group->assign(values.begin(), values.end());
      continue;
    }
    for (auto [original, value] : llvm::zip_equal(originals, values))
      group->push_back(loadFragment(rewriter, device, op, original, value));
  }
  call.c = loadFragment(rewriter, device, op, op.getC(), adaptor.getC());
  if (!call.c || llvm::is_contained(call.a, Value()) || llvm::is_contained(call.b, Value()))
    return failure();
  FailureOr<Value> result =
      lowerMmaCall(rewriter, device, getAtomOperation(op.getAtom().getType()), call);
  if (failed(result))
    return failure();
  if (resultType) {
    Value value = reinterpret(rewriter, loc, *result, resultType);
    if (!value)
      return failure();
    return value;
  }
  CallOperand destination{op.getD(), adaptor.getD()};
  if (!destination)
    return failure();
  Value pointer = destination.converted;
  if (!isa<LLVM::LLVMPointerType>(pointer.getType()) ||
      (destination.memref() && !isContiguous(destination.memref().getLayout())))
    return failure();
  if (destination.memref() &&
      failed(checkSwizzle(op, "result", destination.memref(), bitWidthOf(result->getType()))))
    return failure();
  if (destination.memref())
    pointer = swizzlePointer(rewriter, loc, pointer, destination.memref().getSwizzle());
  LLVM::StoreOp::create(rewriter, loc, *result, pointer);
  return Value();
}

struct MmaAtomCallLowering : OpConversionPattern<MmaAtomCallOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MmaAtomCallOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (failed(lowerMma(rewriter, deviceOf(*this), op, adaptor, Type())))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct MmaAtomCallSSALowering : OpConversionPattern<MmaAtomCallSSAOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MmaAtomCallSSAOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type resultType;
    if (Value result = op.getResult())
      resultType = getTypeConverter()->convertType(result.getType());
    FailureOr<Value> result = lowerMma(rewriter, deviceOf(*this), op, adaptor, resultType);
    if (failed(result))
      return failure();
    if (*result)
      rewriter.replaceOp(op, *result);
    else
      rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateAtomCallPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<CopyAtomCallLowering, CopyAtomCallSSALowering, MmaAtomCallLowering,
               MmaAtomCallSSALowering>(converter, patterns.getContext());
}

} // namespace fly::lowering
