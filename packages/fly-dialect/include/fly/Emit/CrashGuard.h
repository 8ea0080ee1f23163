// SPDX-License-Identifier: Apache-2.0
//
// Runs LLVM code that may end the process (fatal errors, crashes in code generation) and turns that
// into an error.
#ifndef FLY_EMIT_CRASHGUARD_H
#define FLY_EMIT_CRASHGUARD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace fly {

/// Calls `body`. Returns success when it returned normally, and an error with LLVM's own text when
/// LLVM gave up: `report_fatal_error` ("Cannot select ..."), `exit`, or a crash signal raised on
/// this thread. Running out of memory is one of those, with the text "out of memory".
///
/// After a failure the stack frames of `body` are gone without having been unwound: the caller must
/// not touch, nor destroy, an LLVM object that `body` was working on. Leaking them is the price of
/// staying alive.
///
/// Where the thread's reserve (MemoryReserve.h) was drawn on and cannot be filled again, `body` is
/// not called: that is the error "out of memory", too.
///
/// Signal handlers and LLVM's fatal error handler are installed only while at least one guarded
/// body runs; a signal on any other thread goes to whoever had the handlers before.
///
/// What still ends the process: running out of stack, corrupted heaps, and whatever LLVM leaves
/// undefined in a build without assertions.
llvm::Error runGuarded(llvm::function_ref<void()> body);

/// Leaves the guarded body of this thread, if it is in one, with the error "out of memory".
void leaveForWantOfMemory();

/// From now on LLVM raises std::bad_alloc where it runs out of memory outside of `runGuarded`,
/// instead of ending the process. Calling it again does nothing.
void raiseBadAlloc();

} // namespace fly

#endif // FLY_EMIT_CRASHGUARD_H
