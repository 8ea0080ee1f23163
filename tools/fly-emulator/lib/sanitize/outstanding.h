// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "check/wait_counts.h"
#include "execute/wave.h"

namespace flyemu {

/// What the waves of a workgroup have issued to memory and not waited for yet, as the hardware's
/// counters see it: vmcnt retires global and scratch accesses in the order they were issued,
/// lgkmcnt LDS accesses in theirs and scalar ones in any. Flat accesses are of both counters, and
/// on gfx9 each may count them off at any time: vmcnt where they went to LDS, lgkmcnt always. gfx11
/// and gfx12 count what returns nothing apart, gfx12 scalar loads too, and gfx1250 copies between
/// memory and LDS.
///
/// The emulator executes an access at once. Whether it *has to be* complete is another matter, and
/// what the checks of waits, races and releases ask here: it does not depend on the order in which
/// waves happen to run.
class Outstanding {
public:
  /// What one part of an operation touches in LDS (ds_read2 and the like have two).
  struct LdsPart {
    AccessKind kind;
    uint32_t bytes;
    uint64_t lanes;
    std::array<uint32_t, kLanes> address;
  };
  /// How an operation comes back, among those of its counter.
  enum class Return : uint8_t {
    InOrder,
    /// Not before those that were issued earlier, but whether it is counted is not relied upon for
    /// others (buffer_wbl2).
    Uncounted,
    AnyTime, ///< scalar loads, and flat accesses, which go to LDS or to memory
  };
  struct Operation {
    Operand dst; ///< kind None for stores
    const Instruction *inst;
    bool scalar;
    Return order;
    std::vector<LdsPart> lds;   ///< of those that lgkmcnt counts
    uint64_t sequence = 0;      ///< among the vector memory operations
    uint64_t localSequence = 0; ///< among the accesses to LDS that lgkmcnt counts
  };
  /// How far a wave has come when it arrives at a barrier: where it signals, if it does that apart
  /// from waiting.
  struct Arrival {
    uint64_t retired = 0;
    uint64_t retiredStores = 0;
    uint64_t retiredDirect = 0;
    uint64_t localRetired = 0;
    /// Accesses to LDS that the barrier does not put in order: outstanding at it, or issued between
    /// the wave's signal and its wait.
    std::vector<Operation> unordered;
  };

  Outstanding(uint32_t waves, uint32_t generation) : set_(generation), waves_(waves) {}

  const CounterSet &counters() const { return set_; }

  /// A wait retires operations before anything else looks.
  void before(const Wave &wave, const Instruction &inst);
  /// An access of the instruction that is being executed.
  void ldsAccess(const Wave &wave, const Instruction &inst, const LaneAccess &access);
  void after(const Wave &wave, const Instruction &inst);

  /// All waves passed a barrier; what `arrival` said of it is no longer needed.
  void barrier();
  const Arrival &arrival(uint32_t wave);

  const std::deque<Operation> &vector(uint32_t wave) const { return waves_[wave].vector; }
  const std::deque<Operation> &local(uint32_t wave) const { return waves_[wave].local; }
  /// Scalar loads, where they have a counter of their own.
  const std::deque<Operation> &scalars(uint32_t wave) const { return waves_[wave].scalars; }

  /// How many vector memory operations a wave has issued; the one being executed is the next.
  uint64_t issued(uint32_t wave) const { return waves_[wave].issued; }
  /// All loads up to this number (and what else returns something) are certain to be complete.
  uint64_t retired(uint32_t wave) const { return retired(waves_[wave]); }
  /// All stores up to this one.
  uint64_t retiredStores(uint32_t wave) const { return retiredStores(waves_[wave]); }
  /// All copies straight to LDS up to this one: gfx1250 counts them apart from loads, and those of
  /// lanes apart from tensors, of which the older one still outstanding decides here.
  uint64_t retiredDirect(uint32_t wave) const { return retiredDirect(waves_[wave]); }
  /// The same of the accesses to LDS that lgkmcnt counts.
  uint64_t localIssued(uint32_t wave) const { return waves_[wave].localIssued; }
  uint64_t localRetired(uint32_t wave) const { return localRetired(waves_[wave]); }
  /// LDS parts that the instruction being executed has touched so far.
  size_t parts(uint32_t wave) const { return waves_[wave].lds.size(); }
  /// The first of them, of a paired access.
  const LdsPart &firstPart(uint32_t wave) const { return waves_[wave].lds.front(); }

  /// Does an instruction store into LDS by way of vmcnt (buffer_load ... lds)?
  static bool isDirect(const Instruction &inst);
  /// Does it write caches back for other workgroups? Hardware counts it in vmcnt, and it has to be
  /// waited for.
  static bool writesBack(const Instruction &inst);

private:
  struct Counters {
    std::deque<Operation> vector;  ///< vmcnt, loadcnt
    std::deque<Operation> stores;  ///< vscnt, storecnt
    std::deque<Operation> local;   ///< lgkmcnt, dscnt
    std::deque<Operation> scalars; ///< kmcnt
    std::deque<Operation> async;   ///< asynccnt
    std::deque<Operation> tensor;  ///< tensorcnt
    std::unique_ptr<Arrival> arrival;
    uint64_t issued = 0;
    uint64_t localIssued = 0;
    uint32_t irregular = 0;   ///< of `vector`, those that do not return in order
    std::vector<LdsPart> lds; ///< of the instruction being executed
  };

  static bool signals(const Instruction &inst);
  void arrive(Counters &counters) const;
  uint64_t retired(const Counters &counters) const;
  uint64_t retiredStores(const Counters &counters) const;
  uint64_t retiredDirect(const Counters &counters) const;
  static uint64_t localRetired(const Counters &counters);
  static void retire(std::deque<Operation> &queue, size_t keep);

  const CounterSet set_;
  std::vector<Counters> waves_;
};

} // namespace flyemu
