// SPDX-License-Identifier: Apache-2.0
#include "DeviceCompiler.h"
#include "Optimize.h"
#include "fly/Emit/CrashGuard.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"

using namespace mlir;
using namespace fly;

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
fly::createDeviceMachine(const DeviceMachine &wanted,
                         llvm::function_ref<bool(const llvm::Triple &)> belongs) {
  llvm::Triple triple(wanted.triple);
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return llvm::createStringError(message);
  if (!belongs(triple))
    return llvm::createStringError("'" + wanted.triple + "' is not a triple of an " +
                                   wanted.vendor);
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, /*CPU=*/"", /*Features=*/""));
  llvm::StringRef chip = wanted.chip;
  // A generic target such as "gfx9-4-generic" is a name that LLVM knows as it is.
  if (wanted.productSuffix && !subtarget->isCPUStringValid(chip))
    chip = chip.split('-').first;
  if (chip.empty() || !subtarget->isCPUStringValid(chip))
    return llvm::createStringError("unknown " + wanted.vendor + " architecture '" + wanted.chip +
                                   "'");
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, chip, wanted.features, llvm::TargetOptions(),
                                  wanted.relocation, std::nullopt, codeGenLevel(wanted.optLevel)));
  if (!machine)
    return llvm::createStringError("LLVM has no target machine for '" + wanted.chip + "'");
  return machine;
}

DeviceCompiler::DeviceCompiler(Operation &gpuModule, llvm::TargetMachine &machine,
                               unsigned optLevel, CollectedDiagnostics &diagnostics)
    : ModuleToObject(gpuModule, machine.getTargetTriple().getTriple(), machine.getTargetCPU(),
                     machine.getTargetFeatureString(), optLevel),
      machine(machine), diagnostics(diagnostics) {}

void DeviceCompiler::setDataLayoutAndTriple(llvm::Module &module) {
  module.getContext().setDiagnosticHandler(std::make_unique<DiagnosticCollector>(diagnostics));
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
}

LogicalResult DeviceCompiler::emitFile(llvm::Module &module, llvm::CodeGenFileType type,
                                       SmallVectorImpl<char> &output) {
  llvm::raw_svector_ostream stream(output);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, /*DwoOut=*/nullptr, type))
    return getOperation().emitError("the target '")
           << machine.getTargetTriple().str() << "' cannot emit this kind of file";
  passes.run(module);
  // The code generator reports what it cannot do as a diagnostic and goes on with wrong code.
  return success(diagnostics.errors.empty());
}

FailureOr<SmallVector<char, 0>> fly::runDeviceCompiler(Operation *gpuModule, llvm::StringRef chip,
                                                       std::unique_ptr<DeviceCompiler> compiler,
                                                       std::unique_ptr<llvm::TargetMachine> machine,
                                                       CollectedDiagnostics &diagnostics) {
  std::optional<SmallVector<char, 0>> output;
  llvm::Error crash = runGuarded([&] { output = compiler->run(); });
  if (crash) {
    // The machine and the compiler may be half way through anything: leave them alone.
    [[maybe_unused]] auto *machineLeft = machine.release();
    [[maybe_unused]] auto *compilerLeft = compiler.release();
    diagnostics.errors.push_back(llvm::toString(std::move(crash)));
  }
  for (const std::string &error : diagnostics.errors)
    gpuModule->emitError("cannot generate code for '") << chip << "': " << error;
  if (!diagnostics.errors.empty() || !output)
    return failure();
  return std::move(*output);
}
