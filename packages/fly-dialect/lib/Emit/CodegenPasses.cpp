// SPDX-License-Identifier: Apache-2.0
#include "CodegenPasses.h"

#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace fly;

namespace {

/// A pass and the pass of LLVM that it follows.
struct Insertion {
  StringLiteral after;
  Pass *(*create)();
};

constexpr Insertion insertions[] = {
    // It knows which accesses are of which variable of LDS, and says so in alias scopes.
    {"amdgpu-lower-module-lds", createNumberCopyWaitsPass},
    // It would merge the pieces of long blocks, and the vectorizer follows it.
    {"codegenprepare", createCutLongBlocksPass},
    {"codegenprepare", createKeepConvergentProductsPass},
    // The SDWA peephole follows it.
    {"si-load-store-opt", createSplitSignedByteShiftsPass},
    {"si-memory-legalizer", createCountCopyWaitsPass},
    {"si-memory-legalizer", createFirmUpWaitsPass},
    {"si-insert-waitcnts", createRemoveIdleWaitsPass},
};

void insertPasses(TargetMachine &machine, PassManagerBase &, TargetPassConfig *config) {
  if (!machine.getTargetTriple().isAMDGCN())
    return;
  for (const Insertion &insertion : insertions) {
    const PassInfo *pass = PassRegistry::getPassRegistry()->getPassInfo(insertion.after);
    if (!pass)
      reportFatalInternalError("this LLVM has no pass '" + Twine(insertion.after) + "'");
    config->insertPass(pass->getTypeInfo(), insertion.create());
  }
  // It follows variables through registers, which takes a twentieth of code generation even where
  // there are none, and our debug information is line tables. Variables of linked bitcode keep
  // their places within a block.
  config->disablePass(&LiveDebugValuesID);
}

} // namespace

void fly::insertCodegenPasses() {
  static const RegisterTargetPassConfigCallback callback(insertPasses);
}
