// SPDX-License-Identifier: Apache-2.0
#include "fly/Emit/Ptx.h"
#include "DeviceCompiler.h"
#include "Optimize.h"
#include "TranslationRewrites.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace mlir;
using namespace fly;

// Declared here because llvm/Support/TargetSelect.h only reaches targets that its own build
// configured as "native".
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace {

constexpr unsigned sharedSpace = 3;

void initializeTarget() {
  static const bool done = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)done;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const PtxOptions &options) {
  return createDeviceMachine({"NVIDIA GPU", options.triple, options.chip, options.features,
                              options.optLevel, /*relocation=*/std::nullopt},
                             [](const llvm::Triple &triple) { return triple.isNVPTX(); });
}

/// Whether all threads of a warp or warpgroup run the call together, though LLVM does not know.
bool runsTogether(const llvm::CallInst &call) {
  if (auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand()))
    return assembly->hasSideEffects();
  // The products of a warp: LLVM's intrinsics of them only have no effects.
  const llvm::Function *callee = call.getCalledFunction();
  return callee && callee->getName().starts_with("llvm.nvvm.mma.");
}

/// Says of what warps and warpgroups do as one that it must not be moved into branches. MLIR has no
/// such attribute of inline assembly and of calls of intrinsics.
void markConvergent(llvm::Function &function) {
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && runsTogether(*call))
      call->setConvergent();
}

/// Puts fences around atomic read-modify-writes that order other accesses: LLVM's NVPTX back end
/// writes them all without an order, which PTX takes for relaxed.
void orderAtomics(llvm::Function &function) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
    if (!atomic)
      continue;
    const llvm::AtomicOrdering ordering = atomic->getOrdering();
    llvm::IRBuilder<> builder(atomic);
    if (llvm::isReleaseOrStronger(ordering))
      builder.CreateFence(ordering == llvm::AtomicOrdering::SequentiallyConsistent
                              ? ordering
                              : llvm::AtomicOrdering::Release,
                          atomic->getSyncScopeID());
    if (llvm::isAcquireOrStronger(ordering)) {
      builder.SetInsertPoint(atomic->getNextNode());
      builder.CreateFence(llvm::AtomicOrdering::Acquire, atomic->getSyncScopeID());
    }
    atomic->setOrdering(llvm::AtomicOrdering::Monotonic);
  }
}

/// Adds to `functions` those that use `value`, also by way of constants.
void collectUsers(llvm::Value *value, llvm::SmallPtrSetImpl<llvm::Function *> &functions) {
  for (llvm::User *user : value->users())
    if (auto *instruction = llvm::dyn_cast<llvm::Instruction>(user))
      functions.insert(instruction->getFunction());
    else if (llvm::isa<llvm::Constant>(user) && !llvm::isa<llvm::GlobalValue>(user))
      collectUsers(user, functions);
}

/// The kernels that reach a global: those that use it, and those that call who does.
llvm::SmallPtrSet<llvm::Function *, 8> functionsThatReach(llvm::GlobalVariable &global) {
  llvm::SmallPtrSet<llvm::Function *, 8> found;
  collectUsers(&global, found);
  llvm::SmallVector<llvm::Function *> open(found.begin(), found.end());
  while (!open.empty()) {
    llvm::SmallPtrSet<llvm::Function *, 8> callers;
    collectUsers(open.pop_back_val(), callers);
    for (llvm::Function *caller : callers)
      if (found.insert(caller).second)
        open.push_back(caller);
  }
  return found;
}

class PtxCompiler final : public DeviceCompiler {
public:
  PtxCompiler(Operation &gpuModule, const PtxOptions &options, llvm::TargetMachine &machine,
              CollectedDiagnostics &diagnostics, Ptx &result)
      : DeviceCompiler(gpuModule, machine, options.optLevel, diagnostics), options(options),
        result(result) {}

private:
  void handleModulePreLink(llvm::Module &module) override {
    for (llvm::Function &function : module) {
      if (function.isDeclaration()) {
        // PTX would declare it, and the driver be the first to miss it.
        if (!function.isIntrinsic() && !function.use_empty())
          diagnostics.errors.push_back("undefined function '" + function.getName().str() + "'");
        continue;
      }
      markConvergent(function);
      orderAtomics(function);
      if (options.fastMath)
        for (llvm::Instruction &instruction : llvm::instructions(function))
          relaxMath(instruction, /*unsafe=*/true, /*finite=*/true);
    }
  }

  LogicalResult optimizeModule(llvm::Module &module, int) override {
    if (!diagnostics.errors.empty())
      return failure();
    optimize(module, machine, options.optLevel);
    if (options.wantLlvmIr) {
      llvm::raw_string_ostream stream(result.llvmIr);
      module.print(stream, nullptr);
    }
    return success();
  }

  FailureOr<SmallVector<char, 0>> moduleToObject(llvm::Module &module) override {
    describeKernels(module);
    SmallVector<char, 0> output;
    if (failed(emitFile(module, llvm::CodeGenFileType::AssemblyFile, output)))
      return failure();
    return output;
  }

  void describeKernels(llvm::Module &module) {
    for (llvm::Function &function : module)
      if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel)
        result.kernels.push_back({function.getName().str(), 0});
    llvm::sort(result.kernels,
               [](const PtxKernel &a, const PtxKernel &b) { return a.name < b.name; });
    for (llvm::GlobalVariable &global : module.globals()) {
      if (global.getAddressSpace() != sharedSpace)
        continue;
      const llvm::DataLayout &layout = module.getDataLayout();
      const uint64_t bytes = layout.getTypeAllocSize(global.getValueType());
      const uint64_t alignment =
          layout.getValueOrABITypeAlignment(global.getAlign(), global.getValueType()).value();
      llvm::SmallPtrSet<llvm::Function *, 8> users = functionsThatReach(global);
      for (PtxKernel &kernel : result.kernels)
        if (users.contains(module.getFunction(kernel.name)))
          kernel.sharedBytes = llvm::alignTo(kernel.sharedBytes, alignment) + bytes;
    }
  }

  const PtxOptions &options;
  Ptx &result;
};

} // namespace

PtxOptions fly::optionsFromTarget(NVVM::NVVMTargetAttr target) {
  PtxOptions options;
  options.triple = target.getTriple().str();
  options.chip = target.getChip().str();
  options.features = target.getFeatures().str();
  options.optLevel = target.getO();
  options.fastMath = target.hasFastMath();
  return options;
}

/// The features, with the PTX that has the products of 8-bit floats where the module has one: 8.4.
/// Drivers that are older take all other modules.
static std::string featuresFor(Operation *gpuModule, StringRef features) {
  const bool hasProduct = gpuModule
                              ->walk([](LLVM::CallIntrinsicOp call) {
                                const StringRef name = call.getIntrin();
                                return name.starts_with("llvm.nvvm.mma.") &&
                                               (name.contains(".e4m3.") || name.contains(".e5m2."))
                                           ? WalkResult::interrupt()
                                           : WalkResult::advance();
                              })
                              .wasInterrupted();
  return features == "+ptx80" && hasProduct ? "+ptx84" : features.str();
}

FailureOr<Ptx> fly::emitPtx(Operation *gpuModule, const PtxOptions &wanted) {
  initializeTarget();
  PtxOptions options = wanted;
  options.features = featuresFor(gpuModule, wanted.features);
  if (options.optLevel > 3)
    return gpuModule->emitError("optimisation level must be 0, 1, 2 or 3, got ")
           << options.optLevel;
  auto machine = createTargetMachine(options);
  if (!machine)
    return gpuModule->emitError(llvm::toString(machine.takeError()));

  adoptLoopAnnotations(gpuModule);
  Ptx result;
  CollectedDiagnostics diagnostics;
  auto compiler =
      std::make_unique<PtxCompiler>(*gpuModule, options, **machine, diagnostics, result);
  FailureOr<SmallVector<char, 0>> text = runDeviceCompiler(
      gpuModule, options.chip, std::move(compiler), std::move(*machine), diagnostics);
  if (failed(text))
    return failure();
  result.text.assign(text->begin(), text->end());
  result.warnings = std::move(diagnostics.warnings);
  return result;
}
