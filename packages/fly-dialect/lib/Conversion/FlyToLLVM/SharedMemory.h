// SPDX-License-Identifier: Apache-2.0
//
// The globals of a gpu.module that stand for shared memory (LDS).
#ifndef FLY_LIB_CONVERSION_FLYTOLLVM_SHAREDMEMORY_H
#define FLY_LIB_CONVERSION_FLYTOLLVM_SHAREDMEMORY_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace fly::lowering {

/// A new `@__shared_alloc_N` for the allocation `op`.
mlir::FailureOr<mlir::LLVM::GlobalOp> createSharedGlobal(mlir::RewriterBase &rewriter,
                                                         mlir::Operation *op,
                                                         mlir::LLVM::Linkage linkage, int64_t bytes,
                                                         int64_t alignment);

/// The gpu.module's one `@__dynamic_shared_N`, made when `op` is the first to ask for it.
mlir::FailureOr<mlir::LLVM::GlobalOp> getDynamicSharedGlobal(mlir::RewriterBase &rewriter,
                                                             mlir::Operation *op);

} // namespace fly::lowering

#endif // FLY_LIB_CONVERSION_FLYTOLLVM_SHAREDMEMORY_H
