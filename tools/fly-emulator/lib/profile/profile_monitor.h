// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "device/launch_monitor.h"
#include "profile/counters.h"

namespace flyemu {

/// Counts what a launch executes, for each instruction.
class ProfileMonitor : public LaunchMonitor {
public:
  void begin(const CodeObject &object, Program &program, const KernelMetadata &kernel,
             const LaunchGeometry &geometry, const LaunchState &state) override;
  std::unique_ptr<Observer> observe(WorkGroup &group) override;
  void finished(WorkGroup &group, Observer &observer) override;

  /// The whole launch, by class of instruction, and by source line.
  std::string json() const;

private:
  const CodeObject *object_ = nullptr;
  Program *program_ = nullptr;
  const KernelMetadata *kernel_ = nullptr;
  LaunchGeometry geometry_;
  uint32_t banks_ = 32;
  mutable std::mutex mutex_;
  std::map<const Instruction *, Counters> counters_;
};

} // namespace flyemu
