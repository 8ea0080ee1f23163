// SPDX-License-Identifier: Apache-2.0
#include "sanitize/lds_order.h"

#include <algorithm>

namespace flyemu {

LdsOrder::LdsOrder(Outstanding &outstanding, ReleaseOrder &global, const WorkGroup &group)
    : outstanding_(outstanding), global_(global), waveCount_(group.waveCount),
      clocks_(group.waveCount), latest_((group.ldsBytes + 3) / 4), released_(latest_.size()) {}

void LdsOrder::join(Clock &into, const Clock &from) {
  for (unsigned w = 0; w < kWaves; ++w) {
    into[w].local = std::max(into[w].local, from[w].local);
    into[w].direct = std::max(into[w].direct, from[w].direct);
  }
}

void LdsOrder::note(Kind kind, uint32_t wave, uint64_t dword, uint64_t sequence) {
  latest_[dword][static_cast<size_t>(kind)][wave] = static_cast<uint32_t>(sequence);
}

uint32_t LdsOrder::unordered(Kind kind, uint32_t waves, uint32_t wave, uint64_t dword) const {
  const Clock &known = clocks_[wave];
  uint32_t out = 0;
  for (unsigned w = 0; w < waveCount_; ++w) {
    if ((waves >> w & 1U) == 0)
      continue;
    const uint64_t reached = kind == Kind::Direct ? known[w].direct : known[w].local;
    if (latest_[dword][static_cast<size_t>(kind)][w] > reached)
      out |= 1U << w;
  }
  return out;
}

void LdsOrder::release(uint32_t wave, const std::vector<uint64_t> &dwords, bool updates) {
  Released mine;
  mine.clock = clocks_[wave];
  mine.clock[wave] = {outstanding_.localRetired(wave), outstanding_.retiredDirect(wave)};
  // The release is seen where its value is.
  if (mine.clock[wave].local == outstanding_.localIssued(wave))
    ++mine.clock[wave].local;
  global_.release(wave, mine.global, false);
  if (!updates) {
    const auto shared = std::make_shared<const Released>(std::move(mine));
    for (const uint64_t dword : dwords)
      released_[dword] = shared;
    return;
  }
  for (const uint64_t dword : dwords) {
    auto joined = std::make_shared<Released>(mine);
    if (const Released *before = released_[dword].get(); before != nullptr) {
      join(joined->clock, before->clock);
      merge(joined->global, before->global);
    }
    released_[dword] = std::move(joined);
  }
}

void LdsOrder::acquire(uint32_t wave, uint64_t dword) {
  const Released *released = released_[dword].get();
  if (released == nullptr)
    return;
  join(clocks_[wave], released->clock);
  global_.acquire(wave, released->global, true);
}

void LdsOrder::barrier() {
  Clock all = {};
  for (uint32_t w = 0; w < waveCount_; ++w) {
    join(all, clocks_[w]);
    const Outstanding::Arrival &arrival = outstanding_.arrival(w);
    all[w].local = std::max(all[w].local, arrival.localRetired);
    all[w].direct = std::max(all[w].direct, arrival.retiredDirect);
  }
  std::fill(clocks_.begin(), clocks_.end(), all);
  // Waves know of each other now whatever was released before.
  std::fill(released_.begin(), released_.end(), nullptr);
}

} // namespace flyemu
