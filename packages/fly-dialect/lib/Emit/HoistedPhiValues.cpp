// SPDX-License-Identifier: Apache-2.0
#include "HoistedPhiValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

/// Whether `block` has several predecessors, or gets them when switches are lowered to comparisons.
static bool joinsPaths(BasicBlock &block) {
  BasicBlock *single = block.getSinglePredecessor();
  return !single || isa<SwitchInst>(single->getTerminator());
}

/// Whether the structurizer may take `instruction` for a value that costs nothing to hoist.
static bool mayBeHoisted(const Instruction &instruction, const TargetTransformInfo &costs) {
  if (isa<PHINode, FreezeInst>(instruction) || instruction.isTerminator())
    return false;
  InstructionCost cost =
      costs.getInstructionCost(&instruction, TargetTransformInfo::TCK_SizeAndLatency);
  InstructionCost latency =
      costs.getInstructionCost(&instruction, TargetTransformInfo::TCK_Latency);
  return !cost.isValid() || !latency.isValid() || cost == 0 || latency == 0;
}

PreservedAnalyses fly::KeepPhiValuesPass::run(Function &function,
                                              FunctionAnalysisManager &analyses) {
  const auto &costs = analyses.getResult<TargetIRAnalysis>(function);
  bool changed = false;
  for (BasicBlock &block : function) {
    for (PHINode &phi : block.phis()) {
      for (Use &incoming : phi.incoming_values()) {
        BasicBlock &source = *phi.getIncomingBlock(incoming);
        auto *value = dyn_cast<Instruction>(incoming.get());
        if (!value || value->getParent() != &source || !source.getSingleSuccessor() ||
            !joinsPaths(source) || !mayBeHoisted(*value, costs))
          continue;
        IRBuilder<> builder(source.getTerminator());
        incoming.set(builder.CreateFreeze(value));
        changed = true;
      }
    }
  }
  if (!changed)
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}
