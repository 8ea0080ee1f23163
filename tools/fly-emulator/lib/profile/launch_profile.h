// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device/launch.h"
#include "predict/compute_unit.h"
#include "profile/counters.h"
#include "profile/occupancy.h"

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

/// The workgroups that share one compute unit, over time, as the time model has it
/// (predict/compute_unit.h) for the best known device of the architecture.
struct Timeline {
  std::string device;
  uint32_t groups = 0;
  uint32_t waves = 0;
  uint64_t cycles = 0;                      ///< until the last wave ends
  std::array<double, kResources> busy = {}; ///< share of the time, by Resource
  std::array<uint64_t, kStallReasons> stalls = {};
  std::vector<uint64_t> stalledAt; ///< cycles, by instruction of the profile
  std::vector<uint64_t> elapsedAt; ///< cycles stalled and in the issue slot, alike
  bool truncated = false;          ///< waves ended before they did
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
  Timeline timeline;
  UnitTrace trace;             ///< empty unless asked for
  bool traceForgotten = false; ///< dropped to save memory

  /// Estimated cycles of the whole launch: the timeline's, for as many rounds of workgroups as the
  /// device's compute units need.
  uint64_t estimatedCycles() const;
  /// The profile as a JSON object; see docs/emulator/profiling.md. `launch`: its number in the
  /// log; 0 leaves it out.
  std::string json(uint64_t launch = 0) const;
};

} // namespace flyemu
