// SPDX-License-Identifier: Apache-2.0
#include "device/memory_map.h"

#include <algorithm>
#include <iterator>

#include "support/format.h"

namespace flyemu {

MemoryView::MemoryView(std::vector<MemoryRange> ranges, std::vector<MemoryRange> freed)
    : ranges_(std::move(ranges)), freed_(std::move(freed)) {
  for (const MemoryRange &range : ranges_)
    if (range.written != nullptr)
      written_.push_back(range.written.get());
  // Cut at every border, then join neighbours of equal rights.
  std::vector<uint64_t> borders;
  for (const MemoryRange &range : ranges_) {
    borders.push_back(range.begin);
    borders.push_back(range.end);
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  std::vector<int> readers(borders.size() + 1);
  std::vector<int> writers(borders.size() + 1);
  const auto indexOf = [&](uint64_t border) {
    return std::lower_bound(borders.begin(), borders.end(), border) - borders.begin();
  };
  for (const MemoryRange &range : ranges_) {
    ++readers[indexOf(range.begin)];
    --readers[indexOf(range.end)];
    if (range.writable) {
      ++writers[indexOf(range.begin)];
      --writers[indexOf(range.end)];
    }
  }
  int reading = 0;
  int writing = 0;
  for (size_t i = 0; i + 1 < borders.size(); ++i) {
    reading += readers[i];
    writing += writers[i];
    if (reading == 0)
      continue;
    const bool writable = writing > 0;
    if (!segments_.empty() && segments_.back().end == borders[i] &&
        segments_.back().writable == writable)
      segments_.back().end = borders[i + 1];
    else
      segments_.push_back({borders[i], borders[i + 1], writable});
  }
}

WrittenBytes *MemoryView::writtenAt(uint64_t address) const {
  const auto next =
      std::upper_bound(written_.begin(), written_.end(), address,
                       [](uint64_t a, const WrittenBytes *one) { return a < one->begin(); });
  return next != written_.begin() && address < next[-1]->end() ? next[-1] : nullptr;
}

const MemoryView::Segment *MemoryView::find(uint64_t address, uint64_t size) const {
  auto it = std::upper_bound(segments_.begin(), segments_.end(), address,
                             [](uint64_t a, const Segment &s) { return a < s.begin; });
  if (it == segments_.begin())
    return nullptr;
  --it;
  return address < it->end && size <= it->end - address ? &*it : nullptr;
}

const MemoryRange *MemoryView::nearest(uint64_t address) const {
  const MemoryRange *nearest = nullptr;
  uint64_t best = ~uint64_t{0};
  const auto size = [](const MemoryRange &range) { return range.end - range.begin; };
  for (const MemoryRange &range : ranges_) {
    const uint64_t distance = address < range.begin  ? range.begin - address
                              : address >= range.end ? address - range.end + 1
                                                     : 0;
    if (distance < best || (distance == best && distance == 0 && size(range) < size(*nearest))) {
      best = distance;
      nearest = &range;
    }
  }
  return nearest;
}

std::string MemoryView::describe(uint64_t address, uint64_t size) const {
  constexpr uint64_t kFar = uint64_t{1} << 40;
  const MemoryRange *range = nearest(address);
  const bool live = range != nullptr && address >= range->begin && address < range->end;
  for (const MemoryRange &freed : freed_)
    if (!live && address >= freed.begin && address < freed.end)
      return format("byte %llu of a %s of %llu bytes that has been freed",
                    static_cast<unsigned long long>(address - freed.begin), freed.name.c_str(),
                    static_cast<unsigned long long>(freed.end - freed.begin));
  if (range == nullptr)
    return "no memory is registered or allocated";
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  const std::string name =
      (range->name.empty() ? std::string("an unnamed range") : "'" + range->name + "'") +
      format(" (%llu bytes at %s%s%s)", number(range->end - range->begin),
             hex(range->begin).c_str(), range->writable ? "" : ", read-only",
             range->tensor != nullptr ? (", " + range->tensor->shapeText()).c_str() : "");
  std::string text;
  if (address >= range->begin && address < range->end) {
    text = format("byte %llu of ", number(address - range->begin)) + name;
    if (address + size > range->end)
      text += format(", %llu bytes past its end", number(address + size - range->end));
  } else {
    const bool before = address < range->begin;
    const uint64_t distance = before ? range->begin - address : address - range->end;
    if (distance >= kFar)
      return "not near any allocation";
    text = format("%llu bytes %s ", number(distance), before ? "before" : "past the end of") + name;
  }
  if (range->tensor != nullptr)
    text += ", " + range->tensor->elementText(address);
  return text;
}

MemoryMap &MemoryMap::instance() {
  // Never destroyed: clients free memory from their own static destructors.
  static auto *map = new MemoryMap;
  return *map;
}

void MemoryMap::add(MemoryRange range) {
  const std::lock_guard<std::mutex> lock(mutex_);
  range.serial = ++serial_;
  const uint64_t begin = range.begin;
  ranges_.emplace(begin, std::move(range));
  view_.reset();
}

bool MemoryMap::remove(uint64_t begin, MemoryKind kind, MemoryRange *removed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto latest = ranges_.end();
  const auto [first, last] = ranges_.equal_range(begin);
  for (auto it = first; it != last; ++it)
    if (it->second.kind == kind &&
        (latest == ranges_.end() || it->second.serial > latest->second.serial))
      latest = it;
  if (latest == ranges_.end())
    return false;
  if (removed != nullptr)
    *removed = latest->second;
  ranges_.erase(latest);
  view_.reset();
  return true;
}

void MemoryMap::quarantine(MemoryRange range) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t begin = range.begin;
  freed_[begin] = std::move(range);
  view_.reset();
}

void MemoryMap::forget(uint64_t begin) {
  const std::lock_guard<std::mutex> lock(mutex_);
  freed_.erase(begin);
  view_.reset();
}

bool MemoryMap::lookup(uint64_t address, MemoryRange &out) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  bool found = false;
  for (const auto &[begin, range] : ranges_) {
    if (begin > address)
      break;
    if (address < range.end && (!found || range.end - range.begin < out.end - out.begin)) {
      out = range;
      found = true;
    }
  }
  return found;
}

WrittenBytes *MemoryMap::writtenAt(uint64_t address) const {
  // Allocations begin at different addresses and do not overlap.
  for (auto it = ranges_.upper_bound(address); it != ranges_.begin();) {
    --it;
    const MemoryRange &range = it->second;
    if (range.written != nullptr)
      return address < range.end ? range.written.get() : nullptr;
  }
  return nullptr;
}

void MemoryMap::noteWritten(uint64_t address, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (WrittenBytes *written = writtenAt(address); written != nullptr)
    written->note(address, bytes);
}

void MemoryMap::noteCopied(uint64_t to, uint64_t from, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  WrittenBytes *target = writtenAt(to);
  const WrittenBytes *source = writtenAt(from);
  if (target == nullptr || target->isAll())
    return;
  if (source == nullptr || source->isAll())
    return target->note(to, bytes);
  for (uint64_t i = 0; i < bytes; ++i)
    if (source->has(from + i))
      target->note(to + i, 1);
}

void MemoryMap::noteAllWritten() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto &[begin, range] : ranges_)
    if (range.written != nullptr)
      range.written->noteAll();
}

uint64_t MemoryMap::allocated(int device) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint64_t sum = 0;
  for (const auto &[begin, range] : ranges_)
    if (range.device == device &&
        (range.kind == MemoryKind::Device || range.kind == MemoryKind::Managed))
      sum += range.end - begin;
  return sum;
}

std::shared_ptr<const MemoryView> MemoryMap::view() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (view_ == nullptr) {
    std::vector<MemoryRange> ranges;
    ranges.reserve(ranges_.size());
    for (const auto &[begin, range] : ranges_)
      ranges.push_back(range);
    std::vector<MemoryRange> freed;
    freed.reserve(freed_.size());
    for (const auto &[begin, range] : freed_)
      freed.push_back(range);
    view_ = std::make_shared<MemoryView>(std::move(ranges), std::move(freed));
  }
  return view_;
}

} // namespace flyemu
