// SPDX-License-Identifier: Apache-2.0
//
// Copies through buffer resources.
#include "../FlyToLLVM/Addressing.h"
#include "../FlyToLLVM/AtomState.h"
#include "AtomCalls.h"
#include "BufferPointers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

namespace fly::rocdl {

/// Positions in the state structs.
constexpr int64_t soffsetField = 0;
constexpr int64_t immOffsetField = 1;

namespace {

/// What the buffer instructions want of a buffer operand.
struct BufferAddress {
  Value resource;
  Value voffset; ///< bytes, per lane
  Value soffset; ///< bytes, per wave
};

/// The state's offset per wave, in bytes.
Value scalarOffset(OpBuilder &builder, const CopyCall &call, const CallOperand &operand) {
  Value soffset = readField(builder, call.loc(), call.state, soffsetField);
  return elementsToBytes(builder, call.loc(), soffset, operand.memref().getElementType());
}

BufferAddress bufferAddress(OpBuilder &builder, const CopyCall &call, const CallOperand &operand,
                            Value soffset) {
  fly::MemRefType type = operand.memref();
  Value resource = bufferResource(builder, call.loc(), operand.converted);
  Value voffset = bufferByteOffset(builder, call.loc(),
                                   bufferElementOffset(builder, call.loc(), operand.converted),
                                   type.getElementType(), type.getSwizzle());
  return {resource, voffset, soffset};
}

} // namespace

// --- cdna3.buffer_copy ---------------------------------------------------------------------------

/// The type that `bits` bits, read as an integer, have in the register tensor that they are stored
/// to.
static Type registerType(fly::MemRefType registers, int32_t bits) {
  int32_t elementBits = getElementBitWidth(registers.getElementType());
  auto element = dyn_cast<FloatType>(registers.getElementType());
  if (bits % elementBits != 0)
    return IntegerType::get(registers.getContext(), bits);
  Type scalar = element && elementBits >= 16
                    ? Type(element)
                    : Type(IntegerType::get(registers.getContext(), elementBits));
  if (bits == elementBits)
    return scalar;
  return VectorType::get(bits / elementBits, scalar);
}

CopyResult lowerBufferCopy(OpBuilder &builder, CDNA3BufferCopyType operation,
                           const CopyCall &call) {
  bool load = isBuffer(call.source);
  if (load == isBuffer(call.destination))
    return failure();
  Location loc = call.loc();
  Type data = builder.getIntegerType(operation.getBits());
  Value aux = constantI32(builder, loc, operation.getCache());
  ArrayAttr noAttr;
  Value soffset = scalarOffset(builder, call, load ? call.source : call.destination);
  if (load) {
    BufferAddress address = bufferAddress(builder, call, call.source, soffset);
    Value value =
        ROCDL::RawPtrBufferLoadOp::create(builder, loc, data, address.resource, address.voffset,
                                          address.soffset, aux, noAttr, noAttr, noAttr);
    if (!call.resultType && call.destination.memref())
      value = reinterpret(builder, loc, value,
                          registerType(call.destination.memref(), operation.getBits()));
    return writeResult(builder, call, value);
  }
  if (call.resultType)
    return failure();
  BufferAddress address = bufferAddress(builder, call, call.destination, soffset);
  Value value = readSource(builder, call, data);
  if (!value)
    return failure();
  ROCDL::RawPtrBufferStoreOp::create(builder, loc, value, address.resource, address.voffset,
                                     address.soffset, aux, noAttr, noAttr, noAttr);
  return Value();
}

// --- cdna3.buffer_atomic -------------------------------------------------------------------------

CopyResult lowerBufferAtomic(OpBuilder &builder, CDNA3BufferAtomicType operation,
                             const CopyCall &call) {
  if (call.resultType || !isBuffer(call.destination))
    return failure();
  Type type = operation.getValueType();
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(type));
  bool isVector = isa<VectorType>(type);
  StringRef name;
  if (operation.getOp() == AtomicOp::Add && isFloat)
    name = ROCDL::RawPtrBufferAtomicFaddOp::getOperationName();
  else if (operation.getOp() == AtomicOp::Max && !isVector)
    name = isFloat ? ROCDL::RawPtrBufferAtomicFmaxOp::getOperationName()
                   : ROCDL::RawPtrBufferAtomicSmaxOp::getOperationName();
  else if (operation.getOp() == AtomicOp::Min && !isFloat && !isVector)
    name = ROCDL::RawPtrBufferAtomicUminOp::getOperationName();
  else
    return failure();
  Value value = readSource(builder, call, type);
  if (!value)
    return failure();
  Location loc = call.loc();
  BufferAddress address = bufferAddress(builder, call, call.destination, Value());
  address.soffset = scalarOffset(builder, call, call.destination);
  OperationState state(loc, name);
  state.addOperands(
      {value, address.resource, address.voffset, address.soffset, constantI32(builder, loc, 0)});
  builder.create(state);
  return Value();
}

// --- loads to LDS --------------------------------------------------------------------------------

/// A buffer load to LDS of `bits` bits.
static CopyResult loadToLDS(OpBuilder &builder, const CopyCall &call, int32_t bits) {
  if (call.resultType || !isBuffer(call.source) ||
      !call.destination.isMemoryIn(AddressSpace::Shared))
    return failure();
  Location loc = call.loc();
  Value soffset = scalarOffset(builder, call, call.source);
  Value immediate = readField(builder, loc, call.state, immOffsetField);
  Value aux = constantI32(builder, loc, 0);
  Value size = constantI32(builder, loc, bits / 8);
  BufferAddress address = bufferAddress(builder, call, call.source, soffset);
  ArrayAttr noAttr;
  // The hardware spreads the lanes' data over LDS itself, so that a swizzle of the destination has
  // no meaning.
  ROCDL::RawPtrBufferLoadLdsOp::create(builder, loc, address.resource, call.destination.converted,
                                       size, address.voffset, address.soffset, immediate, aux,
                                       noAttr, noAttr, noAttr);
  return Value();
}

CopyResult lowerBufferCopyLDS(OpBuilder &builder, CDNA3BufferCopyLDSType operation,
                              const CopyCall &call) {
  int32_t bits = operation.getBits();
  if (bits != 32 && bits != 128)
    return call.op->emitError("unsupported bitSize = ")
           << bits << " for BufferCopyLDS; expected 32 or 128 (128 needs gfx950)";
  return loadToLDS(builder, call, bits);
}

/// The width of an asynchronous load to LDS; diagnoses others.
static FailureOr<int32_t> asyncWidth(const CopyCall &call, int32_t bits, StringRef name) {
  if (bits != 32 && bits != 96 && bits != 128)
    return call.op->emitError("unsupported bitSize = ")
           << bits << " for " << name << "; expected 32, 96 or 128 (96 and 128 need gfx950)";
  return bits;
}

// LLVM 22 has one kind of load to LDS. It tracks them, and waits before LDS is read: what the
// asynchronous form leaves to the program is done here by the compiler.

CopyResult lowerBufferLoadAsyncLDS(OpBuilder &builder, CDNA4BufferLoadAsyncLDSType operation,
                                   const CopyCall &call) {
  FailureOr<int32_t> bits = asyncWidth(call, operation.getBits(), "BufferLoadAsyncLDS");
  return failed(bits) ? CopyResult(failure()) : loadToLDS(builder, call, *bits);
}

CopyResult lowerGlobalLoadAsyncLDS(OpBuilder &builder, CDNA4GlobalLoadAsyncLDSType operation,
                                   const CopyCall &call) {
  FailureOr<int32_t> bits = asyncWidth(call, operation.getBits(), "GlobalLoadAsyncLDS");
  if (failed(bits) || call.resultType || !call.source.isMemoryIn(AddressSpace::Global) ||
      !call.destination.isMemoryIn(AddressSpace::Shared))
    return failure();
  Value address =
      swizzlePointer(builder, call.loc(), call.source.converted, call.source.memref().getSwizzle());
  ArrayAttr noAttr;
  ROCDL::GlobalLoadLDSOp::create(builder, call.loc(), address, call.destination.converted,
                                 /*size=*/*bits / 8, /*offset=*/0, /*aux=*/0, noAttr, noAttr,
                                 noAttr);
  return Value();
}

} // namespace fly::rocdl
