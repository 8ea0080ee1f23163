// SPDX-License-Identifier: Apache-2.0
#include "fly/Emit/CrashGuard.h"
#include "fly/Emit/MemoryReserve.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>
#include <new>
#include <string>
#include <utility>

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

/// LLVM's containers come here when malloc fails.
[[noreturn]] void onBadAlloc(void *, const char *, bool) {
  fly::leaveForWantOfMemory();
  throw std::bad_alloc();
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

void fly::leaveForWantOfMemory() {
  if (CrashRecoveryContext *context = CrashRecoveryContext::GetCurrent()) {
    fatalErrorText = "out of memory"; // Short enough to need none.
    context->HandleExit(/*RetCode=*/1);
  }
}

void fly::raiseBadAlloc() {
  static const bool installed = (install_bad_alloc_error_handler(onBadAlloc), true);
  (void)installed;
}

Error fly::runGuarded(function_ref<void()> body) {
  raiseBadAlloc();
  handleNewFailures();
  if (!MemoryReserve::refill())
    return createStringError("LLVM: out of memory");
  ScopedHandlers handlers;
  fatalErrorText.clear();
  CrashRecoveryContext context;
  const bool returned = context.RunSafely(body);
  // lld returns from its own guard where it was left for a reason that it does not know.
  if (std::string text = std::exchange(fatalErrorText, {}); !text.empty())
    return createStringError("LLVM: " + text);
  if (returned)
    return Error::success();
  return createStringError("LLVM crashed (status " + Twine(context.RetCode) + ")");
}
