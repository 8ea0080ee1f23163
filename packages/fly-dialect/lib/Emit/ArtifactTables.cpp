// SPDX-License-Identifier: Apache-2.0
#include "ArtifactTables.h"
#include "fly/Emit/Offloading.h"

#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace fly;

/// Conversions of 16-bit floats that a host without instructions for them calls; a module that has
/// such floats in its host code defines them.
static constexpr StringLiteral floatConversions[] = {
    "__extendhfsf2", "__truncsfhf2", "__truncdfhf2", "__truncsfbf2", "__truncdfbf2"};

namespace {

constexpr uint32_t abiVersion = 1; // FLYDSL_ARTIFACT_ABI

/// Builds the pieces of one artifact.
class TableBuilder {
public:
  TableBuilder(Module &module, const ArtifactOptions &options)
      : module(module), options(options), context(module.getContext()),
        pointer(PointerType::getUnqual(context)), i32(Type::getInt32Ty(context)),
        i64(Type::getInt64Ty(context)) {}

  Error build();

private:
  Function *defineHost(Function &entry);
  void defineArtifact(Function &host);
  void exportSlotsFunction();
  void exportTvmFfiFunction();

  /// A function that is called through a pointer or from another module.
  Function *defineFunction(StringRef name, ArrayRef<Type *> parameters,
                           GlobalValue::LinkageTypes linkage) {
    Function *function =
        Function::Create(FunctionType::get(i32, parameters, false), linkage, name, module);
    function->setDoesNotThrow();
    BasicBlock::Create(context, "", function);
    return function;
  }

  /// The table `name` that embedBinary made, or NULL when there are no kernels.
  std::pair<Constant *, uint64_t> table(StringRef name) {
    GlobalVariable *global = module.getNamedGlobal(name);
    if (!global)
      return {ConstantPointerNull::get(pointer), 0};
    return {global, cast<ArrayType>(global->getValueType())->getNumElements()};
  }

  Module &module;
  const ArtifactOptions &options;
  LLVMContext &context;
  PointerType *pointer;
  Type *i32;
  Type *i64;
};

} // namespace

/// int32_t host(void **slots): loads parameter i of the entry function from slot i and calls it.
Function *TableBuilder::defineHost(Function &entry) {
  Function *host = defineFunction("flydsl.host", {pointer}, GlobalValue::InternalLinkage);
  IRBuilder<> builder(&host->getEntryBlock());
  SmallVector<Value *> arguments;
  for (Argument &parameter : entry.args()) {
    Value *slot = builder.CreateLoad(pointer, builder.CreateConstInBoundsGEP1_64(
                                                  pointer, host->getArg(0), parameter.getArgNo()));
    // A bool is a byte in memory. Nothing promises a slot's alignment.
    Type *type = parameter.getType();
    Type *memoryType = type->isIntegerTy(1) ? builder.getInt8Ty() : type;
    Value *value = builder.CreateAlignedLoad(memoryType, slot, Align(1));
    arguments.push_back(type == memoryType ? value : builder.CreateIsNotNull(value));
  }
  CallInst *call = builder.CreateCall(&entry, arguments);
  call->setCallingConv(entry.getCallingConv());
  // An entry function that launches nothing has no status.
  builder.CreateRet(call->getType() == i32 ? static_cast<Value *>(call) : builder.getInt32(0));
  return host;
}

void TableBuilder::defineArtifact(Function &host) {
  auto [codeObjects, numCodeObjects] = table(codeObjectsSymbol);
  auto [kernelNames, numKernels] = table(kernelNamesSymbol);

  Constant *noteText = ConstantDataArray::getString(context, options.note);
  auto *note = new GlobalVariable(module, noteText->getType(), /*isConstant=*/true,
                                  GlobalValue::InternalLinkage, noteText, "flydsl.note");
  note->setSection(".flydsl.note");
  note->setAlignment(Align(1));
  auto *state =
      new GlobalVariable(module, pointer, /*isConstant=*/false, GlobalValue::InternalLinkage,
                         ConstantPointerNull::get(pointer), "flydsl.state");

  Constant *fields[] = {
      ConstantInt::get(i32, abiVersion),
      ConstantInt::get(i32, numCodeObjects),
      ConstantInt::get(i32, numKernels),
      ConstantInt::get(i32, 0),
      codeObjects,
      kernelNames,
      note,
      ConstantInt::get(i64, options.note.size()),
      &host,
      state,
  };
  Constant *value = ConstantStruct::getAnon(fields);
  auto *artifact = new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                      GlobalValue::ExternalLinkage, value, "");
  // Launches refer to a declaration of it.
  if (GlobalVariable *declaration = module.getNamedGlobal(artifactSymbol)) {
    declaration->replaceAllUsesWith(artifact);
    declaration->eraseFromParent();
  }
  artifact->setName(artifactSymbol);
  artifact->setVisibility(GlobalValue::ProtectedVisibility);
}

/// int32_t NAME(void **slots)
void TableBuilder::exportSlotsFunction() {
  Function *function = defineFunction(options.name, {pointer}, GlobalValue::ExternalLinkage);
  FunctionCallee callee = module.getOrInsertFunction("flydsl_call_slots", i32, pointer, pointer);
  IRBuilder<> builder(&function->getEntryBlock());
  builder.CreateRet(
      builder.CreateCall(callee, {module.getNamedGlobal(artifactSymbol), function->getArg(0)}));
}

/// int __tvm_ffi_NAME(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result)
void TableBuilder::exportTvmFfiFunction() {
  Function *function = defineFunction("__tvm_ffi_" + options.name, {pointer, pointer, i32, pointer},
                                      GlobalValue::ExternalLinkage);
  FunctionCallee callee =
      module.getOrInsertFunction("flydsl_call_tvm_ffi", i32, pointer, pointer, i32, pointer);
  IRBuilder<> builder(&function->getEntryBlock());
  builder.CreateRet(
      builder.CreateCall(callee, {module.getNamedGlobal(artifactSymbol), function->getArg(1),
                                  function->getArg(2), function->getArg(3)}));
}

Error TableBuilder::build() {
  Function *entry = module.getFunction(options.entry);
  if (!entry || entry->isDeclaration())
    return createStringError("the host function '" + options.entry + "' is gone");
  for (GlobalObject &object : module.global_objects())
    if (!object.isDeclaration())
      object.setLinkage(GlobalValue::InternalLinkage);
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    if (is_contained(floatConversions, function.getName())) {
      // The code generator calls it by its name, which the optimiser does not know.
      function.setLinkage(GlobalValue::ExternalLinkage);
      function.setVisibility(GlobalValue::HiddenVisibility);
      continue;
    }
    // Whatever the function is called, `name` is for the exported one.
    function.setName("flydsl.host." + function.getName());
  }

  defineArtifact(*defineHost(*entry));
  exportSlotsFunction();
  exportTvmFfiFunction();
  return Error::success();
}

Error fly::addArtifactTables(Module &module, const ArtifactOptions &options) {
  return TableBuilder(module, options).build();
}
