// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "decode/disassembler.h"
#include "decode/instruction.h"
#include "decode/vgpr_banks.h"

namespace flyemu {

/// Turns LLVM's MCInst into the compact form that the handlers execute.
///
/// Operands come from MCInst in LLVM's order: destinations, then sources (each with its modifiers),
/// then numbers. Keyed modifiers come from the assembly text, which names them.
class Decoder {
public:
  explicit Decoder(Disassembler &disassembler);

  /// Decode one instruction at a host address. Always yields something executable: what cannot be
  /// decoded or isn't implemented becomes an instruction that raises an error when it is reached.
  /// Returns the size in bytes. The disassembler's mutex must be held.
  uint32_t decode(const uint8_t *bytes, uint64_t available, uint64_t elfAddress, Instruction &out);

  /// Of the code that is decoded; to be reset where it begins anew.
  VgprBanks &banks() { return banks_; }

private:
  struct MnemonicEntry {
    std::string name;
    const Opcode *opcode = nullptr;
  };

  const MnemonicEntry &mnemonic(unsigned llvmOpcode);
  const Operand &registerOperand(unsigned reg);
  void operands(const llvm::MCInst &inst, Instruction &out);
  Operand source(const llvm::MCOperand &operand);
  bool isModifier(const llvm::MCInst &inst, unsigned operand) const;
  bool isMask(const llvm::MCInst &inst, unsigned operand);
  void dual(const llvm::MCInst &inst, const std::string &text, Instruction &out);

  void selectBanks(Instruction &out);

  Disassembler &disassembler_;
  VgprBanks banks_;
  int tied_ = -1; ///< the source of the last instruction that is its destination, too
  std::vector<Operand> registers_;
  std::vector<bool> registerKnown_;
  std::unordered_map<unsigned, MnemonicEntry> mnemonics_;
  std::deque<std::array<Instruction, 2>> duals_; ///< operations of dual instructions
};

} // namespace flyemu
