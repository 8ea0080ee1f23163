// SPDX-License-Identifier: Apache-2.0
#include "sanitize/sanitizer_monitor.h"

#include "execute/opcode.h"
#include "sanitize/barrier_check.h"
#include "sanitize/init_check.h"
#include "sanitize/lds_race.h"
#include "sanitize/lint_check.h"
#include "sanitize/memory_check.h"
#include "sanitize/seed_loads.h"
#include "sanitize/wait_check.h"

namespace flyemu {
namespace {

/// What watches one workgroup: the checks that are switched on.
class SanitizerObserver : public Observer {
public:
  SanitizerObserver(unsigned sanitizers, ReportSink &sink, GlobalRaceCheck &globalRaces,
                    const std::string &arch, WorkGroup &group)
      : globalRaces_(globalRaces) {
    clock_.self = GlobalRaceCheck::numberOf(group);
    const auto on = [&](unsigned bits) { return (sanitizers & bits) != 0; };
    if (on(sanitizer::kRace)) {
      lds_ = std::make_unique<LdsRaceCheck>(sink, group.ldsBytes);
      seeds_ = std::make_unique<SeedLoads>(sink, group);
      ldsSeeds_ = std::make_unique<SeedLoads>(sink, group);
    }
    if (on(sanitizer::kInit))
      init_ = std::make_unique<InitCheck>(sink, group);
    if (on(sanitizer::kWait))
      wait_ = std::make_unique<WaitCheck>(sink, group);
    if (on(sanitizer::kBarrier | sanitizer::kLint))
      barrier_ = std::make_unique<BarrierCheck>(sink, sanitizers, group);
    if (on(sanitizer::kMemory))
      memory_ = std::make_unique<MemoryCheck>(sink, group);
    if (on(sanitizer::kLint))
      lint_ = std::make_unique<LintCheck>(sink, arch);
  }

  void before(Wave &wave, const Instruction &inst) override {
    if (barrier_ != nullptr)
      barrier_->before(wave, inst);
    if (wait_ != nullptr)
      wait_->before(wave, inst);
    if (init_ != nullptr)
      init_->before(wave, inst);
    if (lint_ != nullptr)
      lint_->before(wave, inst);
    meet(inst);
  }
  void after(Wave &wave, const Instruction &inst) override {
    if (wait_ != nullptr)
      wait_->after(wave, inst);
    if (init_ != nullptr)
      init_->after(wave, inst);
    if (memory_ != nullptr)
      memory_->after(wave, inst);
    meet(inst);
  }
  void globalAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    const bool scalarLoad =
        inst.opcode->cls == OpClass::ScalarMemory && access.kind == AccessKind::Load;
    if (seeds_ != nullptr && !scalarLoad) {
      globalRaces_.access(wave, inst, access, clock_);
      seeds_->access(wave, inst, access);
    }
    if (memory_ != nullptr)
      memory_->global(wave, inst, access);
  }
  void ldsAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    if (lds_ != nullptr)
      lds_->access(wave, inst, access);
    if (ldsSeeds_ != nullptr)
      ldsSeeds_->access(wave, inst, access);
    if (init_ != nullptr)
      init_->ldsAccess(wave, inst, access);
    if (wait_ != nullptr)
      wait_->ldsAccess(wave, inst, access);
    if (memory_ != nullptr)
      memory_->lds(wave, inst, access);
  }
  void barrier(WorkGroup &group) override {
    if (barrier_ != nullptr)
      barrier_->passed(group);
    if (lds_ != nullptr)
      lds_->barrier();
    if (wait_ != nullptr)
      wait_->barrier();
  }

private:
  /// A barrier of all workgroups: what came before is seen by the others when they leave it.
  void meet(const Instruction &inst) {
    if (seeds_ != nullptr && inst.opcode->cls == OpClass::Control &&
        inst.opcode->name == "ds_gws_barrier")
      globalRaces_.meet(clock_);
  }

  GlobalRaceCheck &globalRaces_;
  GroupClock clock_;
  std::unique_ptr<SeedLoads> seeds_;
  std::unique_ptr<SeedLoads> ldsSeeds_;
  std::unique_ptr<LdsRaceCheck> lds_;
  std::unique_ptr<InitCheck> init_;
  std::unique_ptr<WaitCheck> wait_;
  std::unique_ptr<BarrierCheck> barrier_;
  std::unique_ptr<MemoryCheck> memory_;
  std::unique_ptr<LintCheck> lint_;
};

} // namespace

void SanitizerMonitor::begin(const CodeObject &object, Program &program, const KernelMetadata &,
                             const LaunchGeometry &geometry, const LaunchState &) {
  arch_ = object.arch();
  sink_.begin(object, program, geometry);
}

std::unique_ptr<Observer> SanitizerMonitor::observe(WorkGroup &group) {
  return std::make_unique<SanitizerObserver>(sanitizers_, sink_, globalRaces_, arch_, group);
}

void SanitizerMonitor::finished(WorkGroup &, Observer &) {}

void SanitizerMonitor::failed(const Wave &wave, const Instruction &inst, const Fault &fault) {
  if (fault.memory && (sanitizers_ & sanitizer::kMemory) != 0)
    sink_.add({"memory", wave, inst, fault.lane, nullptr, true, fault.address},
              [&] { return fault.what; });
}

} // namespace flyemu
