// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies from global to shared memory, by each thread.
#include "../FlyToLLVM/Addressing.h"
#include "AtomCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace fly::lowering;

namespace fly::nvvm {

/// Elements side by side, as many as the copy moves. Where they are as many, what all copies are
/// checked for has said that they lie side by side.
static LogicalResult checkExtent(SM80CpAsyncType operation, const CopyCall &call,
                                 const CallOperand &operand, StringRef name) {
  const fly::MemRefType type = operand.memref();
  int64_t bits = getElementBitWidth(type.getElementType());
  bool isKnown = true;
  forEachLeaf(type.getLayout().plain().shape(), [&](const IntTuple &leaf) {
    isKnown &= leaf.isStaticLeaf();
    bits *= leaf.isStaticLeaf() ? leaf.staticValue() : 1;
  });
  if (!isKnown || bits == operation.getBits())
    return success();
  return call.op->emitError("a copy of ")
         << Type(operation) << " moves " << operation.getBits() << " bits, but its " << name << ' '
         << type << " holds " << bits;
}

/// Shared memory is the kernel's own, so that what its alignment is can be known. Arguments in
/// global memory are taken on trust, as by all atoms.
static LogicalResult checkAlignment(SM80CpAsyncType operation, const CopyCall &call) {
  const fly::MemRefType tile = call.destination.memref();
  const int64_t wanted = operation.getBits() / 8;
  const int64_t known = accessAlignment(tile.getAlignment(), tile.getSwizzle());
  if (known % wanted == 0)
    return success();
  return call.op->emitError("a copy of ")
         << Type(operation) << " writes at multiples of " << wanted
         << " bytes, but of its destination " << tile << " only multiples of " << known
         << " are known; allocate the shared memory with an alignment of " << wanted
         << " bytes, have the strides of its layout be multiples of that, say what offsets are by "
            "fx.assume, or copy fewer bits";
}

CopyResult lowerCpAsync(OpBuilder &builder, SM80CpAsyncType operation, const CopyCall &call) {
  if (call.resultType || !call.source.isMemoryIn(AddressSpace::Global) ||
      !call.destination.isMemoryIn(AddressSpace::Shared))
    return call.op->emitError("a copy of ")
           << Type(operation) << " is from a tensor in global memory to one in shared memory";
  if (failed(checkExtent(operation, call, call.source, "source")) ||
      failed(checkExtent(operation, call, call.destination, "destination")) ||
      failed(checkAlignment(operation, call)))
    return failure();
  Location loc = call.loc();
  const int32_t bytes = operation.getBits() / 8;
  const bool passesL1 = bytes == 16 && !operation.getL1();
  Value source =
      swizzlePointer(builder, loc, call.source.converted, call.source.memref().getSwizzle());
  Value destination = swizzlePointer(builder, loc, call.destination.converted,
                                     call.destination.memref().getSwizzle());
  // What is not read of the source is filled with zeros. An address that nothing is read at need
  // not be one.
  Value read;
  if (call.predicate)
    read = arith::SelectOp::create(builder, loc, call.predicate, constantI32(builder, loc, bytes),
                                   constantI32(builder, loc, 0));
  NVVM::CpAsyncOp::create(
      builder, loc, destination, source, bytes,
      passesL1 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA, read);
  return Value();
}

} // namespace fly::nvvm
