// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "sanitize/report.h"

namespace flyemu {

/// Races between workgroups of one launch: two groups touch the same bytes of memory, at least one
/// writes, and not both atomically nor the same value. Groups of a launch have no order, so any
/// such pair is one; groups that hand results over through atomic flags are not understood and
/// would be reported.
class GlobalRaceCheck {
public:
  explicit GlobalRaceCheck(ReportSink &sink) : sink_(sink) {}

  void access(Wave &wave, const Instruction &inst, const LaneAccess &access);

private:
  /// One dword: who wrote, who read, and which of its bytes.
  struct Cell {
    uint64_t writer = kNobody;
    uint64_t reader = kNobody;
    uint64_t otherReader = kNobody; ///< a second group
    const Instruction *write = nullptr;
    const Instruction *read = nullptr;
    uint32_t value = 0; ///< what the writer left, all four bytes
    uint8_t writeBytes = 0;
    uint8_t readBytes = 0;
    bool atomic = false;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<uint64_t, Cell> cells;
  };
  static constexpr uint64_t kNobody = ~uint64_t{0};

  void check(Wave &wave, const Instruction &inst, AccessKind kind, unsigned lane, uint64_t dword,
             uint8_t bytes);

  ReportSink &sink_;
  std::array<Shard, 64> shards_;
};

} // namespace flyemu
