// SPDX-License-Identifier: Apache-2.0
#include "hazard/hazard_facts.h"

#include <string>

#include "llvm/MC/MCInstrDesc.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"

#include "code_object/code_object.h"
#include "decode/disassembler.h"
#include "execute/matrix_shape.h"
#include "execute/opcode.h"
#include "execute/program.h"
#include "hazard/hazard_rules.h"
#include "profile/issue_model.h"

namespace flyemu {
namespace {

constexpr uint16_t kScalars = kVectorRows;
constexpr uint16_t kHardware = kScalars + scalar::kCount;

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

template <size_t N> bool startsWithAny(const std::string &text, const char *const (&prefixes)[N]) {
  for (const char *prefix : prefixes)
    if (startsWith(text, prefix))
      return true;
  return false;
}

RegisterSpan spanOf(const Operand &operand) {
  const auto at = static_cast<uint16_t>(operand.index + (operand.isVector() ? 0 : kScalars));
  return {at, static_cast<uint16_t>(at + operand.dwords)};
}
RegisterSpan scalarSpan(uint16_t index, uint16_t count) {
  return {static_cast<uint16_t>(kScalars + index), static_cast<uint16_t>(kScalars + index + count)};
}
RegisterSpan hardwareSpan(const Instruction &inst) {
  const int64_t simm = inst.immediate[static_cast<size_t>(inst.immediateCount - 1)];
  const auto at = static_cast<uint16_t>(kHardware + (simm & 0x3f));
  return {at, static_cast<uint16_t>(at + 1)};
}

bool isTranscendental(const std::string &name) {
  static const char *const kPrefixes[] = {"v_exp_",  "v_log_", "v_rcp_", "v_rsq_",
                                          "v_sqrt_", "v_sin_", "v_cos_"};
  return startsWithAny(name, kPrefixes);
}

/// Does the result take a detour through a shifter that the next instruction is not ahead of?
bool movesPart(Program &program, const Instruction &inst) {
  const std::string &name = inst.opcode->name;
  if (inst.modifiers.encoding == Encoding::Sdwa)
    return inst.modifiers.sdwa.dst != SdwaSelect::Dword;
  if (startsWith(name, "v_cvt_scalef32_sr_pk_fp4_"))
    return true;
  // Their byte select has a bit at the third source, which they have not got.
  static const char *const kByteSelects[] = {"v_cvt_sr_fp8_", "v_cvt_sr_bf8_",
                                             "v_cvt_scalef32_sr_fp8_", "v_cvt_scalef32_sr_bf8_",
                                             "v_cvt_scalef32_pk_fp4_"};
  if (startsWithAny(name, kByteSelects))
    return program.disassemble(inst).find("op_sel:") != std::string::npos;
  static const char *const kPacked[] = {"v_pk_", "v_mfma_",   "v_smfmac_",
                                        "v_dot", "v_fma_mix", "v_mad_mix"};
  return inst.srcCount != 0 && !startsWithAny(name, kPacked) &&
         (inst.src[0].modifiers & modifier::kOpSelHi) != 0;
}

/// LLVM's list of registers that the opcode reads or writes besides its operands.
struct Implicit {
  bool vcc = false;
  bool exec = false;
};
template <typename Registers>
Implicit implicitOf(const llvm::MCRegisterInfo &info, const Registers &registers) {
  Implicit found;
  for (const unsigned reg : registers) {
    const std::string name = info.getName(reg);
    found.vcc |= startsWith(name, "VCC");
    found.exec |= startsWith(name, "EXEC");
  }
  return found;
}

class Builder {
public:
  Builder(Program &program, const Instruction &inst, HazardFacts &out)
      : program_(program), inst_(inst), name_(inst.opcode->name), out_(out) {}

  void build() {
    const OpClass cls = inst_.opcode->cls;
    const Disassembler &disassembler = Disassembler::forArch(program_.object().arch());
    const llvm::MCInstrDesc &desc = disassembler.instructions().get(inst_.llvmOpcode);
    reads_ = implicitOf(disassembler.registers(), desc.implicit_uses());
    writes_ = implicitOf(disassembler.registers(), desc.implicit_defs());
    out_.memory = cls == OpClass::Lds || isVectorMemory(cls);
    if (cls == OpClass::Matrix && !startsWith(name_, "v_accvgpr"))
      matrix();
    else if (cls == OpClass::VectorAlu || cls == OpClass::Transcendental || cls == OpClass::Matrix)
      vectorAlu();
    else if (out_.memory)
      memory(cls);
    else
      scalar(cls);
  }

private:
  static bool isVectorMemory(OpClass cls) {
    return cls == OpClass::Global || cls == OpClass::Flat || cls == OpClass::Scratch;
  }

  void leave(Trail trail, RegisterSpan span) { out_.left.push_back({trail, span}); }
  void touch(Touch touch, RegisterSpan span) { out_.done.push_back({touch, span, 0}); }

  template <typename F> void vectorSources(F &&use) {
    for (unsigned i = 0; i < inst_.srcCount; ++i)
      if (inst_.src[i].isVector())
        use(i, spanOf(inst_.src[i]));
  }
  template <typename F> void scalarSources(F &&use) {
    for (unsigned i = 0; i < inst_.srcCount; ++i)
      if (inst_.src[i].isScalarRegister())
        use(i, spanOf(inst_.src[i]));
  }

  /// What all of the vector ALU does, matrix instructions included.
  void anyVectorAlu(bool transcendental) {
    scalarSources([&](unsigned, RegisterSpan span) { touch(Touch::ValuScalarSource, span); });
    if (reads_.vcc)
      touch(Touch::ValuScalarSource, scalarSpan(scalar::kVcc, 2));
    vectorSources([&](unsigned, RegisterSpan span) {
      if (!transcendental)
        touch(Touch::ValuPlainSource, span);
      touch(Touch::ValuOperand, span);
    });
    for (unsigned i = 0; i < inst_.dstCount; ++i) {
      const Operand &dst = inst_.dst[i];
      if (dst.isVector()) {
        touch(Touch::ValuOperand, spanOf(dst));
        touch(Touch::ValuDestination, spanOf(dst));
      } else if (dst.isScalarRegister()) {
        leave(dst.index == scalar::kExec ? Trail::ValuExec : Trail::ValuScalar, spanOf(dst));
      }
    }
    if (writes_.vcc)
      leave(Trail::ValuScalar, scalarSpan(scalar::kVcc, 2));
    if (writes_.exec)
      leave(Trail::ValuExec, scalarSpan(scalar::kExec, 2));
  }

  void vectorAlu() {
    const bool transcendental = isTranscendental(name_);
    out_.dot = startsWith(name_, "v_dot");
    out_.compareExec = startsWith(name_, "v_cmpx");
    anyVectorAlu(transcendental);
    constexpr unsigned kAddend = 2;
    vectorSources([&](unsigned i, RegisterSpan span) {
      touch(out_.dot && i == kAddend ? Touch::DotAddend : Touch::VectorSource, span);
    });
    const bool moves = movesPart(program_, inst_);
    for (unsigned i = 0; i < inst_.dstCount; ++i) {
      if (!inst_.dst[i].isVector())
        continue;
      const RegisterSpan span = spanOf(inst_.dst[i]);
      touch(Touch::VectorDestination, span);
      leave(Trail::ValuVector, span);
      if (transcendental)
        leave(Trail::Transcendental, span);
      if (moves)
        leave(Trail::PartOfVector, span);
      if (out_.dot)
        leave(Trail::Dot, span);
    }
    if (inst_.modifiers.encoding == Encoding::Dpp) {
      vectorSources([&](unsigned, RegisterSpan span) { touch(Touch::DppSource, span); });
      touch(Touch::DppExec, scalarSpan(scalar::kExec, 2));
    }
    if (startsWith(name_, "v_div_fmas"))
      touch(Touch::DivFmasVcc, scalarSpan(scalar::kVcc, 2));
    if (name_ == "v_fma_f64" || name_ == "v_fmac_f64")
      touch(Touch::Fma64, RegisterSpan::any());
    const bool reads = name_ == "v_readlane_b32" || name_ == "v_readfirstlane_b32";
    if (reads)
      vectorSources([&](unsigned, RegisterSpan span) { touch(Touch::LaneSource, span); });
    if (reads || name_ == "v_writelane_b32")
      touch(Touch::LaneExec, scalarSpan(scalar::kExec, 2));
    if ((name_ == "v_readlane_b32" || name_ == "v_writelane_b32") && inst_.srcCount > 1 &&
        inst_.src[1].isScalarRegister())
      touch(Touch::LaneSelect, spanOf(inst_.src[1]));
    if (name_ == "v_permlane16_swap_b32" || name_ == "v_permlane32_swap_b32") {
      vectorSources([&](unsigned, RegisterSpan span) { touch(Touch::SwapSource, span); });
      touch(Touch::SwapExec, scalarSpan(scalar::kExec, 2));
    }
  }

  void matrix() {
    MatrixShape shape;
    MatrixShape::parse(name_, shape);
    out_.matrix = true;
    out_.float64Matrix = shape.out == MatrixElement::F64;
    out_.small64 = out_.float64Matrix && shape.m == 4;
    out_.matrixCore = !out_.float64Matrix && shape.a != MatrixElement::F32;
    out_.passes = static_cast<uint8_t>(issueCost(program_, inst_).latency / kCyclesOfAPass);
    anyVectorAlu(false);
    touch(Touch::MatrixExec, scalarSpan(scalar::kExec, 2));
    const RegisterSpan result = spanOf(inst_.dst[0]);
    constexpr unsigned kAddend = 2;
    RegisterSpan addend = {};
    vectorSources([&](unsigned i, RegisterSpan span) {
      const bool c = !shape.sparse && i == kAddend;
      if (c)
        addend = span;
      touch(c ? Touch::MatrixAddend : Touch::MatrixFactor, span);
    });
    if (shape.sparse) { // accumulates in its destination
      addend = result;
      touch(Touch::MatrixAddend, addend);
    }
    leave(Trail::Matrix, result);
    if (out_.matrixCore && addend.end != 0)
      leave(Trail::MatrixAddend, addend);
    if (out_.float64Matrix)
      leave(Trail::Float64Matrix, RegisterSpan::any());
  }

  void memory(OpClass cls) {
    vectorSources([&](unsigned, RegisterSpan span) { touch(Touch::VectorSource, span); });
    for (unsigned i = 0; i < inst_.dstCount; ++i)
      if (inst_.dst[i].isVector())
        touch(Touch::VectorDestination, spanOf(inst_.dst[i]));
    if (cls == OpClass::Lds) {
      if (name_.find("_addtid_") != std::string::npos || startsWith(name_, "ds_gws_") ||
          inst_.modifiers.gds)
        touch(Touch::SpecialM0, scalarSpan(scalar::kM0, 1));
      return;
    }
    scalarSources([&](unsigned, RegisterSpan span) { touch(Touch::MemoryScalar, span); });
    if (inst_.modifiers.lds || name_.find("_lds_") != std::string::npos) {
      touch(Touch::MemoryScalar, scalarSpan(scalar::kM0, 1));
      touch(Touch::SpecialM0, scalarSpan(scalar::kM0, 1));
    }
    storeData();
  }

  /// Wide data is read a moment after the issue, but for buffers with a scalar offset register.
  void storeData() {
    if (name_.find("store") == std::string::npos && name_.find("atomic") == std::string::npos)
      return;
    bool offset = false;
    if (startsWith(name_, "buffer_") || startsWith(name_, "tbuffer_"))
      scalarSources([&](unsigned i, RegisterSpan) { offset |= inst_.src[i].dwords == 1; });
    constexpr unsigned kNarrow = 2; // addresses are at most as wide
    vectorSources([&](unsigned i, RegisterSpan span) {
      if (!offset && inst_.src[i].dwords > kNarrow)
        leave(Trail::StoreData, span);
    });
  }

  void scalar(OpClass cls) {
    if (name_ == "s_nop")
      out_.states = static_cast<uint16_t>((inst_.immediate[0] & 0xf) + 1);
    out_.leaves = leavesFunction(inst_);
    if (cls == OpClass::ScalarAlu)
      for (unsigned i = 0; i < inst_.dstCount; ++i)
        if (inst_.dst[i].isScalarRegister() && inst_.dst[i].index == scalar::kM0)
          leave(Trail::SaluM0, spanOf(inst_.dst[i]));
    if (startsWith(name_, "s_movrel") || startsWith(name_, "s_sendmsg") ||
        name_ == "s_ttracedata" || startsWith(name_, "ds_gws_"))
      touch(Touch::SpecialM0, scalarSpan(scalar::kM0, 1));
    if (inst_.immediateCount == 0)
      return;
    if (name_ == "s_getreg_b32")
      touch(Touch::GetRegister, hardwareSpan(inst_));
    if (name_ == "s_setreg_b32" || name_ == "s_setreg_imm32_b32") {
      const RegisterSpan span = hardwareSpan(inst_);
      touch(Touch::SetRegister, span);
      leave(Trail::SetRegister, span);
    }
  }

  static constexpr uint32_t kCyclesOfAPass = 4;

  Program &program_;
  const Instruction &inst_;
  const std::string &name_;
  HazardFacts &out_;
  Implicit reads_;
  Implicit writes_;
};

} // namespace

bool leavesFunction(const Instruction &inst) {
  const std::string &name = inst.opcode->name;
  return inst.opcode->cls == OpClass::Branch &&
         (name == "s_setpc_b64" || name == "s_swappc_b64" || name == "s_call_b64");
}

const HazardFacts &HazardFactsTable::make(const Instruction &inst) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<HazardFacts> &facts = facts_[&inst];
  if (facts == nullptr) {
    facts = std::make_unique<HazardFacts>();
    facts->inst = &inst;
    if (inst.opcode != nullptr)
      Builder(program_, inst, *facts).build();
    for (const HazardFacts::Left &left : facts->left)
      facts->trails |= 1U << static_cast<unsigned>(left.trail);
    for (HazardFacts::Done &done : facts->done)
      facts->awaited |= done.awaited = trailsAwaitedBy(done.touch);
  }
  return *facts;
}

} // namespace flyemu
