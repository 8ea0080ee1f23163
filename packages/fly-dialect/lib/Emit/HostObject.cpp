// SPDX-License-Identifier: Apache-2.0
#include "HostObject.h"
#include "fly/Emit/Linker.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/InterfaceStub/ELFObjHandler.h"
#include "llvm/InterfaceStub/IFSStub.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;
using namespace fly;

namespace {

/// FLYDSL_RUNTIME_SONAME and what an artifact calls of it.
constexpr StringLiteral runtimeSoname = "libflydsl_runtime.so.0";
constexpr StringLiteral runtimeFunctions[] = {"flydsl_launch", "flydsl_print", "flydsl_tensor_map",
                                              "flydsl_call_slots", "flydsl_call_tvm_ffi"};
/// What the code generator may call on its own account.
constexpr StringLiteral libcSoname = "libc.so.6";
constexpr StringLiteral libcFunctions[] = {"memcpy", "memmove", "memset", "memcmp", "bcmp"};

} // namespace

Expected<std::unique_ptr<TargetMachine>> fly::createHostMachine(const ArtifactOptions &options) {
  static const bool initialized = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  Triple triple(options.hostTriple);
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError(message);
  if (!triple.isOSBinFormatELF())
    return createStringError("an artifact is an ELF file, but '" + options.hostTriple +
                             "' has none");
  auto level = options.optLevel == 0   ? CodeGenOptLevel::None
               : options.optLevel == 1 ? CodeGenOptLevel::Less
                                       : CodeGenOptLevel::Default;
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(triple, options.hostCpu, /*Features=*/"", llvm::TargetOptions(),
                                  Reloc::PIC_, std::nullopt, level));
  if (!machine)
    return createStringError("LLVM has no target machine for '" + options.hostTriple + "'");
  return machine;
}

Error fly::compileHostObject(Module &module, TargetMachine &machine, unsigned optLevel,
                             SmallVectorImpl<char> &object) {
  std::string problems;
  raw_string_ostream problemStream(problems);
  if (verifyModule(module, &problemStream))
    return createStringError("invalid LLVM IR: " + problems);

  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  ModulePassManager passes =
      optLevel == 0
          ? builder.buildO0DefaultPipeline(OptimizationLevel::O0)
          : builder.buildPerModuleDefaultPipeline(optLevel == 1   ? OptimizationLevel::O1
                                                  : optLevel == 2 ? OptimizationLevel::O2
                                                                  : OptimizationLevel::O3);
  passes.run(module, modules);

  raw_svector_ostream stream(object);
  legacy::PassManager codeGen;
  if (machine.addPassesToEmitFile(codeGen, stream, /*DwoOut=*/nullptr, CodeGenFileType::ObjectFile))
    return createStringError("the host target cannot emit object files");
  codeGen.run(module);
  return Error::success();
}

/// Writes a shared object without contents that defines `symbols`: what the linker needs to know of
/// a library that the compiling machine need not have.
static Error writeStub(StringRef path, StringRef soname, ArrayRef<StringRef> symbols,
                       const Triple &triple) {
  ifs::IFSStub stub;
  stub.SoName = soname.str();
  stub.Target.ArchString = triple.getArchName().str();
  stub.Target.Arch = ELF::convertArchNameToEMachine(triple.getArchName());
  stub.Target.Endianness =
      triple.isLittleEndian() ? ifs::IFSEndiannessType::Little : ifs::IFSEndiannessType::Big;
  stub.Target.BitWidth =
      triple.isArch64Bit() ? ifs::IFSBitWidthType::IFS64 : ifs::IFSBitWidthType::IFS32;
  for (StringRef name : symbols) {
    ifs::IFSSymbol symbol(name.str());
    symbol.Type = ifs::IFSSymbolType::Func;
    stub.Symbols.push_back(std::move(symbol));
  }
  return ifs::writeBinaryStub(path, stub);
}

/// The names of the functions that `object` calls and does not define.
static Expected<SmallVector<std::string>> undefinedSymbols(ArrayRef<char> object) {
  auto file = object::ObjectFile::createELFObjectFile(
      MemoryBufferRef(StringRef(object.data(), object.size()), "host.o"));
  if (!file)
    return file.takeError();
  SmallVector<std::string> names;
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    // The dynamic linker's own table of addresses is not a function.
    if ((*flags & object::SymbolRef::SF_Undefined) && !name->empty() &&
        *name != "_GLOBAL_OFFSET_TABLE_")
      names.push_back(name->str());
  }
  return names;
}

Error fly::linkArtifact(ArrayRef<char> object, const ArtifactOptions &options) {
  Expected<SmallVector<std::string>> undefined = undefinedSymbols(object);
  if (!undefined)
    return undefined.takeError();
  bool needsLibc = false;
  SmallVector<StringRef> unknown;
  for (const std::string &name : *undefined) {
    if (is_contained(libcFunctions, StringRef(name)))
      needsLibc = true;
    else if (!is_contained(runtimeFunctions, StringRef(name)))
      unknown.push_back(name);
  }
  if (!unknown.empty())
    return createStringError("the host code calls " + join(unknown, ", ") +
                             ", which an artifact cannot reach");

  Expected<TemporaryDirectory> directory = TemporaryDirectory::create();
  if (!directory)
    return directory.takeError();
  Triple triple(options.hostTriple);
  SmallString<128> input = directory->file("host.o");
  SmallString<128> runtime = directory->file(runtimeSoname);
  SmallString<128> libc = directory->file(libcSoname);
  if (Error error = writeFile(input, StringRef(object.data(), object.size())))
    return error;
  SmallVector<StringRef> symbols(std::begin(runtimeFunctions), std::end(runtimeFunctions));
  if (Error error = writeStub(runtime, runtimeSoname, symbols, triple))
    return error;
  symbols.assign(std::begin(libcFunctions), std::end(libcFunctions));
  if (Error error = writeStub(libc, libcSoname, symbols, triple))
    return error;

  SmallString<128> output;
  if (std::error_code code = sys::fs::createUniqueFile(options.outputPath + ".%%%%%%%%", output))
    return createStringError(code, "cannot write '" + options.outputPath + "': " + code.message());
  SmallVector<StringRef> arguments = {"-shared",
                                      "-nostdlib",
                                      "-z",
                                      "now",
                                      "-z",
                                      "relro",
                                      "-z",
                                      "defs",
                                      "-z",
                                      "noexecstack",
                                      "--no-undefined",
                                      "--hash-style=gnu",
                                      "--build-id=none",
                                      "-o",
                                      output,
                                      input,
                                      runtime};
  if (needsLibc)
    arguments.push_back(libc);
  Error error = linkElf(arguments);
  if (!error)
    if (std::error_code code = sys::fs::rename(output, options.outputPath))
      error = createStringError(code, "cannot write '" + options.outputPath + "'");
  if (error) [[maybe_unused]]
    std::error_code ignored = sys::fs::remove(output);
  return error;
}
