// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "decode/instruction.h"

namespace flyemu {

class Program;

/// The loads and atomics of a kernel that wait for a flag in LDS: they stand in a short loop that
/// stores nothing, comes to the same address again and again, and ends by what they return. In
/// machine code that is all that tells a flag from a race.
class Polling {
public:
  /// Of the kernel at an ELF address, and of the functions that it may call. A loop has to lie in
  /// one function; its load may be in a function without branches that it calls by its address.
  void find(Program &program, uint64_t elfAddress);

  bool polls(const Instruction &inst) const {
    return !polls_.empty() && polls_.find(&inst) != polls_.end();
  }
  /// Can waves make an order in LDS at all: are there flags that are polled, or atomics?
  bool any() const { return any_; }

private:
  void findIn(const std::vector<const Instruction *> &code);

  std::set<const Instruction *> polls_;
  bool any_ = false;
};

} // namespace flyemu
