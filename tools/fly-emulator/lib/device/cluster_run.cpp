// SPDX-License-Identifier: Apache-2.0
#include "device/cluster_run.h"

#include <algorithm>

namespace flyemu {
namespace {

struct Coordinates {
  uint64_t at[3];
};
Coordinates coordinatesOf(uint64_t index, const uint64_t (&extents)[3]) {
  return {{index % extents[0], index / extents[0] % extents[1], index / extents[0] / extents[1]}};
}

/// Of the grid, in clusters.
void gridOf(const LaunchPlan &plan, uint64_t (&out)[3]) {
  for (unsigned i = 0; i < 3; ++i)
    out[i] = plan.geometry.groups[i] / plan.cluster[i];
}

} // namespace

ClusterRun::ClusterRun(const LaunchPlan &plan) : plan_(plan) {
  std::copy(plan.cluster, plan.cluster + 3, cluster_.extent);
  cluster_.groups = plan.cluster[0] * plan.cluster[1] * plan.cluster[2];
  for (uint32_t i = 0; i < cluster_.groups; ++i) {
    members_.push_back(std::make_unique<WorkGroupRun>(plan));
    cluster_.member[i] = &members_.back()->group();
  }
}

uint64_t ClusterRun::count(const LaunchPlan &plan) {
  return plan.geometry.groupCount() / (plan.cluster[0] * plan.cluster[1] * plan.cluster[2]);
}

uint64_t ClusterRun::clusterOf(const LaunchPlan &plan, uint64_t group) {
  const uint32_t *groups = plan.geometry.groups;
  const Coordinates coordinates = coordinatesOf(group, {groups[0], groups[1], groups[2]});
  uint64_t grid[3];
  gridOf(plan, grid);
  const auto at = [&](unsigned i) { return coordinates.at[i] / plan.cluster[i]; };
  return at(0) + grid[0] * (at(1) + grid[1] * at(2));
}

void ClusterRun::start(uint64_t index) {
  if (cluster_.groups == 1) {
    members_.front()->start(index, nullptr, 0);
    return;
  }
  uint64_t grid[3];
  gridOf(plan_, grid);
  const Coordinates first = coordinatesOf(index, grid);
  const uint32_t *groups = plan_.geometry.groups;
  cluster_.signals = 0;
  cluster_.passed = 0;
  ended_.assign(members_.size(), false);
  for (uint32_t rank = 0; rank < cluster_.groups; ++rank) {
    const Coordinates in =
        coordinatesOf(rank, {cluster_.extent[0], cluster_.extent[1], cluster_.extent[2]});
    const auto at = [&](unsigned i) { return first.at[i] * cluster_.extent[i] + in.at[i]; };
    members_[rank]->start(at(0) + groups[0] * (at(1) + groups[1] * at(2)), &cluster_, rank);
  }
}

bool ClusterRun::advance(uint64_t quantum) {
  if (cluster_.groups == 1)
    return members_.front()->advance(quantum);
  // Short turns: what one of them waits for another brings soon.
  constexpr uint64_t kTurn = uint64_t{1} << 14;
  for (uint64_t done = 0; done < quantum; done += kTurn) {
    bool left = false;
    bool blocked = true;
    const uint64_t passed = cluster_.passed;
    for (size_t i = 0; i < members_.size(); ++i) {
      if (ended_[i])
        continue;
      ended_[i] = members_[i]->advance(std::min(quantum, kTurn));
      left |= !ended_[i];
      blocked &= !ended_[i] && members_[i]->isBlocked();
    }
    if (!left)
      return true;
    if (blocked && passed == cluster_.passed)
      for (size_t i = 0; i < members_.size(); ++i)
        if (!ended_[i])
          members_[i]->reportBlocked();
  }
  return false;
}

uint64_t ClusterRun::longestWave() const {
  uint64_t longest = 0;
  for (const std::unique_ptr<WorkGroupRun> &member : members_)
    longest = std::max(longest, member->longestWave());
  return longest;
}

void ClusterRun::tellEnded(LivelockWatch &watch) const {
  for (const std::unique_ptr<WorkGroupRun> &member : members_)
    watch.ended(member.get());
}

} // namespace flyemu
