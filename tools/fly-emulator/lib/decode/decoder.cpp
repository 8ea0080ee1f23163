// SPDX-License-Identifier: Apache-2.0
#include "decode/decoder.h"

#include <cstdlib>
#include <cstring>

#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCInstrDesc.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"

#include "decode/modifier_text.h"
#include "decode/register_names.h"
#include "execute/opcode.h"
#include "execute/vector_alu.h"
#include "execute/wave.h"
#include "support/error.h"

namespace flyemu {
namespace {

[[noreturn]] void undecodable(Wave &, const Instruction &) {
  throw Fault{"these bytes are no instruction of the architecture"};
}
[[noreturn]] void unsupported(Wave &, const Instruction &) {
  throw Fault{"the emulator does not implement this instruction"};
}
[[noreturn]] void unsupportedModifier(Wave &, const Instruction &) {
  throw Fault{"the emulator does not implement a modifier of this instruction"};
}
[[noreturn]] void unsupportedRegister(Wave &, const Instruction &) {
  throw Fault{"the emulator does not implement an operand of this instruction"};
}

bool hasSuffix(llvm::StringRef name, llvm::StringRef part) { return name.contains(part); }

/// LLVM's operand type for the modifiers of a source, found in an instruction whose operands are
/// known, since LLVM exports the number in no installed header.
unsigned inputModifierType(const llvm::MCInstrInfo &instructions) {
  for (unsigned i = 0; i < instructions.getNumOpcodes(); ++i)
    if (instructions.getName(i) == "V_ADD_F32_e64_vi") {
      const auto operands = instructions.get(i).operands();
      if (operands.size() == 7 && operands[1].OperandType == operands[3].OperandType &&
          operands[1].RegClass < 0)
        return operands[1].OperandType;
    }
  throw EmulatorError(hipErrorUnknown,
                      "this LLVM lays out V_ADD_F32_e64_vi in a way that the decoder doesn't know");
}

} // namespace

Decoder::Decoder(Disassembler &disassembler)
    : disassembler_(disassembler), registers_(disassembler.registers().getNumRegs()),
      registerKnown_(disassembler.registers().getNumRegs()) {}

const Decoder::MnemonicEntry &Decoder::mnemonic(unsigned llvmOpcode) {
  const auto it = mnemonics_.find(llvmOpcode);
  if (it != mnemonics_.end())
    return it->second;
  MnemonicEntry entry;
  entry.name = disassembler_.mnemonic(llvmOpcode);
  entry.opcode = OpcodeTable::instance().find(entry.name);
  return mnemonics_.emplace(llvmOpcode, std::move(entry)).first->second;
}

const Operand &Decoder::registerOperand(unsigned reg) {
  if (!registerKnown_[reg]) {
    registers_[reg] = parseRegister(disassembler_.registers().getName(reg));
    registerKnown_[reg] = true;
  }
  return registers_[reg];
}

void Decoder::operands(const llvm::MCInst &inst, Instruction &out) {
  static const unsigned modifierType = inputModifierType(disassembler_.instructions());
  const llvm::MCInstrDesc &desc = disassembler_.instructions().get(inst.getOpcode());
  const auto info = desc.operands();
  const unsigned defs = desc.getNumDefs();
  uint8_t pending = 0;
  tied_ = -1;
  for (unsigned i = 0; i < inst.getNumOperands(); ++i) {
    const llvm::MCOperand &operand = inst.getOperand(i);
    const unsigned type = i < info.size() ? info[i].OperandType : 0;
    if (i < defs && operand.isReg()) {
      if (out.dstCount == out.dst.size())
        throw Fault{"more destinations than expected"};
      out.dst[out.dstCount++] = registerOperand(operand.getReg());
      continue;
    }
    // A DPP instruction's first source is the old value of its destination, tied to it.
    if (i == defs && out.modifiers.encoding == Encoding::Dpp && operand.isReg() && defs != 0 &&
        desc.getOperandConstraint(i, llvm::MCOI::TIED_TO) == 0)
      continue;
    if (operand.isImm() && type == modifierType) {
      pending = static_cast<uint8_t>(operand.getImm());
      continue;
    }
    const bool number = operand.isImm() && type < llvm::MCOI::OPERAND_FIRST_TARGET;
    if (number) {
      if (out.immediateCount < out.immediate.size())
        out.immediate[out.immediateCount++] = operand.getImm();
      continue;
    }
    if (out.srcCount == out.src.size())
      throw Fault{"more sources than expected"};
    if (desc.getOperandConstraint(i, llvm::MCOI::TIED_TO) == 0)
      tied_ = out.srcCount;
    Operand &to = out.src[out.srcCount++];
    to = source(operand);
    to.modifiers = pending | ((to.modifiers & modifier::kHigh) != 0 ? modifier::kOpSel : 0U);
    pending = 0;
  }
  // The half of a register that a 16-bit result goes to: source 0 carries that in VOP3.
  if (out.dstCount != 0 && (out.dst[0].modifiers & modifier::kHigh) != 0)
    out.src[0].modifiers |= modifier::kOpSelHi;
}

Operand Decoder::source(const llvm::MCOperand &operand) {
  Operand out;
  int64_t value = 0;
  if (operand.isReg()) {
    if (operand.getReg() != 0)
      out = registerOperand(operand.getReg());
    if (out.kind == OperandKind::None)
      throw Fault{"an unknown register"};
    if (out.kind != OperandKind::Scalar || out.index != scalar::kNull)
      return out;
  } else if (operand.isImm()) {
    value = operand.getImm();
  } else if (!operand.isExpr() || !operand.getExpr()->evaluateAsAbsolute(value)) {
    // (An expression is a literal that an inline constant could have expressed:
    // "lit(0xffffffff)".)
    throw Fault{"an unknown operand"};
  }
  out = Operand();
  out.kind = OperandKind::Constant;
  out.constant = static_cast<uint64_t>(value);
  out.dwords = 1;
  return out;
}

/// Whether an operation of a dual instruction reads what its destination held.
bool addsToDestination(const std::string &name) {
  return name == "v_fmac_f32" || name.rfind("v_dot2acc_", 0) == 0;
}

/// VOPD: two operations, "v_dual_add_f32 v1, v2, v3 :: v_dual_mul_f32 v4, v5, v6". LLVM lists both
/// destinations, then the sources of the first and those of the second. The instruction itself has
/// the operands of both, for those who look at what it reads and writes.
bool Decoder::isModifier(const llvm::MCInst &inst, unsigned operand) const {
  static const unsigned type = inputModifierType(disassembler_.instructions());
  const auto info = disassembler_.instructions().get(inst.getOpcode()).operands();
  return operand < inst.getNumOperands() && operand < info.size() &&
         inst.getOperand(operand).isImm() && info[operand].OperandType == type;
}

/// Is there a scalar register, one bit a lane?
bool Decoder::isMask(const llvm::MCInst &inst, unsigned operand) {
  return operand < inst.getNumOperands() && inst.getOperand(operand).isReg() &&
         registerOperand(inst.getOperand(operand).getReg()).isScalarRegister() &&
         disassembler_.generation() >= 13;
}

/// gfx1250: the registers' full numbers.
void Decoder::selectBanks(Instruction &out) {
  if (out.parts == nullptr) {
    banks_.apply(out, tied_);
    return;
  }
  std::array<Instruction, 2> &parts = duals_.back();
  unsigned next = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    Instruction &part = parts[i];
    banks_.apply(part, addsToDestination(part.opcode->name) ? part.srcCount - 1 : -1);
    out.dst[i] = part.dst[0];
    for (unsigned s = 0; s < part.srcCount; ++s)
      out.src[next++] = part.src[s];
  }
}

void Decoder::dual(const llvm::MCInst &inst, const std::string &text, Instruction &out) {
  std::array<Instruction, 2> parts;
  unsigned next = 2;
  size_t at = 0;
  for (unsigned i = 0; i < parts.size(); ++i) {
    constexpr char kPrefix[] = "v_dual_";
    at = text.find(kPrefix, at);
    if (at == std::string::npos)
      throw Fault{"a dual instruction of one operation"};
    at += sizeof kPrefix - 1;
    const std::string name = "v_" + text.substr(at, text.find(' ', at) - at);
    const std::string modifiers = text.substr(at, text.find("::", at) - at);
    Instruction &part = parts[i];
    part = out;
    part.parts = nullptr;
    part.opcode = OpcodeTable::instance().find(name);
    if (part.opcode == nullptr || part.opcode->lanes == nullptr)
      throw Fault{"an unknown operation of a dual instruction"};
    part.execute = part.opcode->handler;
    part.dst[part.dstCount++] = registerOperand(inst.getOperand(i).getReg());
    for (unsigned s = 0; s < part.opcode->lanes->srcCount; ++s) {
      // The encoding of gfx1250 with modifiers has one before most sources.
      uint8_t modifiers = 0;
      if (isModifier(inst, next))
        modifiers = static_cast<uint8_t>(inst.getOperand(next++).getImm());
      part.src[part.srcCount] = source(inst.getOperand(next++));
      part.src[part.srcCount++].modifiers = modifiers;
    }
    // v_cndmask has the mask as a source of its own there.
    if ((part.opcode->lanes->flags & kCarryIn) != 0 && isMask(inst, next))
      part.src[part.srcCount++] = source(inst.getOperand(next++));
    constexpr char kTable[] = "bitop3:"; // the last number of v_dual_bitop2_b32
    if (const size_t table = modifiers.find(kTable); table != std::string::npos) {
      part.modifiers.bitOp3 = static_cast<uint8_t>(
          std::strtoul(modifiers.c_str() + table + sizeof kTable - 1, nullptr, 0));
      ++next;
    }
    // The old value of a destination that is also a source stands last among them; but LLVM 22
    // names the register below for an odd destination of the second operation.
    if (addsToDestination(name))
      part.src[part.srcCount - 1] = part.dst[0];
    prepareVectorAlu(part, true, disassembler_.generation(), disassembler_.lanes());
  }
  if (next != inst.getNumOperands())
    throw Fault{"operands of a dual instruction that its operations do not have"};
  duals_.push_back(parts);
  out.parts = duals_.back().data();
  for (const Instruction &part : parts) {
    out.dst[out.dstCount++] = part.dst[0];
    for (unsigned s = 0; s < part.srcCount; ++s)
      out.src[out.srcCount++] = part.src[s];
  }
}

/// What an access moves for a lane, by its name; 0: unknown. Of
/// "global_load_d16_hi_u8", "flat_atomic_add_f64".
uint8_t bytesOf(const std::string &name) {
  for (const auto &[ending, bytes] : {std::pair<const char *, uint8_t>{"128", 16},
                                      {"96", 12},
                                      {"64", 8},
                                      {"32", 4},
                                      {"pk_add_f16", 4},
                                      {"pk_add_bf16", 4},
                                      {"16", 2},
                                      {"8", 1}})
    if (const std::string end = ending;
        name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0)
      return bytes;
  return 0;
}

uint32_t Decoder::decode(const uint8_t *bytes, uint64_t available, uint64_t elfAddress,
                         Instruction &out) {
  llvm::MCInst inst;
  out = Instruction();
  out.address = reinterpret_cast<uint64_t>(bytes);
  const uint64_t size = disassembler_.decode(inst, bytes, available, elfAddress);
  if (size == 0) {
    out.execute = undecodable;
    out.size = 4;
    return 4;
  }
  out.size = static_cast<uint8_t>(size);
  out.llvmOpcode = static_cast<uint16_t>(inst.getOpcode());
  const MnemonicEntry &entry = mnemonic(inst.getOpcode());
  out.opcode = entry.opcode;
  if (entry.opcode == nullptr) {
    out.execute = unsupported;
    return out.size;
  }
  out.execute = entry.opcode->handler;
  const llvm::StringRef llvmName = disassembler_.instructions().getName(inst.getOpcode());
  if (hasSuffix(llvmName, "_dpp"))
    out.modifiers.encoding = Encoding::Dpp;
  else if (hasSuffix(llvmName, "_sdwa"))
    out.modifiers.encoding = Encoding::Sdwa;
  const std::string text = disassembler_.text(inst, elfAddress);
  const bool isDual = entry.name.rfind("v_dual_", 0) == 0;
  try {
    if (isDual)
      dual(inst, text, out);
    else
      operands(inst, out);
  } catch (const Fault &) {
    out.execute = unsupportedRegister;
    return out.size;
  }
  if (entry.name.rfind("s_", 0) != 0 && !isDual) {
    const std::string unknown = parseModifiers(text, out.modifiers);
    if (!unknown.empty()) {
      out.execute = unsupportedModifier;
      return out.size;
    }
  }
  // The last number of a typed buffer access before the cache policy is its format.
  if (entry.name.rfind("tbuffer_", 0) == 0 && out.immediateCount >= 2)
    out.modifiers.bufferFormat = static_cast<uint8_t>(out.immediate[1]);
  const bool shortEncoding =
      llvmName.contains("_e32") ||
      (out.modifiers.encoding != Encoding::Plain && !llvmName.contains("_e64"));
  if (disassembler_.generation() >= 13) {
    if (entry.opcode->cls == OpClass::Global || entry.opcode->cls == OpClass::Flat ||
        entry.opcode->cls == OpClass::Scratch)
      out.modifiers.offsetScale = out.modifiers.offsetScale == 0 ? 1 : bytesOf(entry.name);
    if (entry.opcode->cls != OpClass::Control && out.modifiers.offsetScale == 0 &&
        text.find("scale_offset") != std::string::npos && entry.name.rfind("s_", 0) != 0) {
      out.execute = unsupportedModifier;
      return out.size;
    }
    selectBanks(out);
  }
  if (entry.opcode->lanes != nullptr)
    prepareVectorAlu(out, shortEncoding, disassembler_.generation(), disassembler_.lanes());
  return out.size;
}

} // namespace flyemu
