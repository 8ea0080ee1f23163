// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "device/launch.h"
#include "execute/wave.h"

namespace flyemu {

/// The sanitizers, one bit each.
namespace sanitizer {
constexpr unsigned kMemory = 1;
constexpr unsigned kRace = 2;
constexpr unsigned kInit = 4;
constexpr unsigned kWait = 8;
constexpr unsigned kBarrier = 16;
constexpr unsigned kLint = 32; ///< what is known to go wrong on silicon; not one of "all"
constexpr unsigned kHazard = 64;
constexpr unsigned kAll = kMemory | kRace | kInit | kWait | kBarrier | kHazard;

/// "memory,race", "all", "none" to bits; EmulatorError for another word.
unsigned parse(const std::string &list);
/// The list for bits, without "all".
std::string names(unsigned bits);
} // namespace sanitizer

/// How findings are reported.
struct ReportOptions {
  bool stopAtFirst = false;   ///< end the launch at the first finding
  uint32_t mostReports = 100; ///< different findings that are kept; the rest are counted
  bool raises = true;         ///< a launch with findings fails
};

/// One finding. Repeats (same sanitizer, same instructions) only raise `count`.
struct Report {
  std::string sanitizer; ///< "race"
  std::string what;
  std::string location; ///< "kernel+0x40"
  std::string instruction;
  std::string source;        ///< "file:line", may be empty
  std::string otherLocation; ///< of a race's earlier access
  std::string otherInstruction;
  std::string otherSource;
  uint32_t block[3] = {};
  uint32_t thread[3] = {}; ///< of the lane, in its block
  uint32_t wave = 0;
  int lane = -1;
  bool hasAddress = false;
  uint64_t address = 0; ///< a host address, or an offset into LDS
  uint64_t count = 1;

  std::string text() const;
  std::string json() const;
};

/// Where something was found.
struct Finding {
  const char *sanitizer;
  const Wave &wave;
  const Instruction &inst;
  int lane = -1;                      ///< -1: the whole wave
  const Instruction *other = nullptr; ///< the other access of a race
  bool hasAddress = false;
  uint64_t address = 0;
  /// Of a race with an atomic access: the plain load, which is none where it seeds a loop of
  /// compare-and-swap.
  const Instruction *plainLoad = nullptr;
};

/// Collects the findings of a launch from all threads.
class ReportSink {
public:
  explicit ReportSink(const ReportOptions &options) : options_(options) {}

  void begin(const CodeObject &object, Program &program, const LaunchGeometry &geometry);
  /// `what` is only called where the text is needed. Throws EmulatorError where the first finding
  /// is to end the launch.
  void add(const Finding &finding, const std::function<std::string()> &what);
  /// A load seeds loops of compare-and-swap: findings that it is the plain load of are dropped.
  void seeds(const Instruction &load);
  /// The findings by sanitizer and place, and how many different ones were dropped.
  std::vector<Report> take(uint64_t &dropped);

private:
  using Key = std::tuple<std::string, uint64_t, uint64_t>; ///< sanitizer, instructions

  void describe(const Finding &finding, Report &report) const;

  const ReportOptions options_;
  const CodeObject *object_ = nullptr;
  Program *program_ = nullptr;
  LaunchGeometry geometry_;
  std::mutex mutex_;
  std::map<Key, Report> reports_;
  std::map<Key, const Instruction *> plainLoads_; ///< of those that are not certain yet
  std::set<const Instruction *> seeds_;
  uint64_t dropped_ = 0;
};

} // namespace flyemu
