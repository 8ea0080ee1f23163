// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/launch.h"

namespace flyemu {

/// Watches one launch: hands out an observer for each workgroup and collects what they found.
class LaunchMonitor {
public:
  virtual ~LaunchMonitor() = default;

  virtual void begin(const CodeObject &object, Program &program, const KernelMetadata &kernel,
                     const LaunchGeometry &geometry, const LaunchState &state) = 0;
  /// Called on the thread that runs the group, before its first instruction. May be null.
  virtual std::unique_ptr<Observer> observe(WorkGroup &group) = 0;
  /// The group's waves have ended; `observer` is what observe() gave.
  virtual void finished(WorkGroup &group, Observer &observer) = 0;
  /// Does it have to see accesses that synchronise workgroups in the order in which they happen?
  /// The groups of kernels that have such then run on one thread.
  virtual bool needsOrder() const { return false; }
  /// A wave fails at an instruction: the launch ends with it.
  virtual void failed(const Wave &wave, const Instruction &inst, const Fault &fault) = 0;
};

} // namespace flyemu
