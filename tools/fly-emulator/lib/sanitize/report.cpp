// SPDX-License-Identifier: Apache-2.0
#include "sanitize/report.h"

#include "execute/program.h"
#include "support/error.h"
#include "support/format.h"

namespace flyemu {
namespace {

constexpr size_t kMostReports = 100;

} // namespace

unsigned sanitizer::parse(const std::string &list) {
  static const struct {
    const char *name;
    unsigned bit;
  } names[] = {{"memory", kMemory},   {"race", kRace}, {"init", kInit}, {"wait", kWait},
               {"barrier", kBarrier}, {"all", kAll},   {"none", 0}};
  unsigned bits = 0;
  std::string rest = list + ",";
  for (size_t comma = 0; (comma = rest.find(',')) != std::string::npos;
       rest = rest.substr(comma + 1)) {
    const std::string word = rest.substr(0, comma);
    if (word.empty())
      continue;
    bool known = false;
    for (const auto &entry : names)
      if (word == entry.name) {
        bits |= entry.bit;
        known = true;
      }
    if (!known)
      throw EmulatorError(hipErrorInvalidValue,
                          "no sanitizer '" + word +
                              "' (memory, race, init, wait, barrier, all, none)");
  }
  return bits;
}

std::string Report::text() const {
  const auto place = [](const std::string &where, const std::string &inst,
                        const std::string &line) {
    return where + ": " + inst + (line.empty() ? "" : "\n    source " + line);
  };
  std::string out = sanitizer + ": " + what + "\n  at " + place(location, instruction, source);
  if (!otherLocation.empty())
    out += "\n  and " + place(otherLocation, otherInstruction, otherSource);
  out += format("\n  block (%u, %u, %u), wave %u", block[0], block[1], block[2], wave);
  if (lane >= 0)
    out += format(", lane %d", lane);
  if (count > 1)
    out += format("\n  %llu times", static_cast<unsigned long long>(count));
  return out;
}

std::string Report::json() const {
  std::string out = "{\"sanitizer\": " + jsonString(sanitizer) + ", \"what\": " + jsonString(what) +
                    ", \"location\": " + jsonString(location) +
                    ", \"instruction\": " + jsonString(instruction) +
                    ", \"source\": " + jsonString(source);
  if (!otherLocation.empty())
    out += ", \"other_location\": " + jsonString(otherLocation) +
           ", \"other_instruction\": " + jsonString(otherInstruction) +
           ", \"other_source\": " + jsonString(otherSource);
  return out + format(", \"block\": [%u, %u, %u], \"wave\": %u, \"lane\": %d, \"count\": %llu}",
                      block[0], block[1], block[2], wave, lane,
                      static_cast<unsigned long long>(count));
}

void ReportSink::begin(const CodeObject &object, Program &program) {
  object_ = &object;
  program_ = &program;
}

void ReportSink::add(const char *sanitizer, std::string what, const Wave &wave,
                     const Instruction &inst, int lane, const Instruction *other) {
  const uint64_t otherAddress = other != nullptr ? other->address : 0;
  const std::string key =
      std::string(sanitizer) + "/" + hex(inst.address) + "/" + hex(otherAddress);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = reports_.find(key);
  if (known != reports_.end()) {
    Report &report = known->second;
    ++report.count;
    // Which one stands for all must not depend on the threads' timing: the first block and wave.
    const WorkGroup &group = *wave.group;
    const auto rank = [](const uint32_t *id, uint32_t w) {
      return ((uint64_t{id[2]} << 42) | (uint64_t{id[1]} << 21) | id[0]) * 64 + w;
    };
    if (rank(group.id, wave.index) < rank(report.block, report.wave)) {
      std::copy(group.id, group.id + 3, report.block);
      report.wave = wave.index;
      report.lane = lane;
      report.what = std::move(what);
    }
    return;
  }
  if (reports_.size() >= kMostReports)
    return;
  Report report;
  report.sanitizer = sanitizer;
  report.what = std::move(what);
  const auto describe = [&](const Instruction &i, std::string &location, std::string &text,
                            std::string &line) {
    const uint64_t address = program_->elfAddress(i);
    location = program_->location(address);
    text = program_->disassemble(i);
    line = object_->sourceLine(address);
  };
  describe(inst, report.location, report.instruction, report.source);
  if (other != nullptr)
    describe(*other, report.otherLocation, report.otherInstruction, report.otherSource);
  std::copy(wave.group->id, wave.group->id + 3, report.block);
  report.wave = wave.index;
  report.lane = lane;
  reports_.emplace(key, std::move(report));
}

std::vector<Report> ReportSink::take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Report> out;
  for (auto &[key, report] : reports_)
    out.push_back(std::move(report));
  reports_.clear();
  return out;
}

} // namespace flyemu
