// SPDX-License-Identifier: Apache-2.0
#include "CodegenPasses.h"

#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"

using namespace llvm;

namespace {

struct SplitSignedByteShifts : MachineFunctionPass {
  static char ID;
  SplitSignedByteShifts() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Split signed byte shifts"; }

  bool runOnMachineFunction(MachineFunction &function) override {
    const TargetInstrInfo &instructions = *function.getSubtarget().getInstrInfo();
    MachineRegisterInfo &registers = function.getRegInfo();
    bool changed = false;
    for (MachineBasicBlock &block : function)
      for (MachineInstr &shift : make_early_inc_range(block)) {
        // The amount comes first. Opcodes are in AMDGPU's private headers.
        if (shift.getNumExplicitOperands() != 3 || !shift.getOperand(1).isImm() ||
            shift.getOperand(1).getImm() != 8 ||
            !instructions.getName(shift.getOpcode()).starts_with("V_ASHRREV_I16_e"))
          continue;
        const Register result = shift.getOperand(0).getReg();
        if (!result.isVirtual())
          continue;
        const Register half = registers.createVirtualRegister(registers.getRegClass(result));
        MachineInstr *first = function.CloneMachineInstr(&shift);
        first->getOperand(0).setReg(half);
        first->getOperand(1).setImm(7);
        block.insert(shift.getIterator(), first);
        shift.getOperand(1).setImm(1);
        shift.getOperand(2).ChangeToRegister(half, /*isDef=*/false, /*isImp=*/false,
                                             /*isKill=*/true);
        changed = true;
      }
    return changed;
  }
};

char SplitSignedByteShifts::ID = 0;

} // namespace

Pass *fly::createSplitSignedByteShiftsPass() { return new SplitSignedByteShifts(); }
