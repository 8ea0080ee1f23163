// SPDX-License-Identifier: Apache-2.0
#include "profile/issue_model.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCSchedule.h"
#include "llvm/MC/MCSubtargetInfo.h"

#include "code_object/code_object.h"
#include "decode/disassembler.h"
#include "device/architecture.h"
#include "execute/matrix_shape.h"
#include "execute/opcode.h"
#include "execute/program.h"

namespace flyemu {
namespace {

/// Cycles of one unit of LLVM's model: a wave of 64 lanes on a SIMD of 16; RDNA's has 32.
uint32_t unitCycles(const Architecture &architecture) {
  return architecture.generation < 10 ? 4 : 1;
}

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

/// The instruction's entry in LLVM's scheduling model, variants resolved; null where there is none.
const llvm::MCSchedClassDesc *schedClass(const Disassembler &disassembler, const llvm::MCInst &mc) {
  const llvm::MCSubtargetInfo &subtarget = disassembler.subtarget();
  const llvm::MCSchedModel &model = subtarget.getSchedModel();
  unsigned index = disassembler.instructions().get(mc.getOpcode()).getSchedClass();
  while (index != 0 && model.getSchedClassDesc(index)->isVariant())
    index = subtarget.resolveVariantSchedClass(index, &mc, &disassembler.instructions(),
                                               model.getProcessorID());
  const llvm::MCSchedClassDesc *desc = index == 0 ? nullptr : model.getSchedClassDesc(index);
  return desc != nullptr && desc->isValid() ? desc : nullptr;
}

/// What LLVM's model says.
void modelCost(const Program &program, const Instruction &inst, uint32_t unit, IssueCost &cost) {
  const CodeObject &object = program.object();
  const uint64_t address = program.elfAddress(inst);
  Disassembler &disassembler = Disassembler::forArch(object.arch(), object.lanesAt(address));
  const std::lock_guard<std::mutex> lock(disassembler.mutex());
  llvm::MCInst mc;
  if (disassembler.decode(mc, object.base() + address, object.textEnd() - address, address) == 0)
    return;
  const llvm::MCSchedClassDesc *desc = schedClass(disassembler, mc);
  if (desc == nullptr)
    return;
  const llvm::MCSubtargetInfo &subtarget = disassembler.subtarget();
  const double throughput = llvm::MCSchedModel::getReciprocalThroughput(subtarget, *desc);
  cost.issue = unit * std::max(1U, static_cast<uint32_t>(std::lround(throughput)));
  const int latency = llvm::MCSchedModel::computeInstrLatency(subtarget, *desc);
  cost.latency = std::max(cost.issue, unit * static_cast<uint32_t>(std::max(1, latency)));
}

IssueUnit unitOf(OpClass cls) {
  switch (cls) {
  case OpClass::VectorAlu:
  case OpClass::Transcendental:
    return IssueUnit::Vector;
  case OpClass::Matrix:
    return IssueUnit::Matrix;
  case OpClass::Lds:
    return IssueUnit::Lds;
  case OpClass::Global:
  case OpClass::Flat:
  case OpClass::Scratch:
    return IssueUnit::Memory;
  case OpClass::Branch:
  case OpClass::Wait:
  case OpClass::Barrier:
  case OpClass::Control:
    return IssueUnit::Sequencer;
  default:
    return IssueUnit::Scalar;
  }
}

bool isQuarterRate(const Opcode &opcode) {
  if (opcode.cls == OpClass::Transcendental)
    return true;
  for (const char *prefix :
       {"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_", "v_mul_lo_u32",
        "v_mul_lo_i32", "v_mul_hi_u32", "v_mul_hi_i32", "v_mad_u64_u32", "v_mad_i64_i32"})
    if (startsWith(opcode.name, prefix))
      return true;
  return false;
}

/// Formats 0 and 1 of an f8f6f4 instruction have eight bits.
bool hasEightBits(const Instruction &inst) {
  return inst.modifiers.cbsz < 2 || inst.modifiers.blgp < 2;
}

/// WMMA and SWMMAC, "v_wmma_f32_16x16x16_f16": AMD's cycles, the same for both widths of waves.
void waveMatrixCost(const Instruction &inst, uint32_t generation, IssueCost &cost) {
  const std::string &name = inst.opcode->name;
  const auto has = [&](const char *part) { return name.find(part) != std::string::npos; };
  const uint32_t k = has("x16x128")    ? 128
                     : has("16x16x64") ? 64
                     : has("16x16x32") ? 32
                     : has("16x16x4_") ? 4
                                       : 16;
  cost.flops = uint64_t{2} * (has("32x16x") ? 32 : 16) * 16 * k;
  if (generation >= 13) // LLVM's model has the cycles; nothing is published
    return;
  const bool halves = has("_f16") || has("_bf16");
  cost.issue = generation < 12 ? (has("iu4") ? 16 : 32) : (halves ? 16 : 8);
  cost.latency = std::max(cost.latency, cost.issue);
}

void matrixCost(const Instruction &inst, uint32_t unit, IssueCost &cost) {
  MatrixShape shape;
  if (!MatrixShape::parse(inst.opcode->name, shape))
    return;
  cost.flops = uint64_t{2} * shape.m * shape.n * shape.k * shape.blocks;
  if (shape.anyFormat && hasEightBits(inst)) {
    const uint32_t passes = shape.m == 32 ? 16 : 8;
    cost.latency += passes * unit - cost.issue;
    cost.issue = passes * unit;
  }
}

} // namespace

const char *unitName(IssueUnit unit) {
  switch (unit) {
  case IssueUnit::Scalar:
    return "scalar";
  case IssueUnit::Vector:
    return "vector";
  case IssueUnit::Matrix:
    return "matrix";
  case IssueUnit::Lds:
    return "lds";
  case IssueUnit::Memory:
    return "memory";
  case IssueUnit::Sequencer:
    return "sequencer";
  }
  return "";
}

IssueCost issueCost(const Program &program, const Instruction &inst) {
  const Opcode &opcode = *inst.opcode;
  const Architecture &architecture = *findArchitecture(program.object().arch());
  const uint32_t unit = unitCycles(architecture);
  const bool rdna = architecture.generation >= 10;
  IssueCost cost;
  cost.issue = cost.slot = cost.latency = unit;
  cost.unit = unitOf(opcode.cls);
  modelCost(program, inst, unit, cost);
  const bool wide = rdna && cost.unit == IssueUnit::Vector &&
                    program.object().lanesAt(program.elfAddress(inst)) == 64;
  if (opcode.cls == OpClass::Matrix && rdna)
    waveMatrixCost(inst, architecture.generation, cost);
  else if (opcode.cls == OpClass::Matrix)
    matrixCost(inst, unit, cost);
  else if (isQuarterRate(opcode))
    cost.issue = 4 * unit;
  else if (opcode.name == "s_nop")
    cost.issue = unit * (static_cast<uint32_t>(inst.immediate[0] & 0xf) + 1);
  else if (opcode.name == "s_sleep")
    cost.issue = std::max<uint32_t>(unit, 64 * static_cast<uint32_t>(inst.immediate[0] & 0x7f));
  if (wide)
    cost.issue *= 2;
  // In order, and done when the next one issues; RDNA's vector results come later (LLVM has when).
  const bool later =
      rdna && (opcode.cls == OpClass::VectorAlu || opcode.cls == OpClass::Transcendental);
  if (cost.unit == IssueUnit::Vector || opcode.cls == OpClass::Control ||
      opcode.cls == OpClass::Branch || opcode.cls == OpClass::Barrier)
    cost.latency = later ? std::max(cost.latency, cost.issue) : cost.issue;
  cost.slot = opcode.cls == OpClass::Matrix ? unit : cost.issue;
  return cost;
}

} // namespace flyemu
