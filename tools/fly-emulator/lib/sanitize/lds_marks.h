// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sanitize/definedness.h"

namespace flyemu {

/// Which bytes of LDS hold something that was stored and never defined. Kernels exchange whole
/// tiles through LDS, with items that nobody loaded beside those that count: a store of such is no
/// finding, but what is loaded from there is as undefined as what was stored.
class LdsMarks {
public:
  explicit LdsMarks(uint32_t bytes) : bytes_(bytes) {}

  /// Before an instruction: it has loaded nothing yet.
  void begin();
  /// One of its accesses.
  void access(const Instruction &inst, const LaneAccess &access, const Definedness &defined);
  /// After it: the lanes of what it loaded into its destination that are undefined.
  void hand(const Instruction &inst, Definedness &defined) const;

  /// Is this a plain store, whose data is followed from here?
  static bool follows(const Instruction &inst);

private:
  static constexpr unsigned kMostDwords = 4;

  void store(const Instruction &inst, const LaneAccess &access, const Definedness &defined);
  void load(const Instruction &inst, const LaneAccess &access);

  const uint32_t bytes_;
  std::vector<bool> marks_; ///< empty until there is one
  // Of the instruction being executed.
  unsigned accesses_ = 0;
  bool loadsMarked_ = false;
  std::array<uint64_t, kMostDwords> loaded_ = {}; ///< lanes, for each dword
};

} // namespace flyemu
