// SPDX-License-Identifier: Apache-2.0
#include "device/work_group_run.h"

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
  vectors_.reset(allocate<uint32_t>(size_t{plan.waves} * kVectorRows * kRowBytes));
  lds_.reset(allocate<uint8_t>(plan.ldsBytes));
  if (plan.scratchBytes != 0)
    scratch_.reset(allocate<uint8_t>(size_t{plan.waves} * kLanes * plan.scratchBytes));
  group_.lds = lds_.get();
  group_.ldsBytes = plan.ldsBytes;
  group_.waves = waves_.get();
  group_.waveCount = plan.waves;
}

WorkGroupRun::~WorkGroupRun() = default;

void WorkGroupRun::start(uint64_t index) {
  const LaunchGeometry &g = plan_.geometry;
  group_.id[0] = static_cast<uint32_t>(index % g.groups[0]);
  group_.id[1] = static_cast<uint32_t>(index / g.groups[0] % g.groups[1]);
  group_.id[2] = static_cast<uint32_t>(index / g.groups[0] / g.groups[1]);
  group_.barriers = 0;
  std::memset(lds_.get(), 0, plan_.ldsBytes);
  order_.start(plan_.options.seed, index, plan_.waves);
  observer_.reset();
  for (uint32_t i = 0; i < plan_.waves; ++i)
    initialiseWave(waves_.get()[i], i);
  if (plan_.monitor != nullptr) {
    observer_ = plan_.monitor->observe(group_);
    for (uint32_t i = 0; i < plan_.waves; ++i)
      waves_.get()[i].observer = observer_.get();
  }
}

void WorkGroupRun::initialiseWave(Wave &wave, uint32_t index) {
  uint32_t *vector = vectors_.get() + size_t{index} * kVectorRows * kLanes;
  wave = Wave();
  wave.vector = vector;
  // Deterministic contents; reading them before writing is what the init sanitizer reports.
  const uint32_t total = (plan_.descriptor.vgprGranules() + 1) * 8;
  const uint32_t arch = std::min(total, plan_.descriptor.accumOffset());
  std::memset(vector, 0, size_t{std::min<uint32_t>(arch, kFirstAccVgpr)} * kRowBytes);
  std::memset(vector + size_t{kFirstAccVgpr} * kLanes, 0,
              size_t{std::min<uint32_t>(total - arch, kFirstAccVgpr)} * kRowBytes);
  std::memset(wave.scalar, 0, sizeof wave.scalar);
  wave.index = index;
  wave.group = &group_;
  wave.launch = &plan_.state;
  wave.next = plan_.entry;
  const KernelDescriptor &d = plan_.descriptor;
  wave.mode = d.floatMode() | (d.dx10Clamp() ? 1U << 8 : 0U) | (d.ieeeMode() ? 1U << 9 : 0U) |
              (d.fp16Overflow() ? 1U << 23 : 0U);
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
void WorkGroupRun::initialiseScalars(Wave &wave) const {
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
  next = d.userSgprCount();
  if (d.workgroupIdX())
    wave.scalar[next++] = group_.id[0];
  if (d.workgroupIdY())
    wave.scalar[next++] = group_.id[1];
  if (d.workgroupIdZ())
    wave.scalar[next++] = group_.id[2];
  if (d.workgroupInfo())
    wave.scalar[next++] = wave.index == 0 ? 1U << 31 : 0U;
  wave.scalar[scalar::kM0] = 0;
}

/// All three ids packed into v0, ten bits each.
void WorkGroupRun::initialiseThreadIds(Wave &wave, uint32_t index) const {
  const LaunchGeometry &g = plan_.geometry;
  const uint32_t kinds = plan_.descriptor.workitemId();
  uint64_t exec = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t flat = index * kLanes + lane;
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
        inst->execute(wave, *inst);
        if (observed)
          wave.observer->after(wave, *inst);
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
    if (waves_.get()[i].state == WaveState::AtBarrier)
      waves_.get()[i].state = WaveState::Ready;
  ++group_.barriers;
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
  for (uint64_t done = 0; done < quantum;) {
    bool ready = false;
    for (uint32_t i = 0; i < plan_.waves && !ready; ++i)
      ready = waves_.get()[i].state == WaveState::Ready;
    if (!ready && !releaseBarrier()) {
      if (observer_ != nullptr)
        plan_.monitor->finished(group_, *observer_);
      return true;
    }
    const WaveOrder::Turn turn = order_.next(group_);
    done += runWave(waves_.get()[turn.wave], turn.budget);
  }
  return false;
}

void WorkGroupRun::report(Wave &wave, const Instruction *inst, const Fault &fault) const {
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
    const uint32_t flat = wave.index * kLanes + static_cast<uint32_t>(fault.lane);
    const LaunchGeometry &g = plan_.geometry;
    text += format(", lane %d (thread %u, %u, %u)", fault.lane, flat % g.groupSize[0],
                   flat / g.groupSize[0] % g.groupSize[1], flat / g.groupSize[0] / g.groupSize[1]);
  }
  text += "\n  on the emulated " + object.arch();
  if (plan_.monitor != nullptr && inst != nullptr && inst->opcode != nullptr)
    plan_.monitor->failed(wave, *inst, fault);
  throw EmulatorError(hipErrorLaunchFailure, text);
}

} // namespace flyemu
