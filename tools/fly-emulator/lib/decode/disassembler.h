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
  /// The shared instance of an architecture ("gfx942"); EmulatorError (hipErrorInvalidValue) for
  /// one that LLVM doesn't know.
  static Disassembler &forArch(const std::string &arch);

  ~Disassembler();

  std::mutex &mutex() { return mutex_; }
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
  explicit Disassembler(const std::string &arch);

  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::mutex mutex_;
};

} // namespace flyemu
