// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace flyemu {

/// What ends a launch from outside: Ctrl-C and the limit in seconds. Alive while a launch runs;
/// all its threads ask.
///
/// A program that handles SIGINT (Python does, by remembering it) would see it only when the launch
/// has returned. So launches put a handler of their own before the program's, which is called all
/// the same; where SIGINT ends the process or is ignored, it goes on doing that.
class LaunchWatch {
public:
  enum class Verdict : uint8_t { GoOn, Interrupted, TimedOut };

  /// `seconds`: the longest that the launch may take; 0 for no limit.
  explicit LaunchWatch(uint64_t seconds);
  ~LaunchWatch();
  LaunchWatch(const LaunchWatch &) = delete;
  LaunchWatch &operator=(const LaunchWatch &) = delete;

  /// Cheap, to be asked after each turn of a wave; `asked` is the caller's own counter.
  Verdict ask(uint32_t &asked) const {
    if (interrupts_.load(std::memory_order_relaxed) != seen_)
      return Verdict::Interrupted;
    constexpr uint32_t kBetweenClocks = 64;
    return ++asked % kBetweenClocks != 0 || !timedOut() ? Verdict::GoOn : Verdict::TimedOut;
  }

  uint64_t seconds() const { return seconds_; }
  double elapsedSeconds() const;
  /// Is no other launch of this process running, which might write what this one waits for?
  static bool alone();

private:
  bool timedOut() const;

  static std::atomic<uint64_t> interrupts_;

  const uint64_t seconds_;
  const uint64_t seen_; ///< interrupts when the launch began
  const std::chrono::steady_clock::time_point begin_;
};

} // namespace flyemu
