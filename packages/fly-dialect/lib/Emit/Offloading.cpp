// SPDX-License-Identifier: Apache-2.0
#include "fly/Emit/Offloading.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace fly;

FailureOr<SmallVector<StringRef>> fly::kernelNames(gpu::BinaryOp binary) {
  SmallVector<StringRef> names;
  bool first = true;
  for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>()) {
    gpu::KernelTableAttr table = object.getKernels();
    if (!table)
      return binary.emitError("a code object has no kernel table; compile it with "
                              "gpu-module-to-binary{format=fatbin}");
    SmallVector<StringRef> found;
    for (gpu::KernelMetadataAttr kernel : table)
      found.push_back(kernel.getName());
    if (!first && found != names)
      return binary.emitError("the code objects do not hold the same kernels");
    names = std::move(found);
    first = false;
  }
  return names;
}

static llvm::GlobalVariable *constantGlobal(llvm::Module &module, llvm::Constant *value,
                                            const Twine &name) {
  auto *global = new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::InternalLinkage, value, name);
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return global;
}

static llvm::Constant *stringConstant(llvm::Module &module, StringRef text, const Twine &name) {
  return constantGlobal(module, llvm::ConstantDataArray::getString(module.getContext(), text),
                        name);
}

namespace {
/// One object of a binary, as an artifact holds it.
struct DeviceObject {
  StringRef chip;
  StringRef bytes;
  bool isText; ///< PTX
};
} // namespace

static FailureOr<DeviceObject> deviceObject(gpu::BinaryOp binary, gpu::ObjectAttr object) {
  StringRef bytes = object.getObject().getValue();
  if (auto target = dyn_cast<ROCDL::ROCDLTargetAttr>(object.getTarget())) {
    if (object.getFormat() != gpu::CompilationTarget::Binary)
      return binary.emitError("the object for '")
             << target.getChip() << "' is not a linked code object";
    return DeviceObject{target.getChip(), bytes, /*isText=*/false};
  }
  if (auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget())) {
    const bool isText = object.getFormat() == gpu::CompilationTarget::Assembly;
    if (!isText && object.getFormat() != gpu::CompilationTarget::Binary)
      return binary.emitError("the object for '")
             << target.getChip() << "' is neither PTX nor machine code";
    return DeviceObject{target.getChip(), bytes, isText};
  }
  return binary.emitError("expected an object for #rocdl.target or #nvvm.target, got ")
         << object.getTarget();
}

LogicalResult fly::embedBinary(gpu::BinaryOp binary, llvm::IRBuilderBase &,
                               LLVM::ModuleTranslation &translation) {
  llvm::Module &module = *translation.getLLVMModule();
  llvm::LLVMContext &context = module.getContext();
  if (module.getNamedGlobal(codeObjectsSymbol))
    return binary.emitError("an artifact holds the kernels of one gpu.module");
  FailureOr<SmallVector<StringRef>> names = kernelNames(binary);
  if (failed(names))
    return failure();

  auto *pointerType = llvm::PointerType::getUnqual(context);
  auto *sizeType = llvm::Type::getInt64Ty(context);
  auto *codeObjectType = llvm::StructType::get(pointerType, pointerType, sizeType);
  SmallVector<llvm::Constant *> codeObjects;
  for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>()) {
    FailureOr<DeviceObject> code = deviceObject(binary, object);
    if (failed(code))
      return failure();
    // PTX is a string to the driver: it ends with a NUL, which its size does not count.
    llvm::GlobalVariable *data = constantGlobal(
        module, llvm::ConstantDataArray::getString(context, code->bytes, code->isText),
        "flydsl.code." + code->chip);
    data->setAlignment(llvm::Align(64));
    codeObjects.push_back(llvm::ConstantStruct::get(
        codeObjectType, {stringConstant(module, code->chip, "flydsl.arch"), data,
                         llvm::ConstantInt::get(sizeType, code->bytes.size())}));
  }
  constantGlobal(module,
                 llvm::ConstantArray::get(llvm::ArrayType::get(codeObjectType, codeObjects.size()),
                                          codeObjects),
                 codeObjectsSymbol);

  SmallVector<llvm::Constant *> kernels;
  for (StringRef name : *names)
    kernels.push_back(stringConstant(module, name, "flydsl.kernel"));
  constantGlobal(
      module, llvm::ConstantArray::get(llvm::ArrayType::get(pointerType, kernels.size()), kernels),
      kernelNamesSymbol);
  return success();
}

/// A stack slot of the function that `builder` is in. It lies in the entry block, so that a launch
/// in a loop does not grow the stack.
static llvm::AllocaInst *entryAlloca(llvm::IRBuilderBase &builder, llvm::Type *type) {
  llvm::BasicBlock &entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> entryBuilder(&entry, entry.begin());
  return entryBuilder.CreateAlloca(type);
}

/// Stores three extents into an int64_t[3] and returns its address.
static llvm::Value *storeExtents(llvm::IRBuilderBase &builder, ArrayRef<llvm::Value *> extents) {
  auto *type = llvm::ArrayType::get(builder.getInt64Ty(), 3);
  llvm::AllocaInst *array = entryAlloca(builder, type);
  for (auto [index, extent] : llvm::enumerate(extents))
    builder.CreateStore(builder.CreateSExtOrTrunc(extent, builder.getInt64Ty()),
                        builder.CreateConstInBoundsGEP2_64(type, array, 0, index));
  return array;
}

LogicalResult fly::launchKernel(gpu::LaunchFuncOp launch, gpu::BinaryOp binary,
                                llvm::IRBuilderBase &builder,
                                LLVM::ModuleTranslation &translation) {
  FailureOr<SmallVector<StringRef>> names = kernelNames(binary);
  if (failed(names))
    return failure();
  const auto *kernel = llvm::find(*names, launch.getKernelName().getValue());
  if (kernel == names->end())
    return launch.emitError("no kernel '") << launch.getKernelName().getValue()
                                           << "' in the code object '" << binary.getName() << "'";

  llvm::Module &module = *translation.getLLVMModule();
  auto value = [&](Value operand) { return translation.lookupValue(operand); };
  auto dimensions = [&](const gpu::KernelDim3 &dim) {
    return storeExtents(builder, {value(dim.x), value(dim.y), value(dim.z)});
  };
  auto *pointerType = builder.getPtrTy();
  llvm::Constant *null = llvm::ConstantPointerNull::get(pointerType);

  llvm::Value *grid = dimensions(launch.getGridSizeOperandValues());
  llvm::Value *block = dimensions(launch.getBlockSizeOperandValues());
  llvm::Value *cluster =
      launch.hasClusterSize() ? dimensions(launch.getClusterSizeOperandValues()) : null;
  llvm::Value *sharedBytes = builder.getInt64(0);
  if (Value size = launch.getDynamicSharedMemorySize())
    sharedBytes = builder.CreateZExtOrTrunc(value(size), builder.getInt64Ty());
  llvm::Value *stream = null;
  if (Value object = launch.getAsyncObject())
    stream = value(object);
  else if (!launch.getAsyncDependencies().empty())
    stream = value(launch.getAsyncDependencies().front());

  auto *parametersType = llvm::ArrayType::get(pointerType, launch.getNumKernelOperands());
  llvm::AllocaInst *parameters = entryAlloca(builder, parametersType);
  for (auto [index, operand] : llvm::enumerate(launch.getKernelOperands())) {
    llvm::Value *argument = value(operand);
    llvm::AllocaInst *slot = entryAlloca(builder, argument->getType());
    builder.CreateStore(argument, slot);
    builder.CreateStore(slot,
                        builder.CreateConstInBoundsGEP2_64(parametersType, parameters, 0, index));
  }

  llvm::FunctionCallee callee = module.getOrInsertFunction(
      launchSymbol, builder.getInt32Ty(), pointerType, builder.getInt32Ty(), pointerType,
      pointerType, pointerType, builder.getInt64Ty(), pointerType, pointerType);
  llvm::Constant *artifact =
      module.getOrInsertGlobal(artifactSymbol, llvm::StructType::get(builder.getContext()));
  auto index = static_cast<uint32_t>(kernel - names->begin());
  builder.CreateCall(callee, {artifact, builder.getInt32(index), grid, block, cluster, sharedBytes,
                              stream, parameters});
  return success();
}
