// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_LAUNCHSTATUS_H
#define FLY_LIB_EMIT_LAUNCHSTATUS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Function.h"
#include "llvm/Support/Error.h"

namespace fly {

/// Makes every function that reaches a call of one of `callees`, which return a status, return it
/// too: the function's return type becomes i32, a non-zero status is returned at once, and an
/// ordinary return yields 0. A function that does so and also returns a value, or whose address is
/// taken, is an error.
llvm::Error propagateLaunchStatus(llvm::ArrayRef<llvm::Function *> callees);

} // namespace fly

#endif // FLY_LIB_EMIT_LAUNCHSTATUS_H
