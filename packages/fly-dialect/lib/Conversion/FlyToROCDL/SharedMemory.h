// SPDX-License-Identifier: Apache-2.0
//
// The globals of a gpu.module that stand for LDS.
#ifndef FLY_LIB_CONVERSION_FLYTOROCDL_SHAREDMEMORY_H
#define FLY_LIB_CONVERSION_FLYTOROCDL_SHAREDMEMORY_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace fly::rocdl {

/// A new `@__shared_alloc_N` for the allocation `op`.
mlir::FailureOr<mlir::LLVM::GlobalOp> createSharedGlobal(mlir::RewriterBase &rewriter,
                                                         mlir::Operation *op, int64_t bytes,
                                                         int64_t alignment);

/// The gpu.module's one `@__dynamic_shared_N`, made when `op` is the first to ask for it.
mlir::FailureOr<mlir::LLVM::GlobalOp> getDynamicSharedGlobal(mlir::RewriterBase &rewriter,
                                                             mlir::Operation *op);

} // namespace fly::rocdl

#endif // FLY_LIB_CONVERSION_FLYTOROCDL_SHAREDMEMORY_H
