// SPDX-License-Identifier: Apache-2.0
#include "Addressing.h"
#include "AtomCalls.h"
#include "Contiguity.h"
#include "Patterns.h"
#include "TypeConverter.h"
#include "fly/Conversion/StorageType.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly::rocdl {

bool CallOperand::isPlainMemory() const {
  return memref() && isa<LLVM::LLVMPointerType>(converted.getType());
}

bool CallOperand::isBuffer() const { return memref() && isBufferSpace(memref().getAddressSpace()); }

CopyResult lowerCopyCall(OpBuilder &builder, Type operation, const CopyCall &call) {
  return llvm::TypeSwitch<Type, CopyResult>(operation)
      .Case([&](UniversalCopyType type) { return lowerUniversalCopy(builder, type, call); })
      .Case([&](UniversalAtomicType type) { return lowerUniversalAtomic(builder, type, call); })
      .Case([&](CDNA3BufferCopyType type) { return lowerBufferCopy(builder, type, call); })
      .Case([&](CDNA3BufferAtomicType type) { return lowerBufferAtomic(builder, type, call); })
      .Case([&](CDNA3BufferCopyLDSType type) { return lowerBufferCopyLDS(builder, type, call); })
      .Case([&](CDNA4BufferLoadAsyncLDSType type) {
        return lowerBufferLoadAsyncLDS(builder, type, call);
      })
      .Case([&](CDNA4GlobalLoadAsyncLDSType type) {
        return lowerGlobalLoadAsyncLDS(builder, type, call);
      })
      .Case([&](CDNA4LdsReadTransType type) { return lowerLdsReadTrans(builder, type, call); })
      .Case([&](GFX1250TDMType type) { return lowerTDM(builder, type, call); })
      .Case([&](CDNA5TensorLoadType type) { return lowerTensorLoad(builder, type, call); })
      .Case([&](CDNA5TensorStoreType type) { return lowerTensorStore(builder, type, call); })
      .Default([](Type) { return failure(); });
}

FailureOr<Value> lowerMmaCall(OpBuilder &builder, Type operation, const MmaCall &call) {
  if (!isa<CDNA3SMFMACType, CDNA4MFMAScaleType, GFX1250WMMAScaleType>(operation) &&
      (call.a.size() != 1 || call.b.size() != 1))
    return call.op->emitError("this MMA atom does not support auxiliary operands");
  return llvm::TypeSwitch<Type, FailureOr<Value>>(operation)
      .Case([&](UniversalFMAType type) { return lowerUniversalFMA(builder, type, call); })
      .Case([&](CDNA3MFMAType type) { return lowerMFMA(builder, type, call); })
      .Case([&](CDNA3SMFMACType type) { return lowerSMFMAC(builder, type, call); })
      .Case([&](CDNA4MFMAScaleType type) { return lowerMFMAScale(builder, type, call); })
      .Case([&](GFX11WMMAType type) { return lowerGFX11WMMA(builder, type, call); })
      .Case([&](GFX120XWMMAType type) { return lowerGFX120XWMMA(builder, type, call); })
      .Case([&](GFX1250WMMAType type) { return lowerGFX1250WMMA(builder, type, call); })
      .Case([&](GFX1250WMMAScaleType type) { return lowerGFX1250WMMAScale(builder, type, call); })
      .Default([](Type) { return failure(); });
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

/// What to say of the alignment of a load that `call` makes of `type`; 0 for the natural one.
/// Vector memory, LDS and scratch take any address, but a load from global memory that is the same
/// for all lanes becomes a scalar one if it is aligned to 4 bytes.
static unsigned loadAlignment(Operation *call, fly::MemRefType type) {
  constexpr int64_t scalarLoad = 4;
  if (!call->hasAttr(kExactAlignment) || !type.isInSpace(fly::AddressSpace::Global))
    return 0;
  int64_t alignment = accessAlignment(type.getAlignment(), type.getSwizzle());
  return alignment < scalarLoad ? alignment : 0;
}

Value readSource(OpBuilder &builder, const CopyCall &call, Type type) {
  if (call.source.isValue())
    return reinterpret(builder, call.loc(), call.source.converted, type);
  if (!call.source.isPlainMemory())
    return Value();
  Value address =
      swizzlePointer(builder, call.loc(), call.source.converted, call.source.memref().getSwizzle());
  return LLVM::LoadOp::create(builder, call.loc(), type, address,
                              loadAlignment(call.op, call.source.memref()));
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

/// The old value of a destination, of which LLVM knows nothing. Emits no instruction.
///
/// LLVM moves what is computed from a choice between a load and a constant into the branch of the
/// load (folding it for the constant), and with it the wait for the load: every predicated load
/// would be waited for before the next one is issued.
Value opaqueOldValue(OpBuilder &builder, Location loc, Value old) {
  Type type = old.getType();
  int64_t bits = 0;
  if (auto vector = dyn_cast<VectorType>(type); vector && vector.getElementType().isIntOrFloat())
    bits = vector.getNumElements() * vector.getElementTypeBitWidth();
  else if (type.isIntOrFloat())
    bits = type.getIntOrFloatBitWidth();
  // What a tuple of vector registers holds; and a register of 16 bits.
  if (bits != 16 && (bits % 32 != 0 || bits == 0 || bits > 256))
    return old;
  Type word = builder.getIntegerType(bits == 16 ? 16 : 32);
  Type registers = bits > 32 ? VectorType::get({bits / 32}, word) : word;
  Value raw = type == registers ? old : LLVM::BitcastOp::create(builder, loc, registers, old);
  raw = LLVM::InlineAsmOp::create(builder, loc, registers, raw, /*asm_string=*/"",
                                  /*constraints=*/"=v,0", /*has_side_effects=*/false,
                                  /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                  LLVM::AsmDialectAttr(), ArrayAttr())
            .getResult(0);
  return type == registers ? raw : LLVM::BitcastOp::create(builder, loc, type, raw);
}

/// Replaces the call `op` by its lowering, which a predicate makes conditional. Where it is false,
/// a call with a result yields the destination's old value.
LogicalResult lowerPredicated(ConversionPatternRewriter &rewriter, Type operation,
                              const CopyCall &call, const CallOperand &predicate) {
  if (failed(checkContiguity(operation, call)) || failed(checkSwizzles(operation, call)))
    return failure();
  Location loc = call.loc();
  if (!predicate) {
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
    old = opaqueOldValue(rewriter, loc, call.destination.converted);
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
template <typename Op, typename Adaptor> CopyCall copyCall(Op op, Adaptor adaptor) {
  return {op,
          adaptor.getAtom(),
          {op.getSrc(), adaptor.getSrc()},
          {op.getDst(), adaptor.getDst()},
          Type()};
}

struct CopyAtomCallLowering : OpConversionPattern<CopyAtomCallOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(CopyAtomCallOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    CopyCall call = copyCall(op, adaptor);
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
    CopyCall call = copyCall(op, adaptor);
    if (Value result = op.getResult())
      call.resultType = getTypeConverter()->convertType(result.getType());
    return lowerPredicated(rewriter, getAtomOperation(op.getAtom().getType()), call,
                           {op.getPred(), adaptor.getPred()});
  }
};

/// The lane values of an operand: itself, or what lies in a contiguous tensor in plain memory. Null
/// when it is neither.
Value loadFragment(OpBuilder &builder, Operation *call, Value original, Value pointer) {
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
  return LLVM::LoadOp::create(builder, loc, value, address, loadAlignment(call, type));
}

/// Reads the operands of a call of a matrix atom, lowers it, and stores to `destination` if that is
/// memory.
template <typename Op, typename Adaptor>
FailureOr<Value> lowerMma(ConversionPatternRewriter &rewriter, Op op, Adaptor adaptor,
                          Type resultType) {
  Location loc = op.getLoc();
  MmaCall call{op, adaptor.getAtom(), {}, {}, Value()};
  for (auto [group, originals, values] :
       {std::tuple(&call.a, ValueRange(op.getA()), ValueRange(adaptor.getA())),
        std::tuple(&call.b, ValueRange(op.getB()), ValueRange(adaptor.getB()))})
    for (auto [original, value] : llvm::zip_equal(originals, values))
      group->push_back(loadFragment(rewriter, op, original, value));
  call.c = loadFragment(rewriter, op, op.getC(), adaptor.getC());
  if (!call.c || llvm::is_contained(call.a, Value()) || llvm::is_contained(call.b, Value()))
    return failure();
  FailureOr<Value> result = lowerMmaCall(rewriter, getAtomOperation(op.getAtom().getType()), call);
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
    if (failed(lowerMma(rewriter, op, adaptor, Type())))
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
    FailureOr<Value> result = lowerMma(rewriter, op, adaptor, resultType);
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

} // namespace fly::rocdl
