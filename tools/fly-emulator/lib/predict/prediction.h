// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "predict/compute_unit.h"
#include "predict/device_model.h"
#include "predict/memory_model.h"
#include "predict/recording.h"

namespace flyemu {

/// How a launch is predicted.
struct PredictionOptions {
  DeviceModel device = {}; ///< without a name: the best known of the code's architecture
  /// Execute only the workgroups that the model wants: what the kernel computes is then incomplete.
  bool sampled = false;
  /// The launch's data are in the caches as far as they fit, from an earlier launch.
  bool warm = false;
  /// Keep the waves of the busiest compute unit over time.
  bool trace = false;
};

/// Cycles that waves waited, summed, by StallReason.
using Stalls = std::array<uint64_t, kStallReasons>;

/// The predicted time of a launch on a device, and what it is made of.
struct Prediction {
  std::string kernel;
  std::string device;
  double seconds = 0;
  double error = 0;       ///< relative: nine of ten calibrated timings lie within
  double clockGHz = 0;    ///< under the load of the kernel
  double unitCycles = 0;  ///< of the busiest compute unit
  double roundCycles = 0; ///< in which a compute unit replaces all of its workgroups
  double groupsPerUnit = 0;
  double issueCycles = 0;  ///< of all waves of the launch, each alone, from the detailed workgroups
  bool uniform = true;     ///< all workgroups (of the XCD) take the same time
  uint64_t xcd = 0;        ///< that was looked at
  bool xcdsDiffer = false; ///< it has more to do than others
  uint64_t groups = 0;
  uint64_t groupsExecuted = 0;
  uint64_t instructionsExecuted = 0;
  Occupancy occupancy;
  UnitRun run;
  MemoryTraffic traffic;
  std::array<double, kResources> busy = {}; ///< share of the time, by resource
  double atomicShare = 0; ///< of the time, that atomics on one line take, one after the other
  /// Microseconds that the launch would take by one bound alone: a resource that is never idle,
  /// "latency" (workgroups alone on their unit, one round after the other), "atomic" (on the one
  /// line that most are on), "launch" (no workgroups). "tail": the part of the time that is lost to
  /// a last round with less work.
  std::vector<std::pair<std::string, double>> bounds;
  std::vector<std::pair<std::string, Stalls>>
      stalledLines; ///< by source line or place, the most first
  std::vector<std::pair<InstructionName, Stalls>> stalledInstructions; ///< the most first
  /// Mean waves on a SIMD of the device, in equal parts of the launch's time.
  std::vector<double> occupancyOverTime;
  std::vector<std::pair<std::string, double>> constants; ///< fitted ones of the device
  std::shared_ptr<const UnitTrace> trace;                ///< null unless asked for

  /// The resource with the largest share, "atomic" if atomics on one line have a larger one, "tail"
  /// if more than half of the time is lost to it, or "latency" if no share is half of the time.
  std::string bound() const;
  std::string json() const;
};

/// When workgroups of a launch are on the device.
struct Schedule {
  struct Span {
    double begin, end; ///< cycles
    double groups;     ///< that it stands for
  };
  std::vector<Span> spans;
  double cycles = 0; ///< until the last workgroup ends
};

/// Chooses the workgroups of a launch that are executed and recorded, in batches; then predicts.
class Predictor {
public:
  explicit Predictor(const PredictionOptions &options) : options_(options) {}

  PathRecorder &recorder() { return recorder_; }
  /// The next workgroups to run, or none. Called between batches of a sampled launch.
  std::vector<uint64_t> nextBatch();
  /// The last batch has failed. If its matrix instructions were passed over, what failed may be
  /// what looks at their results (a loop that goes on for ever): it is to run again with them.
  bool repeatBatch();
  /// For a launch that runs all workgroups: which of them to record, once the recorder has begun.
  void chooseUpFront();

  const PredictionOptions &options() const { return options_; }
  /// Other constants for what comes.
  void setDevice(const DeviceModel &device) { options_.device = device; }

  /// Predict from what was recorded. May be called again, with other constants.
  Prediction predict();

private:
  enum class Stage : uint8_t { Sample, Detail, Residents, Done };

  uint64_t resident() const; ///< workgroups that the device holds at once
  void chooseBase();
  void chooseSample();
  void chooseXcd();
  void chooseDetail();
  void chooseResidents(uint64_t most);
  void chooseUnit();
  std::vector<RecordedPath *> find(const std::vector<uint64_t> &indices);
  Schedule listSchedule(double roundCycles, double aloneCycles, double meanLength) const;
  Schedule rounds(double working, double unitCycles) const;
  void describeStalls(Prediction &out);
  std::shared_ptr<const UnitTrace> makeTrace(UnitRun &run,
                                             const std::vector<const RecordedPath *> &paths);

  PredictionOptions options_;
  PathRecorder recorder_;
  Stage stage_ = Stage::Sample;
  size_t before_ = 0; ///< groups that were recorded before the last batch
  uint64_t base_ = 0;
  bool upFront_ = false;
  uint64_t xcd_ = 0;        ///< whose workgroups stand for the launch
  bool xcdsDiffer_ = false; ///< by what their workgroups have to do
  double memoryPart_ = 1;   ///< of what memory gives an XCD on average, how much this one asks for
  std::vector<uint64_t> sample_, detail_, residents_, others_;
};

} // namespace flyemu
