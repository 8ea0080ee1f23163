// SPDX-License-Identifier: Apache-2.0
#include "device/written_bytes.h"

#include <sys/mman.h>

#include <algorithm>

namespace flyemu {

WrittenBytes::WrittenBytes(uint64_t begin, uint64_t bytes) : begin_(begin), bytes_(bytes) {
  mapped_ = (bytes / 64 + 1) * sizeof(uint64_t);
  void *memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    noteAll(); // not followed rather than refused
  else
    bits_ = static_cast<uint64_t *>(memory);
}

WrittenBytes::~WrittenBytes() {
  if (bits_ != nullptr)
    munmap(bits_, mapped_);
}

void WrittenBytes::note(uint64_t address, uint64_t bytes) {
  if (isAll() || address >= end() || bytes == 0)
    return;
  uint64_t first = std::max(address, begin_) - begin_;
  const uint64_t last = std::min(bytes_, address - begin_ + bytes);
  if (first == 0 && last == bytes_)
    return noteAll();
  while (first < last) {
    const uint64_t in = std::min<uint64_t>(64 - first % 64, last - first);
    const uint64_t mask = (in == 64 ? ~uint64_t{0} : (uint64_t{1} << in) - 1) << first % 64;
    uint64_t &word = bits_[first / 64];
    if ((__atomic_load_n(&word, __ATOMIC_RELAXED) & mask) != mask)
      __atomic_fetch_or(&word, mask, __ATOMIC_RELAXED);
    first += in;
  }
}

bool WrittenBytes::has(uint64_t address) const {
  if (isAll())
    return true;
  const uint64_t offset = address - begin_;
  return (__atomic_load_n(bits_ + offset / 64, __ATOMIC_RELAXED) >> offset % 64 & 1U) != 0 ||
         *reinterpret_cast<const volatile uint8_t *>(address) != 0;
}

} // namespace flyemu
