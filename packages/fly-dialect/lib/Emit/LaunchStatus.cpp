// SPDX-License-Identifier: Apache-2.0
//
// gpu.launch_func and fly.print have no result, so that a failing launch (or check, which prints
// where it fails) cannot end a function in MLIR; it is in LLVM IR that the host functions learn to
// stop at the first one.
#include "LaunchStatus.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

/// Replaces `function`, which returns nothing, with one of the same body that returns i32 0. Its
/// callers call the new one.
static Function *returnStatus(Function &function) {
  FunctionType *oldType = function.getFunctionType();
  auto *type = FunctionType::get(Type::getInt32Ty(function.getContext()), oldType->params(),
                                 oldType->isVarArg());
  Function *result = Function::Create(type, function.getLinkage(), function.getAddressSpace(), "",
                                      function.getParent());
  result->copyAttributesFrom(&function);
  result->copyMetadata(&function, 0);
  result->takeName(&function);
  result->splice(result->begin(), &function);
  for (auto [oldArgument, newArgument] : zip_equal(function.args(), result->args())) {
    newArgument.takeName(&oldArgument);
    oldArgument.replaceAllUsesWith(&newArgument);
  }
  for (BasicBlock &block : *result) {
    if (auto *terminator = dyn_cast<ReturnInst>(block.getTerminator())) {
      IRBuilder<>(terminator).CreateRet(ConstantInt::get(type->getReturnType(), 0));
      terminator->eraseFromParent();
    }
  }
  for (User *user : make_early_inc_range(function.users())) {
    auto *call = cast<CallInst>(user);
    SmallVector<Value *> arguments(call->args());
    CallInst *replacement = IRBuilder<>(call).CreateCall(result, arguments);
    replacement->setAttributes(call->getAttributes());
    replacement->setDebugLoc(call->getDebugLoc());
    call->eraseFromParent();
  }
  function.eraseFromParent();
  return result;
}

/// Returns the status of `call` from its function unless it is 0.
static void checkStatus(CallInst &call) {
  IRBuilder<> builder(call.getNextNode());
  Value *failed = builder.CreateIsNotNull(&call);
  Instruction *exit =
      SplitBlockAndInsertIfThen(failed, builder.GetInsertPoint(), /*Unreachable=*/true);
  IRBuilder<>(exit).CreateRet(&call);
  exit->eraseFromParent();
}

Error fly::propagateLaunchStatus(ArrayRef<Function *> callees) {
  SmallVector<Function *> worklist(callees);
  // In order of discovery: what is emitted must not depend on addresses.
  SmallSetVector<Function *, 8> returnsStatus;
  returnsStatus.insert_range(callees);
  SmallVector<CallInst *> calls;
  while (!worklist.empty()) {
    Function *callee = worklist.pop_back_val();
    // First every caller gets its new type: that replaces calls, of this callee too when it is
    // recursive.
    SmallSetVector<Function *, 8> callers;
    for (User *user : callee->users()) {
      auto *call = dyn_cast<CallInst>(user);
      if (!call || call->getCalledFunction() != callee)
        return createStringError("the address of '" + callee->getName() +
                                 "', which launches kernels, is taken");
      callers.insert(call->getFunction());
    }
    for (Function *caller : callers) {
      if (returnsStatus.contains(caller))
        continue;
      if (!caller->getReturnType()->isVoidTy())
        return createStringError("the host function '" + caller->getName() +
                                 "' launches kernels and returns a value");
      for (User *user : caller->users())
        if (auto *call = dyn_cast<CallInst>(user); !call || call->getCalledFunction() != caller)
          return createStringError("the address of '" + caller->getName() +
                                   "', which launches kernels, is taken");
      Function *replacement = returnStatus(*caller);
      returnsStatus.insert(replacement);
      worklist.push_back(replacement);
    }
  }
  for (Function *callee : returnsStatus)
    for (User *user : callee->users())
      calls.push_back(cast<CallInst>(user));
  for (CallInst *call : calls)
    checkStatus(*call);
  return Error::success();
}
