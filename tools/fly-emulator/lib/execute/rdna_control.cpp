// SPDX-License-Identifier: Apache-2.0
//
// What RDNA (gfx11, gfx12) and gfx1250 have beside gfx9's program control: split waits, hints,
// modes and messages.
#include <utility>

#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "execute/wave.h"

namespace flyemu {
namespace {

void nothing(Wave &, const Instruction &) {}

void sleep(Wave &wave, const Instruction &) { wave.yield = true; }

/// MODE[3:0], MODE[7:4].
void setRounding(Wave &wave, const Instruction &inst) {
  wave.mode = (wave.mode & ~0xfU) | (static_cast<uint32_t>(inst.immediate[0]) & 0xfU);
}
void setDenormals(Wave &wave, const Instruction &inst) {
  wave.mode = (wave.mode & ~0xf0U) | (static_cast<uint32_t>(inst.immediate[0]) & 0xfU) << 4;
}

/// Messages that are answered: the clock, and where the trap handler is (there is none).
void askMessage(Wave &wave, const Instruction &inst) {
  constexpr int64_t kRealTime = 131;
  constexpr int64_t kTrapHandler = 133;
  const int64_t message = inst.immediate[0];
  if (message != kRealTime && message != kTrapHandler)
    throw Fault{"message " + std::to_string(message) + " (s_sendmsg_rtn) is not modelled"};
  const uint64_t answer =
      message == kRealTime ? wave.launch->realTime + wave.executed : uint64_t{0};
  if (inst.dst[0].dwords == 2)
    writeScalar64(wave, inst.dst[0], answer);
  else
    writeScalar(wave, inst.dst[0], static_cast<uint32_t>(answer));
}

/// Vector registers whose number M0 moves: of the destination, of the source, of both.
uint32_t *relativeRow(Wave &wave, const Operand &operand, uint32_t offset) {
  const uint64_t index = uint64_t{operand.index} + offset;
  if (!operand.isVector() || index >= kFirstAccVgpr)
    throw Fault{"M0 leads a relative vector register out of the register file"};
  return wave.row(static_cast<unsigned>(index));
}

/// Parameter: bit 0, M0 moves the source; bit 1, the destination; bit 2, each by a field of its
/// own.
void moveRelative(Wave &wave, const Instruction &inst) {
  const uint32_t m0 = wave.scalar[scalar::kM0];
  const uint32_t how = inst.opcode->parameter;
  const bool fields = (how & 4U) != 0;
  const uint32_t fromOffset = (how & 1U) != 0 ? (fields ? m0 & 0x3ffU : m0) : 0;
  const uint32_t toOffset = (how & 2U) != 0 ? (fields ? m0 >> 16 & 0x3ffU : m0) : 0;
  // LLVM lists the destination among the sources where it is not the one that is written.
  const bool listed = inst.dstCount == 0;
  const Operand &to = listed ? inst.src[0] : inst.dst[0];
  const Operand &from = inst.src[listed ? 1 : 0];
  uint32_t row[kLanes];
  if (from.isVector())
    std::memcpy(row, relativeRow(wave, from, fromOffset), sizeof row);
  else
    wave.launch->helpers->splat(row, readScalar(wave, from));
  wave.launch->helpers->blend(relativeRow(wave, to, toOffset), row, wave.exec(), 1);
}

/// M0 moves both registers, each by a field of its own.
void swapRelative(Wave &wave, const Instruction &inst) {
  const uint32_t m0 = wave.scalar[scalar::kM0];
  uint32_t *a = relativeRow(wave, inst.dst[0], m0 >> 16 & 0x3ffU);
  uint32_t *b = relativeRow(wave, inst.dst[1], m0 & 0x3ffU);
  forEachLane(wave.exec(), [&](unsigned lane) { std::swap(a[lane], b[lane]); });
}

constexpr struct {
  const char *name;
  OpClass cls;
  Handler handler;
  uint32_t parameter;
} kRows[] = {
    {"s_waitcnt_vscnt", OpClass::Wait, nothing, 0},
    {"s_waitcnt_vmcnt", OpClass::Wait, nothing, 0},
    {"s_waitcnt_expcnt", OpClass::Wait, nothing, 0},
    {"s_waitcnt_lgkmcnt", OpClass::Wait, nothing, 0},
    {"s_wait_loadcnt", OpClass::Wait, nothing, 0},
    {"s_wait_storecnt", OpClass::Wait, nothing, 0},
    {"s_wait_samplecnt", OpClass::Wait, nothing, 0},
    {"s_wait_bvhcnt", OpClass::Wait, nothing, 0},
    {"s_wait_expcnt", OpClass::Wait, nothing, 0},
    {"s_wait_dscnt", OpClass::Wait, nothing, 0},
    {"s_wait_kmcnt", OpClass::Wait, nothing, 0},
    {"s_wait_loadcnt_dscnt", OpClass::Wait, nothing, 0},
    {"s_wait_storecnt_dscnt", OpClass::Wait, nothing, 0},
    {"s_wait_idle", OpClass::Wait, nothing, 0},
    {"s_wait_asynccnt", OpClass::Wait, nothing, 0},
    {"s_wait_tensorcnt", OpClass::Wait, nothing, 0},
    {"s_wait_xcnt", OpClass::Wait, nothing, 0},
    // The decoder has done what it says (decode/vgpr_banks.h).
    {"s_set_vgpr_msb", OpClass::Control, nothing, 0},
    {"s_setprio_inc_wg", OpClass::Control, nothing, 0},
    {"s_monitor_sleep", OpClass::Control, sleep, 0},
    {"global_prefetch_b8", OpClass::Control, nothing, 0},
    {"flat_prefetch_b8", OpClass::Control, nothing, 0},
    // Dependences inside of the pipeline: results are there when their instruction has executed.
    {"s_delay_alu", OpClass::Control, nothing, 0},
    {"s_waitcnt_depctr", OpClass::Control, nothing, 0},
    {"s_wait_alu", OpClass::Control, nothing, 0},
    {"s_wait_event", OpClass::Control, nothing, 0},
    {"s_clause", OpClass::Control, nothing, 0},
    {"s_version", OpClass::Control, nothing, 0},
    {"s_sleep_var", OpClass::Control, sleep, 0},
    {"s_round_mode", OpClass::ScalarAlu, setRounding, 0},
    {"s_denorm_mode", OpClass::ScalarAlu, setDenormals, 0},
    {"s_sendmsg_rtn_b32", OpClass::ScalarMemory, askMessage, 0},
    {"s_sendmsg_rtn_b64", OpClass::ScalarMemory, askMessage, 0},
    {"s_ttracedata_imm", OpClass::Control, nothing, 0},
    {"s_inst_prefetch", OpClass::Control, nothing, 0},
    {"s_set_inst_prefetch_distance", OpClass::Control, nothing, 0},
    {"s_prefetch_inst", OpClass::Control, nothing, 0},
    {"s_prefetch_inst_pc_rel", OpClass::Control, nothing, 0},
    {"s_prefetch_data", OpClass::Control, nothing, 0},
    {"s_prefetch_data_pc_rel", OpClass::Control, nothing, 0},
    {"s_buffer_prefetch_data", OpClass::Control, nothing, 0},
    // Caches, which memory here is coherent with.
    {"s_gl1_inv", OpClass::Control, nothing, 0},
    {"buffer_gl0_inv", OpClass::Control, nothing, 0},
    {"buffer_gl1_inv", OpClass::Control, nothing, 0},
    {"global_inv", OpClass::Control, nothing, 0},
    {"global_wb", OpClass::Control, nothing, 0},
    {"global_wbinv", OpClass::Control, nothing, 0},
    {"v_pipeflush", OpClass::VectorAlu, nothing, 0},
    {"v_movrels_b32", OpClass::VectorAlu, moveRelative, 1},
    {"v_movreld_b32", OpClass::VectorAlu, moveRelative, 2},
    {"v_movrelsd_b32", OpClass::VectorAlu, moveRelative, 3},
    {"v_movrelsd_2_b32", OpClass::VectorAlu, moveRelative, 7},
    {"v_swaprel_b32", OpClass::VectorAlu, swapRelative, 0},
};

} // namespace

void addRdnaControlOpcodes(OpcodeTable &table) {
  for (const auto &row : kRows)
    table.add({row.name, row.cls, row.handler, nullptr, row.parameter, Fidelity::Exact});
}

} // namespace flyemu
