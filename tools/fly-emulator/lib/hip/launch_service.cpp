// SPDX-License-Identifier: Apache-2.0
#include "hip/launch_service.h"

#include <optional>

#include "device/launch_monitor.h"
#include "hip/allocation.h"
#include "hip/device_failure.h"
#include "hip/fidelity.h"
#include "hip/launch_file.h"
#include "predict/prediction_log.h"
#include "profile/profile_monitor.h"
#include "sanitize/coverage.h"
#include "sanitize/report_log.h"
#include "sanitize/sanitizer_monitor.h"
#include "support/format.h"
#include "support/json_lines.h"

namespace flyemu {
namespace {

/// Two observers as one; the second may be missing.
class PairObserver : public Observer {
public:
  PairObserver(std::unique_ptr<Observer> first, std::unique_ptr<Observer> second)
      : first(std::move(first)), second(std::move(second)) {}

  void before(Wave &wave, const Instruction &inst) override {
    first->before(wave, inst);
    if (second != nullptr)
      second->before(wave, inst);
  }
  void after(Wave &wave, const Instruction &inst) override {
    first->after(wave, inst);
    if (second != nullptr)
      second->after(wave, inst);
  }
  void globalAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    first->globalAccess(wave, inst, access);
    if (second != nullptr)
      second->globalAccess(wave, inst, access);
  }
  void ldsAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    first->ldsAccess(wave, inst, access);
    if (second != nullptr)
      second->ldsAccess(wave, inst, access);
  }
  void scratchAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    first->scratchAccess(wave, inst, access);
    if (second != nullptr)
      second->scratchAccess(wave, inst, access);
  }
  void barrier(WorkGroup &group) override {
    first->barrier(group);
    if (second != nullptr)
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
  bool needsOrder() const override { return first_.needsOrder() || second_.needsOrder(); }
  void failed(const Wave &wave, const Instruction &inst, const Fault &fault) override {
    first_.failed(wave, inst, fault);
    second_.failed(wave, inst, fault);
  }
  void finished(WorkGroup &group, Observer &observer) override {
    auto &pair = static_cast<PairObserver &>(observer);
    first_.finished(group, *pair.first);
    if (pair.second != nullptr)
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

/// What predicts the launch, if that is asked for; it chooses the workgroups to run and to record.
static std::shared_ptr<Predictor> makePredictor(const Module &module, const KernelMetadata &kernel,
                                                LaunchOptions &options) {
  const auto asked = Runtime::instance().prediction();
  if (asked == nullptr)
    return nullptr;
  PredictionOptions how = *asked;
  const std::string &arch = module.object->arch();
  if (how.device.name == nullptr) { // any: the best known of the code's architecture
    const DeviceModel *model = findDeviceModel(arch);
    if (model == nullptr)
      throw EmulatorError(hipErrorInvalidValue, "no device of " + arch + " has a model");
    how.device = *model;
  }
  if (how.device.arch != arch)
    throw EmulatorError(hipErrorInvalidValue,
                        format("a launch of code for %s is to be predicted for %s, a device of "
                               "another architecture",
                               arch.c_str(), how.device.name));
  auto predictor = std::make_shared<Predictor>(how);
  // Workgroups that wait for others need all of them.
  Polling flags(Polling::Memory::Global);
  flags.find(*module.program, module.object->entry(kernel));
  options.groupsWait = flags.any();
  predictor->recorder().setFlags(std::move(flags));
  if (how.sampled && !options.groupsWait) {
    options.nextBatch = [predictor] { return predictor->nextBatch(); };
    options.repeatBatch = [predictor] { return predictor->repeatBatch(); };
  } else {
    predictor->recorder().whenBegun([raw = predictor.get()] { raw->chooseUpFront(); });
  }
  return predictor;
}

static void runKernel(Module &module, const KernelMetadata &kernel, const LaunchGeometry &geometry,
                      const std::vector<uint8_t> &arguments, bool cooperative) {
  Runtime &runtime = Runtime::instance();
  LaunchOptions options = runtime.launchOptions();
  options.allGroupsResident = cooperative;
  options.othersWrite = sharesMemory();
  if (const std::string folder = runtime.saveFolder(); !folder.empty())
    saveLaunch(folder, module, kernel, geometry, arguments, cooperative);
  const unsigned sanitizers = runtime.sanitizers();
  options.checkLds = (sanitizers & sanitizer::kMemory) != 0;
  ThreadErrors &results = threadErrors();
  results.reports = "[]";
  results.profile = 0;
  results.fidelity = fidelityJson(module, kernel);

  results.prediction = "{}";
  results.predictionNumber = 0;
  const std::shared_ptr<Predictor> predictor = makePredictor(module, kernel, options);
  const Profiling profiling = runtime.profiling();
  if (predictor != nullptr &&
      (profiling != Profiling::Off || (sanitizers != 0 && predictor->options().sampled)))
    throw EmulatorError(hipErrorInvalidValue,
                        "a launch is predicted or profiled, not both, and a sampled one is not "
                        "checked by sanitizers");
  SanitizerMonitor checks(sanitizers, runtime.reportOptions());
  ProfileMonitor profile(profiling == Profiling::Trace);
  LaunchMonitor *counting = nullptr;
  if (predictor != nullptr)
    counting = &predictor->recorder();
  else if (profiling != Profiling::Off)
    counting = &profile;
  std::optional<PairMonitor> both;
  LaunchMonitor *monitor = counting;
  if (sanitizers != 0)
    monitor = counting != nullptr ? static_cast<LaunchMonitor *>(&both.emplace(checks, *counting))
                                  : &checks;

  std::string failure;
  try {
    const auto memory = useMemory();
    if ((sanitizers & sanitizer::kInit) == 0)
      MemoryMap::instance().noteAllWritten();
    runLaunch(*module.object, *module.program, kernel, geometry, arguments.data(), arguments.size(),
              options, monitor);
  } catch (const EmulatorError &error) {
    if (sanitizers == 0 ||
        (error.code() != hipErrorLaunchFailure && error.code() != hipErrorLaunchTimeOut))
      throw;
    failure = error.what();
  }
  if (profiling != Profiling::Off && failure.empty())
    results.profile = ProfileLog::instance().add(profile.take());
  if (predictor != nullptr && failure.empty()) {
    const Prediction prediction = predictor->predict();
    results.prediction = prediction.json();
    results.predictionNumber = PredictionLog::instance().add(results.prediction, prediction.trace);
    module.predictor = predictor;
  }
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
    throw EmulatorError(hipErrorLaunchFailure, failureText(failure, reports, dropped) + "\n" +
                                                   coverageText(sanitizers, module.object->arch()));
}

void launchKernel(Module &module, const KernelMetadata &kernel, const LaunchGeometry &geometry,
                  const std::vector<uint8_t> &arguments, bool cooperative) {
  requireUnfailed(module.device);
  try {
    runKernel(module, kernel, geometry, arguments, cooperative);
  } catch (const EmulatorError &error) {
    // A launch that could not begin leaves the device as it was, and so does the user's Ctrl-C.
    if (error.code() == hipErrorLaunchFailure || error.code() == hipErrorLaunchTimeOut)
      noteDeviceFailure(module.device, error.code(), error.what());
    throw;
  }
}

} // namespace flyemu
