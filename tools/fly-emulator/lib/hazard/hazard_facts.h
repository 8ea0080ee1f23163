// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "decode/instruction.h"

namespace flyemu {

class Program;

/// What an instruction leaves behind that a later one may come too early for.
enum class Trail : uint8_t {
  ValuVector,     ///< VGPRs written by the vector ALU
  Transcendental, ///< VGPRs written by a transcendental instruction
  PartOfVector,   ///< VGPRs of which a part was moved into place (SDWA, op_sel, byte selects)
  Dot,            ///< VGPRs written by a dot product
  Matrix,         ///< VGPRs written by a matrix instruction
  MatrixAddend,   ///< VGPRs that a matrix instruction still reads as C
  Float64Matrix,  ///< a matrix instruction on f64 was issued
  ValuScalar,     ///< SGPRs, VCC, M0 written by the vector ALU
  ValuExec,       ///< EXEC, by the vector ALU
  SaluM0,         ///< M0, by the scalar ALU
  StoreData,      ///< VGPRs that a wide store still reads
  SetRegister,    ///< a hardware register that s_setreg wrote
  kCount,
};

/// What an instruction does that may come too early.
enum class Touch : uint8_t {
  VectorSource,      ///< VGPRs read by the vector ALU (no matrix instruction), memory or LDS
  DotAddend,         ///< what a dot product adds to
  VectorDestination, ///< VGPRs written by them
  ValuOperand,       ///< any VGPR of a vector ALU instruction
  ValuPlainSource,   ///< VGPRs read by a vector ALU instruction that is not transcendental
  ValuDestination,   ///< VGPRs written by the vector ALU, matrix instructions too
  ValuScalarSource,  ///< SGPRs and VCC read by the vector ALU
  MemoryScalar,      ///< SGPRs and M0 read by a vector memory instruction
  DppSource,         ///< VGPRs that a DPP instruction reads
  DppExec,           ///< EXEC, by a DPP instruction
  DivFmasVcc,        ///< VCC, by v_div_fmas
  LaneSource,        ///< the VGPR of v_readlane and v_readfirstlane
  LaneExec,          ///< EXEC, by v_readlane, v_readfirstlane, v_writelane
  LaneSelect,        ///< the lane's number of v_readlane and v_writelane
  SwapSource,        ///< VGPRs of v_permlane16_swap and v_permlane32_swap
  SwapExec,          ///< EXEC, by them
  MatrixExec,        ///< EXEC, by a matrix instruction
  MatrixFactor,      ///< A, B, scales and indices of a matrix instruction
  MatrixAddend,      ///< C of a matrix instruction
  Fma64,             ///< an f64 multiply-add is issued
  SpecialM0,         ///< M0, by what has no interlock for it
  GetRegister,       ///< a hardware register read by s_getreg
  SetRegister,       ///< a hardware register written by s_setreg
  kCount,
};

/// Registers of one space: rows of vector registers, scalar registers after them, then hardware
/// registers.
struct RegisterSpan {
  uint16_t begin = 0;
  uint16_t end = 0;

  bool overlaps(const RegisterSpan &other) const { return begin < other.end && other.begin < end; }
  /// All of them, for what does not depend on registers.
  static RegisterSpan any() { return {0, 0xffff}; }
};

/// One instruction as the hazard rules see it.
struct HazardFacts {
  struct Left {
    Trail trail;
    RegisterSpan span;
  };
  struct Done {
    Touch touch;
    RegisterSpan span;
    uint32_t awaited = 0; ///< trails that some rule holds against it, one bit each
  };
  const Instruction *inst = nullptr;
  std::vector<Left> left;
  std::vector<Done> done;
  uint32_t trails = 0;  ///< of `left`, one bit each
  uint32_t awaited = 0; ///< of all `done`
  uint16_t states = 1;  ///< wait states that it takes
  uint8_t passes = 0;   ///< of a matrix instruction
  bool matrix = false;
  bool float64Matrix = false;
  bool matrixCore = false; ///< a matrix instruction of the XDL unit (all but f32 and f64 factors)
  bool small64 = false;    ///< v_mfma_f64_4x4x4
  bool dot = false;
  bool memory = false;      ///< vector memory or LDS
  bool compareExec = false; ///< v_cmpx
  bool leaves = false;      ///< calls and jumps through registers: hazards are not followed
};

/// Does it call, or jump through a register, so that what comes next is not known from the code?
bool leavesFunction(const Instruction &inst);

/// The facts of a program's instructions, each made once. Thread-safe.
class HazardFactsTable {
public:
  HazardFactsTable(Program &program, bool gfx950) : program_(program), gfx950_(gfx950) {}

  const HazardFacts &of(const Instruction &inst) {
    std::atomic<const HazardFacts *> &slot =
        recent_[reinterpret_cast<uintptr_t>(&inst) / sizeof(Instruction) % kRecent];
    const HazardFacts *facts = slot.load(std::memory_order_acquire);
    if (facts == nullptr || facts->inst != &inst) {
      facts = &make(inst);
      slot.store(facts, std::memory_order_release);
    }
    return *facts;
  }
  bool gfx950() const { return gfx950_; }

private:
  const HazardFacts &make(const Instruction &inst);

  static constexpr size_t kRecent = 4096;
  Program &program_;
  const bool gfx950_;
  std::mutex mutex_;
  std::map<const Instruction *, std::unique_ptr<HazardFacts>> facts_;
  std::array<std::atomic<const HazardFacts *>, kRecent> recent_ = {}; ///< without the lock
};

} // namespace flyemu
