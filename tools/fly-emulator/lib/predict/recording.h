// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "device/launch_monitor.h"
#include "execute/polling.h"
#include "predict/device_model.h"
#include "predict/path_instruction.h"
#include "predict/unit_trace.h"
#include "profile/occupancy.h"

namespace flyemu {

constexpr unsigned kLineShift = 7; ///< cache lines of 128 bytes
constexpr uint64_t kLineBytes = uint64_t{1} << kLineShift;

/// Where a line came from. "A behind B": cache A has it on order, from B, for another access: it
/// takes as long as from B, and no bandwidth beyond A.
enum class Level : uint8_t {
  L1,
  L2,
  Mall,
  Hbm,
  L2BehindMall,
  L2BehindHbm,
  L1BehindL2,
  L1BehindMall,
  L1BehindHbm,
};
constexpr size_t kLevels = 9;
constexpr unsigned kLevelBits = 4;

/// Behind all relocated memory: the scratch of the launch's waves, each with lines of its own.
constexpr uint64_t kScratchBase = uint64_t{1} << 56;

/// What one executed vector-memory instruction did.
struct MemoryAccess {
  uint64_t time = 0;   ///< of its wave: cycles of issue before it
  uint32_t first = 0;  ///< into the lines of the group
  uint16_t lines = 0;  ///< that it touches
  uint16_t cycles = 0; ///< of the address and data path of L1
  uint32_t bytes = 0;
  AccessKind kind = AccessKind::Load;
  bool scratch = false; ///< of the wave's own scratch
};

/// One executed instruction. `detail`: of vector memory, 1 + the index of the access; of LDS, the
/// cycles that the unit is busy.
struct PathEvent {
  uint32_t instruction; ///< index of its dword in the text
  uint32_t detail;
};

/// A workgroup that was executed.
struct RecordedPath {
  uint64_t index = 0;
  uint32_t waveCount = 0;
  bool detailed = false;
  std::vector<std::vector<PathEvent>> waves; ///< empty unless detailed
  bool truncated = false;                    ///< waves end before they did
  std::vector<MemoryAccess> accesses;
  std::vector<uint64_t> lines; ///< line number << kLevelBits | Level
  uint64_t instructions = 0;
  uint64_t issueCycles = 0; ///< of the wave with most
};

/// Memory of the launch. Addresses differ from process to process; predictions should not: each
/// range has a base that only depends on the order in which memory was registered, and begins a
/// page there, as what a device allocates does.
struct RelocatedRange {
  uint64_t begin; ///< host address
  uint64_t end;
  uint64_t base;
};

/// Records sampled workgroups of a launch. The launch asks it for batches of workgroups; the
/// sampler (see sample.h) decides.
class PathRecorder : public LaunchMonitor {
public:
  void begin(const CodeObject &object, Program &program, const KernelMetadata &kernel,
             const LaunchGeometry &geometry, const LaunchState &state) override;
  std::unique_ptr<Observer> observe(WorkGroup &group) override;
  void finished(WorkGroup &group, Observer &observer) override;
  void failed(const Wave &, const Instruction &, const Fault &) override {}

  /// Later groups keep every instruction, or only what they access; then their matrix instructions
  /// are passed over.
  void setDetailed(bool detailed) { detailed_ = detailed; }
  /// Later groups compute their matrix instructions, too.
  void computeMatrices() { computesMatrices_ = true; }
  bool computesMatrices() const { return computesMatrices_; }
  /// Drop the groups from this one on.
  void forgetFrom(size_t group) { groups_.resize(std::min(group, groups_.size())); }
  /// Called when the launch has begun.
  void whenBegun(std::function<void()> call) { begun_ = std::move(call); }
  /// All groups run and compute what they do: watch these, with every instruction where true.
  void watchOnly(std::unordered_map<uint64_t, bool> groups) {
    watched_ = std::move(groups);
    watchOnly_ = true;
  }

  /// What workgroups wait for each other by: of a loop that polls, one round is kept.
  void setFlags(Polling flags) { flags_ = std::move(flags); }
  const Polling &flags() const { return flags_; }

  /// Keep no more instructions of a detailed group than this, over all of its waves.
  void keepAtMost(size_t events) { mostEvents_ = events; }
  bool truncated() const { return truncated_; }

  const std::vector<PathInstruction> &instructions() const { return instructions_; }
  /// The groups so far, by index of the workgroup.
  const std::vector<std::unique_ptr<RecordedPath>> &groups() const { return groups_; }
  const Occupancy &occupancy() const { return occupancy_; }
  const LaunchGeometry &geometry() const { return geometry_; }
  uint32_t lanes() const { return lanes_; } ///< of a wave
  /// What the instructions of the kernel are called, by dword of the text.
  std::vector<InstructionName> names() const;
  const CodeObject &object() const { return *object_; }
  Program &program() const { return *program_; }
  const KernelMetadata &kernel() const { return *kernel_; }
  /// When all is recorded: bases that depend on nothing but what the recorded groups access, not
  /// on other memory of the process.
  void assignBases();
  /// What the kernel may access, where the lines of the groups have it.
  const std::vector<RelocatedRange> &ranges() const { return ranges_; }

  /// The dword of the text at which an instruction is.
  uint32_t slotOf(const Instruction &inst) const {
    return static_cast<uint32_t>((inst.address - text_) / 4);
  }
  /// The instruction of a dword of the text, with its cost; made on first use.
  const PathInstruction &instructionAt(uint32_t slot, const Instruction &inst);

private:
  const CodeObject *object_ = nullptr;
  Program *program_ = nullptr;
  const KernelMetadata *kernel_ = nullptr;
  LaunchGeometry geometry_;
  Occupancy occupancy_;
  const Architecture *architecture_ = nullptr;
  uint32_t lanes_ = 64;
  uint64_t text_ = 0;
  const DeviceModel *device_ = nullptr; ///< the architecture's
  size_t mostEvents_ = ~size_t{0};
  Polling flags_{Polling::Memory::Global};
  bool truncated_ = false;
  bool detailed_ = true;
  bool computesMatrices_ = false;
  bool watchOnly_ = false;
  std::function<void()> begun_;
  std::unordered_map<uint64_t, bool> watched_; ///< by index

  std::vector<RelocatedRange> ranges_; ///< by host address
  bool settled_ = false;
  std::vector<PathInstruction> instructions_; ///< by dword of the text
  std::mutex mutex_;
  std::vector<std::unique_ptr<RecordedPath>> groups_;
};

} // namespace flyemu
