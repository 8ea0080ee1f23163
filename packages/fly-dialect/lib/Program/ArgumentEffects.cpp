// SPDX-License-Identifier: Apache-2.0
#include "ElementEffects.h"

#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.h"
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"
#include "fly/Program/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

namespace fly {
#define GEN_PASS_DEF_FLYARGUMENTEFFECTSPASS
#include "fly/Program/Passes.h.inc"
} // namespace fly

using namespace mlir;

namespace {

constexpr StringLiteral effectsAttribute = "fly.argument_effects";

enum class Effect { Read, MayWrite, Write };

StringRef textOf(Effect effect) {
  switch (effect) {
  case Effect::Read:
    return "read";
  case Effect::MayWrite:
    return "may_write";
  case Effect::Write:
    return "write";
  }
  llvm_unreachable("all effects are above");
}

bool isRegister(Type type) {
  const auto space = fly::AddressSpace::Register;
  if (auto pointer = dyn_cast<fly::PointerType>(type))
    return pointer.isInSpace(space);
  return cast<fly::MemRefType>(type).isInSpace(space);
}

/// Follows a pointer or tensor to all that is made of it.
class Follower {
public:
  explicit Follower(SymbolTableCollection &symbols) : symbols(symbols) {}

  Effect follow(BlockArgument argument) {
    values.insert(argument);
    for (size_t next = 0; next != values.size(); ++next)
      for (OpOperand &use : values[next].getUses()) {
        found = std::max(found, effectOf(use));
        if (found == Effect::Write)
          return found;
      }
    return found;
  }

private:
  /// What one use does itself; what it makes of the value is added to `values`.
  Effect effectOf(OpOperand &use) {
    Operation *op = use.getOwner();
    if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
      return effectOfLaunch(launch, use);
    if (Value written = fly::writtenOperand(op))
      return use.get() == written ? Effect::Write : Effect::Read;
    if (auto map = dyn_cast<fly::nvvm::MakeTensorMapOp>(op))
      return map.getWritten() ? Effect::Write : Effect::Read;
    if (fly::accessesElements(op) || isa<fly::PrintOp>(op))
      return Effect::Read;
    if (!isa_and_nonnull<fly::FlyDialect, fly::rocdl::FlyROCDLDialect>(op->getDialect()) ||
        op->getNumResults() == 0)
      return Effect::MayWrite;
    for (Value result : op->getResults())
      if (!followView(result))
        return Effect::MayWrite;
    return Effect::Read;
  }

  /// An operation made a view of a tensor, or facts about it: false where it may end up anywhere,
  /// as an address as a number or a buffer resource may.
  bool followView(Value value) {
    const Type type = value.getType();
    if (isa<fly::PointerType, fly::MemRefType>(type)) {
      if (!isRegister(type)) // A fragment has memory of its own.
        values.insert(value);
      return true;
    }
    return isa<fly::IntTupleType, fly::LayoutType, fly::ComposedLayoutType, fly::TileType,
               fly::CoordTensorType, fly::SwizzleType>(type);
  }

  Effect effectOfLaunch(gpu::LaunchFuncOp launch, OpOperand &use) {
    OperandRange operands = launch.getKernelOperands();
    const unsigned first = operands.empty() ? 0 : operands.getBeginOperandIndex();
    if (use.getOperandNumber() < first || use.getOperandNumber() >= first + operands.size())
      return Effect::Read;
    auto kernel = symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(launch, launch.getKernelAttr());
    if (!kernel || kernel.getNumArguments() != operands.size())
      return Effect::MayWrite;
    values.insert(kernel.getArgument(use.getOperandNumber() - first));
    return Effect::Read;
  }

  SymbolTableCollection &symbols;
  llvm::SetVector<Value> values;
  Effect found = Effect::Read;
};

struct ArgumentEffectsPass : fly::impl::FlyArgumentEffectsPassBase<ArgumentEffectsPass> {
  void runOnOperation() override {
    SymbolTableCollection symbols;
    Builder builder(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      SmallVector<StringRef> effects;
      for (BlockArgument argument : function.getArguments())
        effects.push_back(textOf(Follower(symbols).follow(argument)));
      function->setAttr(effectsAttribute, builder.getStrArrayAttr(effects));
    }
  }
};

} // namespace
