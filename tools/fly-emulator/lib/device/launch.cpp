// SPDX-License-Identifier: Apache-2.0
#include "device/launch.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "device/architecture.h"
#include "device/cluster_run.h"
#include "device/launch_monitor.h"
#include "device/launch_watch.h"
#include "execute/global_sync.h"
#include "execute/lane_tables.h"
#include "execute/program.h"
#include "support/error.h"
#include "support/format.h"

namespace flyemu {
namespace {

/// The HSA dispatch packet, which kernels may read through a user SGPR.
struct DispatchPacket {
  uint16_t header;
  uint16_t setup;
  uint16_t groupSize[3];
  uint16_t reserved0;
  uint32_t gridSize[3];
  uint32_t privateSegmentSize;
  uint32_t groupSegmentSize;
  uint64_t kernelObject;
  uint64_t kernargAddress;
  uint64_t reserved1;
  uint64_t completionSignal;
};
static_assert(sizeof(DispatchPacket) == 64, "an AQL packet has 64 bytes");

void checkGeometry(const KernelMetadata &kernel, const LaunchGeometry &g,
                   const Architecture &architecture, uint32_t lds) {
  const auto refuse = [&](hipError_t code, const std::string &what) {
    throw EmulatorError(code, "launch of " + kernel.name + ": " + what);
  };
  for (unsigned i = 0; i < 3; ++i) {
    if (g.groups[i] == 0 || g.groupSize[i] == 0)
      refuse(hipErrorInvalidConfiguration, "the grid or the block has an extent of zero");
    if (g.groupSize[i] > 1024)
      refuse(hipErrorInvalidConfiguration,
             format("a block extent of %u; the most is 1024", g.groupSize[i]));
  }
  const uint64_t threads = uint64_t{g.groupSize[0]} * g.groupSize[1] * g.groupSize[2];
  if (threads > 1024 || threads > kernel.maxFlatWorkgroupSize)
    refuse(hipErrorInvalidConfiguration,
           format("%llu threads a block; the kernel was compiled for at most %u",
                  static_cast<unsigned long long>(threads), kernel.maxFlatWorkgroupSize));
  if (lds > architecture.ldsBytes)
    refuse(hipErrorInvalidValue,
           format("%u bytes of LDS (%u static, %u dynamic); %s has %u", lds,
                  kernel.groupSegmentSize, g.dynamicLds, architecture.name, architecture.ldsBytes));
}

void checkDescriptor(const KernelMetadata &kernel, const KernelDescriptor &descriptor,
                     const Architecture &architecture) {
  if (descriptor.wave32() && architecture.generation < 10)
    throw EmulatorError(hipErrorInvalidImage, kernel.name +
                                                  " is compiled for waves of 32 lanes, which " +
                                                  architecture.name + " does not have");
  // COMPUTE_PGM_RSRC3.TG_SPLIT: the waves of a workgroup on several compute units, without LDS, and
  // with vector caches that a barrier says nothing about.
  constexpr uint32_t kThreadgroupSplit = 1U << 16;
  if (architecture.generation < 10 && (descriptor.computePgmRsrc3 & kThreadgroupSplit) != 0)
    throw EmulatorError(hipErrorNotSupported,
                        kernel.name + " is compiled for workgroups that are split over compute "
                                      "units (-mtgsplit), which is not modelled: compile it "
                                      "without");
}

/// Workgroups of a cluster: as the launch says, or the kernel.
void setCluster(const KernelMetadata &kernel, const LaunchGeometry &geometry,
                const Architecture &architecture, LaunchPlan &plan) {
  const bool given = geometry.cluster[0] != 0;
  const uint32_t *extents = given ? geometry.cluster : kernel.clusterDims;
  if (extents[0] == 0)
    return;
  const uint64_t groups = uint64_t{extents[0]} * extents[1] * extents[2];
  const auto refuse = [&](const std::string &why) {
    throw EmulatorError(hipErrorInvalidConfiguration,
                        format("launch of %s in clusters of %u x %u x %u workgroups: ",
                               kernel.name.c_str(), extents[0], extents[1], extents[2]) +
                            why);
  };
  if (architecture.generation < 13 && groups != 1)
    refuse(std::string(architecture.name) + " has no clusters");
  if (groups == 0 || groups > Cluster::kMost)
    refuse(format("a cluster has 1 to %u workgroups", Cluster::kMost));
  for (unsigned i = 0; i < 3; ++i) {
    if (geometry.groups[i] % extents[i] != 0)
      refuse(format("a grid of %u x %u x %u is no multiple of that", geometry.groups[0],
                    geometry.groups[1], geometry.groups[2]));
    plan.cluster[i] = extents[i];
  }
}

/// Hardware reads v0 or s0 in place of a register that the kernel has not been given, and drops
/// writes to it; no compiler means that.
void checkRegisters(Program &program, const KernelMetadata &kernel,
                    const KernelDescriptor &descriptor, uint32_t generation, uint64_t entry) {
  const uint32_t total = descriptor.vectorRegisters(generation);
  const uint32_t vgprs = descriptor.plainVectorRegisters(generation);
  const uint32_t sgprs = descriptor.scalarRegisters(generation);
  const Instruction *inst = program.beyondRegisters(entry, vgprs, total - vgprs, sgprs);
  if (inst == nullptr)
    return;
  throw EmulatorError(
      hipErrorInvalidImage,
      format("launch of %s: it uses a register beyond the %u VGPRs, %u AccVGPRs and %u SGPRs of "
             "its descriptor\n  at %s: %s",
             kernel.name.c_str(), vgprs, total - vgprs, sgprs,
             program.location(program.elfAddress(*inst)).c_str(),
             program.disassemble(*inst).c_str()));
}

/// Of the process: what tells launches apart, and the clock that goes on from one to the next.
std::atomic<uint64_t> launchCount{0};
std::atomic<uint64_t> realTime{0};

/// Hands out workgroups (clusters of them), and takes back those that have had their turn without
/// ending, so that a group that spins on another's result lets the other run.
class GroupQueue {
public:
  /// `chosen`: the workgroups to run; null for all.
  GroupQueue(const LaunchPlan &plan, const std::vector<uint64_t> *chosen)
      : plan_(plan), chosen_(chosen),
        count_(chosen != nullptr ? chosen->size() : ClusterRun::count(plan)) {}

  bool takeNew(uint64_t &index) {
    const uint64_t next = next_.fetch_add(1);
    if (next >= count_)
      return false;
    index = chosen_ != nullptr ? (*chosen_)[next]
                               : WaveOrder::groupAt(plan_.options.seed, next, count_);
    return true;
  }
  void putBack(std::unique_ptr<ClusterRun> run) {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(std::move(run));
  }
  /// The group that has waited longest. While there are new ones: only if many wait already.
  std::unique_ptr<ClusterRun> takeBack(bool anyNumber) {
    constexpr size_t kResident = 256;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (waiting_.empty() || (!anyNumber && waiting_.size() < kResident))
      return nullptr;
    std::unique_ptr<ClusterRun> run = std::move(waiting_.front());
    waiting_.pop_front();
    return run;
  }
  void fail(const EmulatorError &error, uint64_t order) {
    const std::lock_guard<std::mutex> lock(mutex_);
    // The error of the lowest group, whatever thread was first.
    if (!failed_.load() || order < order_) {
      error_ = std::make_unique<EmulatorError>(error);
      order_ = order;
    }
    failed_ = true;
  }
  void finished(const ClusterRun &run) {
    uint64_t longest = longest_.load();
    while (longest < run.longestWave() &&
           !longest_.compare_exchange_weak(longest, run.longestWave())) {
    }
  }
  uint64_t longestWave() const { return longest_.load(); }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  const EmulatorError *error() const { return error_.get(); }

private:
  const LaunchPlan &plan_;
  const std::vector<uint64_t> *chosen_;
  const uint64_t count_;
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::atomic<uint64_t> longest_{0};
  std::mutex mutex_;
  std::deque<std::unique_ptr<ClusterRun>> waiting_;
  std::unique_ptr<EmulatorError> error_;
  uint64_t order_ = 0;
};

/// How long a group runs before others get a turn.
uint64_t quantumOf(const LaunchPlan &plan) {
  constexpr uint64_t kSpinning = uint64_t{1} << 24;
  // A group that is known to wait for others soon lets the one run that it waits for.
  constexpr uint64_t kSoon = uint64_t{1} << 18;
  if (plan.monitor != nullptr && plan.monitor->needsOrder() &&
      plan.program->synchronises(plan.object->entry(*plan.kernel)))
    return std::min(kSoon, plan.options.allGroupsResident ? uint64_t{1} << 16 : kSpinning);
  if (plan.options.allGroupsResident)
    return uint64_t{1} << 16;
  return plan.options.groupsWait ? kSoon : kSpinning;
}

void work(const LaunchPlan &plan, GroupQueue &queue) {
  const uint64_t quantum = quantumOf(plan);
  std::unique_ptr<ClusterRun> spare;
  uint64_t index = 0;
  try {
    while (!queue.failed()) {
      std::unique_ptr<ClusterRun> run =
          plan.options.allGroupsResident ? nullptr : queue.takeBack(false);
      if (run != nullptr) {
        // a turn for a group that has waited
      } else if (queue.takeNew(index)) {
        run = spare != nullptr ? std::move(spare) : std::make_unique<ClusterRun>(plan);
        run->start(index);
      } else {
        run = queue.takeBack(true);
        if (run == nullptr)
          return;
      }
      if (run->advance(quantum)) {
        queue.finished(*run);
        run->tellEnded(*plan.livelock);
        spare = std::move(run);
      } else {
        queue.putBack(std::move(run));
      }
    }
  } catch (const EmulatorError &error) {
    queue.fail(error, index);
  } catch (const std::bad_alloc &) {
    queue.fail(EmulatorError(hipErrorOutOfMemory, "out of host memory while running a kernel"),
               index);
  }
}

void runGroups(const LaunchPlan &plan, unsigned threads, const std::vector<uint64_t> *chosen) {
  GroupQueue queue(plan, chosen);
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < threads; ++i)
    helpers.emplace_back([&] { work(plan, queue); });
  work(plan, queue);
  for (std::thread &helper : helpers)
    helper.join();
  realTime += queue.longestWave();
  if (queue.error() != nullptr)
    throw EmulatorError(*queue.error());
}

/// Beside each range one that reaches further, for reading only.
void allowWideReads(std::vector<MemoryRange> &ranges, uint64_t granularity) {
  if (granularity <= 1)
    return;
  const size_t count = ranges.size();
  for (size_t i = 0; i < count; ++i) {
    MemoryRange wider = ranges[i];
    wider.end = (wider.end + granularity - 1) / granularity * granularity;
    if (wider.end == ranges[i].end)
      continue;
    wider.writable = false;
    ranges.push_back(std::move(wider));
  }
}

uint32_t scratchOf(const KernelMetadata &kernel, const KernelDescriptor &descriptor) {
  constexpr uint32_t kDynamicStack = 16 * 1024;
  const bool dynamic = kernel.usesDynamicStack || descriptor.usesDynamicStack();
  uint32_t bytes = kernel.privateSegmentSize + (dynamic ? kDynamicStack : 0U);
  return (bytes + 15U) / 16U * 16U;
}

} // namespace

void runLaunch(const CodeObject &object, Program &program, const KernelMetadata &kernel,
               const LaunchGeometry &geometry, const void *kernarg, size_t kernargSize,
               const LaunchOptions &options, LaunchMonitor *monitor) {
  const Architecture &architecture = *findArchitecture(object.arch());
  LaunchPlan plan;
  plan.object = &object;
  plan.program = &program;
  plan.kernel = &kernel;
  plan.descriptor = object.descriptor(kernel);
  plan.geometry = geometry;
  plan.options = options;
  plan.ldsBytes = kernel.groupSegmentSize + geometry.dynamicLds;
  checkGeometry(kernel, geometry, architecture, plan.ldsBytes);
  checkDescriptor(kernel, plan.descriptor, architecture);
  plan.scratchBytes = scratchOf(kernel, plan.descriptor);
  plan.lanes = plan.descriptor.lanes();
  plan.waves = (geometry.threads() + plan.lanes - 1) / plan.lanes;
  setCluster(kernel, geometry, architecture, plan);

  // Kernels read their arguments and the packet like any memory.
  DispatchPacket packet = {};
  packet.setup = 3;
  for (unsigned i = 0; i < 3; ++i) {
    packet.groupSize[i] = static_cast<uint16_t>(geometry.groupSize[i]);
    packet.gridSize[i] = geometry.groups[i] * geometry.groupSize[i];
  }
  packet.privateSegmentSize = plan.scratchBytes;
  packet.groupSegmentSize = plan.ldsBytes;
  std::vector<uint8_t> queue(256);
  plan.state.program = &program;
  GlobalSync globalSync;
  plan.state.globalSync = &globalSync;
  plan.state.helpers = &laneTable().helpers;
  plan.state.ocpFloat8 = architecture.ocpFloat8;
  plan.state.generation = architecture.generation;
  plan.state.checkLds = options.checkLds;
  plan.state.instructionLimit = options.instructionLimit;
  plan.state.realTime = realTime.load();
  plan.dispatchId = ++launchCount;
  std::vector<uint8_t> arguments = buildKernarg(kernel, geometry, plan.state, kernarg, kernargSize);
  // Nothing else may lie right behind them: reads past the end are told from reads of a neighbour.
  constexpr size_t kBehindArguments = 64;
  const size_t argumentBytes = arguments.size();
  arguments.resize(argumentBytes + kBehindArguments);
  packet.kernargAddress = reinterpret_cast<uint64_t>(arguments.data());
  plan.kernarg = arguments.data();
  plan.kernargSize = argumentBytes;
  plan.state.arguments = packet.kernargAddress;
  plan.state.argumentBytes = std::max<uint64_t>(kernel.kernargSize, kernargSize);
  plan.dispatchPacket = &packet;
  plan.queue = queue.data();

  const std::shared_ptr<const MemoryView> allocated = MemoryMap::instance().view();
  std::vector<MemoryRange> ranges = allocated->ranges();
  allowWideReads(ranges, options.readGranularity);
  const auto internal = [&](const void *begin, size_t bytes, const char *name) {
    MemoryRange range;
    range.begin = reinterpret_cast<uint64_t>(begin);
    range.end = range.begin + bytes;
    range.writable = false;
    range.kind = MemoryKind::Internal;
    range.name = name;
    if (bytes != 0)
      ranges.push_back(range);
  };
  internal(arguments.data(), argumentBytes, "kernel arguments");
  internal(&packet, sizeof packet, "dispatch packet");
  internal(queue.data(), queue.size(), "queue");
  const MemoryView memory(std::move(ranges), allocated->freed());
  plan.state.memory = &memory;

  const uint64_t entry = object.entry(kernel);
  plan.entry = program.at(reinterpret_cast<uint64_t>(object.base()) + entry);
  if (plan.entry == nullptr)
    throw EmulatorError(hipErrorInvalidImage, kernel.name + ": its entry point is no instruction");
  checkRegisters(program, kernel, plan.descriptor, architecture.generation, entry);
  if (monitor != nullptr) {
    plan.monitor = monitor;
    monitor->begin(object, program, kernel, geometry, plan.state);
  }
  const LaunchWatch watch(options.seconds);
  plan.watch = &watch;
  // The host's threads get their time to write what the kernel waits for.
  const auto certain = [&watch] {
    constexpr double kCertain = 5; // seconds
    return watch.elapsedSeconds() >= kCertain && LaunchWatch::alone();
  };
  const auto run = [&](unsigned threads, const std::vector<uint64_t> *chosen) {
    const uint64_t all = geometry.groupCount();
    const uint64_t inCluster = all / ClusterRun::count(plan);
    LivelockWatch livelock(chosen != nullptr ? chosen->size() * inCluster : all, certain);
    livelock.alone = chosen != nullptr && !options.groupsWait && inCluster == 1;
    livelock.possible = !options.othersWrite;
    plan.livelock = &livelock;
    runGroups(plan, threads, chosen);
  };
  // Atomics whose result shows the order of workgroups: one order, on one thread.
  const uint64_t most = std::min<uint64_t>(options.threads, geometry.groupCount());
  const bool ordered =
      most > 1 && (program.dependsOnOrder(entry) ||
                   (monitor != nullptr && monitor->needsOrder() && program.synchronises(entry)));
  const unsigned threads = ordered ? 1 : static_cast<unsigned>(most);
  if (!options.nextBatch) {
    run(threads, nullptr);
    return;
  }
  for (std::vector<uint64_t> batch = options.nextBatch(); !batch.empty();
       batch = options.nextBatch()) {
    // Workgroups of one cluster run together.
    if (ClusterRun::count(plan) != geometry.groupCount()) {
      for (uint64_t &group : batch)
        group = ClusterRun::clusterOf(plan, group);
      std::sort(batch.begin(), batch.end());
      batch.erase(std::unique(batch.begin(), batch.end()), batch.end());
    }
    try {
      run(threads, &batch);
    } catch (const EmulatorError &error) {
      if (error.code() != hipErrorLaunchFailure || !options.repeatBatch || !options.repeatBatch())
        throw;
      run(threads, &batch);
    }
  }
}

} // namespace flyemu
