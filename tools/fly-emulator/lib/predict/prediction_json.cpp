// SPDX-License-Identifier: Apache-2.0
#include "predict/prediction.h"

#include <numeric>

#include "support/format.h"

namespace flyemu {

static std::string stallsJson(const Stalls &stalls, bool zeros) {
  std::string out = "{";
  for (size_t r = 1; r < kStallReasons; ++r)
    if (zeros || stalls[r] != 0)
      out += format("%s\"%s\": %llu", out.size() == 1 ? "" : ", ",
                    stallName(static_cast<StallReason>(r)),
                    static_cast<unsigned long long>(stalls[r]));
  return out + "}";
}

std::string Prediction::json() const {
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  std::string out = "{\"predicted\": true, \"kernel\": " + jsonString(kernel) +
                    ", \"device\": " + jsonString(device);
  out += format(", \"time_us\": %.4f, \"error\": %.3f, \"bound\": \"%s\", \"clock_ghz\": %.4f, "
                "\"unit_cycles\": %.1f, \"round_cycles\": %.1f, \"groups\": %llu, "
                "\"groups_per_unit\": %.3f, \"uniform\": %s, \"xcd\": %llu, "
                "\"xcds_differ\": %s, \"groups_executed\": %llu, "
                "\"instructions_executed\": %llu, \"issue_cycles\": %.0f",
                seconds * 1e6, error, bound().c_str(), clockGHz, unitCycles, roundCycles,
                number(groups), groupsPerUnit, uniform ? "true" : "false", number(xcd),
                xcdsDiffer ? "true" : "false", number(groupsExecuted), number(instructionsExecuted),
                issueCycles);
  out += format(", \"occupancy\": {\"waves_per_simd\": %u, \"groups_per_compute_unit\": %u, "
                "\"limited_by\": \"%s\"}",
                occupancy.waves, occupancy.groups, occupancy.limit);
  out += ", \"busy\": {";
  for (size_t i = 0; i < kResources; ++i)
    out += format("%s\"%s\": %.4f", i == 0 ? "" : ", ", resourceName(static_cast<Resource>(i)),
                  busy[i]);
  out += "}, \"bounds_us\": {";
  for (const auto &[name, microseconds] : bounds)
    out += (name == bounds.front().first ? "" : ", ") + jsonString(name) +
           format(": %.4f", microseconds);
  out += "}, \"occupancy_over_time\": [";
  for (size_t i = 0; i < occupancyOverTime.size(); ++i)
    out += format("%s%.4f", i == 0 ? "" : ", ", occupancyOverTime[i]);
  out += "], \"stalled\": " + stallsJson(run.stalls, true);
  constexpr const char *kNames[kLevels] = {"l1",
                                           "l2",
                                           "mall",
                                           "hbm",
                                           "l2_behind_mall",
                                           "l2_behind_hbm",
                                           "l1_behind_l2",
                                           "l1_behind_mall",
                                           "l1_behind_hbm"};
  out += format(", \"wave_cycles\": %llu, \"loads\": {", number(run.waveCycles));
  for (size_t i = 0; i < traffic.lines.size(); ++i)
    out += format("%s\"%s\": %.0f", i == 0 ? "" : ", ", kNames[i], traffic.lines[i]);
  out += format("}, \"stores\": %.0f, \"atomics\": %.0f, \"resident_groups_sampled\": %.0f, "
                "\"hbm_share\": %.4f, \"footprint_bytes\": %.0f, \"unique_between_xcds\": %.4f",
                traffic.stores, traffic.atomics, traffic.sampledGroups, traffic.hbmShare,
                traffic.footprintBytes, traffic.uniqueShareBetweenXcds);
  out += ", \"constants\": {";
  for (const auto &[name, value] : constants)
    out +=
        (name == constants.front().first ? "" : ", ") + jsonString(name) + format(": %.6g", value);
  out += "}, \"stalled_at\": [";
  for (const auto &[line, stalls] : stalledLines)
    out += (&line == &stalledLines.front().first ? "[" : ", [") + jsonString(line) +
           format(", %llu, ", number(std::accumulate(stalls.begin(), stalls.end(), uint64_t{0}))) +
           stallsJson(stalls, false) + "]";
  out += "], \"stalled_instructions\": [";
  for (const auto &[inst, stalls] : stalledInstructions)
    out += std::string(&inst == &stalledInstructions.front().first ? "" : ", ") +
           format("{\"address\": %llu, \"text\": ", number(inst.address)) + jsonString(inst.text) +
           ", \"source\": " + jsonString(inst.source) +
           ", \"stalled\": " + stallsJson(stalls, false) + "}";
  return out + "]}";
}

} // namespace flyemu
