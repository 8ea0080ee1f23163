// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/work_group_run.h"

namespace flyemu {

/// The workgroups of a cluster on their way through the kernel, by turns; one of them alone where
/// the launch has no clusters.
class ClusterRun {
public:
  explicit ClusterRun(const LaunchPlan &plan);

  /// How many there are in a launch, and the cluster that a workgroup belongs to.
  static uint64_t count(const LaunchPlan &plan);
  static uint64_t clusterOf(const LaunchPlan &plan, uint64_t group);

  /// Begin cluster `index` (x fastest).
  void start(uint64_t index);
  /// As of WorkGroupRun, of all of them.
  bool advance(uint64_t quantum);
  uint64_t longestWave() const;
  void tellEnded(LivelockWatch &watch) const;

private:
  const LaunchPlan &plan_;
  Cluster cluster_;
  std::vector<std::unique_ptr<WorkGroupRun>> members_;
  std::vector<bool> ended_;
};

} // namespace flyemu
