// SPDX-License-Identifier: Apache-2.0
#include "sanitize/init_check.h"

#include "check/wait_counts.h"
#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "support/format.h"

namespace flyemu {
namespace {

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

/// Does it touch memory? Permutes only use the LDS unit's network.
bool accessesMemory(const Opcode &opcode) {
  switch (opcode.cls) {
  case OpClass::Global:
  case OpClass::Flat:
  case OpClass::Scratch:
    return true;
  case OpClass::Lds:
    return !startsWith(opcode.name, "ds_bpermute") && !startsWith(opcode.name, "ds_permute") &&
           !startsWith(opcode.name, "ds_swizzle");
  default:
    return false;
  }
}

Operand scalarOperand(uint16_t index) {
  Operand operand;
  operand.kind = OperandKind::Scalar;
  operand.dwords = 1;
  operand.index = index;
  return operand;
}
const Operand kM0 = scalarOperand(scalar::kM0);

/// Does it use M0 without naming it?
bool usesM0(const Instruction &inst) {
  const Opcode &opcode = *inst.opcode;
  const auto has = [&](const char *part) { return opcode.name.find(part) != std::string::npos; };
  switch (opcode.cls) {
  case OpClass::Global:
  case OpClass::Scratch:
    return inst.modifiers.lds || (has("_lds_") && (!has("_async_") || has("cluster_")));
  case OpClass::Lds:
    return has("addtid") || has("append") || has("consume");
  case OpClass::ScalarAlu:
  case OpClass::VectorAlu:
    return has("movrel");
  default:
    return false;
  }
}

std::string nameOf(const Operand &operand, unsigned dword, uint32_t generation) {
  if (operand.isVector())
    return isAccVgpr(operand.index, generation)
               ? format("a%u", operand.index - kFirstAccVgpr + dword)
               : format("v%u", operand.index + dword);
  return format("s%u", operand.index + dword);
}

} // namespace

/// What comes from memory that nobody wrote is reported where it was loaded.
void InitCheck::add(Wave &wave, const Instruction &inst, const Origin *origin, const char *what) {
  if (origin == nullptr) {
    sink_.add({"init", wave, inst, -1}, [&] { return std::string(what); });
    return;
  }
  sink_.add({"init", wave, *origin->inst, origin->lane, nullptr, true, origin->byte}, [&] {
    if (origin->global)
      return "memory that nobody wrote is read, " + wave.launch->memory->describe(origin->byte, 1) +
             ": " + what;
    return format("LDS byte %llu is read and was never written: %s",
                  static_cast<unsigned long long>(origin->byte), what);
  });
}

void InitCheck::require(Wave &wave, const Instruction &inst, const Definedness &defined,
                        unsigned source, uint64_t lanes, const char *role) {
  const Operand &operand = inst.src[source];
  const uint64_t missing = lanes & ~defined.lanesRead(inst, source);
  if (missing == 0)
    return;
  if (const Origin *origin = defined.originOf(operand); origin != nullptr) {
    if (origin->global && inst.opcode->cls == OpClass::Matrix)
      return;
    add(wave, inst, origin, (std::string(role) + " comes from it").c_str());
    return;
  }
  unsigned dword = 0;
  const int lane = operand.isVector() ? __builtin_ctzll(missing) : -1;
  while (operand.isVector() && dword + 1 < operand.dwords &&
         (defined.lanesOf(operand, dword) >> lane & 1U) != 0)
    ++dword;
  sink_.add({"init", wave, inst, lane}, [&] {
    return format("%s comes from %s, which was never written", role,
                  nameOf(operand, dword, wave.launch->generation).c_str());
  });
}

void InitCheck::checkSinks(Wave &wave, const Instruction &inst, const Definedness &defined) {
  const Opcode &opcode = *inst.opcode;
  const std::string &name = opcode.name;
  const uint64_t exec = wave.exec();
  if (usesM0(inst) && !defined.scalar(kM0))
    add(wave, inst, defined.originOf(kM0), "M0, which the instruction uses, was never written");
  if (accessesMemory(opcode)) {
    // Spills move whatever a register holds: what a scratch store stores is no finding.
    const unsigned first = opcode.cls == OpClass::Scratch && inst.dstCount == 0 ? 1 : 0;
    // And what goes to LDS is followed there.
    const unsigned end = !LdsMarks::follows(inst)        ? inst.srcCount
                         : name == "ds_write_addtid_b32" ? 0
                                                         : 1;
    for (unsigned i = first; i < end; ++i)
      if (Definedness::isRealSource(inst, i))
        require(wave, inst, defined, i, exec, "an address or the data of a memory access");
  } else if (opcode.cls == OpClass::ScalarMemory) {
    for (unsigned i = 0; i < inst.srcCount; ++i)
      require(wave, inst, defined, i, ~uint64_t{0},
              "an address or the data of a scalar memory access");
  } else if (opcode.cls == OpClass::Matrix) {
    for (unsigned i = 0; i < inst.srcCount; ++i)
      require(wave, inst, defined, i, exec,
              i == 2 ? "the accumulator or the third operand of a matrix instruction"
                     : "an operand of a matrix instruction");
  } else if (startsWith(name, "s_cbranch_scc") && !defined.scc()) {
    add(wave, inst, defined.originOfScc(), "a branch depends on a value that was never written");
  } else if (startsWith(name, "s_cbranch_vcc") && !defined.vccZero(wave)) {
    add(wave, inst, defined.originOfVcc(), "a branch depends on VCC, which was never written");
  }
}

void InitCheck::before(Wave &wave, const Instruction &inst) {
  Definedness &defined = waves_[wave.index];
  checkSinks(wave, inst, defined);
  defined.prepare(wave, inst);
  lds_.begin();
  global_.begin();
}

void InitCheck::globalAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) {
  if (!global_.access(wave, inst, access))
    add(wave, inst, &global_.origin(), "an atomic access changes it");
}

void InitCheck::ldsAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) {
  // An atomic access changes what is there: that matters at once.
  if (access.kind == AccessKind::Atomic)
    forEachLane(access.lanes, [&](unsigned lane) {
      Origin origin{&inst, 0, static_cast<int>(lane)};
      if (lds_.touchesUnwritten(access, lane, origin.byte))
        add(wave, inst, &origin, "an atomic access changes it");
    });
  if (access.kind == AccessKind::Load && copyCounter(inst) != Counter::Load)
    forEachLane(access.lanes, [&](unsigned lane) {
      Origin origin{&inst, 0, static_cast<int>(lane)};
      if (lds_.touchesUnwritten(access, lane, origin.byte))
        add(wave, inst, &origin, "it is copied to memory");
    });
  lds_.access(inst, access, waves_[wave.index], global_.lanes());
  // The tensor data mover's lanes are parts of a box, others with every access.
  if (access.kind == AccessKind::Store && copyCounter(inst) == Counter::Tensor)
    global_.begin();
}

void InitCheck::after(Wave &wave, const Instruction &inst) {
  Definedness &defined = waves_[wave.index];
  if (!defined.commit(wave, inst))
    add(wave, inst, defined.originOfExec(), "EXEC comes from a value that was never written");
  lds_.hand(inst, defined);
  global_.hand(inst, defined);
}

} // namespace flyemu
