// SPDX-License-Identifier: Apache-2.0
#include "sanitize/sanitizer_monitor.h"

#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "execute/program.h"
#include "sanitize/barrier_check.h"
#include "sanitize/hazard_check.h"
#include "sanitize/init_check.h"
#include "sanitize/lds_race.h"
#include "sanitize/lint_check.h"
#include "sanitize/memory_check.h"
#include "sanitize/seed_loads.h"
#include "sanitize/wait_check.h"
#include "support/error.h"

namespace flyemu {
namespace {

/// What watches one workgroup: the checks that are switched on.
class SanitizerObserver : public Observer {
public:
  SanitizerObserver(unsigned sanitizers, ReportSink &sink, GlobalRaceCheck &globalRaces,
                    HazardFactsTable *hazardFacts, const Polling &polling, const std::string &arch,
                    WorkGroup &group)
      : globalRaces_(globalRaces), outstanding_(group.waveCount, generationOf(group)),
        order_(GlobalRaceCheck::numberOf(group), outstanding_, group.waveCount,
               generationOf(group)) {
    const auto on = [&](unsigned bits) { return (sanitizers & bits) != 0; };
    if (on(sanitizer::kRace)) {
      seeds_ = std::make_unique<SeedLoads>(sink, group);
      ldsSeeds_ = std::make_unique<SeedLoads>(sink, group);
    }
    if (on(sanitizer::kRace | sanitizer::kWait | sanitizer::kLint))
      lds_ = std::make_unique<LdsRaceCheck>(sink, sanitizers, outstanding_, order_, polling, group);
    if (on(sanitizer::kInit))
      init_ = std::make_unique<InitCheck>(sink, group);
    if (on(sanitizer::kWait))
      wait_ = std::make_unique<WaitCheck>(sink, outstanding_);
    if (on(sanitizer::kBarrier | sanitizer::kLint))
      barrier_ = std::make_unique<BarrierCheck>(sink, sanitizers, group);
    if (on(sanitizer::kMemory))
      memory_ = std::make_unique<MemoryCheck>(sink, group);
    if (hazardFacts != nullptr)
      hazard_ = std::make_unique<HazardCheck>(sink, sanitizers, group, *hazardFacts);
    if (on(sanitizer::kHazard) && generationOf(group) >= 10)
      rdnaHazard_ = std::make_unique<RdnaHazardCheck>(sink, group);
    if (on(sanitizer::kLint))
      lint_ = std::make_unique<LintCheck>(sink, arch);
  }

  void before(Wave &wave, const Instruction &inst) override {
    if (barrier_ != nullptr)
      barrier_->before(wave, inst);
    if (hazard_ != nullptr)
      hazard_->before(wave, inst);
    if (rdnaHazard_ != nullptr)
      rdnaHazard_->before(wave, inst);
    outstanding_.before(wave, inst);
    order_.before(wave, inst);
    if (wait_ != nullptr)
      wait_->before(wave, inst);
    if (init_ != nullptr)
      init_->before(wave, inst);
    if (lint_ != nullptr)
      lint_->before(wave, inst);
    meet(wave, inst);
  }
  void after(Wave &wave, const Instruction &inst) override {
    outstanding_.after(wave, inst);
    if (init_ != nullptr)
      init_->after(wave, inst);
    if (memory_ != nullptr)
      memory_->after(wave, inst);
    meet(wave, inst);
  }
  void globalAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    if (seeds_ != nullptr && !isConstant(wave, access)) {
      globalRaces_.access(wave, inst, access, order_, cache_);
      seeds_->access(wave, inst, access);
    }
    if (init_ != nullptr)
      init_->globalAccess(wave, inst, access);
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
    outstanding_.ldsAccess(wave, inst, access);
    if (memory_ != nullptr)
      memory_->lds(wave, inst, access);
  }
  void barrier(WorkGroup &group) override {
    if (barrier_ != nullptr)
      barrier_->passed(group);
    if (lds_ != nullptr)
      lds_->barrier();
    order_.barrier();
    outstanding_.barrier();
  }

private:
  static uint32_t generationOf(const WorkGroup &group) { return group.waves[0].launch->generation; }
  /// What nobody may write (arguments, code) needs no second look.
  static bool isConstant(const Wave &wave, const LaneAccess &access) {
    const MemoryView::Segment &segment = wave.cached;
    bool constant = access.kind == AccessKind::Load && !segment.writable;
    if (constant)
      forEachLane(access.lanes, [&](unsigned lane) {
        constant &= access.address[lane] >= segment.begin && access.address[lane] < segment.end;
      });
    return constant;
  }
  /// A barrier of all workgroups: what came before is seen by the others when they leave it.
  void meet(const Wave &wave, const Instruction &inst) {
    if (seeds_ != nullptr && inst.opcode->cls == OpClass::Control &&
        inst.opcode->name == "ds_gws_barrier")
      globalRaces_.meet(wave.index, order_);
  }

  GlobalRaceCheck &globalRaces_;
  Outstanding outstanding_;
  ReleaseOrder order_;
  GlobalRaceCheck::Cache cache_;
  std::unique_ptr<SeedLoads> seeds_;
  std::unique_ptr<SeedLoads> ldsSeeds_;
  std::unique_ptr<LdsRaceCheck> lds_;
  std::unique_ptr<InitCheck> init_;
  std::unique_ptr<WaitCheck> wait_;
  std::unique_ptr<BarrierCheck> barrier_;
  std::unique_ptr<MemoryCheck> memory_;
  std::unique_ptr<HazardCheck> hazard_;
  std::unique_ptr<RdnaHazardCheck> rdnaHazard_;
  std::unique_ptr<LintCheck> lint_;
};

} // namespace

void SanitizerMonitor::begin(const CodeObject &object, Program &program,
                             const KernelMetadata &kernel, const LaunchGeometry &geometry,
                             const LaunchState &state) {
  arch_ = object.arch();
  const bool rdna = state.generation >= 10;
  if (program.synchronises(object.entry(kernel))) {
    globalRaces_.groupsMakeOrder();
    if (state.generation == 11)
      globalRaces_.storesMayBeAtomic();
  }
  if (!rdna && (sanitizers_ & (sanitizer::kHazard | sanitizer::kLint)) != 0)
    hazardFacts_ = std::make_unique<HazardFactsTable>(program, arch_ == "gfx950");
  if ((sanitizers_ & (sanitizer::kRace | sanitizer::kWait | sanitizer::kLint)) != 0)
    polling_.find(program, object.entry(kernel));
  sink_.begin(object, program, geometry);
}

std::unique_ptr<Observer> SanitizerMonitor::observe(WorkGroup &group) {
  return std::make_unique<SanitizerObserver>(sanitizers_, sink_, globalRaces_, hazardFacts_.get(),
                                             polling_, arch_, group);
}

void SanitizerMonitor::finished(WorkGroup &, Observer &) {}

void SanitizerMonitor::failed(const Wave &wave, const Instruction &inst, const Fault &fault) {
  if (fault.memory && (sanitizers_ & sanitizer::kMemory) != 0)
    sink_.add({"memory", wave, inst, fault.lane, nullptr, true, fault.address},
              [&] { return fault.what; });
}

} // namespace flyemu
