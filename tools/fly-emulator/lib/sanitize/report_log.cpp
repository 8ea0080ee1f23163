// SPDX-License-Identifier: Apache-2.0
#include "sanitize/report_log.h"

namespace flyemu {
namespace {

constexpr size_t kKept = 10000;

} // namespace

ReportLog &ReportLog::instance() {
  static auto *log = new ReportLog; // never destroyed: clients launch from static destructors
  return *log;
}

void ReportLog::add(const std::vector<Report> &reports) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Report &report : reports)
    reports_.push_back(report.json());
  count_ += reports.size();
  while (reports_.size() > kKept)
    reports_.pop_front();
}

uint64_t ReportLog::count() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return count_;
}

std::string ReportLog::jsonAfter(uint64_t number) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string out = "[";
  for (size_t i = 0; i < reports_.size(); ++i)
    if (count_ - reports_.size() + i >= number)
      out += (out.size() > 1 ? ", " : "") + reports_[i];
  return out + "]";
}

} // namespace flyemu
