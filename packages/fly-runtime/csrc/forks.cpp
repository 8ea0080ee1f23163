// SPDX-License-Identifier: Apache-2.0
#include "forks.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <pthread.h>

namespace flydsl::runtime {

namespace {

// Either side may wait for the other by a way that is not seen here, Python's global lock for one.
constexpr std::chrono::seconds kPatience(60);
constexpr std::chrono::microseconds kPause(50);

// Lock-free, as nothing else can be looked at in a process that is being forked off.
std::atomic<unsigned> inside{0}; // threads
std::atomic<unsigned> forks{0};  // that wait, or are under way
thread_local unsigned depth = 0; // of the thread's calls

using Clock = std::chrono::steady_clock;

template <typename Condition> void wait_until(Clock::time_point end, Condition &&condition) {
  while (!condition() && Clock::now() < end)
    std::this_thread::sleep_for(kPause);
}

void before_fork() {
  ++forks;
  const unsigned own = depth == 0 ? 0 : 1;
  wait_until(Clock::now() + kPatience, [&] { return inside == own; });
}

void after_fork_in_parent() { --forks; }

void after_fork_in_child() {
  inside = depth == 0 ? 0 : 1;
  forks = 0;
}

// The list of what `fork` calls is full only when there is no memory at all.
const bool watching = [] {
  if (pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0)
    std::abort();
  return true;
}();

} // namespace

InLibrary::InLibrary() noexcept {
  if (depth++ != 0)
    return;
  ++inside;
  if (forks == 0) // else whoever forks may not have counted this thread
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
