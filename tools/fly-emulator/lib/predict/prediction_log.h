// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "predict/unit_trace.h"

namespace flyemu {

/// The predictions of the process's latest 1024 predicted launches, as JSON. Thread-safe.
class PredictionLog {
public:
  static PredictionLog &instance();

  /// Keeps the prediction and its trace (may be null), and returns its number, from 1.
  uint64_t add(const std::string &json, std::shared_ptr<const UnitTrace> trace);
  uint64_t count() const;
  /// Those after the first `number`, as a JSON array.
  std::string jsonAfter(uint64_t number) const;
  /// The trace of a prediction; null if it has none, or one that is forgotten: the last four traces
  /// are kept.
  std::shared_ptr<const UnitTrace> trace(uint64_t number) const;

private:
  mutable std::mutex mutex_;
  std::deque<std::string> latest_;
  std::map<uint64_t, std::shared_ptr<const UnitTrace>> traces_; ///< by number
  uint64_t count_ = 0;
};

} // namespace flyemu
