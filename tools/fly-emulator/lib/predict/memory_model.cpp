// SPDX-License-Identifier: Apache-2.0
#include "predict/memory_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "predict/cache.h"

namespace flyemu {
namespace {

struct Reference {
  uint64_t time;
  uint32_t group;
  uint32_t access;
};

/// Calls `f(line)` for each line that groups load, as often as they do.
template <typename F> void forEachLoad(const std::vector<RecordedPath *> &groups, F &&f) {
  for (const RecordedPath *group : groups)
    for (const MemoryAccess &access : group->accesses)
      if (access.kind == AccessKind::Load && !access.scratch)
        for (uint32_t i = 0; i < access.lines; ++i)
          f(group->lines[access.first + i] >> kLevelBits);
}

using Lines = std::unordered_set<uint64_t>;

Lines linesOf(const std::vector<RecordedPath *> &groups) {
  Lines lines;
  forEachLoad(groups, [&](uint64_t line) { lines.insert(line); });
  return lines;
}

/// Allocations by their bases.
class Allocations {
public:
  explicit Allocations(std::vector<RelocatedRange> ranges) : ranges_(std::move(ranges)) {
    std::sort(ranges_.begin(), ranges_.end(),
              [](const RelocatedRange &a, const RelocatedRange &b) { return a.base < b.base; });
  }

  size_t count() const { return ranges_.size(); }
  double bytes(size_t i) const { return static_cast<double>(ranges_[i].end - ranges_[i].begin); }

  /// How many of the lines are of each.
  std::vector<double> countByAllocation(const Lines &lines) const {
    std::vector<double> counts(ranges_.size());
    for (const uint64_t line : lines) {
      const auto after = std::upper_bound(
          ranges_.begin(), ranges_.end(), (line << kLineShift) + kLineBytes - 1,
          [](uint64_t value, const RelocatedRange &range) { return value < range.base; });
      if (after != ranges_.begin())
        counts[static_cast<size_t>(after - ranges_.begin() - 1)] += 1;
    }
    return counts;
  }

private:
  std::vector<RelocatedRange> ranges_;
};

/// Bytes that the whole launch reads at least once: of each allocation, no more than it holds.
struct Footprint {
  double bytes = 0;
  double whole = 0; ///< of these, of allocations that are read from begin to end
};

Footprint footprint(const Allocations &allocations, const std::vector<double> &lines, double groups,
                    double launchGroups) {
  Footprint out;
  for (size_t i = 0; i < allocations.count(); ++i) {
    const double most = lines[i] * kLineBytes * std::max(1.0, launchGroups / groups);
    out.bytes += std::min(allocations.bytes(i), most);
    if (most >= allocations.bytes(i))
      out.whole += allocations.bytes(i);
  }
  return out;
}

/// The share of the lines of an XCD that no other one asks for. `own`: what the groups of one have
/// loaded, by group in `ownGroups`; `others`: groups of the next. A line of an allocation whose
/// lines many groups of an XCD share is one line of the XCD and many of its groups, so each
/// allocation counts with its lines by group over those that are different.
double uniqueShare(const Allocations &allocations, const std::vector<RecordedPath *> &ownGroups,
                   const Lines &own, const std::vector<RecordedPath *> &others) {
  std::vector<double> different = allocations.countByAllocation(own);
  std::vector<double> byGroup(allocations.count());
  for (RecordedPath *group : ownGroups) {
    const std::vector<double> lines = allocations.countByAllocation(linesOf({group}));
    for (size_t i = 0; i < lines.size(); ++i)
      byGroup[i] += lines[i];
  }
  Lines common, alone;
  forEachLoad(others, [&](uint64_t line) { (own.count(line) != 0 ? common : alone).insert(line); });
  const std::vector<double> commonLines = allocations.countByAllocation(common);
  const std::vector<double> aloneLines = allocations.countByAllocation(alone);
  double all = 0, unique = 0;
  for (size_t i = 0; i < allocations.count(); ++i) {
    const double weight = byGroup[i] > 0 ? different[i] / byGroup[i] : 1;
    all += weight * (commonLines[i] + aloneLines[i]);
    unique += weight * aloneLines[i];
  }
  return all > 0 ? unique / all : 1;
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

using AtomicLines = std::unordered_map<uint64_t, double>;

/// Atomics that a group has on each line.
AtomicLines atomicsOf(const RecordedPath &group) {
  AtomicLines lines;
  for (const MemoryAccess &access : group.accesses)
    if (access.kind == AccessKind::Atomic)
      for (uint32_t i = 0; i < access.lines; ++i)
        lines[group.lines[access.first + i] >> kLevelBits] += 1;
  return lines;
}

/// How many atomics each group has on the line that most are on: a counter, a flag, one sum of all.
/// 0 unless at least half of the groups of both XCDs come to it, which says that the device does.
double atomicsOfLine(const std::vector<RecordedPath *> &groups,
                     const std::vector<RecordedPath *> &others) {
  struct Uses {
    double atomics = 0, groups = 0, others = 0;
  };
  std::unordered_map<uint64_t, Uses> lines;
  for (const RecordedPath *group : groups)
    for (const auto &[line, atomics] : atomicsOf(*group)) {
      lines[line].atomics += atomics;
      lines[line].groups += 1;
    }
  for (const RecordedPath *group : others)
    for (const auto &[line, atomics] : atomicsOf(*group))
      lines[line].others += 1;
  constexpr double kShared = 0.5;
  const auto all = static_cast<double>(groups.size());
  double most = 0;
  for (const auto &[line, uses] : lines)
    if (uses.groups >= kShared * all && uses.others >= kShared * static_cast<double>(others.size()))
      most = std::max(most, uses.atomics / all);
  return all > 1 ? most : 0;
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
                          const std::vector<RelocatedRange> &ranges, double residentsOfXcd,
                          bool warm, bool xcdsAlike) {
  MemoryTraffic out;
  out.sampledGroups = static_cast<double>(residents.size());
  const auto own = linesOf(residents);
  const Allocations allocations(ranges);
  out.uniqueShareBetweenXcds = uniqueShare(allocations, residents, own, others);
  const Footprint read = footprint(allocations, allocations.countByAllocation(own),
                                   out.sampledGroups, static_cast<double>(launchGroups));
  out.footprintBytes = read.bytes;

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
      const MemoryAccess &access = residents[g]->accesses[a];
      uint64_t time = access.time + late;
      if (!access.scratch) // nobody else's, and read after it was written
        time += static_cast<uint64_t>(lotOf(uint64_t{g} << 32 | a) * kJitter);
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
  if (xcdsAlike && out.footprintBytes <= device.mallBytes && asked > 0)
    fresh = std::min(fresh, out.footprintBytes / asked);
  // The next XCD may ask for the same lines, and those beyond it for others.
  if (xcdsAlike && asked > 0)
    fresh = std::max(fresh, std::min(1.0, read.whole / asked));
  if (warm && out.footprintBytes <= device.mallBytes)
    fresh = 0;
  out.hbmShare = fresh;
  out.atomicsOfLine = atomicsOfLine(residents, others);

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
            const bool ordered = hit2->from != Level::L2; // else a wave has written it
            level = ordered && reference.time < hit2->filled + latencyOf(hit2->from)
                        ? behindL2(hit2->from)
                        : Level::L2;
          } else {
            level = lotOf(line) < fresh && !access.scratch ? Level::Hbm : Level::Mall;
            l2.insert(line, reference.time, level);
          }
          own1.insert(line, reference.time, sourceOf(level));
        }
        out.lines[static_cast<size_t>(level)] += 1;
      } else {
        level = Level::L2;
        if (access.scratch && l2.find(line) == nullptr) // written back when it has to go
          l2.insert(line, reference.time, Level::L2);
        (access.kind == AccessKind::Store ? out.stores : out.atomics) += 1;
      }
      word = line << kLevelBits | static_cast<uint64_t>(level);
    }
  }
  return out;
}

} // namespace flyemu
