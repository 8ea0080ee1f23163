// SPDX-License-Identifier: Apache-2.0
#include "Optimize.h"

#include "llvm/IR/Operator.h"
#include "llvm/Passes/PassBuilder.h"

llvm::CodeGenOptLevel fly::codeGenLevel(unsigned level) {
  return level == 0   ? llvm::CodeGenOptLevel::None
         : level == 1 ? llvm::CodeGenOptLevel::Less
         : level == 2 ? llvm::CodeGenOptLevel::Default
                      : llvm::CodeGenOptLevel::Aggressive;
}

static llvm::OptimizationLevel optimizationLevel(unsigned level) {
  return level == 0   ? llvm::OptimizationLevel::O0
         : level == 1 ? llvm::OptimizationLevel::O1
         : level == 2 ? llvm::OptimizationLevel::O2
                      : llvm::OptimizationLevel::O3;
}

void fly::optimize(llvm::Module &module, llvm::TargetMachine &machine, unsigned level,
                   llvm::FunctionPassManager last) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine); // Registers the target's own IR passes too.
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  const llvm::OptimizationLevel wanted = optimizationLevel(level);
  llvm::ModulePassManager passes = wanted == llvm::OptimizationLevel::O0
                                       ? builder.buildO0DefaultPipeline(wanted)
                                       : builder.buildPerModuleDefaultPipeline(wanted);
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(last)));
  passes.run(module, modules);
}

void fly::relaxMath(llvm::Instruction &instruction, bool unsafe, bool finite) {
  if (!llvm::isa<llvm::FPMathOperator>(instruction))
    return;
  llvm::FastMathFlags flags = instruction.getFastMathFlags();
  if (unsafe) {
    flags.setAllowReassoc();
    flags.setAllowReciprocal();
    flags.setAllowContract();
    flags.setApproxFunc();
    flags.setNoSignedZeros();
  }
  if (finite) {
    flags.setNoNaNs();
    flags.setNoInfs();
  }
  instruction.setFastMathFlags(flags);
}
