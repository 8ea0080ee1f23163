// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_monitor.h"

#include <algorithm>
#include <unordered_map>

#include "execute/opcode.h"
#include "execute/program.h"
#include "profile/bank_conflicts.h"
#include "profile/loops.h"

namespace flyemu {
namespace {

/// Instructions that a recorded wave keeps; what follows is cut off.
constexpr size_t kMostEvents = size_t{1} << 22; ///< of all waves together

class ProfileObserver : public Observer {
public:
  ProfileObserver(uint32_t banks, const std::vector<MemoryRange> &internal)
      : banks_(banks), internal_(internal) {}

  void record(WorkGroup &group, size_t eventsOfWave) {
    recorded.waves.resize(group.waveCount);
    std::copy(group.id, group.id + 3, recorded.id.begin());
    mostEvents_ = eventsOfWave;
  }

  void before(Wave &wave, const Instruction &inst) override {
    Counters &c = counters[&inst];
    ++c.instructions;
    c.lanes += static_cast<uint64_t>(__builtin_popcountll(wave.exec()));
    if (recorded.waves.empty())
      return;
    std::vector<RecordedEvent> &events = recorded.waves[wave.index];
    if (events.size() < mostEvents_)
      events.push_back({&inst, 0});
    else
      recorded.truncated = true;
  }
  void after(Wave &, const Instruction &) override {}
  void globalAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    Counters &c = counters[&inst];
    const auto lanes = static_cast<uint64_t>(__builtin_popcountll(access.lanes));
    if (inst.opcode->cls == OpClass::ScalarMemory) {
      if (lanes != 0 && !isInternal(access.address[__builtin_ctzll(access.lanes)]))
        c.scalarBytes += lanes * access.bytes;
      return;
    }
    if (access.kind != AccessKind::Store)
      c.bytesLoaded += lanes * access.bytes;
    if (access.kind != AccessKind::Load)
      c.bytesStored += lanes * access.bytes;
    const uint64_t segments = memorySegments(access.address, access.lanes, access.bytes);
    c.transactions += segments;
    busy(wave, inst, segments);
  }
  void ldsAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    Counters &c = counters[&inst];
    ++c.ldsAccesses;
    c.ldsBytes += static_cast<uint64_t>(__builtin_popcountll(access.lanes)) * access.bytes;
    const bool load = access.kind == AccessKind::Load;
    const LdsCost cost = ldsCost(access.address, access.lanes, access.bytes, load, banks_);
    c.ldsConflictCycles += cost.conflicts;
    if (!phasesAreMeasured(access.bytes, load, banks_))
      phasesAssumed = true;
    if (inst.opcode->cls == OpClass::Lds)
      busy(wave, inst, uint64_t{cost.phases} + cost.conflicts);
  }
  void barrier(WorkGroup &) override {}

  std::unordered_map<const Instruction *, Counters> counters;
  RecordedGroup recorded;
  bool phasesAssumed = false;

private:
  bool isInternal(uint64_t address) const {
    return std::any_of(internal_.begin(), internal_.end(), [&](const MemoryRange &range) {
      return address >= range.begin && address < range.end;
    });
  }
  void busy(const Wave &wave, const Instruction &inst, uint64_t cycles) {
    if (recorded.waves.empty() || recorded.waves[wave.index].empty())
      return;
    RecordedEvent &event = recorded.waves[wave.index].back();
    if (event.inst == &inst)
      event.busy += static_cast<uint32_t>(cycles);
  }

  const uint32_t banks_;
  const std::vector<MemoryRange> &internal_;
  size_t mostEvents_ = 0;
};

InstructionProfile describe(const CodeObject &object, Program &program, const Instruction &inst,
                            const IssueCost &cost, const Counters &counted) {
  InstructionProfile out;
  out.address = program.elfAddress(inst);
  out.text = program.disassemble(inst);
  out.source = object.sourceLine(out.address);
  out.cls = opClassName(inst.opcode->cls);
  out.unit = unitName(cost.unit);
  out.counters = counted;
  Counters &c = out.counters;
  c.issueCycles = c.instructions * cost.issue;
  c.slotCycles = c.instructions * cost.slot;
  c.flops = c.instructions * cost.flops;
  if (cost.unit == IssueUnit::Matrix)
    c.matrixCycles = c.issueCycles;
  return out;
}

LoopProfile describe(const CodeObject &object, const Program &program, const Loop &loop,
                     const LaunchProfile &launch) {
  LoopProfile out;
  const uint64_t first = program.elfAddress(*loop.header);
  const uint64_t last = program.elfAddress(*loop.latch);
  out.location = program.location(first);
  out.source = object.sourceLine(first);
  out.codeBytes = last + loop.latch->size - first;
  out.depth = loop.depth;
  out.innermost = loop.innermost;
  for (size_t i = 0; i < launch.instructions.size(); ++i) {
    const InstructionProfile &inst = launch.instructions[i];
    if (inst.address < first || inst.address > last)
      continue;
    if (inst.address == first)
      out.iterations = inst.counters.instructions;
    out.counters.add(inst.counters);
    out.elapsed += launch.timeline.elapsedAt[i];
    out.stalled += launch.timeline.stalledAt[i];
  }
  return out;
}

} // namespace

void ProfileMonitor::begin(const CodeObject &object, Program &program, const KernelMetadata &kernel,
                           const LaunchGeometry &geometry, const LaunchState &state) {
  object_ = &object;
  program_ = &program;
  kernel_ = &kernel;
  geometry_ = geometry;
  const Architecture &architecture = *findArchitecture(object.arch());
  banks_ = architecture.ldsBanks;
  occupancy_ = occupancyOf(architecture, object, kernel, geometry.threads(),
                           uint64_t{kernel.groupSegmentSize} + geometry.dynamicLds);
  for (const MemoryRange &range : state.memory->ranges())
    if (range.kind == MemoryKind::Internal)
      internal_.push_back(range);
}

uint64_t ProfileMonitor::indexOf(const WorkGroup &group) const {
  return group.id[0] + uint64_t{geometry_.groups[0]} *
                           (group.id[1] + uint64_t{geometry_.groups[1]} * group.id[2]);
}

std::unique_ptr<Observer> ProfileMonitor::observe(WorkGroup &group) {
  auto observer = std::make_unique<ProfileObserver>(banks_, internal_);
  const uint64_t traced = std::max(1U, occupancy_.groups);
  if (indexOf(group) < traced)
    observer->record(group, kMostEvents / (traced * group.waveCount));
  return observer;
}

void ProfileMonitor::finished(WorkGroup &group, Observer &observer) {
  auto &own = static_cast<ProfileObserver &>(observer);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto &[inst, counted] : own.counters) {
    auto &entry = counters_[inst->address];
    entry.first = inst;
    entry.second.add(counted);
  }
  phasesAssumed_ |= own.phasesAssumed;
  if (!own.recorded.waves.empty())
    recorded_[indexOf(group)] = std::move(own.recorded);
}

LaunchProfile ProfileMonitor::take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  LaunchProfile out;
  out.kernel = kernel_->name;
  out.arch = object_->arch();
  out.geometry = geometry_;
  out.vgprs = kernel_->vgprCount;
  out.agprs = kernel_->agprCount;
  out.sgprs = kernel_->sgprCount;
  out.vgprSpills = kernel_->vgprSpills;
  out.sgprSpills = kernel_->sgprSpills;
  out.ldsBytes = kernel_->groupSegmentSize + geometry_.dynamicLds;
  out.scratchBytes = kernel_->privateSegmentSize;
  const FunctionAt function = object_->functionAt(object_->entry(*kernel_));
  out.codeBytes = function.end - function.begin;
  const Architecture &architecture = *findArchitecture(out.arch);
  out.computeUnits = architecture.computeUnits;
  out.clockKHz = architecture.clockKHz;
  out.phasesAssumed = phasesAssumed_;
  out.occupancy = occupancy_;

  Trace trace;
  std::vector<const Instruction *> executed;
  std::unordered_map<const Instruction *, uint32_t> indices;
  for (const auto &[address, entry] : counters_) {
    const IssueCost cost = issueCost(*program_, *entry.first);
    indices[entry.first] = static_cast<uint32_t>(executed.size());
    executed.push_back(entry.first);
    trace.instructions.push_back({entry.first, cost});
    out.instructions.push_back(describe(*object_, *program_, *entry.first, cost, entry.second));
  }
  for (auto &[index, recorded] : recorded_) {
    Trace::Group group;
    group.truncated = recorded.truncated;
    for (const auto &wave : recorded.waves) {
      group.waves.emplace_back();
      for (const RecordedEvent &event : wave)
        group.waves.back().push_back({indices.at(event.inst), event.busy});
    }
    out.timelineGroups.push_back(recorded.id);
    trace.groups.push_back(std::move(group));
  }
  recorded_.clear();
  out.timeline = simulate(trace, keepEvents_);
  for (const Loop &loop : findLoops(executed))
    out.loops.push_back(describe(*object_, *program_, loop, out));
  return out;
}

} // namespace flyemu
