// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_CONVERSION_FLYKTRACETOROCDL_SEPARATEBRANCHES_H
#define FLY_LIB_CONVERSION_FLYKTRACETOROCDL_SEPARATEBRANCHES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace fly::ktrace {

/// Whether a region of `op` holds an event.
bool containsEvents(mlir::Operation *op);

/// Splits each scf.if of the kernel that records in both of its branches into two, one per branch.
/// A wave whose lanes disagree takes both, one after the other; between the two it can count what
/// the first has recorded.
void separateBranches(mlir::gpu::GPUFuncOp kernel);

} // namespace fly::ktrace

#endif // FLY_LIB_CONVERSION_FLYKTRACETOROCDL_SEPARATEBRANCHES_H
