// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/launch.h"
#include "device/wave_order.h"
#include "execute/wave.h"

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
  uint32_t scratchBytes = 0; ///< a lane
  uint32_t waves = 0;        ///< a group
  LaunchMonitor *monitor = nullptr;
};

/// One workgroup on its way through the kernel; its memory is reused for the next one.
class WorkGroupRun {
public:
  explicit WorkGroupRun(const LaunchPlan &plan);
  ~WorkGroupRun();
  WorkGroupRun(const WorkGroupRun &) = delete;
  WorkGroupRun &operator=(const WorkGroupRun &) = delete;

  /// Begin workgroup `index` (x fastest).
  void start(uint64_t index);
  /// Execute until the group has ended or about `quantum` instructions are done. True at the end.
  /// Throws EmulatorError with the report of the first fault.
  bool advance(uint64_t quantum);
  /// Instructions that the wave with the most of them has executed.
  uint64_t longestWave() const;

private:
  struct FreeMemory {
    void operator()(void *memory) const;
  };
  template <typename T> using Memory = std::unique_ptr<T, FreeMemory>;

  void initialiseWave(Wave &wave, uint32_t index);
  void initialiseScalars(Wave &wave) const;
  void initialiseThreadIds(Wave &wave, uint32_t index) const;
  uint64_t runWave(Wave &wave, uint64_t budget);
  bool releaseBarrier();
  [[noreturn]] void report(Wave &wave, const Instruction *inst, const Fault &fault) const;

  const LaunchPlan &plan_;
  WorkGroup group_;
  Memory<Wave> waves_;
  Memory<uint32_t> vectors_;
  Memory<uint8_t> lds_;
  Memory<uint8_t> scratch_;
  std::unique_ptr<Observer> observer_;
  WaveOrder order_;
};

} // namespace flyemu
