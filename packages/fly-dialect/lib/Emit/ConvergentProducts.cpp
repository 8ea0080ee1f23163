// SPDX-License-Identifier: Apache-2.0
#include "CodegenPasses.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Pass.h"

using namespace llvm;

namespace {

/// Whether LLVM has no convergent machine instruction for a matrix product.
bool mayLeaveItsLanes(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call)
    return false;
  StringRef name = call->getCalledFunction()->getName();
  return name.consume_front("llvm.amdgcn.") &&
         (name.starts_with("mfma.scale.") || name.starts_with("wmma.") ||
          name.starts_with("swmmac."));
}

/// Whether nothing holds `product` in its block: all uses are behind a branch.
bool maySink(const Instruction &product) {
  if (product.use_empty() || product.getParent()->getTerminator()->getNumSuccessors() < 2)
    return false;
  return none_of(product.uses(), [&](const Use &use) {
    auto *user = cast<Instruction>(use.getUser());
    // A phi takes its value at the end of the block that it comes from.
    auto *phi = dyn_cast<PHINode>(user);
    return (phi ? phi->getIncomingBlock(use) : user->getParent()) == product.getParent();
  });
}

struct KeepConvergentProducts : FunctionPass {
  static char ID;
  KeepConvergentProducts() : FunctionPass(ID) {}
  StringRef getPassName() const override { return "Keep matrix products in their blocks"; }

  bool runOnFunction(Function &function) override {
    SmallVector<Instruction *> found;
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        if (mayLeaveItsLanes(instruction) && maySink(instruction))
          found.push_back(&instruction);
    for (Instruction *product : found) {
      Type *type = product->getType();
      auto *assembly = InlineAsm::get(FunctionType::get(type, {type}, false), "", "=v,0",
                                      /*hasSideEffects=*/true);
      IRBuilder<> builder(product->getNextNode());
      CallInst *kept = builder.CreateCall(assembly, {product});
      product->replaceUsesWithIf(kept, [&](Use &use) { return use.getUser() != kept; });
    }
    return !found.empty();
  }
};

char KeepConvergentProducts::ID = 0;

} // namespace

Pass *fly::createKeepConvergentProductsPass() { return new KeepConvergentProducts(); }
