// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device/launch.h"
#include "profile/counters.h"
#include "profile/occupancy.h"
#include "profile/timeline.h"

namespace flyemu {

/// An executed instruction of the kernel, with what it did.
struct InstructionProfile {
  uint64_t address = 0; ///< in the code object
  std::string text;     ///< disassembled
  std::string source;   ///< "file:line", may be empty
  std::string cls;      ///< opClassName
  std::string unit;
  Counters counters;
};

/// A loop of the machine code.
struct LoopProfile {
  std::string location; ///< "kernel+0x40" of its header
  std::string source;   ///< of its header
  uint64_t codeBytes = 0;
  uint64_t iterations = 0; ///< of waves
  unsigned depth = 0;
  bool innermost = true;
  Counters counters;
  uint64_t elapsed = 0; ///< cycles that the timeline's waves spent in it, summed
  uint64_t stalled = 0; ///< of these, waiting
};

/// What a launch did: nothing in it refers to the module, which may be unloaded.
struct LaunchProfile {
  std::string kernel;
  std::string arch;
  LaunchGeometry geometry;
  uint32_t vgprs = 0, agprs = 0, sgprs = 0, vgprSpills = 0, sgprSpills = 0;
  uint32_t ldsBytes = 0;
  uint32_t scratchBytes = 0;
  uint64_t codeBytes = 0; ///< of the kernel's function
  uint32_t computeUnits = 0;
  uint32_t clockKHz = 0;
  bool phasesAssumed = false;
  Occupancy occupancy;
  std::vector<InstructionProfile> instructions; ///< by address
  std::vector<LoopProfile> loops;
  Timeline timeline; ///< its instructions are those above
  std::vector<std::array<uint32_t, 3>> timelineGroups;
  bool timelineForgotten = false; ///< its events were dropped to save memory

  /// Estimated cycles of the whole launch: the timeline's, for as many rounds of workgroups as the
  /// device's compute units need.
  uint64_t estimatedCycles() const;
  /// The profile as a JSON object; see docs/emulator/profiling.md. `launch`: its number in the
  /// log; 0 leaves it out.
  std::string json(uint64_t launch = 0) const;
  /// The timeline as trace events (chrome://tracing, Perfetto), one track a wave.
  /// The empty string if no events were kept.
  std::string traceJson() const;
};

} // namespace flyemu
