// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_TRANSFORMS_PASSES_H
#define FLY_TRANSFORMS_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace fly {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fly/Transforms/Passes.h.inc"

} // namespace fly

#endif // FLY_TRANSFORMS_PASSES_H
