// SPDX-License-Identifier: Apache-2.0
#include "CheckCopyWaits.h"
#include "CodegenPasses.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

#include "llvm/TargetParser/TargetParser.h"

using namespace mlir;

/// The pointer of a wait for copies to LDS, or null.
static Value waitedFor(LLVM::InlineAsmOp assembly) {
  if (assembly.getAsmString() != fly::copyWaitText || assembly.getOperands().size() != 1)
    return Value();
  return assembly.getOperands().front();
}

/// Where a load straight to LDS writes, or null for other operations.
static Value loadedTo(Operation &op) {
  if (auto load = dyn_cast<ROCDL::RawPtrBufferLoadLdsOp>(op))
    return load.getLdsPtr();
  if (auto load = dyn_cast<ROCDL::GlobalLoadLDSOp>(op))
    return load.getLdsPtr();
  if (auto load = dyn_cast<ROCDL::LoadToLDSOp>(op))
    return load.getLdsPtr();
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
      call && (call.getIntrin().contains(".load.lds") || call.getIntrin().contains(".to.lds")) &&
      call.getArgs().size() > 1)
    return call.getArgs()[1];
  return Value();
}

/// The variable of LDS that `pointer` points into; null where that is not known.
static StringAttr variableOf(Value pointer) {
  while (auto access = pointer.getDefiningOp<LLVM::GEPOp>())
    pointer = access.getBase();
  auto address = pointer.getDefiningOp<LLVM::AddressOfOp>();
  return address ? address.getGlobalNameAttr().getAttr() : StringAttr();
}

static LogicalResult checkFunction(LLVM::LLVMFuncOp function, bool computed) {
  bool writesAnywhere = false;
  llvm::SmallPtrSet<Attribute, 8> written;
  SmallVector<LLVM::InlineAsmOp> waits;
  function.walk([&](Operation *op) {
    if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op); assembly && waitedFor(assembly)) {
      waits.push_back(assembly);
    } else if (Value target = loadedTo(*op)) {
      StringAttr variable = variableOf(target);
      writesAnywhere |= !variable;
      written.insert(variable);
    }
  });
  LogicalResult result = success();
  for (LLVM::InlineAsmOp wait : waits) {
    Value pointer = waitedFor(wait);
    auto type = dyn_cast<LLVM::LLVMPointerType>(pointer.getType());
    StringAttr variable = variableOf(pointer);
    if (!type || type.getAddressSpace() != 3)
      result = wait.emitError("a wait for copies names memory other than LDS: ")
               << pointer.getType();
    else if (!computed)
      result = wait.emitError("waits for copies to LDS are computed for gfx9, whose vector memory "
                              "operations share a counter, not for this chip");
    else if (written.empty() || (variable && !writesAnywhere && !written.contains(variable)))
      result = wait.emitError("a wait for copies names LDS that no copy of this kernel writes")
               << (variable ? " ('" + variable.str() + "')" : std::string())
               << "; name what the copies write to";
  }
  return result;
}

LogicalResult fly::checkCopyWaits(Operation *gpuModule, StringRef chip) {
  const bool computed = llvm::AMDGPU::getIsaVersion(chip).Major == 9;
  LogicalResult result = success();
  gpuModule->walk([&](LLVM::LLVMFuncOp function) {
    if (failed(checkFunction(function, computed)))
      result = failure();
  });
  return result;
}
