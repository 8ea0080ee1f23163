// SPDX-License-Identifier: Apache-2.0
//
// Branches, calls, barriers, waits, the end of the program, hardware registers (SOPP, SOP1, SOPK).
#include "execute/opcode.h"
#include "execute/program.h"
#include "execute/wave.h"

namespace flyemu {
namespace {

void jump(Wave &wave, uint64_t address) {
  wave.next = wave.launch->program->at(address);
  if (wave.next == nullptr)
    throw Fault{"a jump leads out of the code"};
}

void branch(Wave &wave, const Instruction &inst) {
  if (inst.target != nullptr) {
    wave.next = inst.target;
    return;
  }
  const auto offset = static_cast<int16_t>(inst.immediate[0]);
  jump(wave, inst.address + 4 + static_cast<uint64_t>(int64_t{offset} * 4));
}

void branchIf(Wave &wave, const Instruction &inst, bool condition) {
  if (condition)
    branch(wave, inst);
}

void barrier(Wave &wave, const Instruction &) {
  wave.state = WaveState::AtBarrier;
  wave.yield = true;
}

void endProgram(Wave &wave, const Instruction &) {
  wave.state = WaveState::Ended;
  wave.yield = true;
}

/// Give other waves a turn: what spins on memory waits for one of them.
void sleep(Wave &wave, const Instruction &) { wave.yield = true; }

void nothing(Wave &, const Instruction &) {}

[[noreturn]] void trap(Wave &, const Instruction &inst) {
  const int64_t id = inst.immediateCount != 0 ? inst.immediate[0] : 0;
  throw Fault{id == 2   ? "the kernel trapped (s_trap 2: abort or a failed assertion)"
              : id == 3 ? "the kernel trapped (s_trap 3: debugger)"
                        : "the kernel trapped (s_trap " + std::to_string(id) + ")"};
}

/// Deterministic: one tick an executed instruction of the wave.
void readClock(Wave &wave, const Instruction &inst) {
  writeScalar64(wave, inst.dst[0], wave.executed);
}
/// The same, going on from one launch of the process to the next.
void readRealTime(Wave &wave, const Instruction &inst) {
  writeScalar64(wave, inst.dst[0], wave.launch->realTime + wave.executed);
}

namespace hwreg {
constexpr unsigned kMode = 1;
constexpr unsigned kStatus = 2;
constexpr unsigned kTrapStatus = 3;
constexpr unsigned kHwId = 4;
constexpr unsigned kGprAlloc = 5;
constexpr unsigned kLdsAlloc = 6;
constexpr unsigned kIbStatus = 7;
constexpr unsigned kShMemBases = 15;
constexpr unsigned kXccId = 20;
constexpr unsigned kRdnaHwId1 = 23;
constexpr unsigned kRdnaHwId2 = 24;
constexpr unsigned kSchedulingMode = 26; // of gfx12 and gfx1250
constexpr unsigned kIbStatus2 = 28;      // of gfx1250
constexpr unsigned kShaderCycles = 29;
constexpr unsigned kShaderCyclesHigh = 30;
} // namespace hwreg

struct Field {
  unsigned id;
  unsigned offset;
  unsigned width;
};
Field fieldOf(const Instruction &inst) {
  const auto simm =
      static_cast<unsigned>(inst.immediate[static_cast<size_t>(inst.immediateCount - 1)]);
  return {simm & 0x3fU, simm >> 6 & 0x1fU, (simm >> 11 & 0x1fU) + 1};
}

/// The number names another register from gfx12 on, or none.
bool isRenumbered(const Wave &wave, unsigned id) {
  return wave.launch->generation >= 12 && (id == hwreg::kTrapStatus || id == hwreg::kHwId ||
                                           id == hwreg::kShMemBases || id == hwreg::kXccId);
}

uint32_t readHardware(const Wave &wave, unsigned id) {
  if (isRenumbered(wave, id))
    throw Fault{"hardware register " + std::to_string(id) + " is not modelled"};
  switch (id) {
  case hwreg::kMode:
    return wave.mode;
  case hwreg::kStatus:
    return (wave.scc ? 1U : 0U) | (wave.exec() == 0 ? 1U << 9 : 0U) |
           (wave.vcc() == 0 ? 1U << 10 : 0U) | 1U << 16;
  case hwreg::kTrapStatus:
    return wave.trapStatus;
  case hwreg::kShMemBases:
    return static_cast<uint32_t>(wave.launch->privateBase >> 48) |
           static_cast<uint32_t>(wave.launch->sharedBase >> 48) << 16;
  case hwreg::kHwId: // wave slot 0 to 9 of a SIMD 0 to 3
    return (wave.index / 4 % 10) | (wave.index % 4) << 4;
  case hwreg::kRdnaHwId1: // wave slot of a SIMD, as gfx9's
    return (wave.index / 4 % 16) | (wave.index % 4) << 8;
  case hwreg::kRdnaHwId2:
    return 0;
  case hwreg::kShaderCycles: // 20 bits on gfx11, the low ones of two registers on gfx12
    return static_cast<uint32_t>(wave.executed) &
           (wave.launch->generation >= 12 ? 0xffffffffU : 0xfffffU);
  case hwreg::kShaderCyclesHigh:
    return static_cast<uint32_t>(wave.executed >> 32);
  case hwreg::kXccId:
    return 0;
  case hwreg::kIbStatus2: {
    // Whether the workgroup is one of a cluster, and which.
    const WorkGroup &group = *wave.group;
    return group.cluster == nullptr ? 0 : 1U << 6 | group.clusterRank << 21;
  }
  case hwreg::kLdsAlloc:
    return (wave.group->ldsBytes + 511) / 512 << 12;
  case hwreg::kSchedulingMode:
    if (wave.launch->generation >= 12)
      return wave.schedulingMode;
    throw Fault{"hardware register " + std::to_string(id) + " is not modelled"};
  case hwreg::kGprAlloc:
  case hwreg::kIbStatus:
    return 0;
  default:
    throw Fault{"hardware register " + std::to_string(id) + " is not modelled"};
  }
}

void getRegister(Wave &wave, const Instruction &inst) {
  const Field field = fieldOf(inst);
  const uint64_t mask = (uint64_t{1} << field.width) - 1;
  const uint32_t value = readHardware(wave, field.id);
  writeScalar(wave, inst.dst[0], static_cast<uint32_t>(value >> field.offset & mask));
}

void setRegister(Wave &wave, const Instruction &inst, uint32_t value) {
  const Field field = fieldOf(inst);
  const auto mask = static_cast<uint32_t>(((uint64_t{1} << field.width) - 1) << field.offset);
  const uint32_t shifted = value << field.offset & mask;
  if (field.id == hwreg::kMode) {
    wave.yield |= ((wave.mode ^ shifted) & mask & kSkipVectors) != 0;
    wave.mode = (wave.mode & ~mask) | shifted;
  } else if (field.id == hwreg::kSchedulingMode && wave.launch->generation >= 12)
    wave.schedulingMode = (wave.schedulingMode & ~mask) | shifted;
  else if (field.id == hwreg::kTrapStatus && !isRenumbered(wave, field.id))
    wave.trapStatus = (wave.trapStatus & ~mask) | shifted;
  else if (field.id != hwreg::kStatus)
    throw Fault{"writing hardware register " + std::to_string(field.id) + " is not modelled"};
}

void call(Wave &wave, const Instruction &inst) {
  writeScalar64(wave, inst.dst[0], inst.address + 4);
  const auto offset = static_cast<int16_t>(inst.immediate[0]);
  jump(wave, inst.address + 4 + static_cast<uint64_t>(int64_t{offset} * 4));
}

void swapPc(Wave &wave, const Instruction &inst) {
  const uint64_t target = readScalar64(wave, inst.src[0]);
  writeScalar64(wave, inst.dst[0], inst.address + inst.size);
  jump(wave, target);
}

/// The run loop looks at VSKIP when a wave's turn begins.
void setVectorSkip(Wave &wave, const Instruction &inst) {
  const bool skip = (readScalar(wave, inst.src[0]) >> (readScalar(wave, inst.src[1]) & 31U) & 1U);
  wave.mode = skip ? wave.mode | kSkipVectors : wave.mode & ~kSkipVectors;
  wave.yield = true;
}

constexpr uint32_t kIndexField = 0xffU;
constexpr uint32_t kIndexModeField = 0xf000U;

void setIndex(Wave &wave, uint32_t index) {
  uint32_t &m0 = wave.scalar[scalar::kM0];
  m0 = (m0 & ~kIndexField) | (index & kIndexField);
}
void setIndexMode(Wave &wave, int64_t mode) {
  uint32_t &m0 = wave.scalar[scalar::kM0];
  m0 = (m0 & ~kIndexModeField) | (static_cast<uint32_t>(mode) << 12 & kIndexModeField);
}

#define HANDLER(...)                                                                               \
  [](Wave &wave, const Instruction &inst) {                                                        \
    (void)wave;                                                                                    \
    (void)inst;                                                                                    \
    __VA_ARGS__;                                                                                   \
  }

constexpr struct {
  const char *name;
  OpClass cls;
  Handler handler;
} kRows[] = {
    {"s_branch", OpClass::Branch, branch},
    {"s_cbranch_scc0", OpClass::Branch, HANDLER(branchIf(wave, inst, !wave.scc))},
    {"s_cbranch_scc1", OpClass::Branch, HANDLER(branchIf(wave, inst, wave.scc))},
    {"s_cbranch_vccz", OpClass::Branch, HANDLER(branchIf(wave, inst, wave.vcc() == 0))},
    {"s_cbranch_vccnz", OpClass::Branch, HANDLER(branchIf(wave, inst, wave.vcc() != 0))},
    {"s_cbranch_execz", OpClass::Branch, HANDLER(branchIf(wave, inst, wave.exec() == 0))},
    {"s_cbranch_execnz", OpClass::Branch, HANDLER(branchIf(wave, inst, wave.exec() != 0))},
    // No debugger is attached.
    {"s_cbranch_cdbgsys", OpClass::Branch, nothing},
    {"s_cbranch_cdbguser", OpClass::Branch, nothing},
    {"s_cbranch_cdbgsys_or_user", OpClass::Branch, nothing},
    {"s_cbranch_cdbgsys_and_user", OpClass::Branch, nothing},
    {"s_call_b64", OpClass::Branch, call},
    {"s_setpc_b64", OpClass::Branch, HANDLER(jump(wave, readScalar64(wave, inst.src[0])))},
    {"s_swappc_b64", OpClass::Branch, swapPc},
    {"s_add_pc_i64", OpClass::Branch,
     HANDLER(jump(wave, inst.address + inst.size + readScalar64(wave, inst.src[0])))},
    {"s_get_shader_cycles_u64", OpClass::ScalarAlu, readClock},
    {"s_getpc_b64", OpClass::ScalarAlu,
     HANDLER(writeScalar64(wave, inst.dst[0], inst.address + inst.size))},
    {"s_barrier", OpClass::Barrier, barrier},
    {"s_waitcnt", OpClass::Wait, nothing},
    {"s_endpgm", OpClass::Control, endProgram},
    {"s_endpgm_saved", OpClass::Control, endProgram},
    {"s_sleep", OpClass::Control, sleep},
    {"s_sethalt", OpClass::Control,
     HANDLER(if (inst.immediate[0] != 0) throw Fault{"s_sethalt stops the wave for a debugger"})},
    {"s_setkill", OpClass::Control,
     HANDLER(if ((inst.immediate[0] & 1) != 0) throw Fault{"s_setkill kills the wave"})},
    {"s_trap", OpClass::Control, trap},
    {"s_setvskip", OpClass::ScalarAlu, setVectorSkip},
    {"s_set_gpr_idx_on", OpClass::ScalarAlu,
     HANDLER(setIndex(wave, readScalar(wave, inst.src[0])); setIndexMode(wave, inst.immediate[0]);
             wave.mode |= kIndexedRegisters)},
    {"s_set_gpr_idx_idx", OpClass::ScalarAlu,
     HANDLER(setIndex(wave, readScalar(wave, inst.src[0])))},
    {"s_set_gpr_idx_mode", OpClass::ScalarAlu, HANDLER(setIndexMode(wave, inst.immediate[0]))},
    {"s_set_gpr_idx_off", OpClass::ScalarAlu, HANDLER(wave.mode &= ~kIndexedRegisters)},
    {"s_memtime", OpClass::ScalarMemory, readClock},
    {"s_memrealtime", OpClass::ScalarMemory, readRealTime},
    {"s_getreg_b32", OpClass::ScalarAlu, getRegister},
    {"s_setreg_b32", OpClass::ScalarAlu,
     HANDLER(setRegister(wave, inst,
                         readScalar(wave, inst.srcCount != 0 ? inst.src[0] : inst.dst[0])))},
    {"s_setreg_imm32_b32", OpClass::ScalarAlu,
     HANDLER(setRegister(wave, inst,
                         inst.srcCount != 0 ? readScalar(wave, inst.src[0])
                                            : static_cast<uint32_t>(inst.immediate[0])))},
    // Hints, messages to hardware that isn't there, and caches, which memory here is coherent with.
    {"s_nop", OpClass::Control, nothing},
    {"s_setprio", OpClass::Control, nothing},
    {"s_wakeup", OpClass::Control, nothing},
    {"s_sendmsg", OpClass::Control, nothing},
    {"s_icache_inv", OpClass::Control, nothing},
    {"s_incperflevel", OpClass::Control, nothing},
    {"s_decperflevel", OpClass::Control, nothing},
    {"s_ttracedata", OpClass::Control, nothing},
    {"s_dcache_inv", OpClass::Control, nothing},
    {"s_dcache_inv_vol", OpClass::Control, nothing},
    {"s_dcache_wb", OpClass::Control, nothing},
    {"s_dcache_wb_vol", OpClass::Control, nothing},
    {"buffer_wbl2", OpClass::Control, nothing},
    {"buffer_inv", OpClass::Control, nothing},
    {"v_nop", OpClass::VectorAlu, nothing},
    {"v_clrexcp", OpClass::VectorAlu, nothing},
};

} // namespace

void addScalarControlOpcodes(OpcodeTable &table) {
  for (const auto &row : kRows)
    table.add({row.name, row.cls, row.handler, nullptr, 0, Fidelity::Exact});
}

} // namespace flyemu
