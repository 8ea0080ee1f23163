// SPDX-License-Identifier: Apache-2.0
#include "ElementEffects.h"

#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

Value fly::writtenOperand(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<PtrStoreOp>([](PtrStoreOp store) { return store.getPtr(); })
      .Case<MemRefStoreOp, MemRefStoreVecOp, CopyOp, CopyAtomCallOp>(
          [](auto access) { return access.getDst(); })
      .Case<GemmOp, MmaAtomCallOp>([](auto product) { return product.getD(); })
      .Default([](Operation *) { return Value(); });
}

bool fly::accessesElements(Operation *op) {
  return isa<PtrLoadOp, MemRefLoadOp, MemRefLoadVecOp>(op) || writtenOperand(op);
}
