// SPDX-License-Identifier: Apache-2.0
#include "CodegenPasses.h"
#include "OutstandingOperations.h"

#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace llvm;
using namespace fly;

namespace {

CallInst *asWait(Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  auto *assembly = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  return assembly && assembly->getAsmString() == copyWaitText ? call : nullptr;
}

struct NumberCopyWaits : FunctionPass {
  static char ID;
  NumberCopyWaits() : FunctionPass(ID) {}
  StringRef getPassName() const override { return "Number the waits for copies to LDS"; }

  bool runOnFunction(Function &function) override {
    SmallVector<CallInst *> waits;
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        if (CallInst *wait = asWait(instruction))
          waits.push_back(wait);
    if (waits.empty())
      return false;
    CopyGroups groups;
    for (CallInst *wait : waits) {
      const MDNode *scopes = wait->getMetadata(LLVMContext::MD_alias_scope);
      // More groups than have numbers are one: that of all of LDS.
      if (groups.scopes.size() + 1 >= CopyGroups::most)
        scopes = nullptr;
      auto *found = find(groups.scopes, scopes);
      const unsigned number = found - groups.scopes.begin();
      if (found == groups.scopes.end())
        groups.scopes.push_back(scopes);
      IRBuilder<> builder(wait);
      builder.CreateIntrinsic(Intrinsic::amdgcn_s_waitcnt, {},
                              {builder.getInt32(CopyGroups::markerOf(number))});
      wait->eraseFromParent();
    }
    groups.attach(function);
    return true;
  }
};

struct CountCopyWaits : MachineFunctionPass {
  static char ID;
  CountCopyWaits() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Count what waits for copies to LDS leave"; }

  bool runOnMachineFunction(MachineFunction &function) override {
    const CopyGroups groups = CopyGroups::of(function.getFunction());
    if (groups.scopes.empty())
      return false;
    SmallVector<MachineInstr *> idle;
    OutstandingOperations(function).visit(
        [&](MachineInstr &instruction, const OutstandingOperations::State &before) {
          std::optional<unsigned> group = CopyGroups::groupOf(instruction);
          if (!group)
            return;
          std::optional<uint8_t> later = before.youngestOfGroup[*group];
          if (!later)
            idle.push_back(&instruction);
          // An idle one stays until all are counted: it waits for nothing that is not there
          // already.
          instruction.getOperand(0).setImm(
              encodeVmcnt(function, later.value_or(OutstandingOperations::many - 1)));
        });
    for (MachineInstr *wait : idle)
      wait->eraseFromParent();
    for (MachineBasicBlock &block : function) // blocks that nothing reaches
      for (MachineInstr &instruction : block.instrs())
        if (CopyGroups::groupOf(instruction))
          instruction.getOperand(0).setImm(encodeVmcnt(function, 0));
    return true;
  }
};

char NumberCopyWaits::ID = 0;
char CountCopyWaits::ID = 0;

} // namespace

Pass *fly::createNumberCopyWaitsPass() { return new NumberCopyWaits(); }
Pass *fly::createCountCopyWaitsPass() { return new CountCopyWaits(); }
