// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "llvm/MC/MCInst.h"

namespace llvm {
class MCInstrInfo;
class MCRegisterInfo;
class MCSubtargetInfo;
} // namespace llvm

namespace flyemu {

/// LLVM's MC layer for one AMDGPU architecture: bytes to MCInst, and MCInst to text.
///
/// Not thread-safe: hold `mutex()` while decoding or printing.
class Disassembler {
public:
  /// The shared instance of an architecture ("gfx942") for code of waves of so many lanes (0: what
  /// the architecture's compilers choose); EmulatorError (hipErrorInvalidValue) for an architecture
  /// that LLVM doesn't know.
  static Disassembler &forArch(const std::string &arch, uint32_t lanes = 0);

  ~Disassembler();

  std::mutex &mutex() { return mutex_; }
  /// Of the instruction set: 9, 11, 12.
  uint32_t generation() const { return generation_; }
  /// Of a wave.
  uint32_t lanes() const { return lanes_; }
  const llvm::MCInstrInfo &instructions() const;
  const llvm::MCRegisterInfo &registers() const;
  const llvm::MCSubtargetInfo &subtarget() const;

  /// Decode the instruction at `bytes`; 0 where there is none, else its size.
  uint64_t decode(llvm::MCInst &inst, const uint8_t *bytes, uint64_t available, uint64_t address);
  /// "v_add_f32_e32 v1, v2, v3"
  std::string text(const llvm::MCInst &inst, uint64_t address) const;
  /// "v_add_f32": the mnemonic without encoding suffix.
  std::string mnemonic(unsigned llvmOpcode) const;

private:
  Disassembler(const std::string &arch, uint32_t lanes);

  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::mutex mutex_;
  uint32_t generation_ = 9;
  uint32_t lanes_ = 64;
};

} // namespace flyemu
