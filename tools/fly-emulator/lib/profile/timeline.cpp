// SPDX-License-Identifier: Apache-2.0
#include "profile/timeline.h"

#include <algorithm>
#include <deque>
#include <queue>

#include "execute/opcode.h"
#include "profile/occupancy.h"

namespace flyemu {
namespace {

/// A wave on its way through its events.
struct WaveRun {
  const std::vector<TraceEvent> *events = nullptr;
  size_t at = 0;
  uint64_t next = 0; ///< when its issue slot is free
  bool atBarrier = false;
  std::deque<uint64_t> memory;                   ///< arrival of what vmcnt counts
  std::deque<uint64_t> local;                    ///< and lgkmcnt
  std::array<uint64_t, kVectorRows> ready = {};  ///< results of matrix instructions
  std::array<uint16_t, kVectorRows> writer = {}; ///< first row of the result they belong to

  bool ended() const { return at == events->size(); }
};

struct Moment {
  uint64_t time;
  StallReason reason;

  void atLeast(uint64_t other, StallReason why) {
    if (other > time) {
      time = other;
      reason = why;
    }
  }
};

/// When all but the youngest `keep` of a queue have arrived.
uint64_t arrival(const std::deque<uint64_t> &queue, size_t keep) {
  uint64_t latest = 0;
  for (size_t i = 0; i + keep < queue.size(); ++i)
    latest = std::max(latest, queue[i]);
  return latest;
}

void retire(std::deque<uint64_t> &queue, uint64_t now) {
  while (!queue.empty() && queue.front() <= now)
    queue.pop_front();
}

class ComputeUnit {
public:
  ComputeUnit(const Trace &trace, bool keepEvents) : trace_(trace), keepEvents_(keepEvents) {
    uint32_t simd = 0;
    for (uint32_t g = 0; g < trace.groups.size(); ++g) {
      out_.truncated |= trace.groups[g].truncated;
      for (uint32_t w = 0; w < trace.groups[g].waves.size(); ++w) {
        runs_.emplace_back();
        runs_.back().events = &trace.groups[g].waves[w];
        out_.waves.emplace_back();
        WaveTimeline &line = out_.waves.back();
        line.group = g;
        line.wave = w;
        line.simd = simd++ % kSimds;
        if (keepEvents)
          line.events.reserve(runs_.back().events->size());
      }
    }
    barrierReleased_.assign(runs_.size(), 0);
    out_.stalledAt.assign(trace.instructions.size(), 0);
    out_.elapsedAt.assign(trace.instructions.size(), 0);
  }

  Timeline run() {
    // The earliest first, and of several the oldest wave.
    using Entry = std::pair<uint64_t, size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    for (size_t i = 0; i < runs_.size(); ++i)
      if (!runs_[i].ended())
        queue.emplace(0, i);
    while (!queue.empty()) {
      const auto [time, index] = queue.top();
      queue.pop();
      const Moment when = earliest(index);
      if (when.time > time) { // others were faster
        queue.emplace(when.time, index);
        continue;
      }
      issue(index, when);
      if (!runs_[index].ended() && !runs_[index].atBarrier)
        queue.emplace(runs_[index].next, index);
      if (!runs_[index].atBarrier && !runs_[index].ended())
        continue;
      for (const size_t released : releaseBarrier(index))
        queue.emplace(runs_[released].next, released);
    }
    for (const WaveTimeline &wave : out_.waves)
      out_.cycles = std::max(out_.cycles, wave.end);
    return std::move(out_);
  }

private:
  uint64_t &unitFree(IssueUnit unit, uint32_t simd) {
    const bool shared = unit == IssueUnit::Lds || unit == IssueUnit::Memory;
    return free_[static_cast<size_t>(unit)][shared ? 0 : simd];
  }

  void waitFor(const WaveRun &run, const Instruction &inst, Moment &when) const {
    const auto simm = static_cast<uint32_t>(inst.immediate[0]);
    when.atLeast(arrival(run.memory, (simm & 0xfU) | (simm >> 14 & 3U) << 4), StallReason::Memory);
    when.atLeast(arrival(run.local, simm >> 8 & 0xfU), StallReason::Local);
  }

  /// Matrix results that the instruction reads or overwrites. The accumulator of a chain is handed
  /// on as soon as the unit is free.
  static void dependencies(const WaveRun &run, const Instruction &inst, Moment &when) {
    const auto need = [&](const Operand &operand, bool accumulator) {
      if (!operand.isVector())
        return;
      if (accumulator && run.writer[operand.index] == operand.index + 1)
        return;
      for (unsigned i = 0; i < operand.dwords && operand.index + i < kVectorRows; ++i)
        when.atLeast(run.ready[operand.index + i], StallReason::Dependency);
    };
    const bool matrix = inst.opcode->cls == OpClass::Matrix;
    for (unsigned i = 0; i < inst.srcCount; ++i)
      need(inst.src[i], matrix && i == 2);
    for (unsigned i = 0; i < inst.dstCount; ++i)
      need(inst.dst[i], matrix);
  }

  Moment earliest(size_t index) {
    WaveRun &run = runs_[index];
    const TraceInstruction &what = trace_.instructions[(*run.events)[run.at].instruction];
    Moment when{run.next, StallReason::None};
    when.atLeast(barrierReleased_[index], StallReason::Barrier);
    if (what.inst->opcode->cls == OpClass::Wait)
      waitFor(run, *what.inst, when);
    dependencies(run, *what.inst, when);
    if (what.cost.unit != IssueUnit::Sequencer)
      when.atLeast(unitFree(what.cost.unit, out_.waves[index].simd), StallReason::Unit);
    return when;
  }

  void issue(size_t index, const Moment &when) {
    WaveRun &run = runs_[index];
    WaveTimeline &line = out_.waves[index];
    const TraceEvent &event = (*run.events)[run.at];
    const TraceInstruction &what = trace_.instructions[event.instruction];
    const OpClass cls = what.inst->opcode->cls;
    const uint64_t stalled = when.time - run.next;
    const uint64_t busy = event.busy != 0 ? event.busy : what.cost.issue;
    unitFree(what.cost.unit, line.simd) = when.time + busy;
    out_.busy[static_cast<size_t>(what.cost.unit)] += busy;
    out_.stalls[static_cast<size_t>(when.reason)] += stalled;
    out_.stalledAt[event.instruction] += stalled;
    out_.elapsedAt[event.instruction] += stalled + what.cost.slot;
    run.next = when.time + what.cost.slot;
    arrivals(run, what, when.time, busy);
    const uint64_t duration = cls == OpClass::Matrix ? busy : what.cost.slot;
    if (keepEvents_)
      line.events.push_back({event.instruction, static_cast<uint32_t>(stalled), when.time,
                             static_cast<uint32_t>(duration), when.reason});
    ++run.at;
    run.atBarrier = cls == OpClass::Barrier;
    line.end = std::max(line.end, when.time + duration);
  }

  static void arrivals(WaveRun &run, const TraceInstruction &what, uint64_t now, uint64_t busy) {
    const OpClass cls = what.inst->opcode->cls;
    const uint64_t done = now + busy + what.cost.latency;
    retire(run.memory, now);
    retire(run.local, now);
    if (cls == OpClass::Global || cls == OpClass::Flat || cls == OpClass::Scratch)
      run.memory.push_back(done);
    if (cls == OpClass::Lds || cls == OpClass::ScalarMemory)
      run.local.push_back(done);
    if (cls != OpClass::Matrix || what.inst->dstCount == 0)
      return;
    const Operand &dst = what.inst->dst[0];
    for (unsigned i = 0; i < dst.dwords && dst.index + i < kVectorRows; ++i) {
      run.ready[dst.index + i] = now + what.cost.latency;
      run.writer[dst.index + i] = static_cast<uint16_t>(dst.index + 1);
    }
  }

  /// The waves of a group that go on because the last one of it has come (or ended).
  std::vector<size_t> releaseBarrier(size_t index) {
    std::vector<size_t> released;
    const uint32_t group = out_.waves[index].group;
    uint64_t last = 0;
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (out_.waves[i].group != group || (runs_[i].ended() && !runs_[i].atBarrier))
        continue;
      if (!runs_[i].atBarrier)
        return {};
      last = std::max(last, runs_[i].next);
      released.push_back(i);
    }
    std::vector<size_t> going;
    for (const size_t i : released) {
      runs_[i].atBarrier = false;
      barrierReleased_[i] = last;
      if (!runs_[i].ended())
        going.push_back(i);
    }
    return going;
  }

  const Trace &trace_;
  const bool keepEvents_;
  Timeline out_;
  std::deque<WaveRun> runs_;
  std::vector<uint64_t> barrierReleased_; ///< by wave
  std::array<std::array<uint64_t, kSimds>, kIssueUnits> free_ = {};
};

} // namespace

const char *stallName(StallReason reason) {
  switch (reason) {
  case StallReason::None:
    return "none";
  case StallReason::Memory:
    return "memory";
  case StallReason::Local:
    return "lds_or_scalar_memory";
  case StallReason::Barrier:
    return "barrier";
  case StallReason::Dependency:
    return "matrix_result";
  case StallReason::Unit:
    return "unit_busy";
  }
  return "";
}

Timeline simulate(const Trace &trace, bool keepEvents) {
  return ComputeUnit(trace, keepEvents).run();
}

} // namespace flyemu
