// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device/launch_monitor.h"
#include "predict/recording.h"
#include "profile/counters.h"
#include "profile/launch_profile.h"

namespace flyemu {

/// Counts what a launch executes, for each instruction, and records the waves of the first
/// workgroups, as many as share a compute unit.
class ProfileMonitor : public LaunchMonitor {
public:
  /// `keepEvents`: for a trace of the waves over time.
  explicit ProfileMonitor(bool keepEvents) : keepEvents_(keepEvents) {}

  void begin(const CodeObject &object, Program &program, const KernelMetadata &kernel,
             const LaunchGeometry &geometry, const LaunchState &state) override;
  std::unique_ptr<Observer> observe(WorkGroup &group) override;
  void finished(WorkGroup &group, Observer &observer) override;
  void failed(const Wave &, const Instruction &, const Fault &) override {}

  /// What was counted, with the issue model applied. Once, after the launch.
  LaunchProfile take();

private:
  /// The workgroups of one compute unit, simulated. Later than the instructions of the profile.
  void simulate(LaunchProfile &out);

  const bool keepEvents_;
  const CodeObject *object_ = nullptr;
  Program *program_ = nullptr;
  const KernelMetadata *kernel_ = nullptr;
  LaunchGeometry geometry_;
  PathRecorder paths_;                ///< of the first workgroups
  std::vector<MemoryRange> internal_; ///< kernel arguments and the like
  const Architecture *architecture_ = nullptr;
  bool phasesAssumed_ = false;
  std::mutex mutex_;
  std::map<uint64_t, std::pair<const Instruction *, Counters>> counters_; ///< by address
};

} // namespace flyemu
