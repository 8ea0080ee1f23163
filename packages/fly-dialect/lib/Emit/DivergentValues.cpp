// SPDX-License-Identifier: Apache-2.0
#include "DivergentValues.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

/// Copies a value of 32 bits, or a vector of such, to vector registers where the builder stands.
static Value *copyToVectorRegisters(Value *value, IRBuilder<> &builder) {
  auto *type = FunctionType::get(value->getType(), {value->getType()}, /*isVarArg=*/false);
  InlineAsm *assembly = InlineAsm::get(type, "", "=v,0", /*hasSideEffects=*/false);
  CallInst *copy = builder.CreateCall(assembly, {value});
  // Convergent: it must not be sunk behind the loop.
  copy->setConvergent();
  copy->setDoesNotAccessMemory();
  copy->setDoesNotThrow();
  copy->addFnAttr(Attribute::WillReturn);
  return copy;
}

/// Returns a copy of `value` in vector registers, of its own type; `value` itself when its type has
/// no form there.
static Value *pin(Value *value, IRBuilder<> &builder, const DataLayout &layout) {
  Type *type = value->getType();
  if (auto *structure = dyn_cast<StructType>(type)) {
    Value *result = PoisonValue::get(structure);
    for (unsigned index = 0; index < structure->getNumElements(); ++index)
      result = builder.CreateInsertValue(
          result, pin(builder.CreateExtractValue(value, index), builder, layout), index);
    return result;
  }
  if (!type->isSingleValueType() || isa<ScalableVectorType>(type))
    return value;

  // As bits, rounded up to whole registers.
  if (type->isPtrOrPtrVectorTy())
    value = builder.CreatePtrToInt(value, layout.getIntPtrType(type));
  uint64_t bits = layout.getTypeSizeInBits(value->getType()).getFixedValue();
  Type *exact = builder.getIntNTy(bits);
  Value *whole = builder.CreateBitCast(value, exact);
  uint64_t registers = divideCeil(bits, 32);
  whole = builder.CreateZExt(whole, builder.getIntNTy(registers * 32));
  Type *words = FixedVectorType::get(builder.getInt32Ty(), registers);
  Value *result = PoisonValue::get(words);
  Value *parts = builder.CreateBitCast(whole, words);
  for (uint64_t index = 0; index < registers; ++index)
    result = builder.CreateInsertElement(
        result, copyToVectorRegisters(builder.CreateExtractElement(parts, index), builder), index);

  result = builder.CreateBitCast(result, whole->getType());
  result = builder.CreateBitCast(builder.CreateTrunc(result, exact), value->getType());
  return type->isPtrOrPtrVectorTy() ? builder.CreateIntToPtr(result, type) : result;
}

/// Whether lanes may leave `loop` in different iterations.
static bool hasDivergentExit(const Loop &loop, UniformityInfo &uniformity) {
  SmallVector<BasicBlock *> exiting;
  loop.getExitingBlocks(exiting);
  return any_of(exiting,
                [&](BasicBlock *block) { return uniformity.hasDivergentTerminator(*block); });
}

PreservedAnalyses fly::PinTemporalDivergencePass::run(Function &function,
                                                      FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.empty())
    return PreservedAnalyses::all();
  auto &uniformity = analyses.getResult<UniformityInfoAnalysis>(function);

  MapVector<Instruction *, SmallSetVector<Use *, 4>> outside;
  for (Loop *loop : loops.getLoopsInPreorder()) {
    if (!hasDivergentExit(*loop, uniformity))
      continue;
    for (BasicBlock *block : loop->blocks())
      for (Instruction &instruction : *block) {
        if (uniformity.isDivergent(&instruction))
          continue;
        for (Use &use : instruction.uses())
          if (!loop->contains(cast<Instruction>(use.getUser())))
            outside[&instruction].insert(&use);
      }
  }

  for (auto &[instruction, uses] : outside) {
    std::optional<BasicBlock::iterator> position = instruction->getInsertionPointAfterDef();
    if (!position)
      continue; // The result of a terminator; AMD code has none.
    IRBuilder<> builder(instruction->getParent(), *position);
    builder.SetCurrentDebugLocation(instruction->getDebugLoc());
    Value *copy = pin(instruction, builder, function.getDataLayout());
    for (Use *use : uses)
      use->set(copy);
  }
  return outside.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

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
