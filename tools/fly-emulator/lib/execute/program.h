// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "code_object/code_object.h"
#include "decode/decoder.h"
#include "decode/instruction.h"

namespace flyemu {

/// The decoded code of a code object: each function once, when it is first reached. Thread-safe.
class Program {
public:
  /// `arch` chooses the decoder; the code object must outlive the program.
  Program(const CodeObject &object, const std::string &arch);

  const CodeObject &object() const { return object_; }

  /// The instruction at a host address, or null outside of the text. The instructions of a function
  /// follow each other in memory, and an instruction that leads to the next function ends them.
  const Instruction *at(uint64_t hostAddress);

  /// Does the code at an ELF address and what it may call hold atomics whose result depends on the
  /// order of workgroups (floating point, or returning the old value)?
  bool dependsOnOrder(uint64_t elfAddress);
  /// Does it hold atomics, or loads and stores of a scope that other workgroups are in?
  bool synchronises(uint64_t elfAddress);

  /// The instructions of the function at an ELF address, without the one that ends the list.
  std::vector<const Instruction *> instructionsAt(uint64_t elfAddress);

  /// Where the functions begin that code at an ELF address may run: its own, and where it calls
  /// through registers all others that are no kernels.
  std::vector<uint64_t> functionsOf(uint64_t elfAddress);

  /// The first instruction of that function that names a register beyond the given numbers of
  /// VGPRs, AccVGPRs and SGPRs, or null.
  const Instruction *beyondRegisters(uint64_t elfAddress, uint32_t vgprs, uint32_t accVgprs,
                                     uint32_t sgprs);

  std::string disassemble(const Instruction &inst);
  uint64_t elfAddress(const Instruction &inst) const;

  /// "kernel+0x40"
  std::string location(uint64_t elfAddress) const;

private:
  struct Block {
    uint64_t begin; ///< ELF addresses
    uint64_t end;
    std::vector<Instruction> instructions;
    std::vector<uint32_t> indexOf; ///< by dword; ~0 inside an instruction
    bool ordered = false;
    bool synchronising = false;
    bool indirect = false;      ///< calls or jumps through registers
    std::vector<uint8_t> banks; ///< VgprBanks::state at each instruction; empty where it is zero
    uint32_t vgprs = 0;         ///< that instructions name
    uint32_t accVgprs = 0;
    uint32_t sgprs = 0;
  };

  bool any(uint64_t elfAddress, bool Block::*property);
  /// What code of waves of so many lanes is decoded with.
  struct Reader {
    Reader(const std::string &arch, uint32_t lanes);
    Disassembler &disassembler;
    Decoder decoder;
  };

  Block &blockAt(uint64_t elfAddress);
  Reader &readerAt(uint64_t elfAddress);
  void linkBranches(Block &block);
  const Instruction *find(const Block &block, uint64_t elfAddress) const;

  const CodeObject &object_;
  const std::string arch_;
  Reader wide_;                    ///< of 64 lanes
  std::unique_ptr<Reader> narrow_; ///< of 32, where the architecture has such waves
  const uint32_t generation_;      ///< of the instruction set
  std::mutex mutex_;
  std::map<uint64_t, std::unique_ptr<Block>> blocks_; ///< by begin
};

} // namespace flyemu
