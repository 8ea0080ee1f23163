// SPDX-License-Identifier: Apache-2.0
#include "decode/decoder.h"

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
    Operand &source = out.src[out.srcCount++];
    if (operand.isReg()) {
      if (operand.getReg() != 0)
        source = registerOperand(operand.getReg());
      if (source.kind == OperandKind::None)
        throw Fault{"an unknown register"};
    } else if (operand.isImm()) {
      source.kind = OperandKind::Constant;
      source.constant = static_cast<uint64_t>(operand.getImm());
      source.dwords = 1;
    } else if (int64_t value = 0;
               operand.isExpr() && operand.getExpr()->evaluateAsAbsolute(value)) {
      // A literal that an inline constant could have expressed: "lit(0xffffffff)".
      source.kind = OperandKind::Constant;
      source.constant = static_cast<uint64_t>(value);
      source.dwords = 1;
    } else {
      throw Fault{"an unknown operand"};
    }
    source.modifiers = pending;
    pending = 0;
  }
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
  try {
    operands(inst, out);
  } catch (const Fault &) {
    out.execute = unsupportedRegister;
    return out.size;
  }
  if (entry.name.rfind("s_", 0) != 0) {
    const std::string unknown = parseModifiers(disassembler_.text(inst, elfAddress), out.modifiers);
    if (!unknown.empty()) {
      out.execute = unsupportedModifier;
      return out.size;
    }
  }
  // The last number of a typed buffer access before the cache policy is its format.
  if (entry.name.rfind("tbuffer_", 0) == 0 && out.immediateCount >= 2)
    out.modifiers.bufferFormat = static_cast<uint8_t>(out.immediate[1]);
  if (entry.opcode->lanes != nullptr)
    prepareVectorAlu(out, llvmName.contains("_e32") || out.modifiers.encoding != Encoding::Plain);
  return out.size;
}

} // namespace flyemu
