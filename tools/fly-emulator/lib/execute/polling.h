// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "decode/instruction.h"

namespace flyemu {

class Program;

/// The loads and atomics of a kernel that wait for a flag: they stand in a short loop that stores
/// nothing, comes to the same address again and again, and ends by what they return. In machine
/// code that is all that tells a flag from a race.
class Polling {
public:
  /// Where the flags are: waves of a workgroup wait in LDS, workgroups in global memory.
  enum class Memory { Lds, Global };

  static constexpr size_t kMostBody = 64; ///< instructions of a loop that waits

  explicit Polling(Memory memory) : memory_(memory) {}

  /// Of the kernel at an ELF address, and of the functions that it may call. A loop has to lie in
  /// one function; its load may be in a function without branches that it calls by its address.
  void find(Program &program, uint64_t elfAddress);

  bool polls(const Instruction &inst) const {
    return !polls_.empty() && polls_.find(&inst) != polls_.end();
  }
  /// Are there flags that are polled, or (in LDS, where they make an order, too) atomics?
  bool any() const { return any_; }

private:
  void findIn(const std::vector<const Instruction *> &code);
  bool isCandidate(const Instruction &inst) const;

  Memory memory_;
  std::set<const Instruction *> polls_;
  bool any_ = false;
};

} // namespace flyemu
