// SPDX-License-Identifier: Apache-2.0
#include "forks.h"

#include "flydsl/runtime.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <pthread.h>

namespace flydsl::runtime {

namespace {

// Either side may wait for the other by a way that is not seen here.
constexpr std::chrono::milliseconds kPatience(60'000);
constexpr std::chrono::microseconds kPause(50);

using Clock = std::chrono::steady_clock;
using LetIn = int (*)();

// Lock-free, as nothing else can be looked at in a process that is being forked off.
std::atomic<unsigned> inside{0}; // threads
std::atomic<unsigned> forks{0};  // that wait, or are under way
std::atomic<LetIn> letIn{nullptr};
thread_local unsigned depth = 0;     // of the thread's calls
thread_local bool hasWaited = false; // the thread is about to fork, by flydsl_fork_begin

template <typename Condition> void wait_until(Clock::time_point end, Condition &&condition) {
  while (!condition() && Clock::now() < end)
    std::this_thread::sleep_for(kPause);
}

unsigned own() { return depth == 0 ? 0 : 1; }

void begin_fork(std::chrono::milliseconds patience) {
  ++forks;
  wait_until(Clock::now() + patience, [] { return inside <= own(); });
}

void before_fork() {
  if (hasWaited)
    ++forks;
  else
    begin_fork(kPatience);
}

void after_fork_in_parent() { --forks; }

void after_fork_in_child() {
  inside = own();
  forks = 0;
  hasWaited = false;
}

// The list of what `fork` calls is full only when there is no memory at all.
const bool watching = [] {
  if (pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0)
    std::abort();
  return true;
}();

} // namespace

InLibrary::InLibrary() noexcept : depth(runtime::depth) {
  if (depth++ != 0)
    return;
  ++inside;
  if (forks == 0) // else whoever forks may not have counted this thread
    return;
  if (const LetIn check = letIn; check != nullptr && check() != 0)
    return;
  const auto end = Clock::now() + kPatience;
  do {
    --inside;
    wait_until(end, [] { return forks == 0; });
    ++inside;
  } while (forks != 0 && Clock::now() < end);
}

InLibrary::~InLibrary() {
  if (--depth == 0)
    --inside;
}

} // namespace flydsl::runtime

using namespace flydsl::runtime;

void flydsl_fork_begin(uint32_t milliseconds, int (*let_in)(void)) {
  letIn = let_in;
  hasWaited = true;
  begin_fork(std::chrono::milliseconds(milliseconds));
}

void flydsl_fork_end(void) {
  if (!hasWaited)
    return;
  hasWaited = false;
  --forks;
}
