// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_monitor.h"

#include <unordered_map>

#include "device/architecture.h"
#include "execute/program.h"
#include "support/format.h"

namespace flyemu {
namespace {

class ProfileObserver : public Observer {
public:
  explicit ProfileObserver(uint32_t banks) : banks_(banks) {}

  void before(Wave &wave, const Instruction &inst) override {
    Counters &c = counters[&inst];
    ++c.instructions;
    c.lanes += static_cast<uint64_t>(__builtin_popcountll(wave.exec()));
    c.issueCycles += issueCycles(inst);
  }
  void after(Wave &, const Instruction &) override {}
  void globalAccess(Wave &, const Instruction &inst, const LaneAccess &access) override {
    Counters &c = counters[&inst];
    const auto lanes = static_cast<uint64_t>(__builtin_popcountll(access.lanes));
    if (access.kind != AccessKind::Store)
      c.bytesLoaded += lanes * access.bytes;
    if (access.kind != AccessKind::Load)
      c.bytesStored += lanes * access.bytes;
    c.transactions += memorySegments(access.address, access.lanes, access.bytes);
  }
  void ldsAccess(Wave &, const Instruction &inst, const LaneAccess &access) override {
    Counters &c = counters[&inst];
    ++c.ldsAccesses;
    c.ldsBytes += static_cast<uint64_t>(__builtin_popcountll(access.lanes)) * access.bytes;
    c.ldsConflictCycles += ldsConflicts(access.address, access.lanes, access.bytes,
                                        access.kind == AccessKind::Load, banks_);
  }
  void barrier(WorkGroup &) override {}

  std::unordered_map<const Instruction *, Counters> counters;

private:
  const uint32_t banks_;
};

std::string countersJson(const Counters &c) {
  const auto n = [](uint64_t v) { return static_cast<unsigned long long>(v); };
  return format("{\"instructions\": %llu, \"lanes\": %llu, \"bytes_loaded\": %llu, "
                "\"bytes_stored\": %llu, \"transactions\": %llu, \"lds_bytes\": %llu, "
                "\"lds_accesses\": %llu, \"lds_conflict_cycles\": %llu, \"issue_cycles\": %llu}",
                n(c.instructions), n(c.lanes), n(c.bytesLoaded), n(c.bytesStored),
                n(c.transactions), n(c.ldsBytes), n(c.ldsAccesses), n(c.ldsConflictCycles),
                n(c.issueCycles));
}

template <typename Map> std::string objectJson(const Map &map) {
  std::string out = "{";
  for (const auto &[key, counters] : map)
    out += (out.size() > 1 ? ", " : "") + jsonString(key) + ": " + countersJson(counters);
  return out + "}";
}

} // namespace

void ProfileMonitor::begin(const CodeObject &object, Program &program, const KernelMetadata &kernel,
                           const LaunchGeometry &geometry, const LaunchState &) {
  object_ = &object;
  program_ = &program;
  kernel_ = &kernel;
  geometry_ = geometry;
  banks_ = findArchitecture(object.arch())->ldsBanks;
}

std::unique_ptr<Observer> ProfileMonitor::observe(WorkGroup &) {
  return std::make_unique<ProfileObserver>(banks_);
}

void ProfileMonitor::finished(WorkGroup &, Observer &observer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto &[inst, counters] : static_cast<ProfileObserver &>(observer).counters)
    counters_[inst].add(counters);
}

std::string ProfileMonitor::json() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Counters total;
  std::map<std::string, Counters> classes;
  std::map<std::string, Counters> lines;
  for (const auto &[inst, counters] : counters_) {
    total.add(counters);
    classes[opClassName(inst->opcode->cls)].add(counters);
    const std::string line = object_->sourceLine(program_->elfAddress(*inst));
    lines[line.empty() ? "?" : line].add(counters);
  }
  const uint64_t matrix = classes["mfma"].issueCycles;
  std::string out = "{\"emulated\": true, \"estimates\": [\"transactions\", \"issue_cycles\", "
                    "\"lds_conflict_cycles\"]";
  if (banks_ == 32)
    out += ", \"assumed\": [\"lds_phases\"]";
  out +=
      ", \"kernel\": " + jsonString(kernel_->name) + ", \"arch\": " + jsonString(object_->arch());
  out += format(", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u]", geometry_.groups[0],
                geometry_.groups[1], geometry_.groups[2], geometry_.groupSize[0],
                geometry_.groupSize[1], geometry_.groupSize[2]);
  out += format(", \"registers\": {\"vgpr\": %u, \"agpr\": %u, \"sgpr\": %u, \"vgpr_spills\": %u, "
                "\"sgpr_spills\": %u}, \"lds_bytes\": %u, \"scratch_bytes\": %u",
                kernel_->vgprCount, kernel_->agprCount, kernel_->sgprCount, kernel_->vgprSpills,
                kernel_->sgprSpills, kernel_->groupSegmentSize + geometry_.dynamicLds,
                kernel_->privateSegmentSize);
  out += format(", \"mfma_issue_share\": %.4f",
                total.issueCycles == 0
                    ? 0.0
                    : static_cast<double>(matrix) / static_cast<double>(total.issueCycles));
  return out + ", \"total\": " + countersJson(total) + ", \"classes\": " + objectJson(classes) +
         ", \"lines\": " + objectJson(lines) + "}";
}

} // namespace flyemu
