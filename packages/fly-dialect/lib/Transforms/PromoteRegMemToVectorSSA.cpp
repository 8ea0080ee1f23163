// SPDX-License-Identifier: Apache-2.0
//
// The pass is a structured SSA construction: it walks each block in order, holds the current vector
// of every piece of a promoted allocation in a map, and where a region op lies in between, sends
// the vectors through the op's own values.
#include "RegisterAllocations.h"
#include "fly/Dialect/Fly/IR/FlyDialect.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/TypeSwitch.h"

namespace fly {
#define GEN_PASS_DEF_FLYPROMOTEREGMEMTOVECTORSSAPASS
#include "fly/Transforms/Passes.h.inc"
} // namespace fly

using namespace mlir;
using namespace fly;

namespace {

/// The current value of each piece of a promoted allocation.
using State = llvm::DenseMap<const RegisterPiece *, Value>;

class Promotion {
public:
  Promotion(const RegisterAllocations &allocations, MLIRContext *context)
      : allocations(allocations), rewriter(context) {}

  /// Rewrites the accesses in `block`, starting from and updating `state`.
  LogicalResult run(Block &block, State &state);

private:
  void load(PtrLoadOp op, const RegisterAccess &access, State &state);
  void store(PtrStoreOp op, const RegisterAccess &access, State &state);
  LogicalResult regionOp(Operation *op, State &state);
  FailureOr<Operation *> thread(scf::ForOp op, ArrayRef<const RegisterPiece *> carried,
                                State &state);
  FailureOr<Operation *> thread(scf::IfOp op, ArrayRef<const RegisterPiece *> carried,
                                State &state);
  FailureOr<Operation *> thread(scf::WhileOp op, ArrayRef<const RegisterPiece *> carried,
                                State &state);

  /// Appends one block argument per carried piece, and returns a state that starts from them.
  State enter(Block &block, ArrayRef<const RegisterPiece *> carried, const State &outer) {
    State inner = outer;
    for (const RegisterPiece *piece : carried)
      inner[piece] = block.addArgument(piece->type, piece->op->getLoc());
    return inner;
  }

  /// Appends the current vectors to the operands of `terminator`.
  void leave(Operation *terminator, ArrayRef<const RegisterPiece *> carried, const State &state) {
    rewriter.modifyOpInPlace(terminator, [&] {
      for (const RegisterPiece *piece : carried)
        terminator->insertOperands(terminator->getNumOperands(), state.lookup(piece));
    });
  }

  const RegisterAllocations &allocations;
  IRRewriter rewriter;
};

SmallVector<Value> current(ArrayRef<const RegisterPiece *> carried, const State &state) {
  SmallVector<Value> values;
  for (const RegisterPiece *piece : carried)
    values.push_back(state.lookup(piece));
  return values;
}

/// A vector of all of some pieces, which follow each other.
VectorType typeOfAll(ArrayRef<const RegisterPiece *> pieces) {
  int64_t count = 0;
  for (const RegisterPiece *piece : pieces)
    count += piece->type.getNumElements();
  return VectorType::get(count, pieces.front()->type.getElementType());
}

/// Where `piece` begins in it.
int64_t placeIn(ArrayRef<const RegisterPiece *> pieces, const RegisterPiece *piece) {
  return piece->start - pieces.front()->start;
}

void appendTypes(ArrayRef<const RegisterPiece *> carried, SmallVectorImpl<Type> &types) {
  for (const RegisterPiece *piece : carried)
    types.push_back(piece->type);
}

} // namespace

LogicalResult Promotion::run(Block &block, State &state) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto makePtr = dyn_cast<MakePtrOp>(op)) {
      rewriter.setInsertionPoint(makePtr);
      for (const RegisterPiece *piece : allocations.pieces(makePtr))
        state[piece] = ub::PoisonOp::create(rewriter, op.getLoc(), piece->type);
    } else if (auto loadOp = dyn_cast<PtrLoadOp>(op)) {
      if (auto access = allocations.access(loadOp.getPtr(), loadOp.getResult().getType()))
        load(loadOp, *access, state);
    } else if (auto storeOp = dyn_cast<PtrStoreOp>(op)) {
      if (auto access = allocations.access(storeOp.getPtr(), storeOp.getValue().getType()))
        store(storeOp, *access, state);
    } else if (op.getNumRegions() != 0 && failed(regionOp(&op, state))) {
      return failure();
    }
  }
  return success();
}

void Promotion::load(PtrLoadOp op, const RegisterAccess &access, State &state) {
  rewriter.setInsertionPoint(op);
  const Location loc = op.getLoc();
  Value whole = state.lookup(access.pieces.front());
  if (access.pieces.size() > 1) {
    whole = ub::PoisonOp::create(rewriter, loc, typeOfAll(access.pieces));
    for (const RegisterPiece *piece : access.pieces)
      whole =
          insertRegisters(rewriter, loc, whole, placeIn(access.pieces, piece), state.lookup(piece));
  }
  rewriter.replaceOp(
      op, extractRegisters(rewriter, loc, whole, access.offset, op.getResult().getType()));
}

void Promotion::store(PtrStoreOp op, const RegisterAccess &access, State &state) {
  rewriter.setInsertionPoint(op);
  const Location loc = op.getLoc();
  if (access.pieces.size() > 1) {
    Value whole = ub::PoisonOp::create(rewriter, loc, typeOfAll(access.pieces));
    whole = insertRegisters(rewriter, loc, whole, access.offset, op.getValue());
    for (const RegisterPiece *piece : access.pieces)
      state[piece] =
          extractRegisters(rewriter, loc, whole, placeIn(access.pieces, piece), piece->type);
  } else {
    Value &whole = state[access.pieces.front()];
    whole = insertRegisters(rewriter, loc, whole, access.offset, op.getValue());
  }
  rewriter.eraseOp(op);
}

LogicalResult Promotion::regionOp(Operation *op, State &state) {
  SmallVector<const RegisterPiece *> carried = allocations.accessedFromOutside(op);
  if (carried.empty()) {
    // Allocations of its own are none of the op's business.
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        State inner = state;
        if (failed(run(block, inner)))
          return failure();
      }
    return success();
  }
  FailureOr<Operation *> replacement =
      llvm::TypeSwitch<Operation *, FailureOr<Operation *>>(op)
          .Case<scf::ForOp, scf::IfOp, scf::WhileOp>(
              [&](auto typed) { return thread(typed, carried, state); })
          .Default([](Operation *other) {
            return other->emitOpError("unsupported region op with register values during rmem SSA");
          });
  if (failed(replacement))
    return failure();
  unsigned numOwnResults = op->getNumResults();
  for (auto [index, piece] : llvm::enumerate(carried))
    state[piece] = (*replacement)->getResult(numOwnResults + index);
  rewriter.replaceOp(op, (*replacement)->getResults().take_front(numOwnResults));
  return success();
}

FailureOr<Operation *> Promotion::thread(scf::ForOp op, ArrayRef<const RegisterPiece *> carried,
                                         State &state) {
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inits(op.getInitArgs());
  llvm::append_range(inits, current(carried, state));
  auto loop = scf::ForOp::create(rewriter, op.getLoc(), op.getLowerBound(), op.getUpperBound(),
                                 op.getStep(), inits, /*bodyBuilder=*/nullptr, op.getUnsignedCmp());
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  // The builder made a body with all arguments; the old one takes its place.
  loop.getRegion().takeBody(op.getRegion());
  State inner = enter(*loop.getBody(), carried, state);
  if (failed(run(*loop.getBody(), inner)))
    return failure();
  leave(loop.getBody()->getTerminator(), carried, inner);
  return loop.getOperation();
}

FailureOr<Operation *> Promotion::thread(scf::IfOp op, ArrayRef<const RegisterPiece *> carried,
                                         State &state) {
  rewriter.setInsertionPoint(op);
  SmallVector<Type> types(op.getResultTypes());
  appendTypes(carried, types);
  auto branch = scf::IfOp::create(rewriter, op.getLoc(), types, op.getCondition(),
                                  /*addThenBlock=*/false, /*addElseBlock=*/false);
  branch->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  branch.getThenRegion().takeBody(op.getThenRegion());
  branch.getElseRegion().takeBody(op.getElseRegion());
  if (branch.getElseRegion().empty()) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.createBlock(&branch.getElseRegion());
    scf::YieldOp::create(rewriter, op.getLoc());
  }
  for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
    State inner = state;
    if (failed(run(region->front(), inner)))
      return failure();
    leave(region->front().getTerminator(), carried, inner);
  }
  return branch.getOperation();
}

FailureOr<Operation *> Promotion::thread(scf::WhileOp op, ArrayRef<const RegisterPiece *> carried,
                                         State &state) {
  rewriter.setInsertionPoint(op);
  SmallVector<Type> types(op.getResultTypes());
  appendTypes(carried, types);
  SmallVector<Value> inits(op.getInits());
  llvm::append_range(inits, current(carried, state));
  auto loop = scf::WhileOp::create(rewriter, op.getLoc(), types, inits);
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  loop.getBefore().takeBody(op.getBefore());
  loop.getAfter().takeBody(op.getAfter());
  // What the condition forwards is what the body and the users of the loop see.
  State before = enter(loop.getBefore().front(), carried, state);
  if (failed(run(loop.getBefore().front(), before)))
    return failure();
  leave(loop.getBefore().front().getTerminator(), carried, before);
  State after = enter(loop.getAfter().front(), carried, state);
  if (failed(run(loop.getAfter().front(), after)))
    return failure();
  leave(loop.getAfter().front().getTerminator(), carried, after);
  return loop.getOperation();
}

namespace {

bool isRegisterType(Type type) {
  if (auto pointer = dyn_cast<fly::PointerType>(type))
    return pointer.isInSpace(AddressSpace::Register);
  if (auto memref = dyn_cast<fly::MemRefType>(type))
    return memref.isInSpace(AddressSpace::Register);
  return false;
}

/// Erases fly ops without users. An allocation is not pure, but one that nothing reads or writes is
/// nothing.
void eraseDeadFlyOps(gpu::GPUFuncOp function) {
  function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isa_and_nonnull<FlyDialect>(op->getDialect()) && op->use_empty() &&
        (isMemoryEffectFree(op) ||
         (isa<MakePtrOp>(op) && isRegisterType(op->getResult(0).getType()))))
      op->erase();
  });
}

LogicalResult checkNothingRemains(gpu::GPUFuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    if (!isa<gpu::GPUFuncOp>(op) && (llvm::any_of(op->getOperandTypes(), isRegisterType) ||
                                     llvm::any_of(op->getResultTypes(), isRegisterType))) {
      op->emitOpError("register operand/result remain after rmem SSA promotion");
      return WalkResult::interrupt();
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (llvm::any_of(block.getArgumentTypes(), isRegisterType)) {
          op->emitOpError("register block arguments remain after rmem SSA promotion");
          return WalkResult::interrupt();
        }
    return WalkResult::advance();
  });
  return success(!result.wasInterrupted());
}

/// The slices of one size that `last` and the insertions before it put into a vector, in their
/// order there; none where they do not fill it, or something else reads what is between.
SmallVector<Value> slicesThatFill(vector::InsertStridedSliceOp last) {
  const int64_t size = last.getSourceVectorType().getNumElements();
  const int64_t count = last.getDestVectorType().getNumElements() / size;
  if (last.getDestVectorType().getRank() != 1 || count < 4 || !llvm::isPowerOf2_64(count) ||
      last.getDestVectorType().getNumElements() % size != 0)
    return {};
  SmallVector<Value> slices(count);
  int64_t missing = count;
  for (auto insert = last; insert; insert = insert.getDest().getDefiningOp<decltype(last)>()) {
    const int64_t offset = cast<IntegerAttr>(insert.getOffsets()[0]).getInt();
    if (insert.getSourceVectorType() != last.getSourceVectorType() || offset % size != 0 ||
        (insert != last && !insert->hasOneUse()))
      return {};
    Value &slice = slices[offset / size];
    missing -= !slice;
    slice = slice ? slice : insert.getValueToStore();
    if (missing == 0)
      return slices;
  }
  return {};
}

/// Joins the slices of vectors that go through a region op, as what a loop loads for its next turn,
/// in pairs. LLVM takes each insertion for two shuffles of all elements, and looks through chains
/// of them again and again: for 128 elements that was a third of its optimisation.
void joinCarriedSlices(gpu::GPUFuncOp function) {
  auto isCarried = [](OpOperand &use) {
    return isa<scf::SCFDialect>(use.getOwner()->getDialect());
  };
  SmallVector<vector::InsertStridedSliceOp> carried;
  function.walk([&](vector::InsertStridedSliceOp op) {
    if (llvm::any_of(op->getUses(), isCarried))
      carried.push_back(op);
  });
  for (vector::InsertStridedSliceOp last : carried) {
    SmallVector<Value> parts = slicesThatFill(last);
    if (parts.empty())
      continue;
    OpBuilder builder(last);
    while (parts.size() > 1) {
      const int64_t elements = cast<VectorType>(parts[0].getType()).getNumElements();
      const SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, 2 * elements));
      for (size_t pair = 0; pair != parts.size() / 2; ++pair)
        parts[pair] = vector::ShuffleOp::create(builder, last.getLoc(), parts[2 * pair],
                                                parts[2 * pair + 1], order);
      parts.truncate(parts.size() / 2);
    }
    last.getResult().replaceUsesWithIf(parts[0], isCarried);
    for (auto unused = last; unused && unused->use_empty();) {
      auto before = unused.getDest().getDefiningOp<vector::InsertStridedSliceOp>();
      unused->erase();
      unused = before;
    }
  }
}

struct FlyPromoteRegMemToVectorSSAPass
    : fly::impl::FlyPromoteRegMemToVectorSSAPassBase<FlyPromoteRegMemToVectorSSAPass> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](gpu::GPUFuncOp function) {
      return failed(promote(function)) ? WalkResult::interrupt() : WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult promote(gpu::GPUFuncOp function) {
    if (function.isDeclaration())
      return success();
    RegisterAllocations allocations(function);
    Promotion promotion(allocations, &getContext());
    for (Block &block : function.getBody()) {
      State state;
      if (failed(promotion.run(block, state)))
        return failure();
    }
    eraseDeadFlyOps(function);
    // Memory that is there on purpose may be used in any way.
    if (!allocations.hasExcluded() && failed(checkNothingRemains(function)))
      return failure();
    joinCarriedSlices(function);
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
    return success();
  }
};

} // namespace
