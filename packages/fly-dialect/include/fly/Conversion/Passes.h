// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_CONVERSION_PASSES_H
#define FLY_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace fly {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fly/Conversion/Passes.h.inc"

} // namespace fly

#endif // FLY_CONVERSION_PASSES_H
