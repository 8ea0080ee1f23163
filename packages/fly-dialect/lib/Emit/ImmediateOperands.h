// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_IMMEDIATEOPERANDS_H
#define FLY_LIB_EMIT_IMMEDIATEOPERANDS_H

#include "mlir/IR/Operation.h"

namespace fly {

/// The offset field of a buffer load to LDS is part of the instruction. Where the program computes
/// it, adds it to the per-lane offset instead, so that every load in `gpuModule` has a constant
/// there.
void foldDynamicImmediates(mlir::Operation *gpuModule);

} // namespace fly

#endif // FLY_LIB_EMIT_IMMEDIATEOPERANDS_H
