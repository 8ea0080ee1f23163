// SPDX-License-Identifier: Apache-2.0
//
// Takes everything that types say out of what crosses the boundaries of functions, calls, launches
// and structured control flow.

#include "PackedValues.h"

#include "fly/Dialect/Fly/IR/FlyDialect.h"
#include "fly/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace fly {
#define GEN_PASS_DEF_FLYREWRITEFUNCSIGNATUREPASS
#include "fly/Transforms/Passes.h.inc"
} // namespace fly

using namespace mlir;
using namespace fly;

/// Whether any of the types crosses in another form.
static bool anyPacked(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return getPackedTypes(type).has_value(); });
}

/// Appends the types that pass values of `types`.
static SmallVector<Type> packTypes(TypeRange types) {
  SmallVector<Type> result;
  for (Type type : types) {
    if (auto packed = getPackedTypes(type))
      result.append(packed->begin(), packed->end());
    else
      result.push_back(type);
  }
  return result;
}

/// The values that pass `values`, built in front of `op`.
static SmallVector<Value> packValues(Operation *op, ValueRange values) {
  OpBuilder builder(op);
  SmallVector<Value> result;
  for (Value value : values) {
    if (getPackedTypes(value.getType()))
      llvm::append_range(result, pack(builder, op->getLoc(), value));
    else
      result.push_back(value);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Block arguments
//===----------------------------------------------------------------------===//

/// Rebuilds `old`, if it is used, from what passes it.
static void replaceByUnpacked(OpBuilder &builder, Value old, ValueRange packed) {
  if (!old.use_empty())
    old.replaceAllUsesWith(unpack(builder, old.getLoc(), old.getType(), packed));
}

/// Passes the block's arguments in packed form.
static void rewriteBlockArguments(Block &block) {
  if (!anyPacked(block.getArgumentTypes()))
    return;
  OpBuilder builder(&block, block.begin());
  for (unsigned index = 0; index != block.getNumArguments();) {
    BlockArgument argument = block.getArgument(index);
    const auto types = getPackedTypes(argument.getType());
    if (!types) {
      ++index;
      continue;
    }
    SmallVector<Value, 2> packed;
    for (const auto &[offset, type] : llvm::enumerate(*types))
      packed.push_back(block.insertArgument(index + 1 + offset, type, argument.getLoc()));
    replaceByUnpacked(builder, argument, packed);
    block.eraseArgument(index);
    index += types->size();
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The attribute dictionaries of arguments or results after packing: the first value that passes an
/// argument keeps its attributes.
static SmallVector<DictionaryAttr> packAttributes(MLIRContext *context, TypeRange types,
                                                  llvm::function_ref<DictionaryAttr(unsigned)> of) {
  SmallVector<DictionaryAttr> result;
  for (const auto &[index, type] : llvm::enumerate(types)) {
    const auto packed = getPackedTypes(type);
    const size_t count = packed ? packed->size() : 1;
    for (size_t i = 0; i != count; ++i) {
      DictionaryAttr attributes = i == 0 ? of(index) : DictionaryAttr();
      result.push_back(attributes ? attributes : DictionaryAttr::get(context));
    }
  }
  return result;
}

static void rewriteFunction(FunctionOpInterface function) {
  const SmallVector<Type> inputs(function.getArgumentTypes());
  const SmallVector<Type> results(function.getResultTypes());
  if (!anyPacked(inputs) && !anyPacked(results))
    return;
  MLIRContext *context = function.getContext();
  const auto argumentAttributes =
      packAttributes(context, inputs, [&](unsigned i) { return function.getArgAttrDict(i); });
  const auto resultAttributes =
      packAttributes(context, results, [&](unsigned i) { return function.getResultAttrDict(i); });
  if (!function.isExternal())
    rewriteBlockArguments(function.front());
  function.setFunctionTypeAttr(
      TypeAttr::get(FunctionType::get(context, packTypes(inputs), packTypes(results))));
  function.setAllArgAttrs(argumentAttributes);
  function.setAllResultAttrs(resultAttributes);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Ops whose operands, results and region arguments cross a boundary, and the terminators of their
/// regions.
static bool crossesBoundary(Operation *op) {
  return isa<func::CallOp, func::ReturnOp, gpu::ReturnOp, scf::ForOp, scf::IfOp, scf::WhileOp,
             scf::ConditionOp>(op) ||
         (isa<scf::YieldOp>(op) && isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op->getParentOp()));
}

/// A copy of `op` with these operands and result types that takes over its regions.
static Operation *recreate(Operation *op, ValueRange operands, TypeRange resultTypes) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), op->getName(), operands, resultTypes,
                       op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (unsigned i = 0; i != op->getNumRegions(); ++i)
    state.addRegion();
  Operation *copy = builder.create(state);
  for (const auto &[from, to] : llvm::zip_equal(op->getRegions(), copy->getRegions()))
    to.takeBody(from);
  return copy;
}

static void rewriteBoundary(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      rewriteBlockArguments(block);
  const bool operandsChange = anyPacked(op->getOperandTypes());
  if (!anyPacked(op->getResultTypes())) {
    if (operandsChange)
      op->setOperands(packValues(op, op->getOperands()));
    return;
  }
  Operation *copy =
      recreate(op, packValues(op, op->getOperands()), packTypes(op->getResultTypes()));
  OpBuilder builder(copy->getContext());
  builder.setInsertionPointAfter(copy);
  unsigned next = 0;
  for (Value result : op->getResults()) {
    const auto types = getPackedTypes(result.getType());
    const ValueRange passed = ValueRange(copy->getResults()).slice(next, types ? types->size() : 1);
    next += passed.size();
    if (types)
      replaceByUnpacked(builder, result, passed);
    else
      result.replaceAllUsesWith(passed.front());
  }
  op->erase();
}

static void rewriteLaunch(gpu::LaunchFuncOp launch) {
  if (anyPacked(launch.getKernelOperands().getTypes()))
    launch.getKernelOperandsMutable().assign(packValues(launch, launch.getKernelOperands()));
}

namespace {
struct FlyRewriteFuncSignaturePass
    : public fly::impl::FlyRewriteFuncSignaturePassBase<FlyRewriteFuncSignaturePass> {
  void runOnOperation() override {
    SmallVector<FunctionOpInterface> functions;
    SmallVector<Operation *> boundaries;
    SmallVector<gpu::LaunchFuncOp> launches;
    getOperation()->walk([&](Operation *op) {
      if (isa<func::FuncOp, gpu::GPUFuncOp>(op))
        functions.push_back(cast<FunctionOpInterface>(op));
      else if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
        launches.push_back(launch);
      else if (crossesBoundary(op))
        boundaries.push_back(op);
    });
    for (FunctionOpInterface function : functions)
      rewriteFunction(function);
    for (Operation *op : boundaries)
      rewriteBoundary(op);
    for (gpu::LaunchFuncOp launch : launches)
      rewriteLaunch(launch);
  }
};
} // namespace
