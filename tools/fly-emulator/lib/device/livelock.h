// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "execute/wave.h"

namespace flyemu {

/// Watches the waves of a workgroup for a while, to find out whether they do the same for ever.
///
/// A wave is in a cycle when it comes back to an instruction with all of its registers and its
/// scratch as they were, and no write in between has changed memory: nothing will be different the
/// next time. `changes` counts what happens to memory, of all workgroups of the launch; what a
/// place held before its first write is not known, so that one counts.
class LivelockProbe : public Observer {
public:
  LivelockProbe(const WorkGroup &group, std::atomic<uint64_t> &changes)
      : changes_(changes), waves_(group.waveCount) {}

  /// Begin anew; `inner` is what watches the waves besides (may be null).
  void start(Observer *inner);

  /// Has the wave been seen in a cycle, with memory as it is now?
  bool cycles(const Wave &wave) const {
    const Watched &watched = waves_[wave.index];
    return watched.cycles && watched.cycleChanges == changes_.load();
  }

  void before(Wave &wave, const Instruction &inst) override;
  void after(Wave &wave, const Instruction &inst) override {
    if (inner_ != nullptr)
      inner_->after(wave, inst);
  }
  void globalAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override;
  void ldsAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override;
  void scratchAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    if (inner_ != nullptr)
      inner_->scratchAccess(wave, inst, access);
  }
  void barrier(WorkGroup &group) override {
    if (inner_ != nullptr)
      inner_->barrier(group);
  }

private:
  /// A wave as it was at one of its instructions.
  struct Snapshot {
    const Instruction *next = nullptr;
    uint64_t changes = 0;
    std::vector<uint32_t> scalars;
    std::vector<uint32_t> vectors;
    std::vector<uint8_t> scratch;
    bool scc = false;
    uint32_t mode = 0;
    uint64_t ticket = 0;
  };
  struct Watched {
    Snapshot snapshot;
    uint64_t steps = 0;  ///< since the probe began
    uint64_t renew = 1;  ///< the step of the next snapshot: each twice as far as the one before
    uint32_t missed = 0; ///< comparisons that failed since the snapshot
    uint32_t rounds = 0; ///< comparisons that held: some writes are seen before they are done
    bool cycles = false;
    uint64_t cycleChanges = 0;
  };

  void take(const Wave &wave, const Instruction &inst, Snapshot &out) const;
  bool isSame(const Wave &wave, const Snapshot &snapshot) const;
  void written(uint64_t space, const uint8_t *memory, uint64_t address, uint32_t bytes);

  std::atomic<uint64_t> &changes_;
  Observer *inner_ = nullptr;
  std::vector<Watched> waves_;
  std::map<uint64_t, uint8_t> known_; ///< bytes that were written, as they were left
};

/// Which workgroups of a launch wait for others.
class LivelockWatch {
public:
  std::atomic<uint64_t> changes{0};   ///< of memory, as far as it is watched, and of groups
  std::atomic<uint64_t> unwatched{0}; ///< times that a group ran on that might have changed it
  bool possible = true;               ///< nobody else writes what the kernel reads
  bool alone = false;                 ///< no workgroup waits for another

  /// `groups`: how many the launch has. `certain`: asked before anything is said.
  LivelockWatch(uint64_t groups, std::function<bool()> certain)
      : groups_(groups), certain_(std::move(certain)) {}

  /// Grows whenever something may have changed.
  uint64_t now() const { return changes.load() + unwatched.load(); }

  /// A group waits, as memory is at `seen` of now(). The number of those that do, if that is
  /// all there are, or if it waits for none; else 0.
  uint64_t waits(const void *group, uint64_t seen) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (alone)
      return certain_() ? 1 : 0;
    waiting_[group] = seen;
    if (waiting_.size() != groups_ - ended_)
      return 0;
    for (const auto &[other, then] : waiting_)
      if (then != now())
        return 0;
    return certain_() ? waiting_.size() : 0;
  }
  void ended(const void *group) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++ended_;
    ++changes;
    waiting_.erase(group);
  }

private:
  const uint64_t groups_;
  const std::function<bool()> certain_;
  std::mutex mutex_;
  uint64_t ended_ = 0;
  std::map<const void *, uint64_t> waiting_; ///< groups, and the changes that each has seen
};

} // namespace flyemu
