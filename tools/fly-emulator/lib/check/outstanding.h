// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "decode/instruction.h"

namespace flyemu {

/// The operations of one counter (vmcnt, lgkmcnt) that may be outstanding at a place of the code.
///
/// Each is known by what it leaves: the register that it loads, or the instruction itself. Its age
/// is the least number of later operations of the counter on any path.
class Outstanding {
public:
  struct Operation {
    uint32_t age = 0;
    const Instruction *inst = nullptr;
    bool operator==(const Operation &other) const { return age == other.age && inst == other.inst; }
  };

  /// Of a register (rows of vector registers, then scalar registers).
  static uint64_t keyOf(const Operand &operand, unsigned dword) {
    return operand.index + dword + (operand.isVector() ? 0U : uint64_t{kVectorRows});
  }
  /// Of an operation that loads no register.
  static uint64_t keyOf(const Instruction &inst) { return inst.address | kWholeInstruction; }
  static bool isInstruction(uint64_t key) { return (key & kWholeInstruction) != 0; }

  /// One more operation has been issued. Of `most`, the hardware waits by itself.
  void issue(uint32_t most) {
    for (auto it = operations_.begin(); it != operations_.end();)
      it = ++it->second.age >= most ? operations_.erase(it) : std::next(it);
  }
  void add(uint64_t key, const Instruction &inst) { operations_[key] = {0, &inst}; }

  /// At most `count` may be outstanding now.
  void retire(uint32_t count) {
    for (auto it = operations_.begin(); it != operations_.end();)
      it = it->second.age >= count ? operations_.erase(it) : std::next(it);
  }
  void clear() { operations_.clear(); }

  /// The operation that leaves a key behind, or null.
  const Instruction *find(uint64_t key) const {
    const auto it = operations_.find(key);
    return it == operations_.end() ? nullptr : it->second.inst;
  }
  const std::map<uint64_t, Operation> &all() const { return operations_; }

  /// Another path leads to the same place.
  void merge(const Outstanding &other) {
    for (const auto &[key, operation] : other.operations_) {
      const auto [it, isNew] = operations_.emplace(key, operation);
      Operation &mine = it->second;
      if (!isNew && (operation.age < mine.age ||
                     (operation.age == mine.age && operation.inst->address < mine.inst->address)))
        mine = operation;
    }
  }
  bool operator==(const Outstanding &other) const { return operations_ == other.operations_; }

private:
  static constexpr uint64_t kWholeInstruction = uint64_t{1} << 63;

  std::map<uint64_t, Operation> operations_;
};

} // namespace flyemu
