// SPDX-License-Identifier: Apache-2.0
#include "decode/disassembler.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <new>

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include "device/architecture.h"
#include "support/error.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace flyemu {

namespace {

// LLVM's containers do not use `new`, and abort where they get no memory. Installed when the
// library is loaded: notes are read before the first instruction.
[[maybe_unused]] const bool badAllocRaised = [] {
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { throw std::bad_alloc(); });
  return true;
}();

/// Does a VOP3 or VOP3P instruction of gfx9 name a literal (source 255), which these encodings
/// cannot have? LLVM 22 dereferences a null stream when it wants to complain about that.
bool hasMisplacedLiteral(const uint8_t *bytes) {
  constexpr uint32_t kVop3 = 0x34;      // bits [31:26]
  constexpr uint32_t kLdScale = 0xd3ac; // the prefix of a scaled matrix instruction
  const auto names = [&](unsigned dword) {
    uint32_t words[2];
    std::memcpy(words, bytes + 4 * dword, sizeof words);
    const auto source = [&](unsigned shift) { return (words[1] >> shift & 0x1ffU) == 255; };
    return words[0] >> 26 == kVop3 && (source(0) || source(9) || source(18));
  };
  uint32_t first;
  std::memcpy(&first, bytes, sizeof first);
  return names(0) || (first >> 16 == kLdScale && names(2));
}

/// Does an SDWA instruction select with a number that no selection has? LLVM 22 decodes it, and its
/// printer runs into code that it holds for unreachable.
bool hasInvalidSelection(const uint8_t *bytes) {
  constexpr uint32_t kSdwa = 249; // as the source of a VOP1, VOP2 or VOPC instruction
  constexpr uint32_t kVopc = 0x3e;
  constexpr uint32_t kVop1 = 0x3f; // bits [31:25]
  uint32_t words[2];
  std::memcpy(words, bytes, sizeof words);
  if (words[0] >> 31 != 0 || (words[0] & 0x1ffU) != kSdwa)
    return false;
  const uint32_t encoding = words[0] >> 25;
  const auto isSeven = [&](unsigned shift) { return (words[1] >> shift & 7U) == 7; };
  const bool hasDestination = encoding != kVopc; // VOPC has a scalar register in these bits
  return isSeven(16) || (encoding != kVop1 && isSeven(24)) ||
         (hasDestination && (isSeven(8) || (words[1] >> 11 & 3U) == 3));
}

/// Does it begin with the half of gfx1250's scaled matrix instructions that names the scales?
bool loadsScales(const uint8_t *bytes) {
  constexpr uint32_t kLdScale = 0xcc35;   // v_wmma_ld_scale_paired_b32
  constexpr uint32_t kLdScale16 = 0xcc3a; // v_wmma_ld_scale16_paired_b64
  uint32_t first;
  std::memcpy(&first, bytes, sizeof first);
  return first >> 16 == kLdScale || first >> 16 == kLdScale16;
}

/// Its third source, which it does not have: LLVM 22 knows it as VGPR 0 only, later ones write the
/// constant 0.
void nameScaleSource(uint8_t *bytes) {
  constexpr uint32_t kVgpr0 = 256;
  uint32_t second;
  std::memcpy(&second, bytes + 4, sizeof second);
  second = (second & ~(0x1ffU << 18)) | kVgpr0 << 18;
  std::memcpy(bytes + 4, &second, sizeof second);
}

} // namespace

struct Disassembler::Parts {
  llvm::Triple triple{"amdgcn-amd-amdhsa"};
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> asmInfo;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

Disassembler &Disassembler::forArch(const std::string &arch, uint32_t lanes) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, uint32_t>, std::unique_ptr<Disassembler>> instances;
  const Architecture *architecture = findArchitecture(arch);
  if (lanes == 0)
    lanes = architecture != nullptr ? architecture->lanes : 64;
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Disassembler> &instance = instances[{arch, lanes}];
  if (instance == nullptr)
    instance.reset(new Disassembler(arch, lanes));
  return *instance;
}

Disassembler::Disassembler(const std::string &arch, uint32_t lanes)
    : parts_(std::make_unique<Parts>()), lanes_(lanes) {
  if (const Architecture *architecture = findArchitecture(arch); architecture != nullptr)
    generation_ = architecture->generation;
  // What halves a 16-bit instruction of RDNA names is in its encoding, however it was assembled.
  const char *features = generation_ < 10 ? ""
                         : lanes == 32    ? "+real-true16,+wavefrontsize32,-wavefrontsize64"
                                          : "+real-true16,-wavefrontsize32,+wavefrontsize64";
  static const bool initialised = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    return true;
  }();
  (void)initialised;
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(parts_->triple, error);
  if (target == nullptr)
    throw EmulatorError(hipErrorUnknown, "LLVM has no AMDGPU target: " + error);
  Parts &p = *parts_;
  p.registers.reset(target->createMCRegInfo(p.triple));
  p.asmInfo.reset(target->createMCAsmInfo(*p.registers, p.triple, p.options));
  p.instructions.reset(target->createMCInstrInfo());
  p.subtarget.reset(target->createMCSubtargetInfo(p.triple, arch, features));
  if (p.subtarget == nullptr || !p.subtarget->isCPUStringValid(arch))
    throw EmulatorError(hipErrorInvalidValue, "LLVM knows no AMDGPU architecture '" + arch + "'");
  p.context = std::make_unique<llvm::MCContext>(p.triple, p.asmInfo.get(), p.registers.get(),
                                                p.subtarget.get());
  p.disassembler.reset(target->createMCDisassembler(*p.subtarget, *p.context));
  p.printer.reset(
      target->createMCInstPrinter(p.triple, 0, *p.asmInfo, *p.instructions, *p.registers));
}

Disassembler::~Disassembler() = default;

const llvm::MCInstrInfo &Disassembler::instructions() const { return *parts_->instructions; }
const llvm::MCRegisterInfo &Disassembler::registers() const { return *parts_->registers; }
const llvm::MCSubtargetInfo &Disassembler::subtarget() const { return *parts_->subtarget; }

uint64_t Disassembler::decode(llvm::MCInst &inst, const uint8_t *bytes, uint64_t available,
                              uint64_t address) {
  // Long enough that a literal at the very end of the code is never cut off.
  constexpr uint64_t kLongest = 20;
  uint8_t padded[kLongest] = {};
  std::memcpy(padded, bytes, std::min(available, kLongest));
  inst.clear();
  if (generation_ >= 13 && loadsScales(padded))
    nameScaleSource(padded);
  if (generation_ < 10 && (hasMisplacedLiteral(padded) || hasInvalidSelection(padded)))
    return 0;
  uint64_t size = 0;
  const auto status = parts_->disassembler->getInstruction(
      inst, size, llvm::ArrayRef<uint8_t>(padded, kLongest), address, llvm::nulls());
  return status == llvm::MCDisassembler::Success && size != 0 && size <= available ? size : 0;
}

std::string Disassembler::text(const llvm::MCInst &inst, uint64_t address) const {
  std::string out;
  llvm::raw_string_ostream stream(out);
  parts_->printer->printInst(&inst, address, "", *parts_->subtarget, stream);
  const size_t begin = out.find_first_not_of(" \t");
  return begin == std::string::npos ? std::string() : out.substr(begin);
}

std::string Disassembler::mnemonic(unsigned llvmOpcode) const {
  llvm::MCInst inst;
  inst.setOpcode(llvmOpcode);
  const char *raw = parts_->printer->getMnemonic(inst).first;
  std::string name = raw == nullptr ? "" : raw;
  // Forms with a fixed operand have it in what LLVM calls the mnemonic: "scratch_load_dword off,".
  name = name.substr(0, name.find_first_of(" \t"));
  for (const char *suffix : {"_e32", "_e64", "_dpp", "_sdwa"}) {
    const size_t length = std::strlen(suffix);
    if (name.size() > length && name.compare(name.size() - length, length, suffix) == 0)
      name.resize(name.size() - length);
  }
  return name;
}

} // namespace flyemu
