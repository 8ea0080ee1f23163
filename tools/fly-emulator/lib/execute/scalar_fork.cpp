// SPDX-License-Identifier: Apache-2.0
//
// Branches that split a wave: the lanes that go the other way wait on a stack in scalar registers,
// four for each entry (their mask, then where they go on), which MODE.CSP counts.
#include "execute/opcode.h"
#include "execute/program.h"
#include "execute/wave.h"

namespace flyemu {
namespace {

constexpr unsigned kStackShift = 29; ///< of MODE.CSP, three bits

unsigned depthOf(const Wave &wave) { return wave.mode >> kStackShift; }
void setDepth(Wave &wave, unsigned depth) {
  wave.mode = (wave.mode & ~(7U << kStackShift)) | depth << kStackShift;
}

void jump(Wave &wave, uint64_t address) {
  wave.next = wave.launch->program->at(address);
  if (wave.next == nullptr)
    throw Fault{"a jump leads out of the code"};
}

void push(Wave &wave, uint64_t mask, uint64_t address) {
  constexpr unsigned kMostEntries = 7;
  const unsigned depth = depthOf(wave);
  if (depth == kMostEntries)
    throw Fault{"the stack of forks holds seven entries, and an eighth is put on it"};
  wave.setScalar64(4 * depth, mask);
  wave.setScalar64(4 * depth + 2, address);
  setDepth(wave, depth + 1);
}

/// The smaller side goes on at once, so that six entries are enough for 64 lanes.
void fork(Wave &wave, const Instruction &inst, uint64_t condition, uint64_t target) {
  const uint64_t taken = condition & wave.exec();
  const uint64_t stays = ~condition & wave.exec();
  const uint64_t next = inst.address + inst.size;
  if (stays == 0) {
    jump(wave, target);
  } else if (taken == 0) {
    return;
  } else if (__builtin_popcountll(stays) < __builtin_popcountll(taken)) {
    wave.setScalar64(scalar::kExec, stays);
    push(wave, taken, target);
  } else {
    wave.setScalar64(scalar::kExec, taken);
    push(wave, stays, next);
    jump(wave, target);
  }
}

void forkToRegister(Wave &wave, const Instruction &inst) {
  fork(wave, inst, readScalar64(wave, inst.src[0]), readScalar64(wave, inst.src[1]));
}

void forkToOffset(Wave &wave, const Instruction &inst) {
  const auto offset = static_cast<int16_t>(inst.immediate[0]);
  // LLVM lists the register of this SOPK as a destination or as a source, by version.
  const Operand &condition = inst.srcCount != 0 ? inst.src[0] : inst.dst[0];
  fork(wave, inst, readScalar64(wave, condition),
       inst.address + 4 + static_cast<uint64_t>(int64_t{offset} * 4));
}

/// Reached by each side: the last one goes on, the others fetch one that waits.
void join(Wave &wave, const Instruction &inst) {
  const unsigned depth = depthOf(wave);
  if (depth == readScalar(wave, inst.src[0]))
    return;
  if (depth == 0)
    throw Fault{"the stack of forks is empty"};
  setDepth(wave, depth - 1);
  wave.setScalar64(scalar::kExec, wave.scalar64(4 * (depth - 1)));
  jump(wave, wave.scalar64(4 * (depth - 1) + 2));
}

} // namespace

void addScalarForkOpcodes(OpcodeTable &table) {
  table.add({"s_cbranch_g_fork", OpClass::Branch, forkToRegister, nullptr, 0, Fidelity::Exact});
  table.add({"s_cbranch_i_fork", OpClass::Branch, forkToOffset, nullptr, 0, Fidelity::Exact});
  table.add({"s_cbranch_join", OpClass::Branch, join, nullptr, 0, Fidelity::Exact});
}

} // namespace flyemu
