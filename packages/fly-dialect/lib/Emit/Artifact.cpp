// SPDX-License-Identifier: Apache-2.0
#include "fly/Emit/Artifact.h"
#include "ArtifactTables.h"
#include "DiagnosticCollector.h"
#include "HostObject.h"
#include "LaunchStatus.h"
#include "fly/Emit/CrashGuard.h"
#include "fly/Emit/Linker.h"
#include "fly/Emit/Offloading.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace fly;

static bool isCIdentifier(StringRef name) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  return !name.empty() && !llvm::isDigit(name.front()) && llvm::all_of(name, isWord);
}

/// Checks what does not need LLVM IR.
static LogicalResult checkInput(ModuleOp module, const ArtifactOptions &options) {
  if (!isCIdentifier(options.name))
    return module.emitError("'") << options.name << "' cannot name an artifact: not a C identifier";
  if (options.optLevel > 3)
    return module.emitError("optimisation level must be 0, 1, 2 or 3, got ") << options.optLevel;
  if (StringRef(options.note).contains('\0'))
    return module.emitError("the note holds a NUL character");
  if (llvm::Expected<llvm::json::Value> note = llvm::json::parse(options.note); !note)
    return module.emitError("the note is not JSON: ") << llvm::toString(note.takeError());

  auto entry = module.lookupSymbol<LLVM::LLVMFuncOp>(options.entry);
  if (!entry || entry.isDeclaration())
    return module.emitError("no host function '") << options.entry << "' in the LLVM dialect";
  if (!isa<LLVM::LLVMVoidType>(entry.getFunctionType().getReturnType()))
    return entry.emitError("the entry function of an artifact returns nothing");
  for (auto gpuModule : module.getOps<gpu::GPUModuleOp>())
    return gpuModule.emitError("is not compiled yet; run gpu-module-to-binary first");
  return success();
}

/// Translates `module` with the launches going through fly's offloading handler, whatever handler
/// it names.
static std::unique_ptr<llvm::Module> translate(ModuleOp module, Attribute handler,
                                               llvm::LLVMContext &context) {
  OwningOpRef<ModuleOp> copy(module.clone());
  for (auto binary : copy->getOps<gpu::BinaryOp>())
    binary.setOffloadingHandlerAttr(handler);
  // The name ends up in the symbol table; a constant one keeps builds reproducible.
  return translateModuleToLLVMIR(*copy, context, "flydsl");
}

LogicalResult fly::emitArtifact(ModuleOp module, const ArtifactOptions &options) {
  if (failed(checkInput(module, options)))
    return failure();
  auto machine = createHostMachine(options);
  if (!machine)
    return module.emitError(llvm::toString(machine.takeError()));

  // Owned by pointers that can be let go of: after a crash inside LLVM nothing of it may be
  // destroyed.
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> llvmModule;
  CollectedDiagnostics diagnostics;
  context->setDiagnosticHandler(std::make_unique<DiagnosticCollector>(diagnostics));
  SmallVector<char, 0> object;
  llvm::Error error = llvm::Error::success();
  llvm::Error crash = runGuarded([&] {
    llvmModule = translate(module, offloadingHandler(module.getContext()), *context);
    if (!llvmModule)
      return; // Diagnosed by the translation.
    llvmModule->setTargetTriple((*machine)->getTargetTriple());
    llvmModule->setDataLayout((*machine)->createDataLayout());
    SmallVector<llvm::Function *> fallible;
    for (StringRef name : {launchSymbol, printSymbol, tensorMapSymbol})
      if (llvm::Function *function = llvmModule->getFunction(name))
        fallible.push_back(function);
    error = llvm::joinErrors(std::move(error), propagateLaunchStatus(fallible));
    if (!error)
      error = addArtifactTables(*llvmModule, options);
    if (!error)
      error = compileHostObject(*llvmModule, **machine, options.optLevel, object);
  });
  if (crash) {
    llvm::consumeError(std::move(error));
    [[maybe_unused]] auto *contextLeft = context.release();
    [[maybe_unused]] auto *moduleLeft = llvmModule.release();
    [[maybe_unused]] auto *machineLeft = machine->release();
    return module.emitError("cannot generate host code: ") << llvm::toString(std::move(crash));
  }
  if (error)
    return module.emitError("cannot generate host code: ") << llvm::toString(std::move(error));
  if (!llvmModule)
    return failure();
  for (const std::string &text : diagnostics.errors)
    module.emitError("cannot generate host code: ") << text;
  if (!diagnostics.errors.empty())
    return failure();

  if (llvm::Error failure = linkArtifact(object, options))
    return module.emitError(llvm::toString(std::move(failure)));
  return success();
}
