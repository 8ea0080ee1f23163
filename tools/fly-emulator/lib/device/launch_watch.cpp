// SPDX-License-Identifier: Apache-2.0
#include "device/launch_watch.h"

#include <csignal>
#include <mutex>

namespace flyemu {
namespace {

/// The program's own handler of SIGINT while ours stands before it.
struct Handler {
  std::mutex mutex;
  unsigned launches = 0; ///< that run
  bool installed = false;
  struct sigaction program = {};
};
Handler &handler() {
  static auto *instance = new Handler;
  return *instance;
}

/// What the signal handler reads: the same as Handler::program, set before it can run.
struct sigaction programAction = {};
std::atomic<uint64_t> *interruptCount = nullptr;

void onInterrupt(int number, siginfo_t *info, void *context) {
  interruptCount->fetch_add(1, std::memory_order_relaxed);
  if ((programAction.sa_flags & SA_SIGINFO) != 0)
    programAction.sa_sigaction(number, info, context);
  else
    programAction.sa_handler(number);
}

bool isOurs(const struct sigaction &action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == onInterrupt;
}

} // namespace

std::atomic<uint64_t> LaunchWatch::interrupts_{0};

LaunchWatch::LaunchWatch(uint64_t seconds)
    : seconds_(seconds), seen_(interrupts_.load()), begin_(std::chrono::steady_clock::now()) {
  Handler &shared = handler();
  const std::lock_guard<std::mutex> lock(shared.mutex);
  if (shared.launches++ != 0 || sigaction(SIGINT, nullptr, &shared.program) != 0)
    return;
  const bool handles =
      (shared.program.sa_flags & SA_SIGINFO) != 0 ||
      (shared.program.sa_handler != SIG_DFL && shared.program.sa_handler != SIG_IGN);
  if (!handles || isOurs(shared.program))
    return;
  programAction = shared.program;
  interruptCount = &interrupts_;
  struct sigaction ours = shared.program;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = onInterrupt;
  shared.installed = sigaction(SIGINT, &ours, nullptr) == 0;
}

LaunchWatch::~LaunchWatch() {
  Handler &shared = handler();
  const std::lock_guard<std::mutex> lock(shared.mutex);
  if (--shared.launches != 0 || !shared.installed)
    return;
  shared.installed = false;
  // Whoever has put another one in meanwhile keeps it.
  struct sigaction now = {};
  if (sigaction(SIGINT, nullptr, &now) == 0 && isOurs(now))
    sigaction(SIGINT, &shared.program, nullptr);
}

double LaunchWatch::elapsedSeconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

bool LaunchWatch::alone() {
  Handler &shared = handler();
  const std::lock_guard<std::mutex> lock(shared.mutex);
  return shared.launches == 1;
}

bool LaunchWatch::timedOut() const {
  return seconds_ != 0 &&
         std::chrono::steady_clock::now() - begin_ >= std::chrono::seconds(seconds_);
}

} // namespace flyemu
