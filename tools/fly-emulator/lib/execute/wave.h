// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "decode/instruction.h"
#include "device/memory_map.h"
#include "execute/lanes/lane_kernel.h"

namespace flyemu {

class GlobalSync;
class Program;
struct WorkGroup;

/// Thrown by a handler: what went wrong, and in which lane (-1: the whole wave). The run loop adds
/// where.
struct Fault {
  std::string what;
  int lane = -1;
  bool memory = false;  ///< an access that is not allowed
  uint64_t address = 0; ///< of it: a host address, or an offset into LDS
};

/// MODE.GPR_IDX_EN: s_set_gpr_idx is in force.
constexpr uint32_t kIndexedRegisters = 1U << 27;
/// MODE.VSKIP: vector instructions are passed over.
constexpr uint32_t kSkipVectors = 1U << 28;

enum class WaveState : uint8_t { Ready, AtBarrier, Ended };

/// One access of one lane or of the whole wave, as sanitizers and counters see it.
enum class AccessKind : uint8_t { Load, Store, Atomic };

struct LaneAccess {
  const uint64_t *address; ///< of 64 lanes: host address, or offset into LDS or scratch
  uint64_t lanes;          ///< which of them take part
  uint32_t bytes;          ///< a lane
  AccessKind kind;
  /// What a store that converts leaves: kStoredBytes for each lane. Null of all others.
  const uint8_t *stored = nullptr;
  static constexpr unsigned kStoredBytes = 16;
};

/// What watches a wave execute: sanitizers and counters. Absent in plain runs.
class Observer {
public:
  virtual ~Observer() = default;
  virtual void before(Wave &wave, const Instruction &inst) = 0;
  virtual void after(Wave &wave, const Instruction &inst) = 0;
  virtual void globalAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) = 0;
  virtual void ldsAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) = 0;
  /// Registers that did not fit, and arrays of a thread: only its own lane can see them.
  virtual void scratchAccess(Wave &, const Instruction &, const LaneAccess &) {}
  /// All waves of the group passed a barrier.
  virtual void barrier(WorkGroup &group) = 0;
};

/// What the waves of one launch share.
struct LaunchState {
  const MemoryView *memory = nullptr;
  Program *program = nullptr;
  const LaneHelpers *helpers = nullptr;
  GlobalSync *globalSync = nullptr;
  bool ocpFloat8 = false;
  uint32_t generation = 9;    ///< of the instruction set: 9, 11, 12; 13 is gfx1250
  bool checkLds = false;      ///< LDS out of bounds is an error, not the hardware's zero
  uint64_t arguments = 0;     ///< address of the kernel's arguments
  uint64_t argumentBytes = 0; ///< that it declares
  uint64_t sharedBase = uint64_t{1} << 56;
  uint64_t privateBase = uint64_t{2} << 56;
  uint64_t instructionLimit = 0;
  uint64_t realTime = 0; ///< of the device's clock when the launch began
};

/// The architectural state of one wave. Registers have room for 64 lanes; `lanes` of them belong to
/// the wave, and the upper half of its masks is no part of them where that is 32.
struct Wave {
  alignas(64) uint32_t scalar[scalar::kCount];
  uint32_t *vector = nullptr;       ///< rowsOf() rows of kLanes lanes
  uint64_t laneMask = ~uint64_t{0}; ///< the lanes that the wave has
  const Instruction *next = nullptr;
  bool scc = false;
  WaveState state = WaveState::Ready;
  bool signalled = false;  ///< has said that it arrived at a barrier (s_barrier_signal)
  bool yield = false;      ///< leave the run loop after this instruction
  bool skipMatrix = false; ///< pass over matrix instructions: only addresses are of interest
  uint32_t mode = 0;       ///< the MODE register
  uint32_t trapStatus = 0;
  uint32_t schedulingMode = 0; ///< which waits the program sees to itself; without effect here
  uint32_t index = 0;          ///< in its group
  uint64_t executed = 0;
  uint64_t globalTicket = 0;  ///< of the global barrier that it waits at; 0 for none
  uint32_t joined = 0;        ///< the named barrier that it has joined; 0 for none
  uint64_t joinedPassed = 0;  ///< how often it has passed that
  uint64_t clusterPassed = 0; ///< and the cluster's barrier
  bool waitsForCluster = false;
  uint8_t *scratch = nullptr; ///< scratchBytes for each lane, one lane after the other
  uint32_t scratchBytes = 0;
  WorkGroup *group = nullptr;
  const LaunchState *launch = nullptr;
  Observer *observer = nullptr;
  // The segment that the last access hit.
  MemoryView::Segment cached = {1, 0, false};

  uint64_t scalar64(unsigned index64) const {
    uint64_t value;
    std::memcpy(&value, scalar + index64, sizeof value);
    return value;
  }
  void setScalar64(unsigned index64, uint64_t value) {
    std::memcpy(scalar + index64, &value, sizeof value);
  }
  uint32_t lanes() const { return laneMask >> 32 != 0 ? 64 : 32; }
  uint64_t exec() const { return scalar64(scalar::kExec) & laneMask; }
  uint64_t vcc() const { return scalar64(scalar::kVcc) & laneMask; }
  /// EXEC_HI is a register like others where the wave has 32 lanes.
  void setExec(uint64_t lanes) {
    setScalar64(scalar::kExec, (scalar64(scalar::kExec) & ~laneMask) | (lanes & laneMask));
  }
  uint32_t *row(unsigned index64) { return vector + size_t{index64} * kLanes; }
  const uint32_t *row(unsigned index64) const { return vector + size_t{index64} * kLanes; }
};

/// A barrier that part of a workgroup's waves meet at (gfx1250).
struct NamedBarrier {
  uint32_t members = 0;
  uint32_t signals = 0;
  uint64_t passed = 0; ///< how often all had signalled
};

/// Workgroups that run at the same time and reach each other's LDS (gfx1250). One thread runs them.
struct Cluster {
  static constexpr uint32_t kMost = 16; ///< workgroups
  uint32_t extent[3] = {1, 1, 1};
  uint32_t groups = 1;
  WorkGroup *member[kMost] = {}; ///< x fastest
  uint32_t signals = 0;          ///< of its barrier, one a workgroup
  uint64_t passed = 0;           ///< how often all had signalled
};

/// A workgroup: its LDS and its waves.
struct WorkGroup {
  uint32_t id[3] = {};
  uint8_t *lds = nullptr;
  uint32_t ldsBytes = 0;
  Wave *waves = nullptr;
  uint32_t waveCount = 0;
  uint64_t barriers = 0; ///< passed so far
  static constexpr uint32_t kNamedBarriers = 16;
  NamedBarrier named[kNamedBarriers];
  uint32_t namedBarrierCount = 0; ///< that the kernel has
  Cluster *cluster = nullptr;     ///< null where it is not one of several
  uint32_t clusterRank = 0;       ///< its number there
  uint64_t setUpScalars = 0;      ///< SGPRs that its waves begin with, one bit each
};

/// A 32-bit source: scalar register, constant, special.
uint32_t readScalar(const Wave &wave, const Operand &operand);
/// A 64-bit source; a 32-bit constant is taken as it is encoded.
uint64_t readScalar64(const Wave &wave, const Operand &operand);
/// Store into a scalar register; EXEC, VCC and M0 are scalar registers.
inline void writeScalar(Wave &wave, const Operand &operand, uint32_t value) {
  wave.scalar[operand.index] = value;
}
inline void writeScalar64(Wave &wave, const Operand &operand, uint64_t value) {
  wave.setScalar64(operand.index, value);
}
/// One bit a lane: a pair of registers, or a single one where the wave has 32 lanes.
uint64_t readMask(const Wave &wave, const Operand &operand);
inline void writeMask(Wave &wave, const Operand &operand, uint64_t mask) {
  if (operand.dwords == 1)
    writeScalar(wave, operand, static_cast<uint32_t>(mask));
  else
    writeScalar64(wave, operand, mask);
}

} // namespace flyemu
