// SPDX-License-Identifier: Apache-2.0
#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace fly {
#define GEN_PASS_DEF_FLYSPLITUNIFORMOFFSETSPASS
#include "fly/Transforms/Passes.h.inc"
} // namespace fly

using namespace mlir;
using namespace fly;

namespace {

/// Which values all threads of a workgroup provably share.
class Uniformity {
public:
  bool operator()(Value value) {
    auto known = results.find(value);
    if (known != results.end())
      return known->second;
    results[value] = false; // Until shown otherwise, also where a cycle leads back here.
    const bool uniform = compute(value);
    results[value] = uniform;
    return uniform;
  }

private:
  bool compute(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      if (auto function = dyn_cast<gpu::GPUFuncOp>(parent))
        return function.isKernel() && argument.getOwner()->isEntryBlock();
      // Threads that are in an iteration together are in the same one.
      if (auto loop = dyn_cast<scf::ForOp>(parent))
        return argument == loop.getInductionVar() && (*this)(loop.getLowerBound()) &&
               (*this)(loop.getStep());
      return false;
    }
    Operation *op = value.getDefiningOp();
    if (isa<gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp>(op))
      return true;
    if (!isa<LLVM::ExtractValueOp>(op) && !isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
      return false;
    return isPure(op) && llvm::all_of(op->getOperands(), [&](Value v) { return (*this)(v); });
  }

  llvm::DenseMap<Value, bool> results;
};

void collectAddends(Value value, SmallVectorImpl<Value> &addends) {
  if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
    collectAddends(sum.getLhs(), addends);
    collectAddends(sum.getRhs(), addends);
    return;
  }
  addends.push_back(value);
}

Value advance(OpBuilder &builder, Location loc, Value pointer, ArrayRef<Value> addends) {
  Value sum = addends.front();
  for (Value addend : addends.drop_front())
    sum = arith::AddIOp::create(builder, loc, sum, addend);
  const IntTuple leaf = IntTuple::dynamic(sum.getType().getIntOrFloatBitWidth());
  auto type = IntTupleType::get(builder.getContext(), leaf);
  Value offset = MakeIntTupleOp::create(builder, loc, type, sum);
  return AddOffsetOp::create(builder, loc, pointer, offset);
}

void split(AddOffsetOp op, Uniformity &isUniform) {
  auto type = dyn_cast<fly::PointerType>(op.getIter().getType());
  auto tuple = op.getOffset().getDefiningOp<MakeIntTupleOp>();
  if (!type || !type.isInSpace(AddressSpace::Global) || !tuple || tuple->getNumOperands() != 1 ||
      !tuple->getOperand(0).getType().isInteger(32))
    return;
  SmallVector<Value> addends, uniform, divergent;
  collectAddends(tuple->getOperand(0), addends);
  for (Value addend : addends)
    (isUniform(addend) ? uniform : divergent).push_back(addend);
  if (uniform.empty() || divergent.empty())
    return;
  OpBuilder builder(op);
  Value base = advance(builder, op.getLoc(), op.getIter(), uniform);
  Value pointer = advance(builder, op.getLoc(), base, divergent);
  // The types' alignments are those of the two steps; users were built for that of the sum.
  pointer = RecastIterOp::create(builder, op.getLoc(), op.getResult().getType(), pointer);
  op.getResult().replaceAllUsesWith(pointer);
  op.erase();
}

struct FlySplitUniformOffsetsPass
    : fly::impl::FlySplitUniformOffsetsPassBase<FlySplitUniformOffsetsPass> {
  void runOnOperation() override {
    getOperation()->walk([](gpu::GPUFuncOp function) {
      Uniformity isUniform;
      SmallVector<AddOffsetOp> offsets;
      function.walk([&](AddOffsetOp op) { offsets.push_back(op); });
      for (AddOffsetOp op : offsets)
        split(op, isUniform);
    });
  }
};

} // namespace
