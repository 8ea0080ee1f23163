// SPDX-License-Identifier: Apache-2.0
#include "AuxiliaryOperand.h"
#include "../FlyToLLVM/Addressing.h"

using namespace mlir;

namespace fly::rocdl {

FailureOr<Value> readAuxiliary(OpBuilder &builder, const MmaCall &call, ArrayRef<Value> group,
                               int64_t field, StringRef what) {
  Location loc = call.loc();
  if (group.size() == 1)
    return builder.createOrFold<LLVM::ExtractValueOp>(loc, call.state, ArrayRef<int64_t>{field});
  Type type = cast<LLVM::LLVMStructType>(call.state.getType()).getBody()[field];
  Value value = reinterpret(builder, loc, group[1], type);
  if (!value)
    return call.op->emitError() << what << " must have " << type.getIntOrFloatBitWidth()
                                << " bits, got " << group[1].getType();
  return value;
}

} // namespace fly::rocdl
