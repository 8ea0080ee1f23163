// SPDX-License-Identifier: Apache-2.0
//
// Barriers of gfx12 and gfx1250, in two halves: a wave signals, and later waits. Beside the
// workgroup's (-1) gfx1250 has named ones (1 to 16), which a kernel gives a number of members and
// of which a wave joins one, and the cluster's (-3), which each workgroup signals once.
//
// What named barriers and the cluster's do is not published but for what LLVM's lowering of them
// shows; the details are assumed.
#include "execute/opcode.h"
#include "execute/wave.h"
#include "support/format.h"

namespace flyemu {
namespace {

constexpr int kWorkGroup = -1;
constexpr int kTrap = -2;
constexpr int kCluster = -3;
constexpr int kClusterTrap = -4;

/// Barrier and number of members of an instruction; both are in M0 where it does not name one.
struct Barrier {
  int number;
  uint32_t members = 0;
};

Barrier barrierOf(const Wave &wave, const Instruction &inst) {
  constexpr int64_t kInlineMinusOne = 193;
  constexpr int64_t kInlineLast = 208; // -16
  if (inst.srcCount == 0 && inst.immediateCount == 0) {
    const uint32_t m0 = wave.scalar[scalar::kM0];
    // Six bits of a number with a sign, and of members.
    return {static_cast<int>(m0 << 26) >> 26, m0 >> 16 & 0x3fU};
  }
  int64_t number =
      inst.srcCount != 0 ? static_cast<int64_t>(inst.src[0].constant) : inst.immediate[0];
  if (number >= kInlineMinusOne && number <= kInlineLast)
    number = kInlineMinusOne - 1 - number;
  return {static_cast<int16_t>(number)};
}

NamedBarrier &namedBarrier(Wave &wave, int number) {
  WorkGroup &group = *wave.group;
  if (number == kTrap || number == kClusterTrap)
    throw Fault{"barriers of the trap handler (-2, -4) are not modelled"};
  if (number < 1 || static_cast<uint32_t>(number) > group.namedBarrierCount)
    throw Fault{format("barrier %d: the kernel has %u named ones, from 1 on", number,
                       group.namedBarrierCount)};
  return group.named[number - 1];
}

void setMembers(NamedBarrier &barrier, uint32_t members) {
  if (members == 0)
    throw Fault{"a named barrier without members"};
  barrier.members = members;
}

/// The barrier's number of members; nobody has signalled.
void initialise(Wave &wave, const Instruction &inst) {
  const Barrier which = barrierOf(wave, inst);
  NamedBarrier &barrier = namedBarrier(wave, which.number);
  barrier = NamedBarrier{};
  setMembers(barrier, which.members);
}

void join(Wave &wave, const Instruction &inst) {
  const Barrier which = barrierOf(wave, inst);
  wave.joined = static_cast<uint32_t>(which.number);
  wave.joinedPassed = namedBarrier(wave, which.number).passed;
}

void completeIfAll(NamedBarrier &barrier) {
  if (barrier.members != 0 && barrier.signals >= barrier.members) {
    barrier.signals = 0;
    ++barrier.passed;
  }
}

/// One member less; SCC: it was the last one missing.
void leave(Wave &wave, const Instruction &) {
  if (wave.joined == 0)
    throw Fault{"the wave leaves a named barrier (s_barrier_leave) without having joined one"};
  NamedBarrier &barrier = namedBarrier(wave, static_cast<int>(wave.joined));
  const uint64_t before = barrier.passed;
  if (barrier.members != 0)
    --barrier.members;
  completeIfAll(barrier);
  wave.scc = barrier.passed != before;
  wave.joined = 0;
}

/// This wave has arrived. SCC (of the form that asks): nobody had.
void signal(Wave &wave, const Instruction &inst) {
  const Barrier which = barrierOf(wave, inst);
  const bool asks = inst.opcode->parameter != 0;
  if (which.number == kCluster) {
    Cluster *cluster = wave.group->cluster;
    if (cluster == nullptr) // without a cluster there is nothing to wait for
      return;
    if (asks)
      wave.scc = cluster->signals == 0;
    if (++cluster->signals >= cluster->groups) {
      cluster->signals = 0;
      ++cluster->passed;
    }
    return;
  }
  if (which.number != kWorkGroup) {
    NamedBarrier &barrier = namedBarrier(wave, which.number);
    if (which.members != 0)
      setMembers(barrier, which.members);
    if (barrier.members == 0)
      throw Fault{format("barrier %d is signalled before it has been given its number of members",
                         which.number)};
    if (asks)
      wave.scc = barrier.signals == 0;
    ++barrier.signals;
    completeIfAll(barrier);
    return;
  }
  if (wave.signalled)
    throw Fault{"the wave signals a barrier twice without waiting for it (s_barrier_wait)"};
  if (asks) {
    wave.scc = true;
    for (uint32_t i = 0; i < wave.group->waveCount; ++i)
      wave.scc &= !wave.group->waves[i].signalled;
  }
  wave.signalled = true;
}

/// Execute the instruction again when others had their turn.
void waitMore(Wave &wave, const Instruction &inst) {
  wave.next = &inst;
  wave.yield = true;
}

/// Go on when all have arrived. Waves are released from the workgroup's when nobody can go on
/// without.
void wait(Wave &wave, const Instruction &inst) {
  const Barrier which = barrierOf(wave, inst);
  if (which.number == kCluster) {
    const Cluster *cluster = wave.group->cluster;
    wave.waitsForCluster = cluster != nullptr && cluster->passed == wave.clusterPassed;
    if (wave.waitsForCluster)
      waitMore(wave, inst);
    else
      ++wave.clusterPassed;
    return;
  }
  if (which.number != kWorkGroup) {
    if (wave.joined == 0)
      throw Fault{"the wave waits for a named barrier without having joined one (s_barrier_join)"};
    if (namedBarrier(wave, static_cast<int>(wave.joined)).passed == wave.joinedPassed)
      waitMore(wave, inst);
    else
      ++wave.joinedPassed;
    return;
  }
  if (!wave.signalled)
    throw Fault{"the wave waits at a barrier that it has not signalled (s_barrier_signal), and "
                "would wait forever"};
  wave.state = WaveState::AtBarrier;
  wave.yield = true;
}

/// Number of members and of signals, and whether the barrier is there.
void state(Wave &wave, const Instruction &inst) {
  const Barrier which = barrierOf(wave, inst);
  const auto word = [](uint32_t members, uint32_t signals) {
    return (members & 0x7fU) << 4 | (signals & 0x7fU) << 16 | 1U;
  };
  uint32_t value = 0;
  if (which.number == kWorkGroup) {
    uint32_t signals = 0;
    for (uint32_t i = 0; i < wave.group->waveCount; ++i)
      signals += wave.group->waves[i].signalled ? 1 : 0;
    value = word(wave.group->waveCount, signals);
  } else if (which.number == kCluster) {
    const Cluster *cluster = wave.group->cluster;
    value = cluster == nullptr ? 0 : word(cluster->groups, cluster->signals);
  } else {
    const NamedBarrier &barrier = namedBarrier(wave, which.number);
    value = word(barrier.members, barrier.signals);
  }
  writeScalar(wave, inst.dst[0], value);
}

void nothing(Wave &, const Instruction &) {}

constexpr struct {
  const char *name;
  OpClass cls;
  Handler handler;
  uint32_t parameter;
  Fidelity fidelity;
} kRows[] = {
    {"s_barrier_signal", OpClass::Control, signal, 0, Fidelity::Exact},
    {"s_barrier_signal_isfirst", OpClass::Control, signal, 1, Fidelity::Exact},
    {"s_barrier_wait", OpClass::Barrier, wait, 0, Fidelity::Exact},
    {"s_barrier_init", OpClass::Control, initialise, 0, Fidelity::Assumed},
    {"s_barrier_join", OpClass::Control, join, 0, Fidelity::Assumed},
    {"s_barrier_leave", OpClass::Control, leave, 0, Fidelity::Assumed},
    {"s_get_barrier_state", OpClass::ScalarMemory, state, 0, Fidelity::Assumed},
    // Waves that wait look by themselves.
    {"s_wakeup_barrier", OpClass::Control, nothing, 0, Fidelity::Assumed},
};

} // namespace

void addBarrierOpcodes(OpcodeTable &table) {
  for (const auto &row : kRows)
    table.add({row.name, row.cls, row.handler, nullptr, row.parameter, row.fidelity});
}

} // namespace flyemu
