// SPDX-License-Identifier: Apache-2.0
#include "predict/recording.h"

#include <algorithm>

#include "device/architecture.h"
#include "execute/memory_access.h"
#include "execute/opcode.h"
#include "execute/program.h"
#include "profile/bank_conflicts.h"

namespace flyemu {
namespace {

class PathObserver : public Observer {
public:
  PathObserver(PathRecorder &recorder, const DeviceModel &device, const Architecture &architecture,
               size_t eventsOfWave)
      : recorder_(recorder), device_(device), architecture_(architecture),
        eventsOfWave_(eventsOfWave) {}

  void before(Wave &wave, const Instruction &inst) override {
    polls_ = recorder_.flags().polls(inst);
    again_ = polls_ && pollsAgain(wave, inst);
    slot_ = recorder_.slotOf(inst);
    current_ = &recorder_.instructionAt(slot_, inst);
    now_ = clock[wave.index];
    clock[wave.index] += current_->cost.slot;
    ++path->instructions;
    if (!path->detailed)
      return;
    std::vector<PathEvent> &events = path->waves[wave.index];
    cut_ = events.size() >= eventsOfWave_;
    path->truncated |= cut_;
    if (!cut_)
      events.push_back({slot_, 0});
  }
  void after(Wave &, const Instruction &) override {}
  void globalAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    if (inst.opcode->cls == OpClass::ScalarMemory || access.lanes == 0 || cut_)
      return;
    if (again_) {
      if (path->detailed)
        path->waves[wave.index].back().detail = lastPoll_[wave.index].detail;
      return;
    }
    const auto first = static_cast<uint32_t>(path->lines.size());
    forEachLane(access.lanes, [&](unsigned lane) {
      touch(relocated(access.address[lane]), access.bytes, first);
    });
    keepAccess(wave, access, first, false);
  }
  void scratchAccess(Wave &wave, const Instruction &, const LaneAccess &access) override {
    if (access.lanes == 0 || cut_)
      return;
    // The lanes' dwords of one offset lie side by side.
    constexpr uint64_t kDword = 4;
    const uint64_t own = path->index * path->waveCount + wave.index;
    const uint64_t begin = kScratchBase + own * wave.scratchBytes * kLanes;
    const auto first = static_cast<uint32_t>(path->lines.size());
    forEachLane(access.lanes, [&](unsigned lane) {
      const uint64_t offset = access.address[lane];
      for (uint64_t at = offset / kDword; at <= (offset + access.bytes - 1) / kDword; ++at)
        touch(begin + (at * kLanes + lane) * kDword, kDword, first);
    });
    keepAccess(wave, access, first, true);
  }
  void ldsAccess(Wave &wave, const Instruction &inst, const LaneAccess &access) override {
    if (!path->detailed || inst.opcode->cls != OpClass::Lds || cut_)
      return;
    const LdsCost cost = ldsCost(architecture_, access.address, access.lanes, access.bytes,
                                 access.kind == AccessKind::Load);
    path->waves[wave.index].back().detail += static_cast<uint32_t>(cost.phases + cost.conflicts);
  }
  void barrier(WorkGroup &) override {
    const uint64_t latest = *std::max_element(clock.begin(), clock.end());
    std::fill(clock.begin(), clock.end(), latest);
  }

  std::unique_ptr<RecordedPath> path;
  std::vector<uint64_t> clock; ///< by wave

private:
  /// The lines of so many bytes; those of an access begin at `first`.
  void touch(uint64_t start, uint64_t bytes, uint32_t first) {
    const uint64_t last = (start + bytes - 1) >> kLineShift;
    for (uint64_t line = start >> kLineShift; line <= last; ++line)
      if (path->lines.size() == first || path->lines.back() != line)
        path->lines.push_back(line);
  }

  void keepAccess(Wave &wave, const LaneAccess &access, uint32_t first, bool scratch) {
    MemoryAccess out;
    out.time = now_;
    out.kind = access.kind;
    out.scratch = scratch;
    out.first = first;
    const auto begin = path->lines.begin() + out.first;
    std::sort(begin, path->lines.end());
    path->lines.erase(std::unique(begin, path->lines.end()), path->lines.end());
    const size_t lines = path->lines.size() - out.first;
    for (size_t i = out.first; i < path->lines.size(); ++i)
      path->lines[i] <<= kLevelBits;
    const auto lanes = static_cast<uint64_t>(__builtin_popcountll(access.lanes));
    const auto lanesPerClock = static_cast<uint64_t>(device_.l1LanesPerClock);
    const auto bytesPerClock = static_cast<uint64_t>(device_.l1BytesPerClock);
    out.lines = static_cast<uint16_t>(lines);
    out.bytes = static_cast<uint32_t>(lanes * access.bytes);
    out.cycles = static_cast<uint16_t>(
        std::max({(lanes + lanesPerClock - 1) / lanesPerClock, uint64_t{lines},
                  (lanes * access.bytes + bytesPerClock - 1) / bytesPerClock}));
    path->accesses.push_back(out);
    const auto number = static_cast<uint32_t>(path->accesses.size());
    if (polls_)
      lastPoll_[wave.index].detail = number;
    if (path->detailed)
      path->waves[wave.index].back().detail = number;
  }

  /// Who polls is taken to find the flag at once: how often it looks in vain depends on when others
  /// run, and here they run one after the other.
  bool pollsAgain(const Wave &wave, const Instruction &inst) {
    lastPoll_.resize(clock.size());
    Poll &last = lastPoll_[wave.index];
    std::vector<PathEvent> none;
    std::vector<PathEvent> &events = path->detailed ? path->waves[wave.index] : none;
    const bool again = last.inst == &inst && wave.executed - last.executed <= Polling::kMostBody;
    if (again) {
      clock[wave.index] = last.clock;
      if (last.event < events.size())
        events.resize(last.event);
    } else {
      last = {&inst, 0, clock[wave.index], events.size(), 0};
    }
    last.executed = wave.executed;
    return again;
  }

  /// Where the model has a host address; accesses come to the same range for a while.
  uint64_t relocated(uint64_t address) {
    if (address < range_.begin || address >= range_.end) {
      const std::vector<RelocatedRange> &ranges = recorder_.ranges();
      auto after = std::upper_bound(
          ranges.begin(), ranges.end(), address,
          [](uint64_t value, const RelocatedRange &range) { return value < range.begin; });
      while (after != ranges.begin() && address >= (after - 1)->end)
        --after;
      if (after == ranges.begin())
        return address; // the launch will fail, or has
      range_ = *(after - 1);
    }
    return address - range_.begin + range_.base;
  }

  /// Where a wave polled last: what came since is dropped when it polls there again.
  struct Poll {
    const Instruction *inst = nullptr;
    uint64_t executed = 0;
    uint64_t clock = 0;
    size_t event = 0;
    uint32_t detail = 0; ///< its access
  };

  PathRecorder &recorder_;
  std::vector<Poll> lastPoll_; ///< by wave; empty before the first
  bool polls_ = false;         ///< the instruction does,
  bool again_ = false;         ///< and did before, with nothing but its loop in between
  RelocatedRange range_ = {0, 0, 0};
  const DeviceModel &device_;
  const Architecture &architecture_;
  const size_t eventsOfWave_;
  bool cut_ = false; ///< the wave has as many events as are kept
  uint32_t slot_ = 0;
  uint64_t now_ = 0;
  const PathInstruction *current_ = nullptr;
};

constexpr uint64_t kPage = uint64_t{2} << 20;

/// How far the next range is behind this one.
uint64_t roomOf(const RelocatedRange &range) {
  return (range.end - range.begin + 2 * kPage) / kPage * kPage;
}

} // namespace

void PathRecorder::begin(const CodeObject &object, Program &program, const KernelMetadata &kernel,
                         const LaunchGeometry &geometry, const LaunchState &state) {
  object_ = &object;
  program_ = &program;
  kernel_ = &kernel;
  geometry_ = geometry;
  const Architecture &architecture = *findArchitecture(object.arch());
  architecture_ = &architecture;
  lanes_ = object.descriptor(kernel).lanes();
  device_ = findDeviceModel(architecture.name);
  occupancy_ = occupancyOf(architecture, object, kernel, geometry.threads(), geometry.dynamicLds);
  std::vector<MemoryRange> ranges = state.memory->ranges();
  std::sort(ranges.begin(), ranges.end(),
            [](const MemoryRange &a, const MemoryRange &b) { return a.serial < b.serial; });
  ranges_.clear();
  uint64_t base = kPage;
  for (const MemoryRange &range : ranges) {
    ranges_.push_back({range.begin, range.end, base});
    base += roomOf(ranges_.back());
  }
  std::sort(ranges_.begin(), ranges_.end(), [](const RelocatedRange &a, const RelocatedRange &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.base < b.base;
  });
  text_ = reinterpret_cast<uint64_t>(object.base()) + object.textBegin();
  instructions_.assign((object.textEnd() - object.textBegin()) / 4 + 1, PathInstruction());
  for (const Instruction *inst : program.instructionsAt(object.entry(kernel)))
    if (inst->opcode != nullptr)
      instructionAt(slotOf(*inst), *inst);
  if (begun_)
    begun_();
}

const PathInstruction &PathRecorder::instructionAt(uint32_t slot, const Instruction &inst) {
  PathInstruction &entry = instructions_[slot];
  if (__atomic_load_n(&entry.inst, __ATOMIC_ACQUIRE) == nullptr) { // of a function that is called
    const std::lock_guard<std::mutex> lock(mutex_);
    if (entry.inst == nullptr) {
      PathInstruction made = pathInstruction(*program_, inst);
      made.inst = nullptr;
      entry = made;
      __atomic_store_n(&entry.inst, &inst, __ATOMIC_RELEASE);
    }
  }
  return entry;
}

std::vector<InstructionName> PathRecorder::names() const {
  std::vector<InstructionName> out(instructions_.size());
  for (size_t slot = 0; slot < instructions_.size(); ++slot)
    if (instructions_[slot].inst != nullptr)
      out[slot] = nameOf(*object_, *program_, *instructions_[slot].inst);
  return out;
}

void PathRecorder::assignBases() {
  if (settled_)
    return;
  settled_ = true;
  struct Move {
    RelocatedRange range;
    bool accessed = false;
    uint64_t base = 0;
  };
  std::vector<Move> moves;
  for (const RelocatedRange &range : ranges_)
    moves.push_back({range});
  std::sort(moves.begin(), moves.end(),
            [](const Move &a, const Move &b) { return a.range.base < b.range.base; });
  const auto moveOf = [&](uint64_t line) -> Move * {
    if (line >= kScratchBase >> kLineShift)
      return nullptr;
    const uint64_t last = (line << kLineShift) + kLineBytes - 1;
    const auto after =
        std::upper_bound(moves.begin(), moves.end(), last,
                         [](uint64_t value, const Move &move) { return value < move.range.base; });
    return after == moves.begin() ? nullptr : &*(after - 1);
  };
  for (const auto &group : groups_)
    for (const uint64_t word : group->lines)
      if (Move *move = moveOf(word >> kLevelBits); move != nullptr)
        move->accessed = true;
  uint64_t base = kPage;
  for (Move &move : moves)
    if (move.accessed) {
      move.base = base;
      base += roomOf(move.range);
    }
  for (const auto &group : groups_)
    for (uint64_t &word : group->lines)
      if (const Move *move = moveOf(word >> kLevelBits); move != nullptr) // whole pages away
        word -= (move->range.base - move->base) >> kLineShift << kLevelBits;
  ranges_.clear();
  for (const Move &move : moves)
    if (move.accessed)
      ranges_.push_back({move.range.begin, move.range.end, move.base});
}

std::unique_ptr<Observer> PathRecorder::observe(WorkGroup &group) {
  const uint64_t index =
      group.id[0] +
      uint64_t{geometry_.groups[0]} * (group.id[1] + uint64_t{geometry_.groups[1]} * group.id[2]);
  bool detailed = detailed_;
  if (watchOnly_) {
    const auto found = watched_.find(index);
    if (found == watched_.end())
      return nullptr;
    detailed = found->second;
  }
  auto observer = std::make_unique<PathObserver>(*this, *device_, *architecture_,
                                                 mostEvents_ / group.waveCount);
  observer->path = std::make_unique<RecordedPath>();
  observer->path->index = index;
  observer->path->waveCount = group.waveCount;
  observer->path->detailed = detailed;
  if (detailed)
    observer->path->waves.resize(group.waveCount);
  observer->clock.assign(group.waveCount, 0);
  if (!watchOnly_)
    for (uint32_t i = 0; i < group.waveCount; ++i)
      group.waves[i].skipMatrix = !detailed && !computesMatrices_;
  return observer;
}

void PathRecorder::finished(WorkGroup &, Observer &observer) {
  auto &own = static_cast<PathObserver &>(observer);
  own.path->issueCycles = *std::max_element(own.clock.begin(), own.clock.end());
  const std::lock_guard<std::mutex> lock(mutex_);
  truncated_ |= own.path->truncated;
  groups_.push_back(std::move(own.path));
}

} // namespace flyemu
