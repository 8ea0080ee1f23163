// SPDX-License-Identifier: Apache-2.0
#include "sanitize/sanitizer_monitor.h"

#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "sanitize/init_check.h"
#include "sanitize/lds_race.h"
#include "sanitize/wait_check.h"
#include "support/format.h"

namespace flyemu {
namespace {

/// Barriers where a wave is divergent, or that only some of the waves reach.
class BarrierCheck {
public:
  BarrierCheck(ReportSink &sink, const WorkGroup &group)
      : sink_(sink), last_(group.waveCount, nullptr), launched_(group.waveCount, 0) {}

  void before(Wave &wave, const Instruction &inst) {
    if (launched_[wave.index] == 0)
      launched_[wave.index] = wave.exec();
    const OpClass cls = inst.opcode->cls;
    if (cls == OpClass::Barrier) {
      last_[wave.index] = &inst;
      const uint64_t missing = launched_[wave.index] & ~wave.exec();
      if (missing != 0)
        sink_.add("barrier", "a barrier in divergent code: some lanes of the wave are switched off",
                  wave, inst, __builtin_ctzll(missing), nullptr);
    } else if (inst.opcode->name == "s_endpgm") {
      for (uint32_t i = 0; i < wave.group->waveCount; ++i)
        if (wave.group->waves[i].state == WaveState::AtBarrier)
          reportEnded(wave, inst, last_[i]);
      ended_ = &inst;
    }
    // The other order: a wave comes to a barrier after another one has ended without it.
    if (cls == OpClass::Barrier && ended_ != nullptr)
      reportEnded(wave, inst, ended_);
  }

  /// All waves that are left wait: they should wait at the same place.
  void passed(WorkGroup &group) {
    const Instruction *first = nullptr;
    for (uint32_t i = 0; i < group.waveCount; ++i) {
      if (group.waves[i].state == WaveState::Ended || last_[i] == nullptr)
        continue;
      if (first == nullptr)
        first = last_[i];
      else if (last_[i] != first)
        sink_.add("barrier", "waves of one workgroup wait at different barriers", group.waves[i],
                  *last_[i], -1, first);
    }
  }

private:
  void reportEnded(Wave &wave, const Instruction &inst, const Instruction *other) {
    sink_.add("barrier",
              "a wave ends while another one of its workgroup waits at a barrier: not all waves "
              "reach it",
              wave, inst, -1, other);
  }

  ReportSink &sink_;
  std::vector<const Instruction *> last_;
  std::vector<uint64_t> launched_;
  const Instruction *ended_ = nullptr;
};

/// Alignment, and accesses that leave the tensor that their base address points into.
class MemoryCheck {
public:
  explicit MemoryCheck(ReportSink &sink) : sink_(sink) {}

  void access(Wave &wave, const Instruction &inst, const LaneAccess &access, bool lds) {
    const uint32_t unit = access.bytes >= 4 ? 4 : access.bytes;
    bool reported = false;
    forEachLane(access.lanes, [&](unsigned lane) {
      if (!reported && access.address[lane] % unit != 0) {
        sink_.add("memory",
                  format("an access of %u bytes at %s, which is not aligned to %u", access.bytes,
                         hex(access.address[lane]).c_str(), unit),
                  wave, inst, static_cast<int>(lane), nullptr);
        reported = true;
      }
    });
    if (!lds)
      checkBase(wave, inst, access);
  }

private:
  static std::string leftTensor(const MemoryView &memory, uint64_t base, uint64_t first,
                                uint32_t bytes) {
    const MemoryRange *owner = nullptr; // the widest range that the base points into
    for (const MemoryRange &range : memory.ranges())
      if (base >= range.begin && base < range.end &&
          (owner == nullptr || range.end - range.begin > owner->end - owner->begin))
        owner = &range;
    const bool before = first < owner->begin;
    const uint64_t distance = before ? owner->begin - first : first + bytes - owner->end;
    return format("an access of %u bytes through a pointer into '%s' lies %llu bytes %s it, in %s",
                  bytes, owner->name.c_str(), static_cast<unsigned long long>(distance),
                  before ? "before" : "past the end of", memory.describe(first, bytes).c_str());
  }

  /// A global access with a scalar base stays in the ranges that hold the base.
  void checkBase(Wave &wave, const Instruction &inst, const LaneAccess &access) {
    if (inst.opcode->cls != OpClass::Global)
      return;
    const Operand *base = nullptr;
    for (unsigned i = 0; i < inst.srcCount && base == nullptr; ++i)
      if (inst.src[i].isScalarRegister() && inst.src[i].dwords >= 2)
        base = &inst.src[i];
    if (base == nullptr)
      return;
    const uint64_t address = readScalar64(wave, *base) & 0xffffffffffffULL;
    const auto &ranges = wave.launch->memory->ranges();
    bool known = false;
    for (const MemoryRange &range : ranges)
      known |= address >= range.begin && address < range.end;
    if (!known)
      return;
    bool reported = false;
    forEachLane(access.lanes, [&](unsigned lane) {
      if (reported)
        return;
      const uint64_t first = access.address[lane];
      for (const MemoryRange &range : ranges)
        if (address >= range.begin && address < range.end && first >= range.begin &&
            first + access.bytes <= range.end)
          return;
      sink_.add("memory", leftTensor(*wave.launch->memory, address, first, access.bytes), wave,
                inst, static_cast<int>(lane), nullptr);
      reported = true;
    });
  }

  ReportSink &sink_;
};

/// What watches one workgroup: the checks that are switched on.
class SanitizerObserver : public Observer {
public:
  SanitizerObserver(unsigned sanitizers, ReportSink &sink, GlobalRaceCheck &globalRaces,
                    WorkGroup &group)
      : sanitizers_(sanitizers), globalRaces_(globalRaces) {
    const auto on = [&](unsigned bits) { return (sanitizers & bits) != 0; };
    if (on(sanitizer::kRace | sanitizer::kInit))
      lds_ = std::make_unique<LdsRaceCheck>(sink, sanitizers, group.ldsBytes);
    if (on(sanitizer::kInit))
      init_ = std::make_unique<InitCheck>(sink, group);
    if (on(sanitizer::kWait))
      wait_ = std::make_unique<WaitCheck>(sink, group);
    if (on(sanitizer::kBarrier))
      barrier_ = std::make_unique<BarrierCheck>(sink, group);
    if (on(sanitizer::kMemory))
      memory_ = std::make_unique<MemoryCheck>(sink);
  }

  void before(Wave &wave, const Instruction &inst) override {
    if (barrier_ != nullptr)
      barrier_->before(wave, inst);
    if (wait_ != nullptr)
      wait_->before(wave, inst);
    if (init_ != nullptr)
      init_->before(wave, inst);
  }
  void after(Wave &wave, const Instruction &inst) override {
    if (wait_ != nullptr)
      wait_->after(wave, inst);
    if (init_ != nullptr)
      init_->after(wave, inst);
  }
  void globalAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    if ((sanitizers_ & sanitizer::kRace) != 0 && inst.opcode->cls != OpClass::ScalarMemory)
      globalRaces_.access(wave, inst, access);
    if (memory_ != nullptr)
      memory_->access(wave, inst, access, false);
  }
  void ldsAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    if (lds_ != nullptr)
      lds_->access(wave, inst, access);
    if (memory_ != nullptr)
      memory_->access(wave, inst, access, true);
  }
  void barrier(WorkGroup &group) override {
    if (barrier_ != nullptr)
      barrier_->passed(group);
    if (lds_ != nullptr)
      lds_->barrier();
  }

private:
  const unsigned sanitizers_;
  GlobalRaceCheck &globalRaces_;
  std::unique_ptr<LdsRaceCheck> lds_;
  std::unique_ptr<InitCheck> init_;
  std::unique_ptr<WaitCheck> wait_;
  std::unique_ptr<BarrierCheck> barrier_;
  std::unique_ptr<MemoryCheck> memory_;
};

} // namespace

void SanitizerMonitor::begin(const CodeObject &object, Program &program, const KernelMetadata &,
                             const LaunchGeometry &, const LaunchState &) {
  sink_.begin(object, program);
}

std::unique_ptr<Observer> SanitizerMonitor::observe(WorkGroup &group) {
  return std::make_unique<SanitizerObserver>(sanitizers_, sink_, globalRaces_, group);
}

void SanitizerMonitor::finished(WorkGroup &, Observer &) {}

} // namespace flyemu
