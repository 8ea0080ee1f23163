// SPDX-License-Identifier: Apache-2.0
#include "CodegenPasses.h"
#include "OutstandingOperations.h"

#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstrBuilder.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/MemoryModelRelaxationAnnotations.h"

using namespace llvm;
using namespace fly;

namespace {

/// The opcodes that AMDGPU's private headers name.
struct WaitOpcodes {
  DenseMap<unsigned, unsigned> firmOf; ///< soft wait -> the same wait that stays
  unsigned waitcnt = 0;                ///< S_WAITCNT
  unsigned ldsDirect = 0;              ///< S_WAITCNT_lds_direct

  static const WaitOpcodes &get(const TargetInstrInfo &instructions) {
    static const WaitOpcodes opcodes(instructions);
    return opcodes;
  }

private:
  explicit WaitOpcodes(const TargetInstrInfo &instructions) {
    StringMap<unsigned> waits;
    for (unsigned opcode = 0; opcode < instructions.getNumOpcodes(); ++opcode)
      if (StringRef name = instructions.getName(opcode); name.starts_with("S_WAIT"))
        waits[name] = opcode;
    for (const auto &[name, opcode] : waits)
      if (StringRef firm = name; firm.consume_back("_soft"))
        if (unsigned other = waits.lookup(firm))
          firmOf[opcode] = other;
    waitcnt = waits.lookup("S_WAITCNT");
    ldsDirect = waits.lookup("S_WAITCNT_lds_direct");
    if (firmOf.empty() || !waitcnt || !ldsDirect)
      reportFatalInternalError("this LLVM names the waits of its memory model otherwise");
  }
};

constexpr StringLiteral markPrefix = "fly-wait";

/// Marks a wait as one that RemoveIdleWaits may take away. (An annotation with a prefix that no
/// target knows means nothing.)
void mark(MachineInstr &wait) {
  MachineFunction &function = *wait.getMF();
  LLVMContext &context = function.getFunction().getContext();
  wait.setMMRAMetadata(function, MMRAMetadata::getTagMD(context, markPrefix, "firm"));
}

bool isMarked(const MachineInstr &wait) {
  return MMRAMetadata(wait.getMMRAMetadata()).hasTagWithPrefix(markPrefix);
}

struct FirmUpWaits : MachineFunctionPass {
  static char ID;
  FirmUpWaits() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Keep waits of the memory model"; }

  bool runOnMachineFunction(MachineFunction &function) override {
    const TargetInstrInfo &instructions = *function.getSubtarget().getInstrInfo();
    const WaitOpcodes &opcodes = WaitOpcodes::get(instructions);
    auto concerns = [&](const MachineInstr &instruction) {
      return opcodes.firmOf.contains(instruction.getOpcode()) ||
             instruction.getOpcode() == opcodes.ldsDirect;
    };
    if (none_of(function, [&](auto &block) { return any_of(block.instrs(), concerns); }))
      return false;

    bool changed = false;
    OutstandingOperations(function).visit([&](MachineInstr &instruction,
                                              const OutstandingOperations::State &before) {
      unsigned opcode = instruction.getOpcode();
      if (opcode == opcodes.ldsDirect && before.youngestLoadToLds) {
        MachineInstr *wait = BuildMI(*instruction.getParent(), instruction.getIterator(),
                                     instruction.getDebugLoc(), instructions.get(opcodes.waitcnt))
                                 .addImm(encodeVmcnt(function, *before.youngestLoadToLds));
        mark(*wait);
        changed = true;
      } else if (auto firm = opcodes.firmOf.find(opcode);
                 firm != opcodes.firmOf.end() && before.hasWorkFor(instruction)) {
        instruction.setDesc(instructions.get(firm->second));
        mark(instruction);
        changed = true;
      }
    });
    return changed;
  }
};

struct RemoveIdleWaits : MachineFunctionPass {
  static char ID;
  RemoveIdleWaits() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Remove waits that have nothing to wait for"; }

  bool runOnMachineFunction(MachineFunction &function) override {
    if (none_of(function, [](auto &block) { return any_of(block.instrs(), isMarked); }))
      return false;
    SmallVector<MachineInstr *> idle;
    OutstandingOperations(function).visit(
        [&](MachineInstr &instruction, const OutstandingOperations::State &before) {
          if (isMarked(instruction) && !instruction.isBundled() && !before.hasWorkFor(instruction))
            idle.push_back(&instruction);
        });
    for (MachineInstr *wait : idle)
      wait->eraseFromParent();
    return !idle.empty();
  }
};

char FirmUpWaits::ID = 0;
char RemoveIdleWaits::ID = 0;

} // namespace

Pass *fly::createFirmUpWaitsPass() { return new FirmUpWaits(); }
Pass *fly::createRemoveIdleWaitsPass() { return new RemoveIdleWaits(); }
