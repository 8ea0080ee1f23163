// SPDX-License-Identifier: Apache-2.0
#include "ROCDLDevice.h"
#include "../FlyToLLVM/AtomState.h"
#include "../FlyToLLVM/TypeConverter.h"
#include "BufferPointers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly::rocdl {

/// LLVM's number of an address space that bare pointers have; an unknown space counts as generic.
static unsigned bareSpace(Attribute addressSpace) {
  auto known = dyn_cast_or_null<AddressSpaceAttr>(addressSpace);
  if (!known)
    return 0;
  switch (known.getValue()) {
  case AddressSpace::Generic:
    return 0;
  case AddressSpace::Global:
    return 1;
  case AddressSpace::Shared:
    return 3;
  case AddressSpace::Register:
    return 5;
  }
  llvm_unreachable("unknown address space");
}

Type ROCDLDevice::convertPointer(Attribute addressSpace) const {
  MLIRContext *context = addressSpace.getContext();
  if (isBufferSpace(addressSpace))
    return getBufferPointerType(context);
  return LLVM::LLVMPointerType::get(context, bareSpace(addressSpace));
}

CopyResult ROCDLDevice::lowerCopy(OpBuilder &builder, Type operation, const CopyCall &call) const {
  return llvm::TypeSwitch<Type, CopyResult>(operation)
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

FailureOr<Value> ROCDLDevice::lowerMma(OpBuilder &builder, Type operation,
                                       const MmaCall &call) const {
  return llvm::TypeSwitch<Type, FailureOr<Value>>(operation)
      .Case([&](CDNA3MFMAType type) { return lowerMFMA(builder, type, call); })
      .Case([&](CDNA3SMFMACType type) { return lowerSMFMAC(builder, type, call); })
      .Case([&](CDNA4MFMAScaleType type) { return lowerMFMAScale(builder, type, call); })
      .Case([&](GFX11WMMAType type) { return lowerGFX11WMMA(builder, type, call); })
      .Case([&](GFX120XWMMAType type) { return lowerGFX120XWMMA(builder, type, call); })
      .Case([&](GFX1250WMMAType type) { return lowerGFX1250WMMA(builder, type, call); })
      .Case([&](GFX1250WMMAScaleType type) { return lowerGFX1250WMMAScale(builder, type, call); })
      .Default([](Type) { return failure(); });
}

bool ROCDLDevice::takesAuxiliaryOperands(Type operation) const {
  return isa<CDNA3SMFMACType, CDNA4MFMAScaleType, GFX1250WMMAScaleType>(operation);
}

bool ROCDLDevice::keepsStateBits(Type operation) const { return takesAuxiliaryOperands(operation); }

/// Fields of gfx1250.tdm that do not start from zero.
constexpr int64_t tdmFirstExtent = 1;
constexpr int64_t tdmFirstStride = 6;
/// "The memref's own stride": what tdm strides start from.
constexpr int64_t tdmUnsetStride = -0x80000000LL;

/// Fields of gfx1250.tdm start from zero, but for extents, which clamp nothing, and strides.
static Value defaultTDMState(OpBuilder &builder, Location loc, LLVM::LLVMStructType type) {
  Value state = LLVM::UndefOp::create(builder, loc, type);
  Value zero = constantI32(builder, loc, 0);
  Value noExtent = constantI32(builder, loc, std::numeric_limits<int32_t>::max());
  Value noStride = constantI64(builder, loc, tdmUnsetStride);
  Value noOffset = constantI64(builder, loc, 0);
  for (auto [position, field] : llvm::enumerate(type.getBody())) {
    const auto index = static_cast<int64_t>(position);
    const bool isExtent = index >= tdmFirstExtent && index < tdmFirstStride;
    const bool isStride = index >= tdmFirstStride && index < tdmFirstStride + 4;
    state = writeField(builder, loc, state, index,
                       isExtent              ? noExtent
                       : isStride            ? noStride
                       : field.isInteger(32) ? zero
                                             : noOffset);
  }
  return state;
}

Value ROCDLDevice::defaultState(OpBuilder &builder, Location loc, Type operation) const {
  if (isa<GFX1250TDMType>(operation))
    return defaultTDMState(builder, loc, getAtomStateType(operation));
  return zeroState(builder, loc, operation);
}

// Vector memory, LDS and scratch take any address, but a load from global memory that is the same
// for all lanes becomes a scalar one if it is aligned to 4 bytes.
unsigned ROCDLDevice::getLoadAlignment(fly::MemRefType type) const {
  constexpr int64_t scalarLoad = 4;
  if (!exactAlignment || !type.isInSpace(fly::AddressSpace::Global))
    return 0;
  int64_t alignment = accessAlignment(type.getAlignment(), type.getSwizzle());
  return alignment < scalarLoad ? alignment : 0;
}

// LLVM knows nothing of the old value; no instruction is emitted.
//
// LLVM moves what is computed from a choice between a load and a constant into the branch of the
// load (folding it for the constant), and with it the wait for the load: every predicated load
// would be waited for before the next one is issued.
Value ROCDLDevice::keepOldValue(OpBuilder &builder, Location loc, Value old) const {
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

} // namespace fly::rocdl
