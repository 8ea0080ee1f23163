// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "code_object/code_object.h"
#include "device/memory_map.h"
#include "execute/wave.h"

namespace flyemu {

class Program;
class LaunchMonitor;

/// What a launch needs to know besides the kernel.
struct LaunchOptions {
  uint64_t seed = 0;             ///< 0: waves in program order, each as far as it goes
  uint64_t instructionLimit = 0; ///< a wave
  unsigned threads = 1;
  uint64_t seconds = 0;         ///< the longest that it may take; 0 for no limit
  uint32_t readGranularity = 1; ///< reads reach to the next multiple of it
  bool checkLds = false;
  bool othersWrite = false;       ///< other processes may write what the kernel reads
  bool allGroupsResident = false; ///< cooperative: every workgroup makes progress
  bool groupsWait = false;        ///< workgroups poll flags of others, which get their turn soon
  /// Run only some workgroups: asked for batches until one is empty. Null runs all of them.
  std::function<std::vector<uint64_t>()> nextBatch;
  /// A batch has failed: whether to run it once more.
  std::function<bool()> repeatBatch;
};

struct LaunchGeometry {
  uint32_t groups[3] = {1, 1, 1};
  uint32_t groupSize[3] = {1, 1, 1};
  uint32_t dynamicLds = 0;
  uint32_t cluster[3] = {}; ///< workgroups of a cluster; zeros: what the kernel was compiled for

  uint64_t groupCount() const { return uint64_t{groups[0]} * groups[1] * groups[2]; }
  uint32_t threads() const { return groupSize[0] * groupSize[1] * groupSize[2]; }
};

/// The kernarg segment of a launch: explicit arguments and the hidden ones that the metadata asks
/// for. `explicitBytes` are copied to its start.
std::vector<uint8_t> buildKernarg(const KernelMetadata &kernel, const LaunchGeometry &geometry,
                                  const LaunchState &state, const void *explicitBytes,
                                  size_t explicitSize);

/// Bytes of the explicit arguments.
size_t explicitKernargSize(const KernelMetadata &kernel);

/// Run a kernel to its end. Throws EmulatorError with a full report (hipErrorLaunchFailure) if a
/// wave fails, and for resources that the architecture hasn't got (hipErrorInvalidConfiguration,
/// hipErrorInvalidValue). `monitor` (may be null) makes observers and takes their results.
void runLaunch(const CodeObject &object, Program &program, const KernelMetadata &kernel,
               const LaunchGeometry &geometry, const void *kernarg, size_t kernargSize,
               const LaunchOptions &options, LaunchMonitor *monitor);

} // namespace flyemu
