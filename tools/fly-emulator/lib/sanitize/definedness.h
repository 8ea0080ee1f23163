// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "execute/wave.h"

namespace flyemu {

/// Which registers of a wave hold something that was written: lanes of vector registers, whole
/// scalar registers, SCC; and how instructions hand that on.
///
/// Lanes are followed exactly through moves between lanes (DPP, readlane, permutes, swizzles,
/// swaps), selects, packed 32-bit operations and matrix instructions; elsewhere a result is defined
/// where all of its sources are.
///
/// src_pops_exiting_wave_id, which means nothing in compute, stands for "never written": compilers
/// that are asked to mark uninitialised memory that they keep in registers move it into those.
class Definedness {
public:
  Definedness();

  /// Lanes where all dwords of an operand are defined (all or none for scalars).
  uint64_t lanes(const Operand &operand) const;
  /// The same for one dword of it.
  uint64_t lanesOf(const Operand &operand, unsigned dword) const;
  bool scalar(const Operand &operand) const;
  bool scc() const { return scc_; }
  bool vcc() const { return scalar_.test(scalar::kVcc) && scalar_.test(scalar::kVcc + 1); }

  /// Before an instruction executes: work out what its results will be.
  void prepare(Wave &wave, const Instruction &inst);
  /// After it: note them. False if EXEC was made from something undefined.
  bool commit(const Wave &wave, const Instruction &inst);

  /// Does the instruction use its i-th source, or is it only the old value of a destination that
  /// it writes in part?
  static bool isRealSource(const Instruction &inst, unsigned i);

private:
  static constexpr unsigned kMostDwords = 32;
  using Rows = std::array<uint64_t, kMostDwords>; ///< lanes, for each dword of a destination

  void sources(const Wave &wave, const Instruction &inst);
  void selected(const Wave &wave, const Instruction &inst);
  void packedPair(const Instruction &inst);
  void matrix(const Instruction &inst);
  void movedBetweenLanes(Wave &wave, const Instruction &inst);
  uint64_t throughDpp(const Instruction &inst, uint64_t lanes) const;

  std::vector<uint64_t> vector_; ///< lanes that are defined, for each row
  std::bitset<scalar::kCount> scalar_;
  bool scc_ = false;

  // Of the instruction being executed.
  std::array<Rows, 2> result_ = {};
  bool resultScalar_ = true;
  uint64_t exec_ = 0;
  uint64_t written_ = 0; ///< lanes of the destination
};

} // namespace flyemu
