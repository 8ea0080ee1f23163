// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "execute/polling.h"
#include "sanitize/lds_order.h"
#include "sanitize/outstanding.h"
#include "sanitize/recent_accesses.h"
#include "sanitize/report.h"

namespace flyemu {

/// LDS accesses of two waves in no order: at least one writes, and they are not both atomic, nor
/// plain stores of the same value (compilers replicate stores).
///
/// Two accesses are ordered where a barrier lies between them *and* the first was waited for when
/// its wave came to the barrier. So what was then outstanding counts as an access of the time after
/// the barrier too. Without a barrier the finding is a race, with one a missing wait. Either is
/// found in every order of waves: all waves that touched a place since the last barrier are known,
/// not the latest.
///
/// A load straight into LDS (buffer_load ... lds) is ordered by vmcnt, for its own wave as well.
///
/// Waves also make an order by atomics and by flags that they poll: LdsOrder knows it. Polling
/// itself is no race.
class LdsRaceCheck {
public:
  LdsRaceCheck(ReportSink &sink, unsigned sanitizers, Outstanding &outstanding,
               ReleaseOrder &global, const Polling &polling, const WorkGroup &group);

  /// To be called before `outstanding` sees the access.
  void access(Wave &wave, const Instruction &inst, const LaneAccess &access);
  void barrier();

private:
  using Waves = uint32_t; ///< one bit each
  /// The latest load straight into LDS.
  struct Direct {
    const Instruction *inst = nullptr;
    uint64_t sequence = 0; ///< among its wave's operations of vmcnt
    uint32_t epoch = 0;
    uint8_t wave = 0;
  };
  /// Who touched a dword, or a byte of one, since the last barrier.
  struct Cell {
    uint32_t epoch = 0;
    uint32_t value = 0;  ///< what the latest plain store left
    uint32_t pieces = 0; ///< index of the cells of its bytes, from 1 on
    Waves readers = 0;   ///< except those that read what they had stored before
    Waves writers = 0;
    Waves updaters = 0; ///< atomically
    Waves early = 0;    ///< whose access before the last barrier was outstanding at it
    bool mixed = false; ///< plain stores of different values
    bool split = false; ///< its bytes are looked at one by one
    RecentAccesses reads;
    RecentAccesses writes;
    RecentAccesses updates;
    Direct direct;
  };
  struct Touch; ///< one lane's access to one cell

  Cell &at(uint64_t dword);
  void split(Cell &cell, uint32_t value);
  void visit(const Touch &touch, uint64_t first, uint32_t bytes);
  void touch(const Touch &touch, Cell &cell, uint64_t address, uint32_t value);
  void checkDirect(const Touch &touch, const Direct &direct, uint64_t address);
  void check(const Touch &touch, const Cell &cell, uint64_t address, uint32_t value);
  static void record(const Touch &touch, Cell &cell, uint32_t value);
  Waves unordered(const Touch &touch, uint64_t address, Waves waves, LdsOrder::Kind kind) const;
  void makeOrder(const Touch &touch, const LaneAccess &access);
  void lint(const Touch &touch, uint64_t address, const Instruction *other);
  bool isRepeat(const Instruction *other, unsigned lane);
  void report(const Touch &touch, uint64_t address, const Instruction *other, bool barrierBetween,
              const char *what, const Instruction *plainLoad);

  ReportSink &sink_;
  const unsigned sanitizers_;
  Outstanding &outstanding_;
  const WorkGroup &group_;
  const Polling &polling_;
  std::unique_ptr<LdsOrder> order_; ///< null where the kernel can make none
  uint32_t epoch_ = 1;
  std::vector<Cell> cells_; ///< of dwords
  std::vector<std::array<Cell, 4>> pieces_;
  std::vector<uint64_t> published_; ///< operations of vmcnt retired at the last barrier, by wave
  /// By the access at hand: other instruction, lane.
  std::array<std::pair<const Instruction *, unsigned>, 4> reported_ = {};
  size_t reports_ = 0;
};

} // namespace flyemu
