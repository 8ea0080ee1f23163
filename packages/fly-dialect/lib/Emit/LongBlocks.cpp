// SPDX-License-Identifier: Apache-2.0
#include "CodegenPasses.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/Pass.h"

using namespace llvm;

namespace {

/// How much work a block, or a piece of one, is for code generation.
struct Length {
  unsigned instructions = 0;
  unsigned accesses = 0; ///< of memory

  void add(const Instruction &instruction) {
    if (instruction.isDebugOrPseudoInst())
      return;
    ++instructions;
    accesses += instruction.mayReadOrWriteMemory();
  }
  bool exceeds(const Length &limit) const {
    return instructions > limit.instructions || accesses > limit.accesses;
  }
};

/// What the longest main loops of kernels stay below, and what takes about a second.
constexpr Length longest{4096, 512};
/// Short enough that what is squared or cubed does not count; long enough to hide latency in.
constexpr Length piece{1024, 128};

bool spellsOutSchedule(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && (call->getIntrinsicID() == Intrinsic::amdgcn_sched_group_barrier ||
                  call->getIntrinsicID() == Intrinsic::amdgcn_iglp_opt);
}

bool isTooLong(const BasicBlock &block) {
  Length length;
  for (const Instruction &instruction : block) {
    if (spellsOutSchedule(instruction))
      return false;
    length.add(instruction);
  }
  return length.exceeds(longest);
}

/// Cuts `block` into pieces.
void cut(BasicBlock &block) {
  // Static allocations have to stay in the entry block.
  BasicBlock::iterator first = block.getFirstInsertionPt();
  for (Instruction &instruction : make_early_inc_range(block))
    if (auto *allocation = dyn_cast<AllocaInst>(&instruction);
        allocation && allocation->isStaticAlloca() && &*first != allocation)
      allocation->moveBefore(first);
  while (isa<AllocaInst>(*first))
    ++first;

  SmallVector<Instruction *> starts;
  Length length;
  for (auto at = first; &*at != block.getTerminator(); ++at) {
    length.add(*at);
    if (length.exceeds(piece)) {
      starts.push_back(&*at);
      length = {};
      length.add(*at);
    }
  }
  // From the back: each cut moves what is behind it into a new block.
  for (Instruction *start : reverse(starts)) {
    IRBuilder<> builder(start);
    auto *barrier = builder.CreateIntrinsic(Intrinsic::amdgcn_sched_barrier, {builder.getInt32(0)});
    block.splitBasicBlock(barrier->getIterator(), block.getName() + ".piece");
  }
}

struct CutLongBlocks : FunctionPass {
  static char ID;
  CutLongBlocks() : FunctionPass(ID) {}
  StringRef getPassName() const override { return "Cut long blocks"; }

  bool runOnFunction(Function &function) override {
    SmallVector<BasicBlock *> found;
    for (BasicBlock &block : function)
      if (isTooLong(block))
        found.push_back(&block);
    for (BasicBlock *block : found)
      cut(*block);
    return !found.empty();
  }
};

char CutLongBlocks::ID = 0;

} // namespace

Pass *fly::createCutLongBlocksPass() { return new CutLongBlocks(); }
