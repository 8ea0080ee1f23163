// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_CHECKCOPYWAITS_H
#define FLY_LIB_EMIT_CHECKCOPYWAITS_H

#include "mlir/IR/Operation.h"

namespace fly {

/// Diagnoses waits for copies of `gpuModule` (see `createCountCopyWaitsPass`) that cannot be
/// computed, where they stand: for other
/// memory than LDS, for LDS that no copy of the function writes, and on chips that do not count
/// loads to LDS with other vector memory operations. Where a copy writes is what its pointer says
/// before any optimization; one that is not known may write anywhere.
mlir::LogicalResult checkCopyWaits(mlir::Operation *gpuModule, llvm::StringRef chip);

} // namespace fly

#endif // FLY_LIB_EMIT_CHECKCOPYWAITS_H
