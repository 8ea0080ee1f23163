// SPDX-License-Identifier: Apache-2.0
#include "hip/launch_service.h"

#include "device/launch_monitor.h"
#include "hip/allocation.h"
#include "hip/fidelity.h"
#include "hip/launch_file.h"
#include "profile/profile_monitor.h"
#include "sanitize/report_log.h"
#include "sanitize/sanitizer_monitor.h"
#include "support/format.h"
#include "support/json_lines.h"

namespace flyemu {
namespace {

/// Two observers as one.
class PairObserver : public Observer {
public:
  PairObserver(std::unique_ptr<Observer> first, std::unique_ptr<Observer> second)
      : first(std::move(first)), second(std::move(second)) {}

  void before(Wave &wave, const Instruction &inst) override {
    first->before(wave, inst);
    second->before(wave, inst);
  }
  void after(Wave &wave, const Instruction &inst) override {
    first->after(wave, inst);
    second->after(wave, inst);
  }
  void globalAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    first->globalAccess(wave, inst, access);
    second->globalAccess(wave, inst, access);
  }
  void ldsAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    first->ldsAccess(wave, inst, access);
    second->ldsAccess(wave, inst, access);
  }
  void barrier(WorkGroup &group) override {
    first->barrier(group);
    second->barrier(group);
  }

  std::unique_ptr<Observer> first;
  std::unique_ptr<Observer> second;
};

class PairMonitor : public LaunchMonitor {
public:
  PairMonitor(LaunchMonitor &first, LaunchMonitor &second) : first_(first), second_(second) {}

  void begin(const CodeObject &object, Program &program, const KernelMetadata &kernel,
             const LaunchGeometry &geometry, const LaunchState &state) override {
    first_.begin(object, program, kernel, geometry, state);
    second_.begin(object, program, kernel, geometry, state);
  }
  std::unique_ptr<Observer> observe(WorkGroup &group) override {
    return std::make_unique<PairObserver>(first_.observe(group), second_.observe(group));
  }
  void failed(const Wave &wave, const Instruction &inst, const Fault &fault) override {
    first_.failed(wave, inst, fault);
    second_.failed(wave, inst, fault);
  }
  void finished(WorkGroup &group, Observer &observer) override {
    auto &pair = static_cast<PairObserver &>(observer);
    first_.finished(group, *pair.first);
    second_.finished(group, *pair.second);
  }

private:
  LaunchMonitor &first_;
  LaunchMonitor &second_;
};

std::string reportsJson(const std::vector<Report> &reports) {
  std::string out = "[";
  for (const Report &report : reports)
    out += (out.size() > 1 ? ", " : "") + report.json();
  return out + "]";
}

/// The failure that ended the launch, then what was found besides.
std::string failureText(const std::string &failure, const std::vector<Report> &reports,
                        uint64_t dropped) {
  std::string out = failure;
  for (const Report &report : reports)
    if (failure.find(report.what) == std::string::npos)
      out += (out.empty() ? "" : "\n") + report.text();
  if (dropped != 0)
    out += format("\nand %llu findings at other places (FLYDSL_EMU_MAX_REPORTS keeps more)",
                  static_cast<unsigned long long>(dropped));
  return out;
}

} // namespace

void launchKernel(Module &module, const KernelMetadata &kernel, const LaunchGeometry &geometry,
                  const std::vector<uint8_t> &arguments, bool cooperative) {
  Runtime &runtime = Runtime::instance();
  LaunchOptions options = runtime.launchOptions();
  options.allGroupsResident = cooperative;
  if (const std::string folder = runtime.saveFolder(); !folder.empty())
    saveLaunch(folder, module, kernel, geometry, arguments, cooperative);
  const unsigned sanitizers = runtime.sanitizers();
  options.checkLds = (sanitizers & sanitizer::kMemory) != 0;
  ThreadErrors &results = threadErrors();
  results.reports = "[]";
  results.profile = 0;
  results.fidelity = fidelityJson(module, kernel);

  SanitizerMonitor checks(sanitizers, runtime.reportOptions());
  const Profiling profiling = runtime.profiling();
  ProfileMonitor profile(profiling == Profiling::Trace);
  PairMonitor both(checks, profile);
  LaunchMonitor *monitor = nullptr;
  if (sanitizers != 0)
    monitor = profiling != Profiling::Off ? static_cast<LaunchMonitor *>(&both) : &checks;
  else if (profiling != Profiling::Off)
    monitor = &profile;

  std::string failure;
  try {
    const auto memory = useMemory();
    runLaunch(*module.object, *module.program, kernel, geometry, arguments.data(), arguments.size(),
              options, monitor);
  } catch (const EmulatorError &error) {
    if (sanitizers == 0 || error.code() != hipErrorLaunchFailure)
      throw;
    failure = error.what();
  }
  if (profiling != Profiling::Off && failure.empty())
    results.profile = ProfileLog::instance().add(profile.take());
  uint64_t dropped = 0;
  const std::vector<Report> reports = checks.take(dropped);
  results.reports = reportsJson(reports);
  if (!reports.empty())
    appendJsonLine("FLYDSL_EMU_REPORT_FILE", [&] {
      return "{\"kernel\": " + jsonString(kernel.name) +
             ", \"arch\": " + jsonString(module.object->arch()) +
             format(", \"dropped\": %llu, \"reports\": ",
                    static_cast<unsigned long long>(dropped)) +
             results.reports + "}";
    });
  ReportLog::instance().add(reports);
  const bool raises = !reports.empty() && runtime.reportOptions().raises;
  if (raises || !failure.empty())
    throw EmulatorError(hipErrorLaunchFailure, failureText(failure, reports, dropped));
}

} // namespace flyemu
