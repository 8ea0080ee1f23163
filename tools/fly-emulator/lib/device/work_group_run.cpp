// SPDX-License-Identifier: Apache-2.0
#include "device/work_group_run.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "device/launch_monitor.h"
#include "execute/opcode.h"
#include "execute/program.h"
#include "support/error.h"
#include "support/format.h"

namespace flyemu {
namespace {

constexpr uint32_t kRowBytes = kLanes * sizeof(uint32_t);

template <typename T> T *allocate(size_t bytes) {
  constexpr size_t kAlignment = 64;
  void *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment) / kAlignment * kAlignment);
  if (memory == nullptr)
    throw EmulatorError(hipErrorOutOfMemory, "no memory for the registers of a workgroup");
  return static_cast<T *>(memory);
}

} // namespace

void WorkGroupRun::FreeMemory::operator()(void *memory) const { std::free(memory); }

WorkGroupRun::WorkGroupRun(const LaunchPlan &plan) : plan_(plan) {
  waves_.reset(allocate<Wave>(plan.waves * sizeof(Wave)));
  for (uint32_t i = 0; i < plan.waves; ++i)
    new (waves_.get() + i) Wave();
  vectors_.reset(
      allocate<uint32_t>(size_t{plan.waves} * rowsOf(plan.state.generation) * kRowBytes));
  lds_.reset(allocate<uint8_t>(plan.ldsBytes));
  if (plan.scratchBytes != 0)
    scratch_.reset(allocate<uint8_t>(size_t{plan.waves} * kLanes * plan.scratchBytes));
  group_.lds = lds_.get();
  group_.ldsBytes = plan.ldsBytes;
  group_.waves = waves_.get();
  group_.waveCount = plan.waves;
}

WorkGroupRun::~WorkGroupRun() = default;

void WorkGroupRun::start(uint64_t index, Cluster *cluster, uint32_t rank) {
  const LaunchGeometry &g = plan_.geometry;
  group_.id[0] = static_cast<uint32_t>(index % g.groups[0]);
  group_.id[1] = static_cast<uint32_t>(index / g.groups[0] % g.groups[1]);
  group_.id[2] = static_cast<uint32_t>(index / g.groups[0] / g.groups[1]);
  group_.barriers = 0;
  std::fill_n(group_.named, WorkGroup::kNamedBarriers, NamedBarrier{});
  group_.namedBarrierCount = plan_.state.generation >= 13 ? plan_.descriptor.namedBarriers() : 0;
  group_.cluster = cluster;
  group_.clusterRank = rank;
  std::memset(lds_.get(), 0, plan_.ldsBytes);
  order_.start(plan_.options.seed, index, plan_.waves);
  observer_.reset();
  probe_.reset();
  watching_ = waits_ = false;
  watchedAt_ = 0;
  for (uint32_t i = 0; i < plan_.waves; ++i)
    initialiseWave(waves_.get()[i], i);
  if (plan_.monitor != nullptr) {
    observer_ = plan_.monitor->observe(group_);
    for (uint32_t i = 0; i < plan_.waves; ++i)
      waves_.get()[i].observer = observer_.get();
  }
}

void WorkGroupRun::initialiseWave(Wave &wave, uint32_t index) {
  const uint32_t generation = plan_.state.generation;
  uint32_t *vector = vectors_.get() + size_t{index} * rowsOf(generation) * kLanes;
  wave = Wave();
  wave.vector = vector;
  // Deterministic contents; reading them before writing is what the init sanitizer reports.
  const uint32_t total = plan_.descriptor.vectorRegisters(generation);
  const uint32_t arch = plan_.descriptor.plainVectorRegisters(generation);
  const uint32_t most = generation >= 13 ? kVectorRows : kFirstAccVgpr;
  std::memset(vector, 0, size_t{std::min(arch, most)} * kRowBytes);
  std::memset(vector + size_t{kFirstAccVgpr} * kLanes, 0,
              size_t{std::min<uint32_t>(total - arch, kFirstAccVgpr)} * kRowBytes);
  std::memset(wave.scalar, 0, sizeof wave.scalar);
  wave.index = index;
  wave.group = &group_;
  wave.launch = &plan_.state;
  wave.next = plan_.entry;
  const KernelDescriptor &d = plan_.descriptor;
  wave.laneMask = plan_.lanes == 32 ? 0xffffffffU : ~uint64_t{0};
  wave.mode = d.initialMode(generation);
  wave.scratchBytes = plan_.scratchBytes;
  if (plan_.scratchBytes != 0) {
    wave.scratch = scratch_.get() + size_t{index} * kLanes * plan_.scratchBytes;
    std::memset(wave.scratch, 0, size_t{kLanes} * plan_.scratchBytes);
  }
  initialiseScalars(wave);
  initialiseThreadIds(wave, index);
}

/// User SGPRs in the order of the descriptor's bits, preloaded arguments, workgroup ids (LLVM's
/// AMDGPUUsage, "Initial Kernel Execution State").
void WorkGroupRun::initialiseScalars(Wave &wave) {
  const KernelDescriptor &d = plan_.descriptor;
  uint32_t next = 0;
  const auto put64 = [&](uint64_t value) {
    wave.setScalar64(next, value);
    next += 2;
  };
  const auto address = [](const void *pointer) { return reinterpret_cast<uint64_t>(pointer); };
  if (d.sgprPrivateSegmentBuffer()) {
    put64(0);
    put64(0);
  }
  if (d.sgprDispatchPtr())
    put64(address(plan_.dispatchPacket));
  if (d.sgprQueuePtr())
    put64(address(plan_.queue));
  if (d.sgprKernargPtr())
    put64(address(plan_.kernarg));
  if (d.sgprDispatchId())
    put64(plan_.dispatchId);
  if (d.sgprFlatScratchInit())
    put64(0);
  if (d.sgprPrivateSegmentSize())
    wave.scalar[next++] = plan_.scratchBytes;
  for (uint32_t i = 0; i < d.preloadLength(); ++i, ++next) {
    const size_t offset = size_t{d.preloadOffset() + i} * 4;
    if (offset + 4 <= plan_.kernargSize)
      std::memcpy(wave.scalar + next, static_cast<const uint8_t *>(plan_.kernarg) + offset, 4);
  }
  const auto below = [](uint32_t count) { return (uint64_t{1} << count) - 1; };
  uint64_t setUp = below(next);
  next = d.userSgprCount(plan_.state.generation);
  const uint32_t system = next;
  next = initialiseGroupIds(wave, next);
  setUp |= below(next) & ~below(system);
  group_.setUpScalars = setUp;
  wave.scalar[scalar::kM0] = 0;
}

/// gfx12 has the workgroup's ids in trap registers, everything before in SGPRs from `next` on.
/// Returns the SGPR after them.
uint32_t WorkGroupRun::initialiseGroupIds(Wave &wave, uint32_t next) const {
  const KernelDescriptor &d = plan_.descriptor;
  if (plan_.state.generation >= 12) {
    uint32_t *ttmp = wave.scalar + scalar::kTtmp;
    ttmp[8] = wave.index << 25;
    uint32_t id[3];
    std::memcpy(id, group_.id, sizeof id);
    if (const Cluster *cluster = group_.cluster; cluster != nullptr) {
      // Ids of the cluster; those of the workgroup in it, and the largest ones, in fours.
      ttmp[6] = (cluster->groups - 1) << 24;
      for (unsigned i = 0; i < 3; ++i) {
        ttmp[6] |= id[i] % cluster->extent[i] << (4 * i) | (cluster->extent[i] - 1) << (12 + 4 * i);
        id[i] /= cluster->extent[i];
      }
    }
    ttmp[9] = id[0];
    ttmp[7] = (id[1] & 0xffffU) | id[2] << 16;
    return next;
  }
  if (d.workgroupIdX())
    wave.scalar[next++] = group_.id[0];
  if (d.workgroupIdY())
    wave.scalar[next++] = group_.id[1];
  if (d.workgroupIdZ())
    wave.scalar[next++] = group_.id[2];
  if (d.workgroupInfo())
    wave.scalar[next++] = wave.index == 0 ? 1U << 31 : 0U;
  return next;
}

/// All three ids packed into v0, ten bits each.
void WorkGroupRun::initialiseThreadIds(Wave &wave, uint32_t index) const {
  const LaunchGeometry &g = plan_.geometry;
  const uint32_t kinds = plan_.descriptor.workitemId();
  uint64_t exec = 0;
  for (uint32_t lane = 0; lane < plan_.lanes; ++lane) {
    const uint32_t flat = index * plan_.lanes + lane;
    if (flat >= g.threads())
      break;
    exec |= uint64_t{1} << lane;
    const uint32_t x = flat % g.groupSize[0];
    const uint32_t y = flat / g.groupSize[0] % g.groupSize[1];
    const uint32_t z = flat / g.groupSize[0] / g.groupSize[1];
    wave.vector[lane] = x | (kinds >= 1 ? y << 10 : 0U) | (kinds >= 2 ? z << 20 : 0U);
  }
  wave.setScalar64(scalar::kExec, exec);
}

uint64_t WorkGroupRun::runWave(Wave &wave, uint64_t budget) {
  const Instruction *inst = nullptr;
  const uint64_t before = wave.executed;
  const uint64_t limit = plan_.options.instructionLimit;
  uint64_t left = std::min(budget, limit - before);
  const bool skipping = (wave.mode & kSkipVectors) != 0; // what changes it ends the turn
  wave.yield = false;
  try {
    if (wave.observer == nullptr && !skipping) {
      while (left-- != 0) {
        inst = wave.next;
        wave.next = inst + 1;
        ++wave.executed;
        inst->execute(wave, *inst);
        if (wave.yield)
          break;
      }
    } else {
      while (left-- != 0) {
        inst = wave.next;
        wave.next = inst + 1;
        ++wave.executed;
        if (skipping && inst->opcode != nullptr && isVectorClass(inst->opcode->cls))
          continue;
        const bool observed = wave.observer != nullptr && inst->opcode != nullptr;
        if (observed)
          wave.observer->before(wave, *inst);
        if (!observed || !wave.skipMatrix || inst->opcode->cls != OpClass::Matrix)
          inst->execute(wave, *inst);
        if (observed)
          wave.observer->after(wave, *inst);
        constexpr uint64_t kBetweenQuestions = 1024; // observed instructions may be slow ones
        if (wave.executed % kBetweenQuestions == 0)
          requireNotStopped(wave, asked_);
        if (wave.yield)
          break;
      }
    }
    if (wave.executed >= limit && wave.state == WaveState::Ready)
      throw Fault{format("the wave has executed %llu instructions, the limit; an endless loop? "
                         "(FLYDSL_EMU_MAX_INSTRUCTIONS raises it)",
                         static_cast<unsigned long long>(limit))};
  } catch (const Fault &fault) {
    report(wave, inst, fault);
  }
  return wave.executed - before;
}

/// When every wave that hasn't ended waits: let them go. False if nobody waits.
bool WorkGroupRun::releaseBarrier() {
  bool waiting = false;
  for (uint32_t i = 0; i < plan_.waves; ++i) {
    if (waves_.get()[i].state == WaveState::Ready)
      return false;
    waiting |= waves_.get()[i].state == WaveState::AtBarrier;
  }
  if (!waiting)
    return false;
  for (uint32_t i = 0; i < plan_.waves; ++i)
    if (waves_.get()[i].state == WaveState::AtBarrier) {
      waves_.get()[i].state = WaveState::Ready;
      waves_.get()[i].signalled = false;
    }
  ++group_.barriers;
  if (watching_)
    ++plan_.livelock->changes; // who waited goes on
  if (observer_ != nullptr)
    observer_->barrier(group_);
  return true;
}

uint64_t WorkGroupRun::longestWave() const {
  uint64_t most = 0;
  for (uint32_t i = 0; i < plan_.waves; ++i)
    most = std::max(most, waves_.get()[i].executed);
  return most;
}

bool WorkGroupRun::advance(uint64_t quantum) {
  lookedAt_ = 0;
  for (uint64_t done = 0; done < quantum;) {
    look(done);
    bool ready = false;
    for (uint32_t i = 0; i < plan_.waves && !ready; ++i)
      ready = waves_.get()[i].state == WaveState::Ready;
    if (!ready && !releaseBarrier()) {
      if (watching_)
        setWatching(false);
      if (observer_ != nullptr)
        plan_.monitor->finished(group_, *observer_);
      return true;
    }
    if (group_.cluster != nullptr && isBlocked()) {
      // Once more when the others have had their turn.
      const bool passed = waves_.get()[firstReady()].clusterPassed != group_.cluster->passed;
      if (!passed)
        return false;
    }
    const WaveOrder::Turn turn = order_.next(group_);
    Wave &wave = waves_.get()[turn.wave];
    done += runWave(wave, turn.budget);
    requireNotStopped(wave, asked_);
  }
  if (watching_)
    setWatching(false);
  return false;
}

uint32_t WorkGroupRun::firstReady() const {
  uint32_t first = 0;
  while (waves_.get()[first].state != WaveState::Ready)
    ++first;
  return first;
}

bool WorkGroupRun::isBlocked() const {
  bool waits = false;
  for (uint32_t i = 0; i < plan_.waves; ++i) {
    const Wave &wave = waves_.get()[i];
    if (wave.state == WaveState::Ready && !wave.waitsForCluster)
      return false;
    waits |= wave.waitsForCluster;
  }
  return waits;
}

void WorkGroupRun::reportBlocked() {
  Wave &wave = waves_.get()[firstReady()];
  report(wave, wave.next,
         {"the wave waits at the cluster's barrier, which not every workgroup of the cluster has "
          "signalled (s_barrier_signal -3), and would wait forever"});
}

/// In launches that take long: watch the group now and then, in the order of waves that it has
/// anyway. What it does unwatched may change memory, unless it has been seen to wait for others.
void WorkGroupRun::look(uint64_t done) {
  constexpr uint64_t kSlice = uint64_t{1} << 16;  // instructions between two looks at the clock
  constexpr uint64_t kWindow = uint64_t{1} << 20; // the longest that it is watched
  constexpr double kPatience = 2;                 // seconds before the first time
  constexpr double kBetween = 1;                  // and between two
  LivelockWatch &launch = *plan_.livelock;
  if (watching_) {
    if (!isStuck() && done - lookedAt_ < kWindow)
      return;
    waits_ = isStuck();
    setWatching(false);
    lookedAt_ = done;
    if (!waits_)
      return;
    seen_ = launch.changes.load() + unwatchedBefore_;
    if (const uint64_t groups = launch.waits(this, seen_); groups != 0)
      reportLivelock(groups);
    return;
  }
  // Whoever waited is watched from the first instruction of its turn on.
  if (done - lookedAt_ < kSlice && !(done == 0 && waits_))
    return;
  lookedAt_ = done;
  if (waits_ && seen_ == launch.now()) {
    if (const uint64_t groups = launch.waits(this, seen_); groups != 0)
      reportLivelock(groups);
    return;
  }
  if (!waits_)
    ++launch.unwatched;
  const double now = plan_.watch->elapsedSeconds();
  if (launch.possible && now >= kPatience && (waits_ || now - watchedAt_ >= kBetween)) {
    watchedAt_ = now;
    unwatchedBefore_ = launch.unwatched.load();
    setWatching(true);
  }
}

void WorkGroupRun::setWatching(bool on) {
  watching_ = on;
  if (on && probe_ == nullptr)
    probe_ = std::make_unique<LivelockProbe>(group_, plan_.livelock->changes);
  if (on)
    probe_->start(observer_.get());
  for (uint32_t i = 0; i < plan_.waves; ++i)
    waves_.get()[i].observer = on ? probe_.get() : observer_.get();
}

/// Does every wave that is left wait at a barrier, or run in a cycle?
bool WorkGroupRun::isStuck() const {
  bool ready = false;
  for (uint32_t i = 0; i < plan_.waves; ++i) {
    const Wave &wave = waves_.get()[i];
    if (wave.state == WaveState::Ready && !probe_->cycles(wave))
      return false;
    ready |= wave.state == WaveState::Ready;
  }
  return ready;
}

void WorkGroupRun::reportLivelock(uint64_t groups) {
  Wave &wave = waves_.get()[firstReady()];
  if (plan_.livelock->alone)
    report(wave, wave.next,
           {"livelock: the waves of a workgroup repeat the same instructions with the same "
            "registers, while memory does not change"});
  report(wave, wave.next,
         {format("livelock: all that is left are %llu workgroup%s whose waves repeat the same "
                 "instructions with the same registers, while memory does not change",
                 static_cast<unsigned long long>(groups), groups == 1 ? "" : "s")});
}

/// Ctrl-C and the limit in seconds, with the place where the wave is.
void WorkGroupRun::requireNotStopped(Wave &wave, uint32_t &asked) const {
  switch (plan_.watch->ask(asked)) {
  case LaunchWatch::Verdict::GoOn:
    return;
  case LaunchWatch::Verdict::Interrupted:
    report(wave, wave.next, {"interrupted (Ctrl-C) while the kernel ran"}, hipErrorUnknown);
  case LaunchWatch::Verdict::TimedOut:
    report(wave, wave.next,
           {format("the launch has taken %llu seconds, the limit; an endless loop? "
                   "(FLYDSL_EMU_MAX_SECONDS raises it, 0 is no limit)",
                   static_cast<unsigned long long>(plan_.watch->seconds()))},
           hipErrorLaunchTimeOut);
  }
}

void WorkGroupRun::report(Wave &wave, const Instruction *inst, const Fault &fault,
                          hipError_t code) const {
  const CodeObject &object = *plan_.object;
  std::string text = plan_.kernel->name + ": " + fault.what;
  if (inst != nullptr && inst->size != 0) {
    const uint64_t address = plan_.program->elfAddress(*inst);
    text += "\n  at " + plan_.program->location(address) + ": " +
            plan_.program->disassemble(*inst) + "  (code object address " + hex(address) + ")";
    const std::string line = object.sourceLine(address);
    if (!line.empty())
      text += "\n  source " + line;
  }
  text += format("\n  block (%u, %u, %u), wave %u", group_.id[0], group_.id[1], group_.id[2],
                 wave.index);
  if (fault.lane >= 0) {
    const uint32_t flat = wave.index * plan_.lanes + static_cast<uint32_t>(fault.lane);
    const LaunchGeometry &g = plan_.geometry;
    text += format(", lane %d (thread %u, %u, %u)", fault.lane, flat % g.groupSize[0],
                   flat / g.groupSize[0] % g.groupSize[1], flat / g.groupSize[0] / g.groupSize[1]);
  }
  text += "\n  on the emulated " + object.arch();
  if (plan_.monitor != nullptr && inst != nullptr && inst->opcode != nullptr)
    plan_.monitor->failed(wave, *inst, fault);
  throw EmulatorError(code, text);
}

} // namespace flyemu
