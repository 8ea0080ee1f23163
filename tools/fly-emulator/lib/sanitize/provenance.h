// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "execute/wave.h"

namespace flyemu {

/// Which kernel argument the pointers in a workgroup's registers come from.
///
/// A register holds no pointer, something made from one pointer argument (and numbers), or
/// something unknown: made from two pointers, loaded from memory where it could be a pointer, an
/// address of code or scratch. Whatever is doubtful is unknown, so that what is known can be relied
/// on: an address made from one argument belongs to that argument's memory.
class Provenance {
public:
  explicit Provenance(const WorkGroup &group);

  /// A scalar load begins at this address.
  void scalarLoad(uint64_t address) { loadedFrom_ = address; }
  /// Follow an instruction that has been executed.
  void after(const Wave &wave, const Instruction &inst);
  /// The argument that all of `dwords` registers from an operand's first come from; 0 if not known.
  uint64_t argumentOf(const Wave &wave, const Operand &operand, unsigned dwords) const;

private:
  using Origin = uint8_t;
  static constexpr Origin kNumber = 0;
  static constexpr Origin kUnknown = 255;
  static constexpr unsigned kMostArguments = 250;

  struct Registers {
    std::array<Origin, scalar::kCount> scalar = {};
    std::array<Origin, kVectorRows> vector = {};
  };

  static Origin join(Origin a, Origin b) {
    return a == b || b == kNumber ? a : a == kNumber ? b : kUnknown;
  }
  Origin originOf(const Wave &wave, const Operand &operand) const;
  Origin ofArgument(const MemoryView &memory, uint64_t value);
  Origin ofData(const MemoryView &memory, uint64_t value) const;
  void write(const Wave &wave, const Operand &operand, unsigned dword, Origin origin, bool whole);
  void afterScalarLoad(const Wave &wave, const Instruction &inst);
  void afterVectorLoad(const Wave &wave, const Instruction &inst);

  std::vector<Registers> waves_;
  std::vector<uint64_t> arguments_; ///< by origin - 1
  uint64_t loadedFrom_ = 0;
};

} // namespace flyemu
