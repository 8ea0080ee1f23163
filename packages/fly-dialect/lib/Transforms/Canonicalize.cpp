// SPDX-License-Identifier: Apache-2.0
//
// Constant folding of the dialect: a value that its type describes completely is constructed from
// that type, whatever computed it.

#include "Constructors.h"
#include "GreedySimplification.h"

#include "fly/Dialect/Fly/IR/FlyDialect.h"
#include "fly/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace fly {
#define GEN_PASS_DEF_FLYCANONICALIZEPASS
#include "fly/Transforms/Passes.h.inc"
} // namespace fly

using namespace mlir;
using namespace fly;

namespace {

/// make_shape, make_stride and make_coord say the same as make_int_tuple.
bool isTupleAlias(Operation *op) { return isa<MakeShapeOp, MakeStrideOp, MakeCoordOp>(op); }

/// A constructor, whose operands are canonicalised instead.
bool isConstructor(Operation *op) {
  return isa<MakeIntTupleOp, MakeLayoutOp, MakeComposedLayoutOp, MakeViewOp, MakeCopyAtomOp,
             MakeMmaAtomOp, MakeTiledCopyOp, MakeTiledMmaOp>(op);
}

/// Whether `op` is the canonical constructor of its type already.
bool isCanonicalStatic(StaticOp op) {
  return isa<SwizzleType, CoordSwizzleType, TileType>(op.getType());
}

/// Whether `op` is replaced by constructors of its result type.
bool isFoldable(Operation *op) {
  if (op->getNumResults() != 1 || !isa_and_nonnull<FlyDialect>(op->getDialect()))
    return false;
  Type type = op->getResult(0).getType();
  // `basis` has no constructor; a change of state of an atom without state is reported later.
  if (isa<BasisType>(type) || !isStaticType(type) || isa<AtomSetValueOp>(op) || isConstructor(op))
    return false;
  auto staticOp = dyn_cast<StaticOp>(op);
  return !staticOp || !isCanonicalStatic(staticOp);
}

/// Reads of coordinates have no effect, although reads of memory through the same ops do.
bool isErasable(Operation *op) {
  return isMemoryEffectFree(op) || isa<PtrLoadOp, MemRefLoadOp>(op);
}

struct FlyCanonicalizePass : public fly::impl::FlyCanonicalizePassBase<FlyCanonicalizePass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isTupleAlias(op) || isFoldable(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      OpBuilder builder(op);
      Value constructed;
      if (isTupleAlias(op) && op->getNumOperands() != 0)
        constructed = MakeIntTupleOp::create(builder, op->getLoc(), op->getResultTypes().front(),
                                             op->getOperands());
      else
        constructed =
            Constructors(builder, op->getLoc()).ofStaticType(op->getResultTypes().front());
      op->getResult(0).replaceAllUsesWith(constructed);
      if (isErasable(op))
        op->erase();
    }
    simplifyGreedily(getOperation());
  }
};

} // namespace
