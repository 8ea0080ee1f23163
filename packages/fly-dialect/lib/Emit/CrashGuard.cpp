// SPDX-License-Identifier: Apache-2.0
#include "fly/Emit/CrashGuard.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>
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

/// Keeps the process-wide handlers installed while any thread is inside a guarded body. A nested or
/// concurrent instance only counts.
class ScopedHandlers {
public:
  ScopedHandlers() {
    std::lock_guard<std::mutex> lock(mutex());
    if (count()++ == 0) {
      CrashRecoveryContext::Enable();
      install_fatal_error_handler(onFatalError);
    }
  }
  ~ScopedHandlers() {
    std::lock_guard<std::mutex> lock(mutex());
    if (--count() == 0) {
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

Error fly::runGuarded(function_ref<void()> body) {
  ScopedHandlers handlers;
  fatalErrorText.clear();
  CrashRecoveryContext context;
  if (context.RunSafely(body))
    return Error::success();
  if (!fatalErrorText.empty())
    return createStringError("LLVM: " + fatalErrorText);
  return createStringError("LLVM crashed (status " + Twine(context.RetCode) + ")");
}
