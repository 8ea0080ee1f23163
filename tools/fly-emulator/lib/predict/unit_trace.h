// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace flyemu {

class CodeObject;
class Program;
struct Instruction;

/// Why a wave could not issue.
enum class StallReason : uint8_t {
  None,
  Memory,     ///< loads and stores
  Local,      ///< LDS and scalar memory
  Barrier,    ///< other waves of the group
  Dependency, ///< the result of a matrix instruction
  Vector,     ///< the result of a vector instruction
  Fetch,      ///< instructions that the instruction cache lacks
  Unit,       ///< the unit is busy, with this wave's or another's work
};
constexpr size_t kStallReasons = 8;
const char *stallName(StallReason reason);

/// One instruction on the time axis.
struct TimedEvent {
  uint32_t instruction; ///< index of its dword in the text
  uint32_t stalled;     ///< cycles before `issued` that the wave waited for it
  uint64_t issued;
  uint32_t duration;
  StallReason reason;
};

/// A wave of a workgroup that the compute unit ran.
struct WaveTimeline {
  uint32_t group = 0; ///< the number of the workgroup on the unit
  uint32_t wave = 0;
  uint32_t simd = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  std::vector<TimedEvent> events;
};

/// An instruction as a reader knows it.
struct InstructionName {
  uint64_t address = 0; ///< in the code object
  std::string text;     ///< disassembled
  std::string source;   ///< "file:line", may be empty
  std::string unit;
};
InstructionName nameOf(const CodeObject &object, Program &program, const Instruction &inst);

/// The waves of one compute unit over time, with what a reader needs to make sense of them: nothing
/// in it refers to the module, which may be unloaded.
struct UnitTrace {
  std::string kernel;
  std::string arch;
  std::string note;
  bool truncated = false;                    ///< later instructions were not kept
  std::vector<InstructionName> instructions; ///< by dword of the text
  std::vector<uint64_t> groups;              ///< workgroup of the launch, by number on the unit
  std::vector<WaveTimeline> waves;

  bool empty() const { return waves.empty(); }
  /// Trace events (chrome://tracing, Perfetto): a process for each SIMD, a thread for each wave, a
  /// slice for each instruction and for what it waited for, a counter of the waves in flight. Times
  /// are cycles, written as microseconds.
  std::string json() const;
};

} // namespace flyemu
