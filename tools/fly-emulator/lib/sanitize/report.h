// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
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
constexpr unsigned kAll = 31;

/// "memory,race", "all", "none" to bits; EmulatorError for another word.
unsigned parse(const std::string &list);
} // namespace sanitizer

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
  uint32_t wave = 0;
  int lane = -1;
  uint64_t count = 1;

  std::string text() const;
  std::string json() const;
};

/// Collects the findings of a launch from all threads.
class ReportSink {
public:
  void begin(const CodeObject &object, Program &program);
  /// `other` may be null.
  void add(const char *sanitizer, std::string what, const Wave &wave, const Instruction &inst,
           int lane, const Instruction *other);
  std::vector<Report> take();

private:
  const CodeObject *object_ = nullptr;
  Program *program_ = nullptr;
  std::mutex mutex_;
  std::map<std::string, Report> reports_; ///< by sanitizer and instructions
};

} // namespace flyemu
