// SPDX-License-Identifier: Apache-2.0
#include "fly/Emit/CrashGuard.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>
#include <new>
#include <string>

using namespace llvm;

namespace {

/// The text of the fatal error that the current thread is being recovered from.
thread_local std::string fatalErrorText;

void onFatalError(void *, const char *reason, bool) {
  if (CrashRecoveryContext *context = CrashRecoveryContext::GetCurrent()) {
    fatalErrorText = reason;
    context->HandleExit(/*RetCode=*/1); // Jumps back into runGuarded.
  }
  // Not one of our threads: let LLVM do what it does without a handler.
  errs() << "LLVM ERROR: " << reason << '\n';
}

/// Leaves the guarded body of this thread, if it is in one.
void leaveForWantOfMemory() {
  if (CrashRecoveryContext *context = CrashRecoveryContext::GetCurrent()) {
    fatalErrorText = "out of memory"; // Short enough to need none.
    context->HandleExit(/*RetCode=*/1);
  }
}

/// LLVM's containers come here when malloc fails.
[[noreturn]] void onBadAlloc(void *, const char *, bool) {
  leaveForWantOfMemory();
  throw std::bad_alloc();
}

/// What `operator new` did before; null for raising std::bad_alloc.
std::new_handler previousNewHandler = nullptr;

/// `operator new` comes here. LLVM is compiled without exceptions: one that passes through it may
/// find nobody who catches it.
void onNewFailure() {
  leaveForWantOfMemory();
  if (!previousNewHandler)
    throw std::bad_alloc();
  previousNewHandler();
}

/// Keeps the process-wide handlers installed while any thread is inside a guarded body. A nested or
/// concurrent instance only counts.
class ScopedHandlers {
public:
  ScopedHandlers() {
    std::lock_guard<std::mutex> lock(mutex());
    if (count()++ == 0) {
      CrashRecoveryContext::Enable();
      install_fatal_error_handler(onFatalError);
      previousNewHandler = std::set_new_handler(onNewFailure);
    }
  }
  ~ScopedHandlers() {
    std::lock_guard<std::mutex> lock(mutex());
    if (--count() == 0) {
      std::set_new_handler(previousNewHandler);
      remove_fatal_error_handler();
      CrashRecoveryContext::Disable();
    }
  }
  ScopedHandlers(const ScopedHandlers &) = delete;
  ScopedHandlers &operator=(const ScopedHandlers &) = delete;

private:
  static std::mutex &mutex() {
    static std::mutex instance;
    return instance;
  }
  static unsigned &count() {
    static unsigned instance = 0;
    return instance;
  }
};

} // namespace

void fly::raiseBadAlloc() {
  static const bool installed = (install_bad_alloc_error_handler(onBadAlloc), true);
  (void)installed;
}

Error fly::runGuarded(function_ref<void()> body) {
  raiseBadAlloc();
  ScopedHandlers handlers;
  fatalErrorText.clear();
  CrashRecoveryContext context;
  if (context.RunSafely(body))
    return Error::success();
  if (!fatalErrorText.empty())
    return createStringError("LLVM: " + fatalErrorText);
  return createStringError("LLVM crashed (status " + Twine(context.RetCode) + ")");
}
