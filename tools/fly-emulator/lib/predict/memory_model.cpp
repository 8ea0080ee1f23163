// SPDX-License-Identifier: Apache-2.0
#include "predict/memory_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_set>

#include "predict/cache.h"

namespace flyemu {
namespace {

struct Reference {
  uint64_t time;
  uint32_t group;
  uint32_t access;
};

std::unordered_set<uint64_t> linesOf(const std::vector<RecordedPath *> &groups) {
  std::unordered_set<uint64_t> lines;
  for (const RecordedPath *group : groups)
    for (const MemoryAccess &access : group->accesses)
      if (access.kind == AccessKind::Load)
        for (uint32_t i = 0; i < access.lines; ++i)
          lines.insert(group->lines[access.first + i] >> kLevelBits);
  return lines;
}

/// Bytes that the whole launch reads at least once: of each allocation, no more than it holds.
double footprint(const std::unordered_set<uint64_t> &unique, double groups, double launchGroups,
                 std::vector<PlacedRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const PlacedRange &a, const PlacedRange &b) { return a.place < b.place; });
  std::vector<double> lines(ranges.size());
  for (const uint64_t line : unique) {
    const auto after = std::upper_bound(
        ranges.begin(), ranges.end(), (line << kLineShift) + kLineBytes - 1,
        [](uint64_t value, const PlacedRange &range) { return value < range.place; });
    if (after != ranges.begin())
      lines[static_cast<size_t>(after - ranges.begin() - 1)] += 1;
  }
  double bytes = 0;
  for (size_t i = 0; i < ranges.size(); ++i)
    bytes += std::min(static_cast<double>(ranges[i].end - ranges[i].begin),
                      lines[i] * kLineBytes * std::max(1.0, launchGroups / groups));
  return bytes;
}

/// A number in [0, 1) that a line always has.
double lotOf(uint64_t line) {
  uint64_t x = line * 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 29;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 32;
  return static_cast<double>(x >> 11) * 0x1.0p-53;
}

/// How far a line has to come, whichever cache has it on order.
Level sourceOf(Level level) {
  switch (level) {
  case Level::Hbm:
  case Level::L2BehindHbm:
  case Level::L1BehindHbm:
    return Level::Hbm;
  case Level::Mall:
  case Level::L2BehindMall:
  case Level::L1BehindMall:
    return Level::Mall;
  case Level::L1:
    return Level::L1;
  default:
    return Level::L2;
  }
}

Level behindL2(Level source) {
  return source == Level::Hbm ? Level::L2BehindHbm : Level::L2BehindMall;
}

Level behindL1(Level source) {
  return source == Level::Hbm    ? Level::L1BehindHbm
         : source == Level::Mall ? Level::L1BehindMall
                                 : Level::L1BehindL2;
}

} // namespace

MemoryTraffic traceMemory(const DeviceModel &device, const std::vector<RecordedPath *> &residents,
                          const std::vector<RecordedPath *> &others,
                          const std::vector<double> &phases, uint64_t launchGroups,
                          const std::vector<PlacedRange> &ranges, double residentsOfXcd,
                          bool warm) {
  MemoryTraffic out;
  out.sampledGroups = static_cast<double>(residents.size());
  const auto own = linesOf(residents);
  const auto theirs = linesOf(others);
  double common = 0;
  for (const uint64_t line : theirs)
    common += own.count(line) != 0 ? 1.0 : 0.0;
  out.uniqueShareBetweenXcds =
      theirs.empty() ? 1.0 : 1.0 - common / static_cast<double>(theirs.size());
  out.footprintBytes = footprint(own, out.sampledGroups, static_cast<double>(launchGroups), ranges);

  // Groups run side by side, none always ahead of the others: who asks first for what they share
  // is left to chance.
  constexpr uint64_t kJitter = 256; ///< cycles
  const double roundGroups = std::max(1.0, residentsOfXcd * device.xcds);
  const double generation =
      residents.empty() ? 0.0
                        : std::floor(static_cast<double>(residents.front()->index) / roundGroups);
  const double drift = std::min(1.0, device.drift * std::sqrt(1 + generation));
  uint64_t period = 0;
  for (const RecordedPath *group : residents)
    period = std::max(period, group->issueCycles);
  std::vector<Reference> order;
  for (uint32_t g = 0; g < residents.size(); ++g) {
    const auto length = static_cast<double>(residents[g]->issueCycles);
    const size_t slot =
        (residents[g]->index - residents.front()->index) / static_cast<uint64_t>(device.units);
    const double phase = slot < phases.size() ? phases[slot] : 0;
    const auto late = static_cast<uint64_t>((lotOf(residents[g]->index) * drift + phase) * length);
    for (uint32_t a = 0; a < residents[g]->accesses.size(); ++a) {
      const auto chance = static_cast<uint64_t>(lotOf(uint64_t{g} << 32 | a) * kJitter);
      uint64_t time = residents[g]->accesses[a].time + late + chance;
      if (!phases.empty() && period != 0)
        time %= period;
      order.push_back({time, g, a});
    }
  }
  std::sort(order.begin(), order.end(), [](const Reference &a, const Reference &b) {
    return std::tie(a.time, a.group, a.access) < std::tie(b.time, b.group, b.access);
  });

  // Of the lines that L2 misses: how many come from HBM for the first time on the device?
  const double xcds = device.xcds;
  double fresh = (1 + (xcds - 1) * out.uniqueShareBetweenXcds) / xcds;
  const double perGroup = static_cast<double>(own.size()) * kLineBytes / out.sampledGroups;
  const double asked = perGroup * static_cast<double>(launchGroups); // L2's misses of the launch
  if (out.footprintBytes <= device.mallBytes && asked > 0)
    fresh = std::min(fresh, out.footprintBytes / asked);
  if (warm && out.footprintBytes <= device.mallBytes)
    fresh = 0;
  out.hbmShare = fresh;

  const double hbmCycles = device.hbmLatencyNs * device.clockGHz;
  const double mallCycles = device.mallLatencyNs * device.clockGHz;
  const auto latencyOf = [&](Level source) {
    return static_cast<uint64_t>(source == Level::Hbm    ? hbmCycles
                                 : source == Level::Mall ? mallCycles
                                                         : device.l2Latency);
  };
  const auto units = static_cast<uint64_t>(device.units / xcds);
  std::map<uint64_t, Cache> l1; // by compute unit
  std::vector<Cache *> l1Of;
  for (const RecordedPath *group : residents)
    l1Of.push_back(&l1.try_emplace(group->index / static_cast<uint64_t>(xcds) % units,
                                   static_cast<uint64_t>(device.l1Bytes),
                                   static_cast<unsigned>(device.l1Ways))
                        .first->second);
  // A sample of the XCD's groups has its share of L2.
  const double share = std::min(1.0, out.sampledGroups / std::max(1.0, residentsOfXcd));
  Cache l2(static_cast<uint64_t>(device.l2Bytes * share), static_cast<unsigned>(device.l2Ways));
  for (const Reference &reference : order) {
    RecordedPath &group = *residents[reference.group];
    const MemoryAccess &access = group.accesses[reference.access];
    Cache &own1 = *l1Of[reference.group];
    for (uint32_t i = 0; i < access.lines; ++i) {
      uint64_t &word = group.lines[access.first + i];
      const uint64_t line = word >> kLevelBits;
      Level level = Level::L1;
      if (access.kind == AccessKind::Load) {
        if (const Cache::Entry *hit = own1.find(line); hit != nullptr) {
          if (reference.time < hit->filled + latencyOf(hit->from))
            level = behindL1(hit->from);
        } else {
          if (const Cache::Entry *hit2 = l2.find(line); hit2 != nullptr) {
            level = reference.time < hit2->filled + latencyOf(hit2->from) ? behindL2(hit2->from)
                                                                          : Level::L2;
          } else {
            level = lotOf(line) < fresh ? Level::Hbm : Level::Mall;
            l2.insert(line, reference.time, level);
          }
          own1.insert(line, reference.time, sourceOf(level));
        }
        out.lines[static_cast<size_t>(level)] += 1;
      } else {
        level = Level::L2;
        (access.kind == AccessKind::Store ? out.stores : out.atomics) += 1;
      }
      word = line << kLevelBits | static_cast<uint64_t>(level);
    }
  }
  return out;
}

} // namespace flyemu
