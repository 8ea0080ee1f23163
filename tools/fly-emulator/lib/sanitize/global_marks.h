// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "sanitize/definedness.h"

namespace flyemu {

/// What an instruction loads from memory of hipMalloc that nobody wrote. As for LDS, that is no
/// finding by itself (tiles reach beyond what counts), but what is loaded is undefined then.
class GlobalMarks {
public:
  /// Before an instruction.
  void begin();
  /// One of its accesses; false for an atomic one that changes what nobody wrote (origin() has it).
  bool access(const Wave &wave, const Instruction &inst, const LaneAccess &access);
  /// After it: the lanes, or scalar registers, of its destination that are undefined.
  void hand(const Instruction &inst, Definedness &defined) const;

  /// Lanes that loaded a byte that nobody wrote, and the first such byte.
  uint64_t lanes() const { return any_; }
  const Origin &origin() const { return origin_; }

private:
  static constexpr unsigned kMostDwords = 16;

  void noteByte(const Instruction &inst, unsigned lane, uint64_t address, unsigned dword);

  uint64_t any_ = 0;
  std::array<uint64_t, kMostDwords> dwords_ = {}; ///< lanes, for each dword that was loaded
  Origin origin_;
};

} // namespace flyemu
