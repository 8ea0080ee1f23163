// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_PROGRAM_PASSES_H
#define FLY_PROGRAM_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace fly {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fly/Program/Passes.h.inc"

} // namespace fly

#endif // FLY_PROGRAM_PASSES_H
