// SPDX-License-Identifier: Apache-2.0
//
// What is done to the LLVM IR of device code, whatever the device.
#ifndef FLY_LIB_EMIT_OPTIMIZE_H
#define FLY_LIB_EMIT_OPTIMIZE_H

#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

namespace fly {

/// The code generator's level for an optimisation level from 0 to 3.
llvm::CodeGenOptLevel codeGenLevel(unsigned level);

/// Runs LLVM's default pipeline of a level from 0 to 3, with the target's own passes, and `last`
/// after it.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, unsigned level,
              llvm::FunctionPassManager last = llvm::FunctionPassManager());

/// Gives floating-point arithmetic the flags of unsafe maths, and those of numbers that are finite.
void relaxMath(llvm::Instruction &instruction, bool unsafe, bool finite);

} // namespace fly

#endif // FLY_LIB_EMIT_OPTIMIZE_H
