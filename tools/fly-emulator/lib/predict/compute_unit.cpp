// SPDX-License-Identifier: Apache-2.0
#include "predict/compute_unit.h"

#include <algorithm>
#include <deque>
#include <queue>

#include "execute/opcode.h"
#include "predict/cache.h"

namespace flyemu {
namespace {

/// The arrivals that a wait counter counts. In order, so that only the youngest few matter.
class Outstanding {
public:
  void add(uint64_t arrival) {
    latest_ = std::max(latest_, arrival);
    queue_.push_back(latest_);
    if (queue_.size() > kMost)
      queue_.pop_front();
  }
  /// When at most `keep` are left.
  uint64_t when(size_t keep) const {
    return queue_.size() > keep ? queue_[queue_.size() - 1 - keep] : 0;
  }

private:
  static constexpr size_t kMost = 64; ///< the counter has six bits
  uint64_t latest_ = 0;
  std::deque<uint64_t> queue_;
};

struct RunningWave {
  const std::vector<PathEvent> *events = nullptr;
  const RecordedPath *path = nullptr;
  size_t at = 0;
  uint64_t next = 0;
  uint64_t begin = 0;
  uint32_t simd = 0;
  uint32_t slot = 0;
  uint32_t age = 0; ///< the number of the wave since the unit began
  uint32_t priority = 0;
  uint32_t version = 0; ///< entries of the queue with another one are stale
  bool atBarrier = false;
  bool live = false;
  uint64_t released = 0;
  uint64_t codeLine = ~uint64_t{0}; ///< of the next instruction
  uint64_t fetched = 0;             ///< when it is there
  uint32_t line = 0;                ///< its timeline
  std::array<Outstanding, kWaitCounters> outstanding;
  std::array<uint64_t, kVectorRows> ready = {};
  std::array<uint16_t, kVectorRows> writer = {};
};

constexpr uint16_t kVectorWriter = 0xffff; ///< of a result that no matrix instruction made

struct When {
  uint64_t time;
  StallReason reason = StallReason::None;

  void atLeast(uint64_t other, StallReason why) {
    if (other > time) {
      time = other;
      reason = why;
    }
  }
};

class Unit {
public:
  Unit(const DeviceModel &device, const UnitShare &share,
       const std::vector<PathInstruction> &instructions,
       const std::vector<const RecordedPath *> &paths, uint32_t slots, uint32_t groups,
       size_t events)
      : device_(device), share_(share), instructions_(instructions), paths_(paths), slots_(slots),
        issue_(static_cast<uint64_t>(device.issueCycles)),
        ports_(static_cast<uint32_t>(device.ports)), left_(groups),
        code_(static_cast<uint64_t>(device.codeBytes), static_cast<unsigned>(device.codeWays),
              /*hashed=*/false),
        eventsLeft_(events) {
    size_t waves = 0;
    for (const RecordedPath *path : paths)
      waves = std::max(waves, path->waves.size());
    wavesOfSlot_ = static_cast<uint32_t>(waves);
    waves_.resize(size_t{slots} * waves);
    out_.stalledAt.assign(instructions.size(), {});
    out_.elapsedAt.assign(instructions.size(), 0);
  }

  UnitRun run() {
    for (uint32_t slot = 0; slot < slots_ && left_ != 0; ++slot)
      begin(slot, 0);
    while (!queue_.empty()) {
      const Entry entry = queue_.top();
      queue_.pop();
      RunningWave &wave = waves_[entry.wave];
      if (entry.version != wave.version)
        continue;
      const When when = earliest(wave);
      if (when.time > entry.time) {
        push(entry.wave, when.time);
        continue;
      }
      issue(entry.wave, when);
    }
    // The launch ends when its writes are in memory.
    out_.cycles = std::max(out_.cycles, static_cast<uint64_t>(std::max(l2_, hbm_)));
    return std::move(out_);
  }

private:
  struct Entry {
    uint64_t time;
    uint64_t rank; ///< high priority and old waves first
    uint32_t wave;
    uint32_t version;
    bool operator>(const Entry &other) const {
      return time != other.time ? time > other.time : rank > other.rank;
    }
  };

  void push(uint32_t index, uint64_t time) {
    RunningWave &wave = waves_[index];
    queue_.push({time, uint64_t{3 - wave.priority} << 32 | wave.age, index, ++wave.version});
  }

  void begin(uint32_t slot, uint64_t time) {
    const RecordedPath &path = *paths_[started_++ % paths_.size()];
    --left_;
    ++active_;
    for (uint32_t w = 0; w < wavesOfSlot_; ++w) {
      const uint32_t index = slot * wavesOfSlot_ + w;
      RunningWave &wave = waves_[index];
      const uint32_t version = wave.version;
      wave = RunningWave();
      wave.version = version;
      wave.slot = slot;
      wave.age = started_ * wavesOfSlot_ + w;
      wave.simd = index % kSimds;
      if (w >= path.waves.size() || path.waves[w].empty())
        continue;
      wave.path = &path;
      wave.events = &path.waves[w];
      wave.live = true;
      wave.next = wave.begin = time;
      wave.line = static_cast<uint32_t>(out_.waves.size());
      out_.waves.emplace_back();
      WaveTimeline &line = out_.waves.back();
      line.group = started_ - 1;
      line.wave = w;
      line.simd = wave.simd;
      line.begin = time;
      fetch(wave);
      push(index, time);
    }
    activeInSlot(slot);
  }

  bool activeInSlot(uint32_t slot) const {
    for (uint32_t w = 0; w < wavesOfSlot_; ++w)
      if (waves_[slot * wavesOfSlot_ + w].live)
        return true;
    return false;
  }

  double &unitFree(IssueUnit unit, uint32_t simd) {
    const bool shared = unit == IssueUnit::Lds || unit == IssueUnit::Memory;
    return free_[static_cast<size_t>(unit)][shared ? simd * ports_ / kSimds : simd];
  }

  static void waitFor(const RunningWave &wave, const PathInstruction &what, When &when) {
    for (size_t i = 0; i < kWaitCounters; ++i) {
      if (what.keeps[i] == kNoWait)
        continue;
      const bool memory = i <= static_cast<size_t>(WaitCounter::Store);
      when.atLeast(wave.outstanding[i].when(what.keeps[i]),
                   memory ? StallReason::Memory : StallReason::Local);
    }
  }

  static void counted(RunningWave &wave, WaitCounter counter, double arrival) {
    wave.outstanding[static_cast<size_t>(counter)].add(static_cast<uint64_t>(arrival));
  }

  /// Results that the instruction reads or overwrites. An accumulator is handed on as soon as the
  /// unit is free.
  static void dependencies(const RunningWave &wave, const Instruction &inst, When &when) {
    const auto need = [&](const Operand &operand, bool accumulator) {
      if (!operand.isVector())
        return;
      if (accumulator && wave.writer[operand.index] == operand.index + 1)
        return;
      for (unsigned i = 0; i < operand.dwords && operand.index + i < kVectorRows; ++i)
        when.atLeast(wave.ready[operand.index + i], wave.writer[operand.index + i] == kVectorWriter
                                                        ? StallReason::Vector
                                                        : StallReason::Dependency);
    };
    const bool matrix = inst.opcode->cls == OpClass::Matrix;
    for (unsigned i = 0; i < inst.srcCount; ++i)
      need(inst.src[i], matrix && i == 2);
    for (unsigned i = 0; i < inst.dstCount; ++i)
      need(inst.dst[i], matrix);
  }

  When earliest(RunningWave &wave) {
    const PathInstruction &what = instructions_[(*wave.events)[wave.at].instruction];
    When when{wave.next};
    when.atLeast(wave.released, StallReason::Barrier);
    when.atLeast(wave.fetched, StallReason::Fetch);
    if (what.inst->opcode->cls == OpClass::Wait)
      waitFor(wave, what, when);
    dependencies(wave, *what.inst, when);
    const IssueUnit unit = what.cost.unit;
    if (unit != IssueUnit::Sequencer)
      when.atLeast(static_cast<uint64_t>(unitFree(unit, wave.simd)), StallReason::Unit);
    if (unit == IssueUnit::Matrix) // goes out through the port of the vector unit
      when.atLeast(static_cast<uint64_t>(unitFree(IssueUnit::Vector, wave.simd)),
                   StallReason::Unit);
    return when;
  }

  /// The next instruction's line of code. Waves of the unit share what one of them has fetched, and
  /// so does the other compute unit of a pair, whose waves are taken to run the same code.
  void fetch(RunningWave &wave) {
    constexpr uint64_t kDwords = kLineBytes / sizeof(uint32_t);
    const uint64_t line = (*wave.events)[wave.at].instruction / kDwords;
    if (line == wave.codeLine)
      return;
    wave.codeLine = line;
    if (const Cache::Entry *held = code_.find(line); held != nullptr) {
      wave.fetched = held->filled;
      return;
    }
    wave.fetched = wave.next + static_cast<uint64_t>(device_.codeCycles);
    code_.insert(line, wave.fetched, Level::L2);
  }

  double &busy(Resource resource) { return out_.busy[static_cast<size_t>(resource)]; }

  void issue(uint32_t index, const When &when) {
    RunningWave &wave = waves_[index];
    const PathEvent &event = (*wave.events)[wave.at];
    const PathInstruction &what = instructions_[event.instruction];
    const OpClass cls = what.inst->opcode->cls;
    const uint64_t stalled = when.time - wave.next;
    out_.stalls[static_cast<size_t>(when.reason)] += stalled;
    out_.stalledAt[event.instruction][static_cast<size_t>(when.reason)] += stalled;
    out_.elapsedAt[event.instruction] += stalled + what.cost.slot;
    keepEvent(wave, event, what, stalled, when);
    wave.next = when.time + what.cost.slot;
    execute(wave, event, what, when.time);
    if (what.priority >= 0)
      wave.priority = static_cast<uint32_t>(what.priority);
    ++wave.at;
    if (wave.at == wave.events->size()) {
      end(index);
    } else {
      fetch(wave);
      if (cls == OpClass::Barrier)
        wave.atBarrier = true;
      else
        push(index, wave.next);
    }
    if (cls == OpClass::Barrier || !wave.live)
      releaseBarrier(wave.slot);
  }

  void keepEvent(RunningWave &wave, const PathEvent &event, const PathInstruction &what,
                 uint64_t stalled, const When &when) {
    if (eventsLeft_ == 0) {
      out_.truncated = true;
      return;
    }
    --eventsLeft_;
    const uint32_t duration =
        what.cost.unit == IssueUnit::Matrix ? what.cost.issue : what.cost.slot;
    out_.waves[wave.line].events.push_back(
        {event.instruction, static_cast<uint32_t>(stalled), when.time, duration, when.reason});
  }

  void execute(RunningWave &wave, const PathEvent &event, const PathInstruction &what,
               uint64_t now) {
    const auto start = static_cast<double>(now);
    const IssueUnit unit = what.cost.unit;
    double cycles = what.cost.issue;
    if (unit == IssueUnit::Memory) {
      cycles = memory(wave, event, what, now);
    } else if (unit == IssueUnit::Lds) {
      cycles = std::max<double>(event.detail, 1);
      busy(Resource::Lds) += cycles;
      counted(wave, what.loads, start + cycles + device_.ldsLatency);
    } else if (unit == IssueUnit::Matrix) {
      busy(Resource::Matrix) += cycles;
      out_.matrixAtPeak += cyclesAtPeak(what);
      unitFree(IssueUnit::Vector, wave.simd) = start + static_cast<double>(issue_);
      busy(Resource::Vector) += static_cast<double>(issue_);
      matrixResult(wave, what, now);
    } else if (unit == IssueUnit::Vector) {
      busy(Resource::Vector) += cycles;
      if (what.cost.latency > what.cost.issue)
        vectorResult(wave, what, now);
    } else if (unit == IssueUnit::Scalar) {
      busy(Resource::Scalar) += cycles;
      if (what.inst->opcode->cls == OpClass::ScalarMemory)
        counted(wave, what.loads, start + device_.scalarLatency);
    }
    busy(Resource::Issue) += static_cast<double>(issue_);
    if (unit != IssueUnit::Sequencer)
      unitFree(unit, wave.simd) = start + cycles;
  }

  double cyclesAtPeak(const PathInstruction &what) const {
    const double peak = what.elementBits == 16  ? device_.matrix16Flops
                        : what.elementBits == 8 ? device_.matrix8Flops
                                                : 0;
    const double cycles = what.cost.issue;
    return peak > 0 ? std::min(cycles, static_cast<double>(what.cost.flops) / peak) : cycles;
  }

  static void matrixResult(RunningWave &wave, const PathInstruction &what, uint64_t now) {
    if (what.inst->dstCount == 0)
      return;
    const Operand &dst = what.inst->dst[0];
    for (unsigned i = 0; i < dst.dwords && dst.index + i < kVectorRows; ++i) {
      wave.ready[dst.index + i] = now + what.cost.latency;
      wave.writer[dst.index + i] = static_cast<uint16_t>(dst.index + 1);
    }
  }

  /// A result that comes later than the wave may issue again.
  static void vectorResult(RunningWave &wave, const PathInstruction &what, uint64_t now) {
    for (unsigned d = 0; d < what.inst->dstCount; ++d) {
      const Operand &dst = what.inst->dst[d];
      if (!dst.isVector())
        continue;
      for (unsigned i = 0; i < dst.dwords && dst.index + i < kVectorRows; ++i) {
        wave.ready[dst.index + i] = now + what.cost.latency;
        wave.writer[dst.index + i] = kVectorWriter;
      }
    }
  }

  /// A line asks a level for its data: the time when the level has sent it, at its bandwidth.
  static double ask(double &server, double from, double cycles) {
    server = std::max(server, from) + cycles;
    return server;
  }

  /// Cycles for a line: fewer in the tail of the launch, when other units have nothing left.
  double part(double cycles) const {
    const double least = static_cast<double>(kLineBytes) / device_.unitBytesPerClock;
    if (left_ != 0 || active_ == slots_ || share_.tailScale >= 1)
      return cycles;
    return std::min(cycles, std::max(least, cycles * share_.tailScale / active_));
  }

  double latencyOf(Level level, double now) const {
    switch (level) {
    case Level::L2:
    case Level::L1BehindL2:
      return device_.l2Latency;
    case Level::Mall:
    case Level::L2BehindMall:
    case Level::L1BehindMall:
      return device_.mallLatencyNs * device_.clockGHz;
    default:
      break;
    }
    const double load = out_.busy[static_cast<size_t>(Resource::Hbm)] / std::max(1.0, now);
    return device_.hbmLatencyNs * device_.clockGHz *
           (1 + device_.loadedLatency * std::min(1.0, load));
  }

  double memory(RunningWave &wave, const PathEvent &event, const PathInstruction &what,
                uint64_t now) {
    if (event.detail == 0) { // no lane takes part
      counted(wave, what.loads, static_cast<double>(now) + device_.l1Latency);
      return static_cast<double>(issue_);
    }
    const MemoryAccess &access = wave.path->accesses[event.detail - 1];
    const bool loads = access.kind == AccessKind::Load ||
                       (access.kind == AccessKind::Atomic && what.inst->dstCount != 0);
    const double path = access.cycles;
    const double start = static_cast<double>(now) + path;
    busy(Resource::L1) += path;
    double arrival = start + device_.l1Latency;
    const auto arrives = [&](double time) { arrival = std::max(arrival, time); };
    for (uint32_t i = 0; i < access.lines; ++i) {
      const uint64_t word = wave.path->lines[access.first + i];
      const auto level = static_cast<Level>(word & ((1U << kLevelBits) - 1));
      if (access.kind != AccessKind::Load) {
        const double part =
            std::max(0.25, access.bytes / (access.lines * static_cast<double>(kLineBytes)));
        const double cost =
            access.kind == AccessKind::Atomic ? device_.atomicCycles : share_.l2Cycles * part;
        const double sent = ask(l2_, start, cost);
        busy(Resource::L2) += cost;
        // Nobody waits for memory, but later reads come behind this. An atomic's line comes to L2
        // before it goes back.
        if (!access.scratch) { // which stays in L2
          const double moved =
              share_.hbmCycles * part * (access.kind == AccessKind::Atomic ? 2 : 1);
          ask(hbm_, start, moved);
          busy(Resource::Hbm) += moved;
        }
        arrives(sent + device_.l2Latency);
        continue;
      }
      if (level == Level::L1)
        continue;
      double sent = start;
      const bool fromL2 = level < Level::L1BehindL2;
      const bool fromMall = level == Level::Mall || level == Level::Hbm;
      if (fromL2) {
        sent = ask(l2_, start, part(share_.l2Cycles));
        busy(Resource::L2) += share_.l2Cycles;
      }
      if (fromMall) {
        sent = std::max(sent, ask(mall_, start, part(share_.mallCycles)));
        busy(Resource::Mall) += share_.mallCycles;
      }
      if (level == Level::Hbm) {
        sent = std::max(sent, ask(hbm_, start, part(share_.hbmCycles)));
        busy(Resource::Hbm) += share_.hbmCycles;
      }
      arrives(sent + latencyOf(level, sent));
    }
    counted(wave, loads ? what.loads : what.stores, arrival);
    return path;
  }

  void end(uint32_t index) {
    RunningWave &wave = waves_[index];
    wave.live = false;
    ++wave.version;
    out_.waveCycles += wave.next - wave.begin;
    out_.waves[wave.line].end = wave.next;
    out_.cycles = std::max(out_.cycles, wave.next);
    if (activeInSlot(wave.slot))
      return;
    out_.groupEnds.push_back(wave.next);
    --active_;
    if (left_ != 0)
      begin(wave.slot, wave.next + static_cast<uint64_t>(device_.groupCycles));
  }

  /// The waves of a group go on when the last one of it has come (or ended).
  void releaseBarrier(uint32_t slot) {
    uint64_t last = 0;
    bool waiting = false;
    const uint32_t first = slot * wavesOfSlot_;
    for (uint32_t i = first; i < first + wavesOfSlot_; ++i) {
      if (!waves_[i].live)
        continue;
      if (!waves_[i].atBarrier)
        return;
      waiting = true;
      last = std::max(last, waves_[i].next);
    }
    if (!waiting)
      return;
    for (uint32_t i = first; i < first + wavesOfSlot_; ++i) {
      if (!waves_[i].live)
        continue;
      waves_[i].atBarrier = false;
      waves_[i].released = last;
      push(i, last);
    }
  }

  const DeviceModel &device_;
  const UnitShare &share_;
  const std::vector<PathInstruction> &instructions_;
  const std::vector<const RecordedPath *> &paths_;
  const uint32_t slots_;
  const uint64_t issue_; ///< cycles between two instructions of a wave
  const uint32_t ports_;
  uint32_t left_;
  uint32_t active_ = 0; ///< workgroups that run now
  uint32_t started_ = 0;
  uint32_t wavesOfSlot_ = 0;
  UnitRun out_;
  std::vector<RunningWave> waves_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::array<std::array<double, kSimds>, kIssueUnits> free_ = {};
  double l2_ = 0, mall_ = 0, hbm_ = 0;
  Cache code_; ///< entries are filled when the line is there
  size_t eventsLeft_;
};

} // namespace

const char *resourceName(Resource resource) {
  constexpr const char *kNames[] = {"issue", "scalar", "vector", "matrix", "lds",
                                    "l1",    "l2",     "mall",   "hbm"};
  return kNames[static_cast<size_t>(resource)];
}

UnitShare shareOf(const DeviceModel &device, double activeUnits, double memoryPart) {
  // However few units are active, one takes no more than it can.
  const double most = device.unitBytesPerClock;
  const double units = std::max(1.0, activeUnits);
  const double unitsOfXcd = std::max(1.0, units / device.xcds);
  const auto cycles = [&](double bytesPerClock) {
    return static_cast<double>(kLineBytes) / std::min(most, bytesPerClock);
  };
  UnitShare share = {};
  share.l2Cycles = cycles(device.l2BytesPerClock * device.l2Efficiency / unitsOfXcd);
  share.mallCycles =
      cycles(memoryPart * device.mallGBs * device.l2Efficiency / device.clockGHz / units);
  share.hbmCycles =
      cycles(memoryPart * device.hbmGBs * device.hbmEfficiency / device.clockGHz / units);
  return share;
}

UnitRun runComputeUnit(const DeviceModel &device, const UnitShare &share,
                       const std::vector<PathInstruction> &instructions,
                       const std::vector<const RecordedPath *> &paths, uint32_t slots,
                       uint32_t groups, size_t events) {
  return Unit(device, share, instructions, paths, slots, groups, events).run();
}

double busyShare(const DeviceModel &device, const UnitRun &run, Resource resource) {
  double units = 1;
  if (resource <= Resource::Matrix)
    units = kSimds;
  else if (resource == Resource::Lds || resource == Resource::L1)
    units = device.ports;
  const double whole = static_cast<double>(run.cycles) * units;
  return whole == 0 ? 0 : run.busy[static_cast<size_t>(resource)] / whole;
}

} // namespace flyemu
