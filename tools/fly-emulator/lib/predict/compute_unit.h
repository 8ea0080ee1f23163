// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "predict/device_model.h"
#include "predict/recording.h"
#include "predict/unit_trace.h"

namespace flyemu {

/// What the units of a compute unit were busy for, in cycles.
enum class Resource : uint8_t { Issue, Scalar, Vector, Matrix, Lds, L1, L2, Mall, Hbm };
constexpr size_t kResources = 9;
const char *resourceName(Resource resource);

/// The part of the device that one compute unit has for itself.
struct UnitShare {
  double l2Cycles;   ///< for a line from L2
  double mallCycles; ///< for a line from the Infinity Cache
  double hbmCycles;  ///< for a line from memory
  /// What is left of these cycles, for each workgroup that the unit still has, when the last round
  /// does not fill the device.
  double tailScale = 1;
};
/// Of one of so many units that are active; of memory, `memoryPart` of an equal share.
UnitShare shareOf(const DeviceModel &device, double activeUnits, double memoryPart = 1);

struct UnitRun {
  uint64_t cycles = 0;
  std::vector<uint64_t> groupEnds; ///< in the order of the ends
  std::array<double, kResources> busy = {};
  /// What the matrix units' products would take at the peak rate of their type, in cycles: power
  /// goes by products, and some instructions keep their unit longer than their products need.
  double matrixAtPeak = 0;
  std::array<uint64_t, kStallReasons> stalls = {};
  std::vector<std::array<uint64_t, kStallReasons>> stalledAt; ///< by dword of the text
  std::vector<uint64_t> elapsedAt; ///< cycles stalled and in the issue slot, by dword of the text
  std::vector<WaveTimeline> waves; ///< in the order of their beginnings
  bool truncated = false;          ///< events of waves were left out
  uint64_t waveCycles = 0;         ///< summed over waves: from first instruction to end
};

/// One compute unit executes `groups` workgroups, `slots` at a time: the recorded paths in turn.
/// Each SIMD issues for its waves in order, by priority and age; units are busy as the issue model
/// says; loads come back from the level that the memory model found, no faster than the unit's
/// share of each level's bandwidth; waits, barriers and results of matrix instructions are waited
/// for.
/// `events`: how many instructions of waves are kept with their times, in the order of issue.
UnitRun runComputeUnit(const DeviceModel &device, const UnitShare &share,
                       const std::vector<PathInstruction> &instructions,
                       const std::vector<const RecordedPath *> &paths, uint32_t slots,
                       uint32_t groups, size_t events = 0);

/// The share of its time that the run kept a resource busy, or the unit's part of a shared one.
double busyShare(const DeviceModel &device, const UnitRun &run, Resource resource);

} // namespace flyemu
