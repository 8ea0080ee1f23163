// SPDX-License-Identifier: Apache-2.0

#include "fly/Dialect/Fly/IR/FlyDialect.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/InliningUtils.h"

#include "fly/Dialect/Fly/IR/FlyDialect.cpp.inc"

using namespace mlir;

namespace {
/// Nothing in this dialect depends on the function that it is in.
struct FlyInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void fly::FlyDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerFlyDialectOperations(this);
  addInterfaces<FlyInlinerInterface>();
}
