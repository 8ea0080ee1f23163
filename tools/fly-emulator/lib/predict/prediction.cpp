// SPDX-License-Identifier: Apache-2.0
#include "predict/prediction.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <queue>
#include <unordered_set>

#include "execute/program.h"
#include "support/format.h"

namespace flyemu {
namespace {

constexpr uint64_t kSamples = 48;                      ///< workgroups over the whole grid
constexpr uint64_t kOthers = 4;                        ///< of the next XCD
constexpr uint64_t kResidentInstructions = 60'000'000; ///< of waves, for the groups of an XCD
constexpr double kUniform = 1.05; ///< longest over shortest workgroup, below which all are alike
constexpr double kIdle = 0.2;     ///< of the longest: workgroups that have nothing to do
constexpr double kApart = 5;      ///< variance between XCDs over that inside of one, beyond chance

/// Lines that workgroups ask L2, the Infinity Cache and HBM for, by cycle of issue.
struct Demand {
  double l2 = 0;
  double mall = 0;
  double hbm = 0;

  Demand(const std::array<double, kLevels> &lines, double cycles) {
    const auto at = [&](Level level) { return lines[static_cast<size_t>(level)] / cycles; };
    hbm = at(Level::Hbm);
    mall = hbm + at(Level::Mall);
    l2 = mall + at(Level::L2) + at(Level::L2BehindMall) + at(Level::L2BehindHbm);
  }
};

/// Bandwidth goes to those who ask for it: a workgroup that needs more than the others of its time
/// (the first of an expert's rows, say) gets more than an equal part.
void scaleToDemand(UnitShare &share, const MemoryTraffic &traffic, double cyclesOfTraffic,
                   const std::vector<const RecordedPath *> &paths) {
  std::array<double, kLevels> lines = {};
  double cycles = 0;
  for (const RecordedPath *path : paths) {
    cycles += static_cast<double>(path->issueCycles);
    for (const MemoryAccess &access : path->accesses)
      if (access.kind == AccessKind::Load)
        for (uint32_t i = 0; i < access.lines; ++i)
          lines[path->lines[access.first + i] & ((1U << kLevelBits) - 1)] += 1;
  }
  const Demand own(lines, cycles);
  const Demand others(traffic.lines, cyclesOfTraffic);
  const auto scale = [](double &perLine, double theirs, double ours) {
    constexpr double kMost = 2; // a sample of a few workgroups is no reason for more
    if (theirs > 0 && ours > 0)
      perLine *= std::min(kMost, theirs / ours);
  };
  scale(share.l2Cycles, others.l2, own.l2);
  scale(share.mallCycles, others.mall, own.mall);
  scale(share.hbmCycles, others.hbm, own.hbm);
}

double meanOf(const std::vector<double> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Whether the means by XCD are further apart than workgroups of one XCD explain (an analysis of
/// variance; a kernel whose workgroups differ by chance passes one time in some thousands).
bool areApart(const std::vector<std::vector<double>> &byXcd) {
  std::vector<double> all, means;
  for (const std::vector<double> &values : byXcd) {
    if (values.empty())
      return false; // too few workgroups to tell
    all.insert(all.end(), values.begin(), values.end());
    means.push_back(meanOf(values));
  }
  if (means.size() < 2 || all.size() < 2 * means.size())
    return false;
  const auto [least, most] = std::minmax_element(means.begin(), means.end());
  if (*most <= kUniform * *least)
    return false;
  const double mean = meanOf(all);
  double between = 0, within = 0;
  for (size_t i = 0; i < means.size(); ++i) {
    between += static_cast<double>(byXcd[i].size()) * (means[i] - mean) * (means[i] - mean);
    for (const double value : byXcd[i])
      within += (value - means[i]) * (value - means[i]);
  }
  between /= static_cast<double>(means.size() - 1);
  within /= static_cast<double>(all.size() - means.size());
  return between > kApart * within;
}

/// By slot of a compute unit: by what part of its time a workgroup of this generation begins after
/// that in the first slot. The oldest waves of a unit go first, so workgroups that began together
/// end one after the other where they compete for units, and in step where they wait for memory.
/// Empty where all begin together.
std::vector<double> phasesOf(const std::vector<uint64_t> &ends, uint32_t slots,
                             uint64_t generation) {
  const uint64_t known = ends.size() / slots; // whole rounds
  if (slots < 2 || generation == 0 || known < 2)
    return {};
  const uint64_t round = std::min(generation, std::max<uint64_t>(1, known - 2));
  const uint64_t *before = ends.data() + (round - 1) * slots;
  const auto length = static_cast<double>(before[slots] - before[0]);
  std::vector<double> phases(slots);
  for (uint32_t slot = 1; slot < slots && length > 0; ++slot)
    phases[slot] = std::min(1.0, static_cast<double>(before[slot] - before[0]) / length);
  return phases;
}

} // namespace

std::string Prediction::bound() const {
  constexpr double kBusy = 0.5;
  for (const auto &[name, microseconds] : bounds)
    if (name == "tail" && microseconds > kBusy * seconds * 1e6)
      return name;
  Resource most = Resource::Vector;
  for (size_t i = static_cast<size_t>(Resource::Vector); i < kResources; ++i)
    if (busy[i] > busy[static_cast<size_t>(most)])
      most = static_cast<Resource>(i);
  const double share = std::max(atomicShare, busy[static_cast<size_t>(most)]);
  if (share >= kBusy && atomicShare == share)
    return "atomic";
  return share < kBusy ? "latency" : resourceName(most);
}

uint64_t Predictor::resident() const {
  return static_cast<uint64_t>(options_.device.units) * std::max(1U, recorder_.occupancy().groups);
}

std::vector<RecordedPath *> Predictor::find(const std::vector<uint64_t> &indices) {
  std::map<uint64_t, RecordedPath *> byIndex;
  for (const auto &group : recorder_.groups()) {
    RecordedPath *&entry = byIndex[group->index];
    if (entry == nullptr || group->detailed)
      entry = group.get();
  }
  std::vector<RecordedPath *> out;
  for (const uint64_t index : indices)
    if (const auto found = byIndex.find(index); found != byIndex.end())
      out.push_back(found->second);
  return out;
}

/// The generation of workgroups that stands for the launch: the one of a typical sampled group.
void Predictor::chooseBase() {
  std::vector<RecordedPath *> groups = find(sample_);
  uint64_t longest = 0;
  for (const RecordedPath *group : groups)
    longest = std::max(longest, group->issueCycles);
  std::vector<RecordedPath *> working;
  for (RecordedPath *group : groups)
    if (static_cast<double>(group->issueCycles) >= kIdle * static_cast<double>(longest))
      working.push_back(group);
  std::sort(working.begin(), working.end(), [](const RecordedPath *a, const RecordedPath *b) {
    return a->issueCycles != b->issueCycles ? a->issueCycles < b->issueCycles : a->index < b->index;
  });
  const uint64_t centre = working.empty() ? 0 : working[working.size() / 2]->index;
  base_ = centre / resident() * resident();
}

void Predictor::chooseSample() {
  const uint64_t count = recorder_.geometry().groupCount();
  const uint64_t samples = std::min(kSamples, count);
  for (uint64_t i = 0; i < samples; ++i) { // one of each stratum, at a place of its own
    const uint64_t begin = i * count / samples;
    const uint64_t length = (i + 1) * count / samples - begin;
    sample_.push_back(begin + (i * 0x9e3779b97f4a7c15ULL >> 33) % length);
  }
}

/// Where the work of workgroups repeats with the XCDs (the parts of a row of heads, say), the one
/// with the most to do decides; else the first stands for all.
void Predictor::chooseXcd() {
  const auto xcds = static_cast<size_t>(options_.device.xcds);
  std::vector<std::vector<double>> cycles(xcds), lines(xcds);
  for (const RecordedPath *group : find(sample_)) {
    cycles[group->index % xcds].push_back(static_cast<double>(group->issueCycles));
    lines[group->index % xcds].push_back(static_cast<double>(group->lines.size()));
  }
  xcd_ = 0;
  memoryPart_ = 1;
  xcdsDiffer_ = areApart(cycles) || areApart(lines);
  if (!xcdsDiffer_)
    return;
  std::vector<double> work(xcds); // instructions and lines, as shares of what all have
  for (const auto *measure : {&cycles, &lines}) {
    double sum = 0;
    for (const std::vector<double> &values : *measure)
      sum += meanOf(values);
    for (size_t i = 0; i < xcds && sum > 0; ++i)
      work[i] += meanOf((*measure)[i]) / sum;
  }
  xcd_ = static_cast<uint64_t>(std::max_element(work.begin(), work.end()) - work.begin());
  double all = 0;
  for (const std::vector<double> &values : lines)
    all += meanOf(values) / static_cast<double>(xcds);
  if (all > 0)
    memoryPart_ = std::max(1.0, meanOf(lines[xcd_]) / all);
  if (base_ + xcd_ >= recorder_.geometry().groupCount()) // of a last generation without it
    base_ -= std::min(base_, resident());
}

/// Those of the first compute unit of the XCD, as the device deals workgroups out.
void Predictor::chooseDetail() {
  const uint64_t stride = static_cast<uint64_t>(options_.device.units);
  for (uint64_t j = 0; j < std::max(1U, recorder_.occupancy().groups); ++j)
    if (base_ + xcd_ + stride * j < recorder_.geometry().groupCount())
      detail_.push_back(base_ + xcd_ + stride * j);
}

/// Those of the XCD, and some of the next ones.
void Predictor::chooseResidents(uint64_t most) {
  const uint64_t count = recorder_.geometry().groupCount();
  const auto xcds = static_cast<uint64_t>(options_.device.xcds);
  for (uint64_t j = 0; j < std::min(resident() / xcds, most); ++j)
    if (base_ + xcd_ + xcds * j < count)
      residents_.push_back(base_ + xcd_ + xcds * j);
  for (const uint64_t index : detail_) // they are simulated, so their lines have to be known
    if (std::find(residents_.begin(), residents_.end(), index) == residents_.end())
      residents_.push_back(index);
  const uint64_t step = std::max<uint64_t>(1, residents_.size() / kOthers);
  for (uint64_t i = 0; i < kOthers; ++i) { // of several, where they differ
    const uint64_t after = xcd_ + 1 + (xcdsDiffer_ ? i : 0);
    const uint64_t other = base_ + xcds * i * step + (xcds == 1 ? after : after % xcds);
    if (other < count)
      others_.push_back(other);
  }
}

bool Predictor::repeatBatch() {
  if (recorder_.computesMatrices())
    return false;
  recorder_.computeMatrices();
  recorder_.forgetFrom(before_);
  return true;
}

std::vector<uint64_t> Predictor::nextBatch() {
  before_ = recorder_.groups().size();
  switch (stage_) {
  case Stage::Sample:
    stage_ = Stage::Detail;
    recorder_.setDetailed(false);
    chooseSample();
    return sample_;
  case Stage::Detail:
    stage_ = Stage::Residents;
    chooseBase();
    chooseXcd();
    chooseDetail();
    recorder_.setDetailed(true);
    return detail_; // again in detail, where the sample has one already
  case Stage::Residents: {
    stage_ = Stage::Done;
    uint64_t instructions = 1;
    for (const RecordedPath *group : find(detail_))
      instructions = std::max(instructions, group->instructions);
    chooseResidents(std::max<uint64_t>(detail_.size(), kResidentInstructions / instructions));
    recorder_.setDetailed(false);
    std::unordered_set<uint64_t> seen(sample_.begin(), sample_.end());
    seen.insert(detail_.begin(), detail_.end());
    std::vector<uint64_t> fresh;
    for (const auto *list : {&residents_, &others_})
      for (const uint64_t index : *list)
        if (seen.insert(index).second)
          fresh.push_back(index);
    return fresh;
  }
  case Stage::Done:
    break;
  }
  return {};
}

void Predictor::chooseUpFront() {
  chooseSample();
  upFront_ = true;
  base_ = recorder_.geometry().groupCount() / 2 / resident() * resident();
  std::unordered_map<uint64_t, bool> watched;
  for (const uint64_t index : sample_)
    watched.emplace(index, false);
  for (xcd_ = 0; xcd_ < static_cast<uint64_t>(options_.device.xcds); ++xcd_) {
    chooseUnit();
    for (const auto *list : {&residents_, &others_})
      for (const uint64_t index : *list)
        watched.emplace(index, false);
    for (const uint64_t index : detail_)
      watched[index] = true;
  }
  recorder_.watchOnly(std::move(watched));
}

/// The workgroups that stand for the launch where all of them run: those of the XCD.
void Predictor::chooseUnit() {
  constexpr uint64_t kResidents = 64;
  for (auto *list : {&detail_, &residents_, &others_})
    list->clear();
  chooseDetail();
  chooseResidents(kResidents);
}

/// Begin and end of each workgroup, in cycles, where they differ: each goes, in order, to the XCD
/// of its number and there to the slot that is free first. In a last round that does not fill the
/// device they have more of it for themselves.
Schedule Predictor::listSchedule(double roundCycles, double aloneCycles, double meanLength) const {
  std::map<uint64_t, double> lengths;
  for (const auto &group : recorder_.groups())
    lengths[group->index] = static_cast<double>(group->issueCycles) / meanLength;
  // Of more workgroups than these, so many stand for all.
  constexpr uint64_t kMost = uint64_t{1} << 22;
  const uint64_t count = std::min(kMost, recorder_.geometry().groupCount());
  const auto xcds = static_cast<uint64_t>(options_.device.xcds);
  const uint64_t slots = resident() / xcds;
  std::vector<std::priority_queue<double, std::vector<double>, std::greater<>>> free(xcds);
  constexpr uint64_t kSpans = 1 << 16;
  const uint64_t step = (count + kSpans - 1) / kSpans; // the schedule shows one of so many
  Schedule out;
  std::map<uint64_t, double> sample;
  for (const uint64_t index : sample_)
    if (const auto found = lengths.find(index); found != lengths.end())
      sample.insert(*found);
  std::vector<std::vector<double>> samplesOf(xcdsDiffer_ ? xcds : 1); // in the order of the grid
  for (const auto &[index, length] : sample)
    samplesOf[index % samplesOf.size()].push_back(length);
  for (uint64_t i = 0; i < count; ++i) {
    // One of the samples around its place: lengths may change along the grid, or within a stride.
    constexpr size_t kAround = 9;
    const std::vector<double> &samples = samplesOf[i % samplesOf.size()];
    const size_t around = std::min(kAround, samples.size());
    const size_t stratum = i * samples.size() / count;
    const size_t first = std::min(samples.size() - around, stratum - std::min(stratum, around / 2));
    const size_t chosen = first + (i * 0x9e3779b97f4a7c15ULL >> 40) % around;
    auto &queue = free[i % xcds];
    double begin = 0;
    if (queue.size() >= slots) {
      begin = queue.top();
      queue.pop();
    }
    const uint64_t round = i / resident() * resident();
    const double full =
        std::min(1.0, static_cast<double>(count - round) / static_cast<double>(resident()));
    const double cycles = aloneCycles + full * (roundCycles - aloneCycles);
    const double done = begin + samples[chosen] * cycles;
    queue.push(done);
    out.cycles = std::max(out.cycles, done);
    if (i % step == 0)
      out.spans.push_back({begin, done, static_cast<double>(step)});
  }
  const double more =
      static_cast<double>(recorder_.geometry().groupCount()) / static_cast<double>(count);
  out.cycles *= more;
  for (auto &[begin, done, groups] : out.spans) {
    begin *= more;
    done *= more;
  }
  return out;
}

/// The same where they are alike: the device is full, round by round, but for the last.
Schedule Predictor::rounds(double working, double unitCycles) const {
  Schedule out;
  out.cycles = unitCycles;
  const auto fits = static_cast<double>(resident());
  const double full = std::floor(working / fits);
  const double last = working - full * fits;
  const double length = unitCycles / std::max(1.0, std::ceil(working / fits));
  if (full > 0)
    out.spans.push_back({0, full * length, fits});
  if (last > 0)
    out.spans.push_back({full * length, unitCycles, last});
  return out;
}

/// Mean waves on a SIMD, in equal parts of the time.
static std::vector<double> occupancyOver(const Schedule &schedule, double wavesOfGroup,
                                         double simds) {
  constexpr size_t kParts = 32;
  std::vector<double> out(kParts);
  const double part = schedule.cycles / kParts;
  if (part <= 0)
    return out;
  for (const auto &[begin, done, groups] : schedule.spans) {
    const auto first = static_cast<size_t>(begin / part);
    for (size_t i = first; i < kParts && static_cast<double>(i) * part < done; ++i) {
      const double from = std::max(begin, static_cast<double>(i) * part);
      const double to = std::min(done, static_cast<double>(i + 1) * part);
      out[i] += std::max(0.0, to - from) / part * groups * wavesOfGroup / simds;
    }
  }
  return out;
}

Prediction Predictor::predict() {
  recorder_.assignBases();
  if (upFront_) {
    chooseXcd();
    chooseUnit();
  }
  const DeviceModel &device = options_.device;
  Prediction out;
  out.kernel = recorder_.kernel().name;
  out.device = device.name;
  out.constants = fittedParameters(device);
  out.groups = recorder_.geometry().groupCount();
  out.occupancy = recorder_.occupancy();
  for (const auto &group : recorder_.groups()) {
    ++out.groupsExecuted;
    out.instructionsExecuted += group->instructions;
  }
  const auto count = static_cast<double>(out.groups);
  const uint32_t slots = std::max(1U, out.occupancy.groups);
  const double unitsOfXcd = device.units / device.xcds;

  // Lengths.
  const std::vector<RecordedPath *> sample = find(sample_);
  double shortest = HUGE_VAL, longest = 0;
  const auto isOfXcd = [&](const RecordedPath *group) {
    return !xcdsDiffer_ || group->index % static_cast<uint64_t>(device.xcds) == xcd_;
  };
  for (const RecordedPath *group : sample)
    if (isOfXcd(group)) {
      const auto length = static_cast<double>(group->issueCycles);
      shortest = std::min(shortest, length);
      longest = std::max(longest, length);
    }
  out.uniform = longest <= kUniform * shortest;
  out.xcd = xcd_;
  out.xcdsDiffer = xcdsDiffer_;

  const std::vector<RecordedPath *> residents = find(residents_);
  const auto traceResidents = [&](const std::vector<double> &phases) {
    return traceMemory(device, residents, find(others_), phases, out.groups, recorder_.ranges(),
                       std::min(unitsOfXcd * slots, std::ceil(count / device.xcds)), options_.warm,
                       !xcdsDiffer_);
  };
  out.traffic = traceResidents({});
  std::vector<const RecordedPath *> paths;
  double pathLength = 0;
  for (const RecordedPath *group : find(detail_))
    if (group->detailed && static_cast<double>(group->issueCycles) >= kIdle * longest) {
      paths.push_back(group);
      pathLength += static_cast<double>(group->issueCycles);
    }
  if (paths.empty())
    for (const RecordedPath *group : find(detail_)) {
      paths.push_back(group);
      pathLength += static_cast<double>(group->issueCycles);
    }
  pathLength /= static_cast<double>(paths.size());

  // Where XCDs differ, each counts as much as the others, however many of the sample it has.
  const auto xcds = static_cast<size_t>(device.xcds);
  std::vector<double> sampledOf(xcdsDiffer_ ? xcds : 1);
  for (const RecordedPath *group : sample)
    sampledOf[group->index % sampledOf.size()] += 1;
  double working = 0; // workgroups that have something to do
  double workingOfXcd = 0, ofXcd = 0;
  double meanLength = 0;
  for (const RecordedPath *group : sample) {
    const double all = sampledOf[group->index % sampledOf.size()] *
                       static_cast<double>(sampledOf.size()) / static_cast<double>(sample.size());
    const auto length = static_cast<double>(group->issueCycles);
    const bool works = length >= kIdle * longest;
    ofXcd += isOfXcd(group) ? 1 : 0;
    workingOfXcd += isOfXcd(group) && works ? 1 : 0;
    working += works ? 1 / all : 0;
    meanLength += works ? length / all : 0;
  }
  // The unit that is looked at may have longer or shorter workgroups than the device's.
  const double typical = working == 0 ? 1 : meanLength / working / pathLength;
  working = std::max(1.0, count * working / static_cast<double>(sample.size()));
  const double filled = std::max(1.0, count * workingOfXcd / ofXcd); // were all XCDs like this one
  for (const RecordedPath *path : paths)
    for (const auto &wave : path->waves)
      for (const PathEvent &event : wave)
        out.issueCycles += recorder_.instructions()[event.instruction].cost.issue;
  out.issueCycles *= typical * working / static_cast<double>(paths.size());
  const double active = std::min(device.units, filled);
  const auto perUnit =
      static_cast<uint32_t>(std::ceil(std::ceil(filled / device.xcds) / unitsOfXcd));
  double cyclesOfTraffic = 0;
  for (const RecordedPath *group : residents)
    cyclesOfTraffic += static_cast<double>(group->issueCycles);
  const auto fits = static_cast<double>(resident());
  const double tail = std::fmod(filled, fits); // workgroups of a last round that is not full
  out.groupsPerUnit = working / device.units;
  // The first round begins in step, and the last one ends with units of its own: the pace is that
  // of the rounds between.
  constexpr uint32_t kRounds = 4;
  const uint32_t simulated =
      perUnit < (kRounds + 1) * slots ? perUnit : kRounds * slots + perUnit % slots;
  constexpr size_t kTraced = size_t{1} << 20; ///< instructions of waves
  const auto runUnit = [&] {
    // The busiest unit's part of what all share grows with its part of the workgroups.
    UnitShare share = shareOf(device, std::min(active, filled / perUnit), memoryPart_);
    scaleToDemand(share, out.traffic, cyclesOfTraffic, paths);
    if (filled > fits && tail > 0)
      share.tailScale = tail / device.units;
    return runComputeUnit(device, share, recorder_.instructions(), paths, slots, simulated,
                          options_.trace ? kTraced : 0);
  };
  out.run = runUnit();
  // Which workgroups run side by side decides what they find in L2, and that how they run.
  const std::vector<double> phases = phasesOf(out.run.groupEnds, slots, base_ / resident());
  if (!phases.empty()) {
    out.traffic = traceResidents(phases);
    out.run = runUnit();
  }
  const std::vector<uint64_t> &ends = out.run.groupEnds;
  const size_t ended = ends.size() / slots; // whole rounds
  out.roundCycles = static_cast<double>(out.run.cycles);
  if (ended >= 2) {
    const size_t last = std::max<size_t>(2, ended - 1);
    out.roundCycles = static_cast<double>(ends[last * slots - 1] - ends[slots - 1]) /
                      static_cast<double>(last - 1);
  } else if (simulated > slots) { // a round and a part: what the part does is no part of a round
    UnitShare share = shareOf(device, active, memoryPart_);
    scaleToDemand(share, out.traffic, cyclesOfTraffic, paths);
    out.roundCycles = static_cast<double>(
        runComputeUnit(device, share, recorder_.instructions(), paths, slots, slots).cycles);
  }
  for (const Resource shared : {Resource::L2, Resource::Hbm}) // no round is faster than its writes
    out.roundCycles = std::max(out.roundCycles, out.run.busy[static_cast<size_t>(shared)] * slots /
                                                    std::max(simulated, slots));
  const UnitRun alone =
      runComputeUnit(device, shareOf(device, 1), recorder_.instructions(), {paths.front()}, 1, 1);
  Schedule schedule;
  if (out.uniform || perUnit <= slots) {
    out.unitCycles =
        static_cast<double>(out.run.cycles) + out.roundCycles * (perUnit - simulated) / slots;
    if (!out.uniform) // the longest one decides
      out.unitCycles *= std::max(1.0, longest / pathLength);
    schedule = rounds(working, out.unitCycles);
  } else {
    // Throughput of whole compute units, and the tail where the last ones are long or alone.
    schedule = listSchedule(
        out.roundCycles, std::min(out.roundCycles, static_cast<double>(alone.cycles)), pathLength);
    out.unitCycles = schedule.cycles;
  }
  // A last round that has the device for itself is faster, and yet no launch is faster than what it
  // moves.
  const double simulatedCycles = std::max(1.0, out.unitCycles);
  for (const Resource shared : {Resource::L2, Resource::Mall, Resource::Hbm})
    out.unitCycles = std::max(out.unitCycles, busyShare(device, out.run, shared) * simulatedCycles);
  // Atomics on one line go one after the other, wherever they come from.
  const double atomics = out.traffic.atomicsOfLine * working * device.atomicCycles;
  out.unitCycles = std::max(out.unitCycles, atomics);
  out.atomicShare = atomics / std::max(1.0, out.unitCycles);
  const double wavesOfGroup =
      std::ceil(recorder_.geometry().threads() / static_cast<double>(recorder_.lanes()));
  out.occupancyOverTime = occupancyOver(schedule, wavesOfGroup, device.units * kSimds);
  // What all matrix units of the device do on average decides: power is the device's.
  const double matrix = out.run.matrixAtPeak / simulated * typical * working /
                        (std::max(1.0, out.unitCycles) * device.units * kSimds);
  out.clockGHz = device.clockGHz * (1 - device.throttle * matrix);
  out.seconds = device.launchNs * 1e-9 + out.unitCycles / out.clockGHz * 1e-9;

  for (size_t i = 0; i < kResources; ++i)
    out.busy[i] = busyShare(device, out.run, static_cast<Resource>(i)) * simulatedCycles /
                  std::max(1.0, out.unitCycles);
  const double cycleUs = 1e-3 / out.clockGHz;
  const double launchUs = device.launchNs * 1e-3;
  for (size_t i = 0; i < kResources; ++i)
    out.bounds.emplace_back(resourceName(static_cast<Resource>(i)),
                            launchUs + out.busy[i] * out.unitCycles * cycleUs);
  out.bounds.emplace_back("latency",
                          launchUs + static_cast<double>(alone.cycles) * cycleUs *
                                         std::ceil(static_cast<double>(perUnit) / slots));
  out.bounds.emplace_back("atomic", launchUs + atomics * cycleUs);
  out.bounds.emplace_back("launch", launchUs);
  const double lost = filled > fits ? 1 - out.groupsPerUnit / perUnit : 0;
  out.bounds.emplace_back("tail", lost * out.unitCycles * cycleUs);
  out.error = calibratedError(device, out.bound());
  describeStalls(out);
  if (options_.trace)
    out.trace = makeTrace(out.run, paths);
  return out;
}

/// Where waves of the run waited, by source line and by instruction.
void Predictor::describeStalls(Prediction &out) {
  const auto sum = [](const Stalls &stalls) {
    return std::accumulate(stalls.begin(), stalls.end(), uint64_t{0});
  };
  std::map<std::string, Stalls> lines;
  std::vector<std::pair<uint64_t, size_t>> stalled; // cycles, dword of the text
  for (size_t slot = 0; slot < out.run.stalledAt.size(); ++slot) {
    const Stalls &stalls = out.run.stalledAt[slot];
    if (sum(stalls) == 0)
      continue;
    stalled.emplace_back(sum(stalls), slot);
    const Instruction &inst = *recorder_.instructions()[slot].inst;
    const uint64_t address = recorder_.program().elfAddress(inst);
    const std::string line = recorder_.object().sourceLine(address);
    Stalls &entry = lines[line.empty() ? recorder_.program().location(address) : line];
    for (size_t r = 0; r < kStallReasons; ++r)
      entry[r] += stalls[r];
  }
  constexpr size_t kMost = 16;
  out.stalledLines.assign(lines.begin(), lines.end());
  std::sort(out.stalledLines.begin(), out.stalledLines.end(), [&](const auto &a, const auto &b) {
    return sum(a.second) != sum(b.second) ? sum(a.second) > sum(b.second) : a.first < b.first;
  });
  if (out.stalledLines.size() > kMost)
    out.stalledLines.resize(kMost);
  std::sort(stalled.begin(), stalled.end(), [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (size_t i = 0; i < std::min(kMost, stalled.size()); ++i) {
    const size_t slot = stalled[i].second;
    out.stalledInstructions.emplace_back(
        nameOf(recorder_.object(), recorder_.program(), *recorder_.instructions()[slot].inst),
        out.run.stalledAt[slot]);
  }
}

std::shared_ptr<const UnitTrace>
Predictor::makeTrace(UnitRun &run, const std::vector<const RecordedPath *> &paths) {
  auto trace = std::make_shared<UnitTrace>();
  trace->kernel = recorder_.kernel().name;
  trace->arch = recorder_.object().arch();
  trace->note = std::string("predicted for ") + options_.device.name +
                ": cycles of the busiest compute unit, shown as microseconds";
  trace->truncated = run.truncated;
  trace->instructions = recorder_.names();
  trace->waves = std::move(run.waves);
  run.waves.clear();
  uint32_t groups = 0;
  for (const WaveTimeline &wave : trace->waves)
    groups = std::max(groups, wave.group + 1);
  for (uint32_t i = 0; i < groups; ++i)
    trace->groups.push_back(paths[i % paths.size()]->index);
  return trace;
}

} // namespace flyemu
