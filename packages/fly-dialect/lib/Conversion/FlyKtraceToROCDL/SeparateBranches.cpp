// SPDX-License-Identifier: Apache-2.0
#include "SeparateBranches.h"

#include "fly/Dialect/FlyKtrace/IR/FlyKtraceDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace fly::ktrace {

static bool containsEvents(Region &region) {
  return region.walk([](EventOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool containsEvents(Operation *op) {
  return llvm::any_of(op->getRegions(), [](Region &region) { return containsEvents(region); });
}

static void separate(scf::IfOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  TypeRange types = op.getResultTypes();
  auto first = scf::IfOp::create(builder, loc, types, op.getCondition(), false, false);
  first.getThenRegion().takeBody(op.getThenRegion());
  auto second = scf::IfOp::create(builder, loc, types, op.getCondition(), false, false);
  second.getElseRegion().takeBody(op.getElseRegion());

  builder.createBlock(&second.getThenRegion());
  scf::YieldOp::create(builder, loc, first.getResults());
  if (!types.empty()) {
    builder.createBlock(&first.getElseRegion());
    SmallVector<Value> nothing;
    for (Type type : types)
      nothing.push_back(ub::PoisonOp::create(builder, loc, type));
    scf::YieldOp::create(builder, loc, nothing);
  }
  op.replaceAllUsesWith(second.getResults());
  op.erase();
}

void separateBranches(gpu::GPUFuncOp kernel) {
  SmallVector<scf::IfOp> found;
  kernel.walk([&](scf::IfOp op) {
    if (containsEvents(op.getThenRegion()) && containsEvents(op.getElseRegion()))
      found.push_back(op);
  });
  for (scf::IfOp op : found)
    separate(op);
}

} // namespace fly::ktrace
