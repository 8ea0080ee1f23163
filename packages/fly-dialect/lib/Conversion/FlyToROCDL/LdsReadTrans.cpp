// SPDX-License-Identifier: Apache-2.0
//
// cdna4.lds_read_trans.
#include "../FlyToLLVM/Addressing.h"
#include "AtomCalls.h"

using namespace mlir;

namespace fly::rocdl {

CopyResult lowerLdsReadTrans(OpBuilder &builder, CDNA4LdsReadTransType operation,
                             const CopyCall &call) {
  struct Instruction {
    int32_t granularity;
    int32_t bits;
    const char *name;
    int64_t elements;
    unsigned elementBits;
  };
  constexpr Instruction instructions[] = {
      {4, 64, "rocdl.ds.read.tr4.b64", 2, 32},
      {8, 64, "rocdl.ds.read.tr8.b64", 2, 32},
      {6, 96, "rocdl.ds.read.tr6.b96", 3, 32},
      {16, 64, "rocdl.ds.read.tr16.b64", 4, 16},
  };
  const Instruction *read = llvm::find_if(instructions, [&](const Instruction &candidate) {
    return candidate.granularity == operation.getGranularity() &&
           candidate.bits == operation.getBits();
  });
  if (read == std::end(instructions))
    return call.op->emitError("unsupported (bitSize, transGranularity) = (")
           << operation.getBits() << ", " << operation.getGranularity()
           << ") for LDS read transpose";
  if (!call.source.isMemoryIn(AddressSpace::Shared))
    return failure();
  // The lanes exchange data by their place in LDS; a swizzle of the source is the program's
  // business.
  auto type = VectorType::get(read->elements, builder.getIntegerType(read->elementBits));
  FailureOr<Value> value =
      createIntrinsic(builder, call.op, read->name, call.source.converted, type);
  if (failed(value))
    return failure();
  return writeResult(builder, call, *value);
}

} // namespace fly::rocdl
