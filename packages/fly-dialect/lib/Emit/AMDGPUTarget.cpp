// SPDX-License-Identifier: Apache-2.0
#include "AMDGPUTarget.h"
#include "CodegenPasses.h"

// Declared here because llvm/Support/TargetSelect.h only reaches targets that its own build
// configured as "native".
extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
void LLVMInitializeAMDGPUAsmParser(); // inline assembly
}

void fly::initializeAMDGPUDescriptions() {
  static const bool done = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    return true;
  }();
  (void)done;
}

void fly::initializeAMDGPUTarget() {
  static const bool done = [] {
    initializeAMDGPUDescriptions();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
    insertCodegenPasses();
    return true;
  }();
  (void)done;
}
