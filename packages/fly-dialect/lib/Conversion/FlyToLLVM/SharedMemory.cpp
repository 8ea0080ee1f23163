// SPDX-License-Identifier: Apache-2.0
#include "SharedMemory.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace fly::lowering {

constexpr unsigned sharedAddressSpace = 3;
constexpr StringLiteral dynamicSharedPrefix = "__dynamic_shared_";

/// The first `<prefix>N` that is free in `module`.
static std::string freeName(gpu::GPUModuleOp module, StringRef prefix) {
  for (unsigned number = 0;; ++number) {
    std::string name = (prefix + Twine(number)).str();
    if (!SymbolTable::lookupSymbolIn(module, name))
      return name;
  }
}

static LLVM::GlobalOp createGlobal(RewriterBase &rewriter, gpu::GPUModuleOp module, Location loc,
                                   StringRef prefix, LLVM::Linkage linkage, int64_t bytes,
                                   int64_t alignment) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(module.getBody());
  auto type = LLVM::LLVMArrayType::get(rewriter.getI8Type(), bytes);
  return LLVM::GlobalOp::create(rewriter, loc, type, /*isConstant=*/false, linkage,
                                freeName(module, prefix), Attribute(), alignment,
                                sharedAddressSpace, /*dsoLocal=*/true);
}

FailureOr<LLVM::GlobalOp> createSharedGlobal(RewriterBase &rewriter, Operation *op,
                                             LLVM::Linkage linkage, int64_t bytes,
                                             int64_t alignment) {
  auto module = op->getParentOfType<gpu::GPUModuleOp>();
  if (!module)
    return op->emitError("shared make_ptr must be inside a gpu.module");
  return createGlobal(rewriter, module, op->getLoc(), "__shared_alloc_", linkage, bytes, alignment);
}

FailureOr<LLVM::GlobalOp> getDynamicSharedGlobal(RewriterBase &rewriter, Operation *op) {
  auto module = op->getParentOfType<gpu::GPUModuleOp>();
  if (!module)
    return op->emitError("get_dyn_shared must be inside a gpu.module");
  for (auto global : module.getOps<LLVM::GlobalOp>())
    if (global.getSymName().starts_with(dynamicSharedPrefix))
      return global;
  return createGlobal(rewriter, module, op->getLoc(), dynamicSharedPrefix, LLVM::Linkage::External,
                      /*bytes=*/0, /*alignment=*/1024);
}

} // namespace fly::lowering
