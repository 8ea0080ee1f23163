// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_LOOPANNOTATIONS_H
#define FLY_LIB_EMIT_LOOPANNOTATIONS_H

#include "mlir/IR/Operation.h"

namespace fly {

/// Gives the branches in `gpuModule` the loop annotations that came with them from scf.for as
/// discardable attributes. Translation to LLVM IR looks at the branches' own only, so that without
/// this `unroll` would have no effect.
void adoptLoopAnnotations(mlir::Operation *gpuModule);

} // namespace fly

#endif // FLY_LIB_EMIT_LOOPANNOTATIONS_H
