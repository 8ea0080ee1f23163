// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "predict/recording.h"

namespace flyemu {

/// A cache of lines, least recently used first out. Each line remembers when it came and from
/// where.
class Cache {
public:
  struct Entry {
    uint64_t line = ~uint64_t{0};
    uint64_t used = 0;
    uint64_t filled = 0; ///< when it was asked for
    Level from = Level::L1;
  };

  /// `hashed`: sets by a hash of the line; else by its last bits.
  Cache(uint64_t bytes, unsigned ways, bool hashed = true)
      : hashed_(hashed), ways_(ways), sets_(std::max<uint64_t>(1, bytes / kLineBytes / ways)),
        entries_(sets_ * ways) {}

  /// The line's entry, or null.
  Entry *find(uint64_t line) {
    Entry *set = setOf(line);
    for (unsigned i = 0; i < ways_; ++i)
      if (set[i].line == line) {
        set[i].used = ++clock_;
        return set + i;
      }
    return nullptr;
  }
  void insert(uint64_t line, uint64_t time, Level from) {
    Entry *set = setOf(line);
    Entry *oldest = set;
    for (unsigned i = 1; i < ways_; ++i)
      if (set[i].used < oldest->used)
        oldest = set + i;
    *oldest = {line, ++clock_, time, from};
  }

private:
  Entry *setOf(uint64_t line) {
    constexpr uint64_t kOdd = 0x9e3779b97f4a7c15; // lines with power-of-two strides spread, too
    return entries_.data() + (hashed_ ? (line * kOdd) >> 32 : line) % sets_ * ways_;
  }

  const bool hashed_;
  const unsigned ways_;
  const uint64_t sets_;
  uint64_t clock_ = 0;
  std::vector<Entry> entries_;
};

} // namespace flyemu
