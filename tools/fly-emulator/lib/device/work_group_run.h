// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/launch.h"
#include "device/launch_watch.h"
#include "device/livelock.h"
#include "device/wave_order.h"
#include "execute/wave.h"
#include "support/error.h"

namespace flyemu {

/// What all workgroups of a launch have in common.
struct LaunchPlan {
  const CodeObject *object = nullptr;
  Program *program = nullptr;
  const KernelMetadata *kernel = nullptr;
  KernelDescriptor descriptor = {};
  LaunchGeometry geometry;
  LaunchState state;
  LaunchOptions options;
  const Instruction *entry = nullptr;
  const void *kernarg = nullptr;
  size_t kernargSize = 0;
  const void *dispatchPacket = nullptr;
  const void *queue = nullptr;
  uint64_t dispatchId = 0;
  uint32_t ldsBytes = 0;
  uint32_t scratchBytes = 0;       ///< a lane
  uint32_t waves = 0;              ///< a group
  uint32_t lanes = kLanes;         ///< of a wave
  uint32_t cluster[3] = {1, 1, 1}; ///< workgroups of a cluster
  LaunchMonitor *monitor = nullptr;
  const LaunchWatch *watch = nullptr;
  LivelockWatch *livelock = nullptr;
};

/// One workgroup on its way through the kernel; its memory is reused for the next one.
class WorkGroupRun {
public:
  explicit WorkGroupRun(const LaunchPlan &plan);
  ~WorkGroupRun();
  WorkGroupRun(const WorkGroupRun &) = delete;
  WorkGroupRun &operator=(const WorkGroupRun &) = delete;

  /// Begin workgroup `index` (x fastest), number `rank` of a cluster, which is null without one.
  void start(uint64_t index, Cluster *cluster, uint32_t rank);
  /// Execute until the group has ended or about `quantum` instructions are done. True at the end.
  /// It also returns, with false, when all waves that are left wait for the cluster. Throws
  /// EmulatorError with the report of the first fault.
  bool advance(uint64_t quantum);
  /// Does every wave that is left wait for the cluster, or behind one that does?
  bool isBlocked() const;
  /// They wait in vain.
  [[noreturn]] void reportBlocked();
  WorkGroup &group() { return group_; }
  /// Instructions that the wave with the most of them has executed.
  uint64_t longestWave() const;

private:
  struct FreeMemory {
    void operator()(void *memory) const;
  };
  template <typename T> using Memory = std::unique_ptr<T, FreeMemory>;

  void initialiseWave(Wave &wave, uint32_t index);
  void initialiseScalars(Wave &wave);
  uint32_t initialiseGroupIds(Wave &wave, uint32_t next) const;
  void initialiseThreadIds(Wave &wave, uint32_t index) const;
  uint64_t runWave(Wave &wave, uint64_t budget);
  bool releaseBarrier();
  void look(uint64_t done);
  void setWatching(bool on);
  bool isStuck() const;
  uint32_t firstReady() const;
  [[noreturn]] void reportLivelock(uint64_t groups);
  void requireNotStopped(Wave &wave, uint32_t &asked) const;
  [[noreturn]] void report(Wave &wave, const Instruction *inst, const Fault &fault,
                           hipError_t code = hipErrorLaunchFailure) const;

  const LaunchPlan &plan_;
  uint32_t asked_ = 0; ///< of the watch
  WorkGroup group_;
  Memory<Wave> waves_;
  Memory<uint32_t> vectors_;
  Memory<uint8_t> lds_;
  Memory<uint8_t> scratch_;
  std::unique_ptr<Observer> observer_;
  std::unique_ptr<LivelockProbe> probe_;
  bool watching_ = false;
  bool waits_ = false;           ///< for what only others could write, when it was last watched
  uint64_t seen_ = 0;            ///< LivelockWatch::now() then
  uint64_t unwatchedBefore_ = 0; ///< LivelockWatch::unwatched when it was begun to be watched
  double watchedAt_ = 0;         ///< seconds of the launch
  uint64_t lookedAt_ = 0;        ///< instructions of this turn
  WaveOrder order_;
};

} // namespace flyemu
