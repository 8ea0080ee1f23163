// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "sanitize/report.h"

namespace flyemu {

/// The findings of the process's launches, of all threads; the last 10,000 are kept. Thread-safe.
class ReportLog {
public:
  static ReportLog &instance();

  void add(const std::vector<Report> &reports);
  /// How many there were.
  uint64_t count() const;
  /// Those after the first `number`, as a JSON array.
  std::string jsonAfter(uint64_t number) const;

private:
  mutable std::mutex mutex_;
  std::deque<std::string> reports_; ///< as JSON
  uint64_t count_ = 0;
};

} // namespace flyemu
