// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace flyemu {

/// Which bytes of an allocation anybody has written since it was made. Threads may note and ask at
/// the same time.
class WrittenBytes {
public:
  WrittenBytes(uint64_t begin, uint64_t bytes);
  ~WrittenBytes();
  WrittenBytes(const WrittenBytes &) = delete;
  WrittenBytes &operator=(const WrittenBytes &) = delete;

  uint64_t begin() const { return begin_; }
  uint64_t end() const { return begin_ + bytes_; }

  /// Bytes from an address of the allocation on; what lies outside of it is left out.
  void note(uint64_t address, uint64_t bytes);
  /// Somebody who is not followed may have written anything.
  void noteAll() { all_.store(true, std::memory_order_relaxed); }
  bool isAll() const { return all_.load(std::memory_order_relaxed); }
  /// Whether one byte of the allocation has been written: also where it is not zero, as fresh
  /// memory is, since hosts can write without a call.
  bool has(uint64_t address) const;

private:
  uint64_t begin_;
  uint64_t bytes_;
  uint64_t *bits_ = nullptr; ///< one for each byte; pages are taken as they are touched
  size_t mapped_ = 0;
  std::atomic<bool> all_{false};
};

} // namespace flyemu
