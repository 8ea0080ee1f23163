// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "execute/wave.h"

namespace flyemu {

/// The load that brought something from LDS or device memory that nobody wrote.
struct Origin {
  const Instruction *inst = nullptr;
  uint64_t byte = 0; ///< of LDS, or its address
  int lane = 0;
  bool global = false; ///< from device memory
};

/// Which registers of a wave hold something that was written: lanes of vector registers, bits of
/// scalar ones (masks of lanes are often built up from nothing, lane by lane), SCC; and how
/// instructions hand that on.
///
/// The two halves of a dword are told apart where they are put together and used one by one.
/// Lanes are followed exactly through moves between lanes (DPP, readlane, permutes, swizzles,
/// swaps), selects, packed 32-bit operations and matrix instructions, bits through comparisons,
/// logic and carries; elsewhere a result is defined where all of its sources are.
///
/// ttmp14, a register of the trap handler that means nothing to a kernel, stands for "never
/// written": compilers that are asked to mark uninitialised memory that they keep in registers move
/// it into those.
class Definedness {
public:
  static constexpr unsigned kNeverWritten = scalar::kTtmp + 14;

  /// `setUpScalars`: the SGPRs that a wave begins with, one bit each.
  explicit Definedness(uint64_t setUpScalars);

  /// Lanes where all dwords of an operand are defined (all or none for scalars).
  uint64_t lanes(const Operand &operand) const;
  /// The same for one dword of it.
  uint64_t lanesOf(const Operand &operand, unsigned dword) const;
  /// Lanes where all that an instruction reads of its i-th source is defined.
  uint64_t lanesRead(const Instruction &inst, unsigned i) const;
  bool scalar(const Operand &operand) const;
  bool scc() const { return scc_; }
  /// Is it known whether VCC is zero?
  bool vccZero(const Wave &wave) const;

  /// Before an instruction executes: work out what its results will be.
  void prepare(Wave &wave, const Instruction &inst);
  /// After it: note them. False if EXEC was made from something undefined.
  bool commit(const Wave &wave, const Instruction &inst);

  /// Lanes of a dword of a destination that turned out to be undefined after all, and why (or
  /// null).
  void forget(const Operand &operand, unsigned dword, uint64_t lanes, const Origin *origin);
  /// The same of a scalar destination: all bits of a dword.
  void forgetScalar(const Operand &operand, unsigned dword, const Origin &origin);
  /// What an undefined operand, SCC or EXEC goes back to; null where that is no load.
  const Origin *originOf(const Operand &operand) const;
  const Origin *originOfScc() const { return originAt(kSccKey); }
  const Origin *originOfVcc() const { return originAt(kScalarKeys + scalar::kVcc); }
  const Origin *originOfExec() const {
    return execOrigin_.inst != nullptr ? &execOrigin_ : nullptr;
  }

  /// Does the instruction use its i-th source, or is it only the old value of a destination that
  /// it writes in part?
  static bool isRealSource(const Instruction &inst, unsigned i);

private:
  static constexpr unsigned kMostDwords = 32;
  using Rows = std::array<uint64_t, kMostDwords>; ///< lanes, for each dword of a destination

  uint64_t undefinedBits(const Operand &operand) const;
  uint64_t pairAt(unsigned index) const;
  void scalarLogic(const Wave &wave, const Instruction &inst);
  void computed(const Wave &wave, const Instruction &inst);
  void sources(const Wave &wave, const Instruction &inst);
  void selected(const Wave &wave, const Instruction &inst);
  void packedPair(const Instruction &inst);
  void convertedPack(const Instruction &inst);
  void putTogether(const Wave &wave, const Instruction &inst);
  static constexpr unsigned kScalarKeys = kVectorRows; ///< of origins_: rows, scalar registers, SCC
  static constexpr unsigned kSccKey = kScalarKeys + scalar::kCount;
  const Origin *originAt(unsigned key) const;
  void handOrigins(const Instruction &inst);
  uint64_t halfLanes(const Operand &operand, uint8_t halves) const;
  void noteHalves(unsigned row, uint64_t low, uint64_t high);
  void matrix(const Instruction &inst);
  void forgetSpills(unsigned row);
  void moveSpills(const Instruction &inst);
  void noteSpill(const Wave &wave, const Instruction &inst);
  void movedBetweenLanes(Wave &wave, const Instruction &inst);
  uint64_t throughDpp(const Instruction &inst, uint64_t lanes) const;

  std::vector<uint64_t> vector_;                   ///< lanes that are defined, for each row
  std::array<uint32_t, scalar::kCount> undefined_; ///< bits of each scalar register
  std::map<unsigned, Origin> origins_;             ///< of what came undefined out of memory
  Origin execOrigin_;                              ///< of what the last instruction made EXEC from
  /// Lanes of which one half is defined, for rows that have such: low, high.
  std::map<uint32_t, std::array<uint64_t, 2>> halves_;
  /// Undefined bits of a lane that a scalar register was spilled to; key: 64 * row + lane.
  std::map<uint32_t, uint32_t> spilled_;
  bool scc_ = false;

  // Of the instruction being executed.
  std::array<Rows, 2> result_ = {};
  std::array<std::array<uint64_t, 2>, 2> halfResult_ =
      {};                                   ///< lanes, for the halves of a result of one dword
  std::array<uint64_t, 2> resultBits_ = {}; ///< undefined ones, of scalar destinations
  uint64_t execBits_ = 0;                   ///< undefined ones of what goes to EXEC by the way
  bool sccKnown_ = true;
  uint64_t exec_ = 0;
  uint64_t written_ = 0; ///< lanes of the destination
};

} // namespace flyemu
