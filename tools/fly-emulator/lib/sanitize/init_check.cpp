// SPDX-License-Identifier: Apache-2.0
#include "sanitize/init_check.h"

#include "execute/opcode.h"
#include "support/format.h"

namespace flyemu {
namespace {

bool isMemory(OpClass cls) {
  return cls == OpClass::Global || cls == OpClass::Flat || cls == OpClass::Scratch ||
         cls == OpClass::Lds;
}

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

/// Does the instruction use its i-th source, or is it only the old value of a destination that it
/// writes in part?
bool isRealSource(const Instruction &inst, unsigned i) {
  const Opcode &opcode = *inst.opcode;
  if (opcode.lanes != nullptr)
    return i < opcode.lanes->srcCount ||
           ((opcode.lanes->flags & kCarryIn) != 0 && i == opcode.lanes->srcCount);
  if (isMemory(opcode.cls)) {
    // Loads into half a register list it behind their address.
    const bool half = opcode.name.find("d16") != std::string::npos;
    return !half || inst.dstCount == 0 || i == 0 || !inst.src[i].isVector();
  }
  if (opcode.name == "v_writelane_b32")
    return i < 2;
  return true;
}

/// The operation's destination lanes whose rows keep what the instruction does not write.
bool writesAllLanes(const Instruction &inst) { return inst.opcode->cls == OpClass::Matrix; }

std::string nameOf(const Operand &operand, unsigned dword) {
  if (operand.isVector())
    return operand.index >= kFirstAccVgpr ? format("a%u", operand.index - kFirstAccVgpr + dword)
                                          : format("v%u", operand.index + dword);
  return format("s%u", operand.index + dword);
}

} // namespace

InitCheck::InitCheck(ReportSink &sink, WorkGroup &group) : sink_(sink), shadows_(group.waveCount) {
  for (uint32_t i = 0; i < group.waveCount; ++i) {
    Shadow &shadow = shadows_[i];
    shadow.vector.assign(kVectorRows, 0);
    shadow.vector[0] = ~uint64_t{0};
    // What the launch sets up: user and system SGPRs lie below the first that code may use freely.
    // Reading a later one is harmless arithmetic until it matters, and the compiler knows them all.
    for (unsigned s = 0; s < 16 + 6; ++s)
      shadow.scalar.set(s);
    for (unsigned s = scalar::kFlatScratch; s < scalar::kVcc; ++s)
      shadow.scalar.set(s);
    for (unsigned s = scalar::kTtmp; s < scalar::kTtmp + 16; ++s)
      shadow.scalar.set(s);
    shadow.scalar.set(scalar::kExec);
    shadow.scalar.set(scalar::kExec + 1);
  }
}

uint64_t InitCheck::definedLanes(const Shadow &shadow, const Operand &operand) const {
  if (!operand.isVector())
    return definedScalar(shadow, operand) ? ~uint64_t{0} : 0;
  uint64_t lanes = ~uint64_t{0};
  for (unsigned i = 0; i < operand.dwords && operand.index + i < kVectorRows; ++i)
    lanes &= shadow.vector[operand.index + i];
  return lanes;
}

bool InitCheck::definedScalar(const Shadow &shadow, const Operand &operand) const {
  if (operand.kind == OperandKind::Special)
    return operand.index != static_cast<uint16_t>(SpecialSource::Scc) || shadow.scc;
  if (!operand.isScalarRegister())
    return true;
  for (unsigned i = 0; i < operand.dwords && operand.index + i < scalar::kCount; ++i)
    if (!shadow.scalar.test(operand.index + i))
      return false;
  return true;
}

void InitCheck::require(Wave &wave, const Instruction &inst, const Shadow &shadow,
                        const Operand &operand, uint64_t lanes, const char *role) {
  const uint64_t missing = lanes & ~definedLanes(shadow, operand);
  if (missing == 0)
    return;
  unsigned dword = 0;
  const int lane = operand.isVector() ? __builtin_ctzll(missing) : -1;
  while (operand.isVector() && dword + 1 < operand.dwords &&
         (shadow.vector[operand.index + dword] >> lane & 1U) != 0)
    ++dword;
  sink_.add(
      "init",
      format("%s comes from %s, which was never written", role, nameOf(operand, dword).c_str()),
      wave, inst, lane, nullptr);
}

void InitCheck::checkSinks(Wave &wave, const Instruction &inst, Shadow &shadow) {
  const Opcode &opcode = *inst.opcode;
  const std::string &name = opcode.name;
  if (isMemory(opcode.cls) && !startsWith(name, "ds_bpermute") && !startsWith(name, "ds_permute") &&
      !startsWith(name, "ds_swizzle")) {
    for (unsigned i = 0; i < inst.srcCount; ++i)
      if (isRealSource(inst, i))
        require(wave, inst, shadow, inst.src[i], shadow.exec,
                "an address or the data of a memory access");
  } else if (opcode.cls == OpClass::ScalarMemory) {
    for (unsigned i = 0; i < inst.srcCount; ++i)
      require(wave, inst, shadow, inst.src[i], ~uint64_t{0}, "an address");
  } else if (opcode.cls == OpClass::Matrix) {
    for (unsigned i = 0; i < inst.srcCount; ++i)
      require(wave, inst, shadow, inst.src[i], shadow.exec, "an operand of a matrix instruction");
  } else if (startsWith(name, "s_cbranch_scc") && !shadow.scc) {
    sink_.add("init", "a branch depends on a value that was never written", wave, inst, -1,
              nullptr);
  } else if (startsWith(name, "s_cbranch_vcc") &&
             !(shadow.scalar.test(scalar::kVcc) && shadow.scalar.test(scalar::kVcc + 1))) {
    sink_.add("init", "a branch depends on VCC, which was never written", wave, inst, -1, nullptr);
  }
}

void InitCheck::before(Wave &wave, const Instruction &inst) {
  Shadow &shadow = shadows_[wave.index];
  shadow.exec = wave.exec();
  checkSinks(wave, inst, shadow);
  shadow.resultLanes = ~uint64_t{0};
  shadow.resultScalar = true;
  const OpClass cls = inst.opcode->cls;
  if (cls == OpClass::ScalarAlu || cls == OpClass::VectorAlu || cls == OpClass::Transcendental) {
    for (unsigned i = 0; i < inst.srcCount; ++i)
      if (isRealSource(inst, i)) {
        shadow.resultLanes &= definedLanes(shadow, inst.src[i]);
        shadow.resultScalar &= inst.src[i].isVector()
                                   ? (shadow.exec & ~definedLanes(shadow, inst.src[i])) == 0
                                   : definedScalar(shadow, inst.src[i]);
      }
    // Values from other lanes: the source lane's state isn't followed.
    if (inst.modifiers.encoding == Encoding::Dpp || cls == OpClass::Lds)
      shadow.resultLanes = ~uint64_t{0};
  }
}

void InitCheck::after(Wave &wave, const Instruction &inst) {
  Shadow &shadow = shadows_[wave.index];
  const OpClass cls = inst.opcode->cls;
  for (unsigned d = 0; d < inst.dstCount; ++d) {
    const Operand &dst = inst.dst[d];
    if (dst.isVector()) {
      const uint64_t lanes = writesAllLanes(inst) ? ~uint64_t{0} : shadow.exec;
      for (unsigned i = 0; i < dst.dwords && dst.index + i < kVectorRows; ++i) {
        uint64_t &row = shadow.vector[dst.index + i];
        uint64_t defined = shadow.resultLanes;
        // The low half of a 64-bit sum does not depend on the high halves.
        if (i == 0 && dst.dwords == 2 && cls == OpClass::VectorAlu) {
          defined = ~uint64_t{0};
          for (unsigned s = 0; s < inst.srcCount; ++s)
            if (isRealSource(inst, s) && inst.src[s].isVector())
              defined &= shadow.vector[inst.src[s].index];
        }
        row = (row & ~lanes) | (defined & lanes);
        if (inst.opcode->name == "v_writelane_b32")
          row |= ~uint64_t{0};
      }
    } else if (dst.isScalarRegister()) {
      for (unsigned i = 0; i < dst.dwords && dst.index + i < scalar::kCount; ++i)
        shadow.scalar.set(dst.index + i, shadow.resultScalar);
    }
  }
  if (cls == OpClass::ScalarAlu)
    shadow.scc = shadow.resultScalar;
  if (wave.exec() != shadow.exec && !shadow.resultScalar)
    sink_.add("init", "EXEC comes from a value that was never written", wave, inst, -1, nullptr);
  shadow.scalar.set(scalar::kExec);
  shadow.scalar.set(scalar::kExec + 1);
}

} // namespace flyemu
