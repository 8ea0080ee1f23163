// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_log.h"

#include "support/json_lines.h"

namespace flyemu {
namespace {

constexpr size_t kKept = 1024;
constexpr size_t kTracesKept = 4;

} // namespace

ProfileLog &ProfileLog::instance() {
  static auto *log = new ProfileLog; // never destroyed: clients launch from static destructors
  return *log;
}

uint64_t ProfileLog::add(LaunchProfile profile) {
  auto kept = std::make_shared<LaunchProfile>(std::move(profile));
  appendJsonLine("FLYDSL_EMU_PROFILE_FILE", [&] { return kept->json(); });
  const std::lock_guard<std::mutex> lock(mutex_);
  profiles_.push_back(std::move(kept));
  if (profiles_.size() > kKept)
    profiles_.pop_front();
  if (profiles_.size() > kTracesKept) {
    // Readers may hold it: a copy without a trace takes its place.
    std::shared_ptr<LaunchProfile> &old = profiles_[profiles_.size() - kTracesKept - 1];
    if (!old->trace.empty()) {
      auto shorter = std::make_shared<LaunchProfile>(*old);
      shorter->trace = UnitTrace();
      shorter->traceForgotten = true;
      old = std::move(shorter);
    }
  }
  return ++latest_;
}

uint64_t ProfileLog::latest() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return latest_;
}

std::shared_ptr<const LaunchProfile> ProfileLog::find(uint64_t number) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (number == 0 || number > latest_ || latest_ - number >= profiles_.size())
    return nullptr;
  return profiles_[profiles_.size() - 1 - static_cast<size_t>(latest_ - number)];
}

std::string ProfileLog::jsonAfter(uint64_t number) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string out = "[";
  for (size_t i = 0; i < profiles_.size(); ++i) {
    const uint64_t own = latest_ - (profiles_.size() - 1 - i);
    if (own > number)
      out += (out.size() > 1 ? ", " : "") + profiles_[i]->json(own);
  }
  return out + "]";
}

} // namespace flyemu
