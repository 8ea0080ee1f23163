// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sanitize/definedness.h"

namespace flyemu {

/// Which bytes of LDS hold something defined. Kernels exchange whole tiles through LDS, with items
/// that nobody loaded beside those that count: to store such, or to load bytes that nobody wrote,
/// is no finding by itself, but what is loaded is undefined then.
class LdsMarks {
public:
  explicit LdsMarks(uint32_t bytes) : bytes_(bytes, State::Unwritten) {}

  /// Before an instruction: it has loaded nothing yet.
  void begin();
  /// One of its accesses; `unwritten`: lanes whose data came from memory that nobody wrote.
  void access(const Instruction &inst, const LaneAccess &access, const Definedness &defined,
              uint64_t unwritten);
  /// After it: the lanes of what it loaded into its destination that are undefined.
  void hand(const Instruction &inst, Definedness &defined) const;

  /// Does the access of a lane touch a byte that nobody wrote? Which?
  bool touchesUnwritten(const LaneAccess &access, unsigned lane, uint64_t &byte) const;

  /// Is this a plain store, whose data is followed from here?
  static bool follows(const Instruction &inst);

private:
  static constexpr unsigned kMostDwords = 4;

  void store(const Instruction &inst, const LaneAccess &access, const Definedness &defined,
             uint64_t unwritten);
  void load(const Instruction &inst, const LaneAccess &access);

  enum class State : uint8_t { Defined, Undefined, Unwritten };

  std::vector<State> bytes_;
  // Of the instruction being executed.
  unsigned accesses_ = 0;
  bool loadsMarked_ = false;
  std::array<uint64_t, kMostDwords> loaded_ = {}; ///< lanes, for each dword
  bool loadsUnwritten_ = false;
  Origin origin_; ///< the first byte of those
};

} // namespace flyemu
