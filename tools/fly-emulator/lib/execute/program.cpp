// SPDX-License-Identifier: Apache-2.0
#include "execute/program.h"

#include <algorithm>
#include <set>

#include "llvm/MC/MCInst.h"

#include "decode/vgpr_banks.h"
#include "execute/opcode.h"
#include "execute/wave.h"
#include "support/format.h"

namespace flyemu {
namespace {

/// Stands after the last instruction of a function: go on with what lies there.
void continueAt(Wave &wave, const Instruction &inst) {
  wave.next = wave.launch->program->at(inst.address);
  if (wave.next == nullptr)
    throw Fault{"execution runs past the end of the code"};
}

bool isOrdered(const Instruction &inst) {
  const OpClass cls = inst.opcode->cls;
  const std::string &name = inst.opcode->name;
  if (cls != OpClass::Global && cls != OpClass::Flat && cls != OpClass::ScalarMemory)
    return false;
  if (name.find("atomic") == std::string::npos)
    return false;
  const bool returns = inst.dstCount != 0;
  const bool floats =
      name.find("_f32") != std::string::npos || name.find("_f64") != std::string::npos ||
      name.find("_f16") != std::string::npos || name.find("_bf16") != std::string::npos;
  // Exchanges keep the last value, whatever the order leaves.
  return returns || floats || name.find("swap") != std::string::npos;
}

/// Does it synchronise workgroups, or could it? Atomic loads and stores for them carry sc1.
bool isSynchronising(const Instruction &inst) {
  const OpClass cls = inst.opcode->cls;
  return (cls == OpClass::Global || cls == OpClass::Flat) &&
         (inst.modifiers.sc1 || inst.opcode->name.find("atomic") != std::string::npos);
}

/// The number of SGPRs that an instruction needs. VCC, M0 and the like are always there.
uint32_t scalarRegistersOf(const Instruction &inst) {
  uint32_t needed = 0;
  const auto note = [&](const Operand &operand) {
    if (operand.isScalarRegister() && operand.index < scalar::kFlatScratch)
      needed = std::max<uint32_t>(needed, operand.index + operand.dwords);
  };
  std::for_each(inst.dst.begin(), inst.dst.begin() + inst.dstCount, note);
  std::for_each(inst.src.begin(), inst.src.begin() + inst.srcCount, note);
  return needed;
}

/// One past the last register that an instruction names, of VGPRs or of AccVGPRs.
uint32_t registersOf(const Instruction &inst, bool accumulation, uint32_t generation) {
  uint32_t end = 0;
  const auto look = [&](const Operand &operand) {
    if (!operand.isVector() || isAccVgpr(operand.index, generation) != accumulation)
      return;
    const uint32_t first = accumulation ? operand.index - kFirstAccVgpr : operand.index;
    end = std::max(end, first + operand.dwords);
  };
  for (unsigned i = 0; i < inst.dstCount; ++i)
    look(inst.dst[i]);
  for (unsigned i = 0; i < inst.srcCount; ++i)
    look(inst.src[i]);
  return end;
}

} // namespace

Program::Program(const CodeObject &object, const std::string &arch)
    : object_(object), arch_(arch), wide_(arch, 64), generation_(wide_.disassembler.generation()) {
  if (generation_ >= 10)
    narrow_ = std::make_unique<Reader>(arch, 32);
}

Program::Reader::Reader(const std::string &arch, uint32_t lanes)
    : disassembler(Disassembler::forArch(arch, lanes)), decoder([&]() -> Decoder {
        const std::lock_guard<std::mutex> lock(disassembler.mutex());
        return Decoder(disassembler);
      }()) {}

Program::Reader &Program::readerAt(uint64_t elfAddress) {
  return narrow_ != nullptr && object_.lanesAt(elfAddress) == 32 ? *narrow_ : wide_;
}

uint64_t Program::elfAddress(const Instruction &inst) const {
  return inst.address - reinterpret_cast<uint64_t>(object_.base());
}

Program::Block &Program::blockAt(uint64_t elfAddress) {
  auto it = blocks_.upper_bound(elfAddress);
  if (it != blocks_.begin()) {
    --it;
    if (elfAddress < it->second->end && find(*it->second, elfAddress) != nullptr)
      return *it->second;
  }
  const FunctionAt function = object_.functionAt(elfAddress);
  auto block = std::make_unique<Block>();
  // An address inside a function that isn't the start of an instruction there: decode from it.
  const bool known = blocks_.count(function.begin) != 0;
  block->begin = known ? elfAddress : function.begin;
  if (function.name == ".text" && !known)
    block->begin = elfAddress;
  block->end = function.end;
  block->indexOf.assign((block->end - block->begin + 3) / 4 + 1, ~0U);
  block->instructions.reserve((block->end - block->begin) / 6 + 2);
  {
    Reader &reader = readerAt(elfAddress);
    const std::lock_guard<std::mutex> lock(reader.disassembler.mutex());
    reader.decoder.banks().reset();
    for (uint64_t address = block->begin; address < block->end;) {
      Instruction inst;
      const uint32_t size =
          reader.decoder.decode(object_.base() + address, block->end - address, address, inst);
      block->indexOf[(address - block->begin) / 4] =
          static_cast<uint32_t>(block->instructions.size());
      block->vgprs = std::max(block->vgprs, registersOf(inst, false, generation_));
      block->accVgprs = std::max(block->accVgprs, registersOf(inst, true, generation_));
      block->sgprs = std::max(block->sgprs, scalarRegistersOf(inst));
      if (inst.opcode != nullptr) {
        block->ordered |= isOrdered(inst);
        block->synchronising |= isSynchronising(inst);
        const std::string &name = inst.opcode->name;
        block->indirect |= name == "s_swappc_b64" || name == "s_setpc_b64" || name == "s_call_b64";
      }
      if (const uint8_t banks = reader.decoder.banks().state();
          banks != 0 || !block->banks.empty()) {
        block->banks.resize(block->instructions.size());
        block->banks.push_back(banks);
      }
      block->instructions.push_back(inst);
      address += size;
    }
  }
  Instruction last;
  last.execute = continueAt;
  last.address = reinterpret_cast<uint64_t>(object_.base()) + block->end;
  block->instructions.push_back(last);
  linkBranches(*block);
  return *(blocks_[block->begin] = std::move(block));
}

const Instruction *Program::find(const Block &block, uint64_t elfAddress) const {
  if (elfAddress % 4 != 0 || elfAddress < block.begin || elfAddress >= block.end)
    return nullptr;
  const uint32_t index = block.indexOf[(elfAddress - block.begin) / 4];
  return index == ~0U ? nullptr : &block.instructions[index];
}

void Program::linkBranches(Block &block) {
  const auto banksAt = [&](const Instruction *inst) {
    const auto index = static_cast<size_t>(inst - block.instructions.data());
    return inst != nullptr && index < block.banks.size() ? block.banks[index] : uint8_t{0};
  };
  for (Instruction &inst : block.instructions) {
    if (inst.opcode == nullptr || inst.opcode->cls != OpClass::Branch)
      continue;
    if (inst.immediateCount != 0) {
      const auto offset = static_cast<int16_t>(inst.immediate[0]);
      inst.target = find(block, elfAddress(inst) + 4 + static_cast<int64_t>(offset) * 4);
    }
    if (banksAt(&inst) != banksAt(inst.target))
      inst.execute = refuseBankJump;
  }
}

const Instruction *Program::at(uint64_t hostAddress) {
  const auto base = reinterpret_cast<uint64_t>(object_.base());
  const uint64_t address = hostAddress - base;
  if (hostAddress < base || address < object_.textBegin() || address >= object_.textEnd() ||
      address % 4 != 0)
    return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  return find(blockAt(address), address);
}

bool Program::dependsOnOrder(uint64_t elfAddress) { return any(elfAddress, &Block::ordered); }

bool Program::synchronises(uint64_t elfAddress) { return any(elfAddress, &Block::synchronising); }

bool Program::any(uint64_t elfAddress, bool Block::*property) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Block &block = blockAt(elfAddress);
  if (block.*property || !block.indirect)
    return block.*property;
  for (uint64_t address = object_.textBegin(); address < object_.textEnd();) {
    const Block &other = blockAt(address);
    if (other.*property)
      return true;
    address = std::max(other.end, address + 4);
  }
  return false;
}

std::vector<const Instruction *> Program::instructionsAt(uint64_t elfAddress) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Block &block = blockAt(elfAddress);
  std::vector<const Instruction *> out;
  for (size_t i = 0; i + 1 < block.instructions.size(); ++i)
    out.push_back(&block.instructions[i]);
  return out;
}

std::vector<uint64_t> Program::functionsOf(uint64_t elfAddress) {
  std::vector<uint64_t> out{elfAddress};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!blockAt(elfAddress).indirect)
    return out;
  std::set<uint64_t> kernels;
  for (const KernelMetadata &kernel : object_.kernels())
    kernels.insert(object_.entry(kernel));
  for (uint64_t address = object_.textBegin(); address < object_.textEnd();) {
    const FunctionAt function = object_.functionAt(address);
    if (kernels.count(function.begin) == 0 && function.begin != elfAddress)
      out.push_back(address);
    address = std::max(function.end, address + 4);
  }
  return out;
}

const Instruction *Program::beyondRegisters(uint64_t elfAddress, uint32_t vgprs, uint32_t accVgprs,
                                            uint32_t sgprs) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Block &block = blockAt(elfAddress);
  if (block.vgprs <= vgprs && block.accVgprs <= accVgprs && block.sgprs <= sgprs)
    return nullptr;
  for (const Instruction &inst : block.instructions)
    if (registersOf(inst, false, generation_) > vgprs ||
        registersOf(inst, true, generation_) > accVgprs || scalarRegistersOf(inst) > sgprs)
      return &inst;
  return nullptr;
}

std::string Program::disassemble(const Instruction &inst) {
  const uint64_t address = elfAddress(inst);
  Disassembler &disassembler = readerAt(address).disassembler;
  const std::lock_guard<std::mutex> lock(disassembler.mutex());
  llvm::MCInst mc;
  const uint64_t available = object_.textEnd() > address ? object_.textEnd() - address : 0;
  if (available == 0 || disassembler.decode(mc, object_.base() + address, available, address) == 0)
    return "(no instruction)";
  return disassembler.text(mc, address);
}

std::string Program::location(uint64_t elfAddress) const {
  const FunctionAt function = object_.functionAt(elfAddress);
  return function.name + "+" + hex(elfAddress - function.begin);
}

} // namespace flyemu
