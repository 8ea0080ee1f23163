// SPDX-License-Identifier: Apache-2.0

#include "LayoutLowering.h"
#include "../GreedySimplification.h"

#include "fly/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"

namespace fly {
#define GEN_PASS_DEF_FLYLAYOUTLOWERINGPASS
#include "fly/Transforms/Passes.h.inc"
} // namespace fly

using namespace mlir;
using namespace fly;

Value fly::getAtom(LoweringState &state, Value atomOrTiled) {
  if (isa<CopyAtomType, MmaAtomType>(atomOrTiled.getType()))
    return atomOrTiled;
  if (isa<TiledCopyType>(atomOrTiled.getType()))
    return GetCopyAtomOp::create(state.builder, state.loc(), atomOrTiled);
  return GetMmaAtomOp::create(state.builder, state.loc(), atomOrTiled);
}

/// Constructors whose type promises dynamic leaves that nobody gives them.
static LogicalResult checkConstructor(Operation *op) {
  if (isa<MakeIntTupleOp, MakeShapeOp, MakeStrideOp, MakeCoordOp>(op)) {
    const unsigned leaves =
        countDynamicLeaves(cast<IntTupleType>(op->getResult(0).getType()).getValue());
    if (op->getNumOperands() != leaves)
      return op->emitOpError("needs one operand for each dynamic leaf of its type, ")
             << leaves << ", got " << op->getNumOperands();
  }
  if (isa<StaticOp>(op)) {
    const Type type = op->getResult(0).getType();
    if (isa<IntTupleType, LayoutType, ComposedLayoutType, CoordTensorType>(type) &&
        !isStaticType(type))
      return op->emitOpError("has nothing but its type to make a value of, and ")
             << type << " is dynamic";
  }
  return success();
}

static LogicalResult lower(LoweringState &state, Operation *op) {
  if (failed(checkConstructor(op)))
    return failure();
  state.setPosition(op);
  for (auto theme : {lowerAlgebra, lowerScalars, lowerMemory, lowerVectorAccess, lowerCopy,
                     lowerGemm, lowerPrint}) {
    switch (theme(state, op)) {
    case Lowered::NotMine:
      continue;
    case Lowered::Done:
      state.replaced(op);
      return success();
    case Lowered::Left:
      return success();
    case Lowered::Failed:
      return failure();
    }
  }
  return success();
}

/// Ops that fold to constants become them where they stand.
static void foldToConstants(Operation *root) {
  SmallVector<Operation *> folded;
  root->walk([&](Operation *op) {
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
        op->hasTrait<OpTrait::ConstantLike>() || !op->getDialect() ||
        isa<FlyDialect>(op->getDialect()) || !isMemoryEffectFree(op))
      return;
    SmallVector<Attribute> operands(op->getNumOperands());
    for (auto [operand, attribute] : llvm::zip_equal(op->getOperands(), operands))
      matchPattern(operand, m_Constant(&attribute));
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)) || results.empty())
      return;
    auto constant = dyn_cast<Attribute>(results.front());
    if (!constant)
      return;
    OpBuilder builder(op);
    Operation *made = op->getDialect()->materializeConstant(
        builder, constant, op->getResult(0).getType(), op->getLoc());
    if (!made)
      return;
    op->getResult(0).replaceAllUsesWith(made->getResult(0));
    folded.push_back(op);
  });
  for (Operation *op : llvm::reverse(folded))
    op->erase();
}

namespace {
/// A constant, and the op that it was made for.
struct MadeFor {
  Operation *constant;
  Operation *user;
};
} // namespace

/// The constants of the lowering that stand in front of what they were made for. Others are of use
/// to several ops.
static SmallVector<MadeFor> findConstants(Operation *root, const RuntimeArithEmitter &arith) {
  SmallVector<MadeFor> found;
  root->walk([&](Operation *op) {
    if (!arith.hasMade(op))
      return;
    Operation *user = op->getNextNode();
    while (isa_and_nonnull<arith::ConstantOp>(user))
      user = user->getNextNode();
    if (user && llvm::is_contained(user->getOperands(), op->getResult(0)))
      found.push_back({op, user});
  });
  return found;
}

/// Moves a constant, in front of what needs it first now, where what it was made for is gone.
static void moveConstants(ArrayRef<MadeFor> constants, const llvm::DenseSet<Operation *> &erased) {
  for (const auto &[constant, user] : constants) {
    if (erased.contains(constant) || !erased.contains(user))
      continue;
    Operation *first = nullptr;
    for (Operation *other : constant->getUsers()) {
      Operation *inBlock = constant->getBlock()->findAncestorOpInBlock(*other);
      if (inBlock && (!first || inBlock->isBeforeInBlock(first)))
        first = inBlock;
    }
    if (first)
      constant->moveBefore(first);
  }
}

/// Erases what nothing uses and that has no effect, users before what they use.
static llvm::DenseSet<Operation *> eraseDeadOps(Operation *root) {
  llvm::DenseSet<Operation *> erased;
  SmallVector<Operation *> ops;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != root)
      ops.push_back(op);
  });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op)) {
      erased.insert(op);
      op->erase();
    }
  return erased;
}

namespace {
struct FlyLayoutLoweringPass : public fly::impl::FlyLayoutLoweringPassBase<FlyLayoutLoweringPass> {
  void runOnOperation() override {
    Operation *root = getOperation();
    SmallVector<Operation *> ops;
    root->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa_and_nonnull<FlyDialect>(op->getDialect()))
        ops.push_back(op);
    });
    LoweringState state(&getContext());
    bool failed = false;
    // All errors are reported, not only the first one.
    for (Operation *op : ops)
      failed |= mlir::failed(lower(state, op));
    state.finish();
    if (failed)
      return signalPassFailure();
    // First, so that constants come to stand side by side.
    const SmallVector<MadeFor> constants = findConstants(root, state.arith);
    moveConstants(constants, eraseDeadOps(root));
    foldToConstants(root);
    simplifyGreedily(root);
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(root);
    eliminateCommonSubExpressions(rewriter, dominance, root);
  }
};
} // namespace
