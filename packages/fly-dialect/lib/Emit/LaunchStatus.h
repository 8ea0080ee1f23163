// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_LAUNCHSTATUS_H
#define FLY_LIB_EMIT_LAUNCHSTATUS_H

#include "llvm/IR/Function.h"
#include "llvm/Support/Error.h"

namespace fly {

/// Makes every function that reaches a call of `launch` return its status: the function's return
/// type becomes i32, a non-zero status is returned at once, and an ordinary return yields 0. A
/// function that launches kernels and also returns a value, or whose address is taken, is an error.
llvm::Error propagateLaunchStatus(llvm::Function &launch);

} // namespace fly

#endif // FLY_LIB_EMIT_LAUNCHSTATUS_H
