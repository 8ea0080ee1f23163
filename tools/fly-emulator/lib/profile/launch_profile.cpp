// SPDX-License-Identifier: Apache-2.0
#include "profile/launch_profile.h"

#include <algorithm>

#include "support/format.h"

namespace flyemu {
namespace {

unsigned long long number(uint64_t value) { return static_cast<unsigned long long>(value); }

std::string objectJson(const std::map<std::string, Counters> &map) {
  std::string out = "{";
  for (const auto &[key, counters] : map)
    out += (out.size() > 1 ? ", " : "") + jsonString(key) + ": " + counters.json();
  return out + "}";
}

std::string occupancyJson(const Occupancy &o) {
  return format("{\"waves_per_simd\": %u, \"groups_per_compute_unit\": %u, \"limited_by\": \"%s\", "
                "\"waves_by_vgpr\": %u, \"waves_by_sgpr\": %u, \"waves_by_lds\": %u}",
                o.waves, o.groups, o.limit, o.byVectorRegisters, o.byScalarRegisters, o.byLds);
}

std::string loopJson(const LoopProfile &loop) {
  return "{\"location\": " + jsonString(loop.location) +
         ", \"source\": " + jsonString(loop.source) +
         format(", \"code_bytes\": %llu, \"iterations\": %llu, \"depth\": %u, \"innermost\": %s, "
                "\"mfma_issue_share\": %.4f, \"mfma_issue_bound\": %.4f, "
                "\"timeline_cycles\": %llu, \"timeline_stalled\": %llu, \"total\": ",
                number(loop.codeBytes), number(loop.iterations), loop.depth,
                loop.innermost ? "true" : "false", loop.counters.matrixShare(),
                loop.counters.matrixBound(), number(loop.elapsed), number(loop.stalled)) +
         loop.counters.json() + "}";
}

std::string timelineJson(const LaunchProfile &profile) {
  const Timeline &t = profile.timeline;
  std::string out = "{\"device\": " + jsonString(t.device) +
                    format(", \"cycles\": %llu, \"groups\": %u, \"waves\": %u, \"truncated\": %s",
                           number(t.cycles), t.groups, t.waves, t.truncated ? "true" : "false");
  out += ", \"busy\": {";
  for (size_t i = static_cast<size_t>(Resource::Scalar); i < kResources; ++i) {
    const auto resource = static_cast<Resource>(i);
    const char *name = resource == Resource::L1 ? "memory" : resourceName(resource);
    out += format("%s\"%s\": %.4f", resource == Resource::Scalar ? "" : ", ", name, t.busy[i]);
  }
  out += "}, \"stalled\": {";
  for (size_t r = 1; r < kStallReasons; ++r)
    out += format("%s\"%s\": %llu", r == 1 ? "" : ", ", stallName(static_cast<StallReason>(r)),
                  number(t.stalls[r]));
  return out + "}}";
}

} // namespace

uint64_t LaunchProfile::estimatedCycles() const {
  if (timeline.groups == 0)
    return 0;
  const uint64_t atOnce = uint64_t{std::max(1U, occupancy.groups)} * computeUnits;
  return timeline.cycles * ((geometry.groupCount() + atOnce - 1) / atOnce);
}

std::string LaunchProfile::json(uint64_t launch) const {
  Counters total;
  std::map<std::string, Counters> classes;
  std::map<std::string, Counters> lines;
  for (const InstructionProfile &inst : instructions) {
    total.add(inst.counters);
    classes[inst.cls].add(inst.counters);
    lines[inst.source.empty() ? "?" : inst.source].add(inst.counters);
  }
  std::string out = launch == 0 ? "{" : format("{\"launch\": %llu, ", number(launch));
  out += "\"emulated\": true, \"estimates\": [\"transactions\", \"lds_conflict_cycles\", "
         "\"issue_cycles\", \"mfma_cycles\", \"slot_cycles\", \"estimated_cycles\", \"timeline\"]";
  out += std::string(", \"assumed\": [") + (phasesAssumed ? "\"lds_phases\"" : "") + "]";
  out += ", \"kernel\": " + jsonString(kernel) + ", \"arch\": " + jsonString(arch);
  out += format(", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u]", geometry.groups[0],
                geometry.groups[1], geometry.groups[2], geometry.groupSize[0],
                geometry.groupSize[1], geometry.groupSize[2]);
  out += format(", \"registers\": {\"vgpr\": %u, \"agpr\": %u, \"sgpr\": %u, \"vgpr_spills\": %u, "
                "\"sgpr_spills\": %u}, \"lds_bytes\": %u, \"scratch_bytes\": %u, "
                "\"code_bytes\": %llu",
                vgprs, agprs, sgprs, vgprSpills, sgprSpills, ldsBytes, scratchBytes,
                number(codeBytes));
  out += format(", \"device\": {\"compute_units\": %u, \"simds\": %u, \"clock_hz\": %llu}",
                computeUnits, kSimds, number(uint64_t{clockKHz} * 1000));
  out += ", \"occupancy\": " + occupancyJson(occupancy);
  out += format(", \"mfma_issue_share\": %.4f, \"mfma_issue_bound\": %.4f, "
                "\"estimated_cycles\": %llu",
                total.matrixShare(), total.matrixBound(), number(estimatedCycles()));
  out += ", \"total\": " + total.json() + ", \"classes\": " + objectJson(classes) +
         ", \"lines\": " + objectJson(lines) + ", \"loops\": [";
  for (const LoopProfile &loop : loops)
    out += (&loop == loops.data() ? "" : ", ") + loopJson(loop);
  out += "], \"timeline\": " + timelineJson(*this) + ", \"instructions\": [";
  for (size_t i = 0; i < instructions.size(); ++i) {
    const InstructionProfile &inst = instructions[i];
    out += format("%s{\"address\": %llu, \"text\": ", i == 0 ? "" : ", ", number(inst.address)) +
           jsonString(inst.text) + ", \"source\": " + jsonString(inst.source) +
           ", \"class\": " + jsonString(inst.cls) + ", \"unit\": " + jsonString(inst.unit) +
           format(", \"timeline_cycles\": %llu, \"timeline_stalled\": %llu, \"total\": ",
                  number(timeline.elapsedAt[i]), number(timeline.stalledAt[i])) +
           inst.counters.json() + "}";
  }
  return out + "]}";
}

} // namespace flyemu
