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
#include "mlir/Interfaces/SideEffectInterfaces.h"

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

namespace {

/// How values cross boundaries. One that crosses several does so in the same form, and one that
/// came in over a boundary leaves over the next as it came.
class Crossings {
public:
  /// The values that pass `values`.
  SmallVector<Value> packAll(ValueRange values);
  /// Rebuilds `old`, if it is used, from what passes it.
  void replaceByUnpacked(OpBuilder &builder, Value old, ValueRange packed);
  /// Erases what was rebuilt in vain.
  void eraseUnused();

private:
  llvm::DenseMap<Value, SmallVector<Value, 2>> packedForms;
  SmallVector<Value> rebuilt;
};

} // namespace

SmallVector<Value> Crossings::packAll(ValueRange values) {
  SmallVector<Value> result;
  for (Value value : values) {
    if (!getPackedTypes(value.getType())) {
      result.push_back(value);
      continue;
    }
    auto [form, isNew] = packedForms.try_emplace(value);
    if (isNew) {
      OpBuilder builder(value.getContext());
      builder.setInsertionPointAfterValue(value);
      form->second = pack(builder, value.getLoc(), value);
    }
    llvm::append_range(result, form->second);
  }
  return result;
}

void Crossings::replaceByUnpacked(OpBuilder &builder, Value old, ValueRange packed) {
  if (old.use_empty())
    return;
  Value value = unpack(builder, old.getLoc(), old.getType(), packed);
  old.replaceAllUsesWith(value);
  packedForms.try_emplace(value, SmallVector<Value, 2>(packed));
  rebuilt.push_back(value);
}

/// Erases `op`, and then those of its operands' ops that nothing else needed.
static void eraseWithOperands(Operation *op) {
  if (!isOpTriviallyDead(op))
    return;
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    if (Operation *definition = operand.getDefiningOp())
      eraseWithOperands(definition);
}

void Crossings::eraseUnused() {
  for (Value value : rebuilt)
    if (value.use_empty())
      eraseWithOperands(value.getDefiningOp());
}

//===----------------------------------------------------------------------===//
// Block arguments
//===----------------------------------------------------------------------===//

/// Materialises the static arguments in the block, and drops them.
static void dropStaticArguments(Block &block, Crossings &crossings) {
  for (unsigned index = 0; index != block.getNumArguments();) {
    BlockArgument argument = block.getArgument(index);
    const auto types = getPackedTypes(argument.getType());
    if (!types || !types->empty()) {
      ++index;
      continue;
    }
    OpBuilder builder(&block, block.begin());
    crossings.replaceByUnpacked(builder, argument, {});
    block.eraseArgument(index);
  }
}

/// Passes the block's arguments in packed form.
static void rewriteBlockArguments(Block &block, Crossings &crossings) {
  if (!anyPacked(block.getArgumentTypes()))
    return;
  dropStaticArguments(block, crossings);
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
    OpBuilder builder(&block, block.begin());
    crossings.replaceByUnpacked(builder, argument, packed);
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

static void rewriteFunction(FunctionOpInterface function, Crossings &crossings) {
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
    rewriteBlockArguments(function.front(), crossings);
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

static void rewriteBoundary(Operation *op, Crossings &crossings) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      rewriteBlockArguments(block, crossings);
  const bool operandsChange = anyPacked(op->getOperandTypes());
  if (!anyPacked(op->getResultTypes())) {
    if (operandsChange)
      op->setOperands(crossings.packAll(op->getOperands()));
    return;
  }
  Operation *copy =
      recreate(op, crossings.packAll(op->getOperands()), packTypes(op->getResultTypes()));
  OpBuilder builder(copy->getContext());
  auto replace = [&](Value result, ValueRange passed) {
    builder.setInsertionPointAfter(copy);
    crossings.replaceByUnpacked(builder, result, passed);
  };
  // As with arguments, static results first.
  for (Value result : op->getResults())
    if (const auto types = getPackedTypes(result.getType()); types && types->empty())
      replace(result, {});
  unsigned next = 0;
  for (Value result : op->getResults()) {
    const auto types = getPackedTypes(result.getType());
    const ValueRange passed = ValueRange(copy->getResults()).slice(next, types ? types->size() : 1);
    next += passed.size();
    if (types)
      replace(result, passed);
    else
      result.replaceAllUsesWith(passed.front());
  }
  op->erase();
}

static void rewriteLaunch(gpu::LaunchFuncOp launch, Crossings &crossings) {
  if (anyPacked(launch.getKernelOperands().getTypes()))
    launch.getKernelOperandsMutable().assign(crossings.packAll(launch.getKernelOperands()));
}

namespace {
struct FlyRewriteFuncSignaturePass
    : public fly::impl::FlyRewriteFuncSignaturePassBase<FlyRewriteFuncSignaturePass> {
  void runOnOperation() override {
    SmallVector<FunctionOpInterface> functions;
    SmallVector<Operation *> boundaries;
    SmallVector<gpu::LaunchFuncOp> launches;
    // Ops before what their regions hold, so that a terminator knows what came in.
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<func::FuncOp, gpu::GPUFuncOp>(op))
        functions.push_back(cast<FunctionOpInterface>(op));
      else if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
        launches.push_back(launch);
      else if (crossesBoundary(op))
        boundaries.push_back(op);
    });
    Crossings crossings;
    for (FunctionOpInterface function : functions)
      rewriteFunction(function, crossings);
    for (Operation *op : boundaries)
      rewriteBoundary(op, crossings);
    for (gpu::LaunchFuncOp launch : launches)
      rewriteLaunch(launch, crossings);
    crossings.eraseUnused();
  }
};
} // namespace
