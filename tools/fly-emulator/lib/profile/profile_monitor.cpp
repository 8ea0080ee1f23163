// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_monitor.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "execute/opcode.h"
#include "execute/program.h"
#include "predict/compute_unit.h"
#include "predict/memory_model.h"
#include "profile/bank_conflicts.h"
#include "profile/loops.h"

namespace flyemu {
namespace {

/// Instructions that a recorded wave keeps; what follows is cut off.
constexpr size_t kMostEvents = size_t{1} << 22; ///< of all waves together

class ProfileObserver : public Observer {
public:
  ProfileObserver(const Architecture &architecture, const std::vector<MemoryRange> &internal)
      : architecture_(architecture), internal_(internal) {}

  void before(Wave &wave, const Instruction &inst) override {
    Counters &c = counters[&inst];
    ++c.instructions;
    c.lanes += static_cast<uint64_t>(__builtin_popcountll(wave.exec()));
    if (path != nullptr)
      path->before(wave, inst);
  }
  void after(Wave &, const Instruction &) override {}
  void globalAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    if (path != nullptr)
      path->globalAccess(wave, inst, access);
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
    c.transactions += memorySegments(access.address, access.lanes, access.bytes);
  }
  void scratchAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    if (path != nullptr)
      path->scratchAccess(wave, inst, access);
  }
  void ldsAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    if (path != nullptr)
      path->ldsAccess(wave, inst, access);
    Counters &c = counters[&inst];
    ++c.ldsAccesses;
    c.ldsBytes += static_cast<uint64_t>(__builtin_popcountll(access.lanes)) * access.bytes;
    const bool load = access.kind == AccessKind::Load;
    const LdsCost cost = ldsCost(architecture_, access.address, access.lanes, access.bytes, load);
    c.ldsConflictCycles += cost.conflicts;
    if (!phasesAreKnown(architecture_, access.bytes, load))
      phasesAssumed = true;
  }
  void barrier(WorkGroup &group) override {
    if (path != nullptr)
      path->barrier(group);
  }

  std::unordered_map<const Instruction *, Counters> counters;
  std::unique_ptr<Observer> path; ///< of a workgroup that is recorded
  bool phasesAssumed = false;

private:
  bool isInternal(uint64_t address) const {
    return std::any_of(internal_.begin(), internal_.end(), [&](const MemoryRange &range) {
      return address >= range.begin && address < range.end;
    });
  }

  const Architecture &architecture_;
  const std::vector<MemoryRange> &internal_;
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
  architecture_ = &architecture;
  paths_.begin(object, program, kernel, geometry, state);
  std::unordered_map<uint64_t, bool> recorded;
  const uint32_t groups = std::max(1U, paths_.occupancy().groups);
  for (uint32_t i = 0; i < groups; ++i)
    recorded.emplace(i, true);
  paths_.watchOnly(std::move(recorded));
  paths_.keepAtMost(kMostEvents / groups);
  for (const MemoryRange &range : state.memory->ranges())
    if (range.kind == MemoryKind::Internal)
      internal_.push_back(range);
}

std::unique_ptr<Observer> ProfileMonitor::observe(WorkGroup &group) {
  auto observer = std::make_unique<ProfileObserver>(*architecture_, internal_);
  observer->path = paths_.observe(group);
  return observer;
}

void ProfileMonitor::finished(WorkGroup &group, Observer &observer) {
  auto &own = static_cast<ProfileObserver &>(observer);
  if (own.path != nullptr)
    paths_.finished(group, *own.path);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto &[inst, counted] : own.counters) {
    auto &entry = counters_[inst->address];
    entry.first = inst;
    entry.second.add(counted);
  }
  phasesAssumed_ |= own.phasesAssumed;
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
  out.occupancy = paths_.occupancy();

  std::vector<const Instruction *> executed;
  for (const auto &[address, entry] : counters_) {
    const IssueCost cost = issueCost(*program_, *entry.first);
    executed.push_back(entry.first);
    out.instructions.push_back(describe(*object_, *program_, *entry.first, cost, entry.second));
  }
  simulate(out);
  for (const Loop &loop : findLoops(executed))
    out.loops.push_back(describe(*object_, *program_, loop, out));
  return out;
}

void ProfileMonitor::simulate(LaunchProfile &out) {
  paths_.assignBases();
  const DeviceModel &device = *findDeviceModel(out.arch);
  std::vector<RecordedPath *> groups;
  for (const auto &group : paths_.groups())
    groups.push_back(group.get());
  std::sort(groups.begin(), groups.end(),
            [](const RecordedPath *a, const RecordedPath *b) { return a->index < b->index; });
  const std::vector<const RecordedPath *> paths(groups.begin(), groups.end());
  const auto count = static_cast<double>(geometry_.groupCount());
  const auto slots = std::max<uint32_t>(1, static_cast<uint32_t>(groups.size()));
  const double active = std::min(device.units, std::ceil(count / slots));
  traceMemory(device, groups, {}, {}, geometry_.groupCount(), paths_.ranges(),
              std::min(device.units / device.xcds * slots, std::ceil(count / device.xcds)), false);
  UnitRun run = runComputeUnit(device, shareOf(device, active), paths_.instructions(), paths, slots,
                               slots, keepEvents_ ? kMostEvents : 0);
  Timeline &timeline = out.timeline;
  timeline.device = device.name;
  timeline.groups = static_cast<uint32_t>(groups.size());
  timeline.waves = static_cast<uint32_t>(run.waves.size());
  timeline.cycles = run.cycles;
  for (size_t i = 0; i < kResources; ++i)
    timeline.busy[i] = busyShare(device, run, static_cast<Resource>(i));
  timeline.stalls = run.stalls;
  timeline.truncated = paths_.truncated();
  for (const auto &[address, entry] : counters_) {
    const size_t slot = paths_.slotOf(*entry.first);
    const auto &stalls = run.stalledAt[slot];
    timeline.stalledAt.push_back(std::accumulate(stalls.begin(), stalls.end(), uint64_t{0}));
    timeline.elapsedAt.push_back(run.elapsedAt[slot]);
  }
  if (!keepEvents_)
    return;
  out.trace.kernel = out.kernel;
  out.trace.arch = out.arch;
  out.trace.note =
      std::string("emulated: cycles that the time model predicts for a compute unit of ") +
      device.name + ", shown as microseconds";
  out.trace.truncated = timeline.truncated || run.truncated;
  out.trace.instructions = paths_.names();
  for (const RecordedPath *group : paths)
    out.trace.groups.push_back(group->index);
  out.trace.waves = std::move(run.waves);
}

} // namespace flyemu
