// SPDX-License-Identifier: Apache-2.0
#include "predict/prediction_log.h"

namespace flyemu {

PredictionLog &PredictionLog::instance() {
  static auto *log = new PredictionLog; // never destroyed: clients launch from static destructors
  return *log;
}

uint64_t PredictionLog::add(const std::string &json, std::shared_ptr<const UnitTrace> trace) {
  constexpr size_t kKept = 1024;
  constexpr size_t kTraces = 4;
  const std::lock_guard<std::mutex> lock(mutex_);
  latest_.push_back(json);
  if (latest_.size() > kKept)
    latest_.pop_front();
  ++count_;
  if (trace != nullptr)
    traces_[count_] = std::move(trace);
  if (traces_.size() > kTraces)
    traces_.erase(traces_.begin());
  return count_;
}

std::shared_ptr<const UnitTrace> PredictionLog::trace(uint64_t number) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = traces_.find(number);
  return found == traces_.end() ? nullptr : found->second;
}

uint64_t PredictionLog::count() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return count_;
}

std::string PredictionLog::jsonAfter(uint64_t number) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string out = "[";
  for (size_t i = 0; i < latest_.size(); ++i)
    if (count_ - latest_.size() + i >= number)
      out += (out.size() > 1 ? ", " : "") + latest_[i];
  return out + "]";
}

} // namespace flyemu
