// SPDX-License-Identifier: Apache-2.0
#include "fly/Emit/CodeObject.h"
#include "AMDGPUTarget.h"
#include "CheckCopyWaits.h"
#include "DeviceCompiler.h"
#include "DivergentValues.h"
#include "KernelResources.h"
#include "Optimize.h"
#include "TranslationRewrites.h"
#include "fly/Emit/InstructionAvailability.h"
#include "fly/Emit/Linker.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace fly;

namespace {

/// Creates the target machine, or says why `options` has none.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const CodeObjectOptions &options) {
  auto machine = createDeviceMachine({"AMD GPU", options.triple, options.chip, options.features,
                                      options.optLevel, llvm::Reloc::PIC_, /*productSuffix=*/true},
                                     [](const llvm::Triple &triple) { return triple.isAMDGCN(); });
  if (!machine)
    return machine;
  if (options.wave64) {
    bool hasWave64 = (*machine)->getMCSubtargetInfo()->checkFeatures("+wavefrontsize64");
    if (!*options.wave64 && hasWave64)
      return llvm::createStringError("waves of '" + options.chip +
                                     "' have 64 lanes, but the target asks for 32");
  }
  return machine;
}

class CodeObjectCompiler final : public DeviceCompiler {
public:
  CodeObjectCompiler(Operation &gpuModule, const CodeObjectOptions &options,
                     llvm::TargetMachine &machine, CollectedDiagnostics &diagnostics,
                     CodeObject &result)
      : DeviceCompiler(gpuModule, machine, options.optLevel, diagnostics), options(options),
        result(result) {}

private:
  std::optional<SmallVector<std::unique_ptr<llvm::Module>>>
  loadBitcodeFiles(llvm::Module &module) override;

  void handleModulePreLink(llvm::Module &module) override {
    module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", options.abiVersion);
    for (llvm::Function &function : module)
      if (!function.isDeclaration())
        applyOptions(function);
      else if (function.use_empty())
        continue;
      else if (std::optional<std::string> why = whyUnavailable(function.getName(), options.chip))
        diagnostics.errors.push_back(std::move(*why));
  }

  LogicalResult optimizeModule(llvm::Module &module, int) override;
  FailureOr<SmallVector<char, 0>> moduleToObject(llvm::Module &module) override;

  void applyOptions(llvm::Function &function) const;
  FailureOr<SmallVector<char, 0>> link(ArrayRef<char> object);

  const CodeObjectOptions &options;
  CodeObject &result;
};

} // namespace

std::optional<SmallVector<std::unique_ptr<llvm::Module>>>
CodeObjectCompiler::loadBitcodeFiles(llvm::Module &module) {
  SmallVector<std::unique_ptr<llvm::Module>> libraries;
  for (const std::string &path : options.bitcodeFiles) {
    std::unique_ptr<llvm::Module> library;
    if (llvm::sys::fs::is_regular_file(path))
      library = loadBitcodeFile(module.getContext(), path);
    if (!library) {
      getOperation().emitError("cannot read the bitcode file ") << path;
      return std::nullopt;
    }
    if (!library->getTargetTriple().isAMDGCN()) {
      getOperation().emitError("the bitcode file ")
          << path << " is for '" << library->getTargetTriple().str() << "', not for amdgcn";
      return std::nullopt;
    }
    library->setTargetTriple(module.getTargetTriple());
    library->setDataLayout(module.getDataLayout());
    libraries.push_back(std::move(library));
  }
  return libraries;
}

/// Puts the options that LLVM reads from functions and instructions on `function`.
void CodeObjectCompiler::applyOptions(llvm::Function &function) const {
  if (function.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL && options.wavesPerEu &&
      options.wavesPerEu->first != 0 && !function.hasFnAttribute("amdgpu-waves-per-eu")) {
    auto [minimum, maximum] = *options.wavesPerEu;
    std::string value = llvm::utostr(minimum);
    if (maximum != 0)
      value += "," + llvm::utostr(maximum);
    function.addFnAttr("amdgpu-waves-per-eu", value);
  }
  // Without the attribute LLVM keeps denormals, which is what we want by default.
  if (options.flushDenormals)
    function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");

  const bool unsafe = options.fastMath || options.unsafeMath;
  const bool finite = options.fastMath || options.finiteOnly;
  if (!unsafe && !finite && options.correctSqrt)
    return;
  llvm::MDBuilder metadata(function.getContext());
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    relaxMath(instruction, unsafe, finite);
    // 3 ulp is what OpenCL grants sqrt when it need not be correctly rounded, and what v_sqrt_f32
    // meets.
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!options.correctSqrt && call && call->getIntrinsicID() == llvm::Intrinsic::sqrt)
      call->setMetadata(llvm::LLVMContext::MD_fpmath, metadata.createFPMath(3.0F));
  }
}

LogicalResult CodeObjectCompiler::optimizeModule(llvm::Module &module, int) {
  if (!diagnostics.errors.empty())
    return failure();
  llvm::FunctionPassManager workarounds;
  workarounds.addPass(PinTemporalDivergencePass());
  workarounds.addPass(KeepPhiValuesPass());
  optimize(module, machine, options.optLevel, std::move(workarounds));

  if (options.wantLlvmIr) {
    llvm::raw_string_ostream stream(result.llvmIr);
    module.print(stream, nullptr);
  }
  return success();
}

FailureOr<SmallVector<char, 0>> CodeObjectCompiler::moduleToObject(llvm::Module &module) {
  SmallVector<char, 0> output;
  if (options.format == EmitFormat::Bitcode) {
    llvm::raw_svector_ostream stream(output);
    llvm::WriteBitcodeToFile(module, stream);
    return output;
  }
  if (options.wantIsa || options.format == EmitFormat::Assembly) {
    // Code generation consumes the module, so text and object need one each.
    std::unique_ptr<llvm::Module> clone = llvm::CloneModule(module);
    SmallVector<char, 0> text;
    if (failed(emitFile(*clone, llvm::CodeGenFileType::AssemblyFile, text)))
      return failure();
    if (options.format == EmitFormat::Assembly)
      return text;
    result.isa.assign(text.begin(), text.end());
  }
  if (failed(emitFile(module, llvm::CodeGenFileType::ObjectFile, output)))
    return failure();
  return link(output);
}

FailureOr<SmallVector<char, 0>> CodeObjectCompiler::link(ArrayRef<char> object) {
  llvm::Expected<TemporaryDirectory> directory = TemporaryDirectory::create();
  if (!directory)
    return getOperation().emitError(llvm::toString(directory.takeError()));
  SmallString<128> input = directory->file("kernel.o");
  SmallString<128> output = directory->file("kernel.hsaco");
  if (llvm::Error error = writeFile(input, StringRef(object.data(), object.size())))
    return getOperation().emitError(llvm::toString(std::move(error)));
  // A code object resolves nothing at load time, so an undefined function is an error here.
  if (llvm::Error error = linkElf({"-shared", "--no-undefined", input, "-o", output}))
    return getOperation().emitError(llvm::toString(std::move(error)));
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return getOperation().emitError("cannot read the linked code object: " +
                                    buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  return SmallVector<char, 0>(bytes.begin(), bytes.end());
}

CodeObjectOptions fly::optionsFromTarget(ROCDL::ROCDLTargetAttr target) {
  CodeObjectOptions options;
  options.triple = target.getTriple().str();
  options.chip = target.getChip().str();
  options.features = target.getFeatures().str();
  if (target.getAbi().getAsInteger(10, options.abiVersion))
    options.abiVersion = 0; // Refused by emitCodeObject.
  options.optLevel = target.getO();
  options.fastMath = target.hasFastMath();
  options.unsafeMath = target.hasUnsafeMath();
  options.finiteOnly = target.hasFiniteOnly();
  options.flushDenormals = target.hasDaz();
  options.correctSqrt = target.hasCorrectSqrt();
  if (ArrayAttr link = target.getLink())
    for (auto path : link.getAsRange<StringAttr>())
      options.bitcodeFiles.push_back(path.str());
  // "wave64" is also what a target that says nothing answers, so only the explicit flags count.
  if (target.hasFlag("no_wave64"))
    options.wave64 = false;
  else if (target.hasFlag("wave64"))
    options.wave64 = true;
  return options;
}

FailureOr<CodeObject> fly::emitCodeObject(Operation *gpuModule, const CodeObjectOptions &options) {
  initializeAMDGPUTarget();
  if (options.optLevel > 3)
    return gpuModule->emitError("optimisation level must be 0, 1, 2 or 3, got ")
           << options.optLevel;
  if (options.abiVersion != 400 && options.abiVersion != 500 && options.abiVersion != 600)
    return gpuModule->emitError("code object version must be 400, 500 or 600");

  auto machine = createTargetMachine(options);
  if (!machine)
    return gpuModule->emitError(llvm::toString(machine.takeError()));

  if (failed(checkCopyWaits(gpuModule, options.chip)))
    return failure();
  foldDynamicImmediates(gpuModule);
  adoptLoopAnnotations(gpuModule);
  offsetSwizzledAddresses(gpuModule);
  CodeObject result;
  CollectedDiagnostics diagnostics;
  auto compiler =
      std::make_unique<CodeObjectCompiler>(*gpuModule, options, **machine, diagnostics, result);
  FailureOr<SmallVector<char, 0>> bytes = runDeviceCompiler(
      gpuModule, options.chip, std::move(compiler), std::move(*machine), diagnostics);
  if (failed(bytes))
    return failure();

  result.bytes = std::move(*bytes);
  result.warnings = std::move(diagnostics.warnings);
  if (options.format == EmitFormat::CodeObject &&
      failed(readKernelResources(gpuModule, result.bytes, diagnostics.occupancy, result.kernels)))
    return failure();
  return result;
}
