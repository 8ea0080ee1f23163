// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "device/launch_monitor.h"
#include "execute/polling.h"
#include "hazard/hazard_facts.h"
#include "sanitize/global_race.h"
#include "sanitize/report.h"

namespace flyemu {

/// Runs the chosen sanitizers over a launch.
class SanitizerMonitor : public LaunchMonitor {
public:
  SanitizerMonitor(unsigned sanitizers, const ReportOptions &options)
      : sanitizers_(sanitizers), sink_(options), globalRaces_(sink_) {}

  void begin(const CodeObject &object, Program &program, const KernelMetadata &kernel,
             const LaunchGeometry &geometry, const LaunchState &state) override;
  std::unique_ptr<Observer> observe(WorkGroup &group) override;
  void finished(WorkGroup &group, Observer &observer) override;

  bool needsOrder() const override { return (sanitizers_ & sanitizer::kRace) != 0; }
  void failed(const Wave &wave, const Instruction &inst, const Fault &fault) override;

  std::vector<Report> take(uint64_t &dropped) { return sink_.take(dropped); }

private:
  const unsigned sanitizers_;
  std::string arch_;
  ReportSink sink_;
  GlobalRaceCheck globalRaces_;
  std::unique_ptr<HazardFactsTable> hazardFacts_;
  Polling polling_{Polling::Memory::Lds};
};

} // namespace flyemu
