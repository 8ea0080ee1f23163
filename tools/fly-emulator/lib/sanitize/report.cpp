// SPDX-License-Identifier: Apache-2.0
#include "sanitize/report.h"

#include <algorithm>

#include "execute/program.h"
#include "support/error.h"
#include "support/format.h"

namespace flyemu {
namespace {

constexpr struct {
  const char *name;
  unsigned bit;
} kNames[] = {{"memory", sanitizer::kMemory},
              {"race", sanitizer::kRace},
              {"init", sanitizer::kInit},
              {"wait", sanitizer::kWait},
              {"barrier", sanitizer::kBarrier},
              {"hazard", sanitizer::kHazard},
              {"lint", sanitizer::kLint},
              {"all", sanitizer::kAll},
              {"none", 0}};

/// The order of waves in a launch.
uint64_t rank(const uint32_t *block, uint32_t wave) {
  return ((uint64_t{block[2]} << 42) | (uint64_t{block[1]} << 21) | block[0]) * 64 + wave;
}

[[noreturn]] void stop() {
  throw EmulatorError(hipErrorLaunchFailure, "stopped at the first finding");
}

} // namespace

std::string sanitizer::names(unsigned bits) {
  std::string out;
  for (const auto &entry : kNames)
    if (entry.bit != kAll && (entry.bit & bits) != 0)
      out += (out.empty() ? "" : ",") + std::string(entry.name);
  return out;
}

unsigned sanitizer::parse(const std::string &list) {
  unsigned bits = 0;
  std::string rest = list + ",";
  for (size_t comma = 0; (comma = rest.find(',')) != std::string::npos;
       rest = rest.substr(comma + 1)) {
    const std::string word = rest.substr(0, comma);
    if (word.empty())
      continue;
    bool known = false;
    for (const auto &entry : kNames)
      if (word == entry.name) {
        bits |= entry.bit;
        known = true;
      }
    if (!known)
      throw EmulatorError(hipErrorInvalidValue,
                          "no sanitizer '" + word +
                              "' (memory, race, init, wait, barrier, hazard, lint, all, none)");
  }
  return bits;
}

std::string Report::text() const {
  const auto line = [](const std::string &where, const std::string &inst, const std::string &line) {
    return where + ": " + inst + (line.empty() ? "" : "\n    source " + line);
  };
  std::string out = sanitizer + ": " + what + "\n  at " + line(location, instruction, source);
  if (!otherLocation.empty())
    out += "\n  and " + line(otherLocation, otherInstruction, otherSource);
  out += format("\n  block (%u, %u, %u), wave %u", block[0], block[1], block[2], wave);
  if (lane >= 0)
    out += format(", lane %d (thread %u, %u, %u)", lane, thread[0], thread[1], thread[2]);
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
  out += format(", \"block\": [%u, %u, %u], \"wave\": %u, \"lane\": %d", block[0], block[1],
                block[2], wave, lane);
  if (lane >= 0)
    out += format(", \"thread\": [%u, %u, %u]", thread[0], thread[1], thread[2]);
  if (hasAddress)
    out += format(", \"address\": %llu", static_cast<unsigned long long>(address));
  return out + format(", \"count\": %llu}", static_cast<unsigned long long>(count));
}

void ReportSink::begin(const CodeObject &object, Program &program, const LaunchGeometry &geometry) {
  object_ = &object;
  program_ = &program;
  geometry_ = geometry;
}

void ReportSink::describe(const Finding &finding, Report &report) const {
  const WorkGroup &group = *finding.wave.group;
  std::copy(group.id, group.id + 3, report.block);
  report.wave = finding.wave.index;
  report.lane = finding.lane;
  report.hasAddress = finding.hasAddress;
  report.address = finding.address;
  if (finding.lane < 0)
    return;
  const uint32_t flat = report.wave * finding.wave.lanes() + static_cast<uint32_t>(finding.lane);
  const uint32_t *size = geometry_.groupSize;
  report.thread[0] = flat % size[0];
  report.thread[1] = flat / size[0] % size[1];
  report.thread[2] = flat / size[0] / size[1];
}

void ReportSink::add(const Finding &finding, const std::function<std::string()> &what) {
  const Instruction *other = finding.other;
  const Key key{finding.sanitizer, finding.inst.address, other != nullptr ? other->address : 0};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (finding.plainLoad != nullptr && seeds_.count(finding.plainLoad) != 0)
    return;
  if (options_.stopAtFirst && reports_.size() > plainLoads_.size()) // another group was first
    stop();
  const auto known = reports_.find(key);
  if (known != reports_.end()) {
    Report &report = known->second;
    ++report.count;
    // Which one stands for all must not depend on the threads' timing: the first block and wave.
    if (rank(finding.wave.group->id, finding.wave.index) < rank(report.block, report.wave)) {
      describe(finding, report);
      report.what = what();
    }
    return;
  }
  if (reports_.size() >= options_.mostReports) {
    ++dropped_;
    return;
  }
  Report report;
  report.sanitizer = finding.sanitizer;
  report.what = what();
  describe(finding, report);
  const auto locate = [&](const Instruction &i, std::string &location, std::string &text,
                          std::string &line) {
    const uint64_t address = program_->elfAddress(i);
    location = program_->location(address);
    text = program_->disassemble(i);
    line = object_->sourceLine(address);
  };
  locate(finding.inst, report.location, report.instruction, report.source);
  if (other != nullptr)
    locate(*other, report.otherLocation, report.otherInstruction, report.otherSource);
  reports_.emplace(key, std::move(report));
  if (finding.plainLoad != nullptr)
    plainLoads_.emplace(key, finding.plainLoad);
  else if (options_.stopAtFirst)
    stop();
}

void ReportSink::seeds(const Instruction &load) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!seeds_.insert(&load).second)
    return;
  for (auto it = plainLoads_.begin(); it != plainLoads_.end();) {
    if (it->second == &load)
      reports_.erase(it->first);
    it = it->second == &load ? plainLoads_.erase(it) : std::next(it);
  }
}

std::vector<Report> ReportSink::take(uint64_t &dropped) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Report> out;
  out.reserve(reports_.size());
  for (auto &[key, report] : reports_)
    out.push_back(std::move(report));
  reports_.clear();
  plainLoads_.clear();
  seeds_.clear();
  dropped = dropped_;
  dropped_ = 0;
  return out;
}

} // namespace flyemu
