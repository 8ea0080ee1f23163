// SPDX-License-Identifier: Apache-2.0
//
// Atoms that every target has: universal_copy, universal_atomic, universal_fma.
#include "Addressing.h"
#include "AtomCalls.h"
#include "DeviceConversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace fly::lowering {

/// The attributes of a pointer argument whose alignment is known to be more than its elements'.
static Attribute alignmentOf(OpBuilder &builder, fly::MemRefType type) {
  int64_t alignment = accessAlignment(type.getAlignment(), type.getSwizzle());
  NamedAttrList attributes;
  if (alignment > getElementByteSize(type.getElementType()))
    attributes.append(LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(alignment));
  return attributes.getDictionary(builder.getContext());
}

/// Memory to memory. A memcpy of a known small size becomes the widest accesses that the alignments
/// allow.
static void copyMemory(OpBuilder &builder, const CopyCall &call, int32_t bits) {
  Location loc = call.loc();
  Value source =
      swizzlePointer(builder, loc, call.source.converted, call.source.memref().getSwizzle());
  Value destination = swizzlePointer(builder, loc, call.destination.converted,
                                     call.destination.memref().getSwizzle());
  Value bytes = constantI32(builder, loc, llvm::divideCeil(bits, 8));
  auto copy =
      LLVM::MemcpyOp::create(builder, loc, destination, source, bytes, /*isVolatile=*/false);
  Attribute destinationAlignment = alignmentOf(builder, call.destination.memref());
  Attribute sourceAlignment = alignmentOf(builder, call.source.memref());
  auto none = builder.getDictionaryAttr({});
  if (destinationAlignment != none || sourceAlignment != none)
    copy.setArgAttrsAttr(builder.getArrayAttr({destinationAlignment, sourceAlignment, none}));
}

CopyResult lowerUniversalCopy(OpBuilder &builder, UniversalCopyType operation,
                              const CopyCall &call) {
  if (!call.source.isValue() && !call.source.isPlainMemory())
    return failure();
  if (call.resultType) {
    Value value = readSource(builder, call, call.resultType);
    if (!value)
      return failure();
    return value;
  }
  if (call.source.isValue())
    return writeResult(builder, call, call.source.converted);
  if (!call.destination.isPlainMemory())
    return failure();
  copyMemory(builder, call, operation.getBits());
  return Value();
}

// --- universal_atomic ----------------------------------------------------------------------------

/// The read-modify-write that `op` is on a type; nothing when there is none.
static std::optional<LLVM::AtomicBinOp> atomicOperation(AtomicOp op, bool isFloat) {
  switch (op) {
  case AtomicOp::Add:
    return isFloat ? LLVM::AtomicBinOp::fadd : LLVM::AtomicBinOp::add;
  case AtomicOp::Max:
    return isFloat ? LLVM::AtomicBinOp::fmax : LLVM::AtomicBinOp::max;
  case AtomicOp::Min:
    return isFloat ? LLVM::AtomicBinOp::fmin : LLVM::AtomicBinOp::min;
  default:
    break;
  }
  if (isFloat)
    return std::nullopt;
  switch (op) {
  case AtomicOp::And:
    return LLVM::AtomicBinOp::_and;
  case AtomicOp::Or:
    return LLVM::AtomicBinOp::_or;
  case AtomicOp::Inc:
    return LLVM::AtomicBinOp::uinc_wrap;
  case AtomicOp::Dec:
    return LLVM::AtomicBinOp::udec_wrap;
  default:
    return std::nullopt;
  }
}

CopyResult lowerUniversalAtomic(OpBuilder &builder, UniversalAtomicType operation,
                                const CopyCall &call) {
  std::optional<LLVM::AtomicBinOp> op =
      atomicOperation(operation.getOp(), isa<FloatType>(operation.getValueType()));
  // The old value is discarded, so there is nothing to yield.
  if (!op || call.resultType || !call.destination.isPlainMemory())
    return failure();
  Value value = readSource(builder, call, operation.getValueType());
  if (!value)
    return failure();
  Value address = swizzlePointer(builder, call.loc(), call.destination.converted,
                                 call.destination.memref().getSwizzle());
  const StringRef wanted = operation.getSyncScope().getValue();
  std::optional<StringRef> scope = call.device->getSyncScope(wanted);
  if (!scope)
    return call.op->emitError("the scope \"")
           << wanted << "\" of the atomic operation is none of " << call.device->getName();
  LLVM::AtomicRMWOp::create(builder, call.loc(), *op, address, value,
                            LLVM::AtomicOrdering::monotonic, *scope);
  return Value();
}

// --- universal_fma -------------------------------------------------------------------------------

// Two roundings, as the reference has it: a fused one would give other results.
FailureOr<Value> lowerUniversalFMA(OpBuilder &builder, UniversalFMAType operation,
                                   const MmaCall &call) {
  Type type = operation.getElementType();
  if (!isa<FloatType>(type))
    return failure();
  Location loc = call.loc();
  Value a = reinterpret(builder, loc, call.a.front(), type);
  Value b = reinterpret(builder, loc, call.b.front(), type);
  Value c = reinterpret(builder, loc, call.c, type);
  if (!a || !b || !c)
    return failure();
  Value product = LLVM::FMulOp::create(builder, loc, a, b);
  return LLVM::FAddOp::create(builder, loc, product, c).getResult();
}

} // namespace fly::lowering
