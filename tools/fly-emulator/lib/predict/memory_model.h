// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "predict/device_model.h"
#include "predict/recording.h"

namespace flyemu {

/// What the caches of one XCD do for the workgroups that it holds at once.
struct MemoryTraffic {
  double sampledGroups = 0;
  std::array<double, kLevels> lines = {}; ///< loads, by Level, of all sampled groups
  double stores = 0;                      ///< lines
  double atomics = 0;                     ///< lines
  double atomicsOfLine = 0;  ///< on the line that most are on, by each group; 0 if few share it
  double hbmShare = 1;       ///< of the lines that L2 misses
  double footprintBytes = 0; ///< that the launch reads, estimated
  double uniqueShareBetweenXcds = 1; ///< lines of another XCD that this one does not ask for
};

/// Send the accesses of the groups of one XCD through the caches of their compute units and the
/// XCD's L2, in the order of their times, and write each line's level into the groups.
///
/// `residents`: groups of that XCD that run at the same time, dealt out to its compute units in
/// turn. `phases`: by slot of a compute unit, by what part of a workgroup's time the one in it is
/// behind that in the first slot; empty where they begin together. With phases, workgroups are
/// taken to follow others of their kind: what one does after the end of the first is done at the
/// begin, as by its forerunner. `others`: some of the next XCD, whose common lines tell how much is
/// read by several XCDs. `warm`: the launch ran before and its data are in the Infinity Cache as
/// far as they fit. `xcdsAlike`: what these groups read, times the number of the launch's, is what
/// the launch reads.
MemoryTraffic traceMemory(const DeviceModel &device, const std::vector<RecordedPath *> &residents,
                          const std::vector<RecordedPath *> &others,
                          const std::vector<double> &phases, uint64_t launchGroups,
                          const std::vector<RelocatedRange> &ranges, double residentsOfXcd,
                          bool warm, bool xcdsAlike = true);

} // namespace flyemu
