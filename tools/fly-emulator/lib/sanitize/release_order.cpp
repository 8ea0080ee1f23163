// SPDX-License-Identifier: Apache-2.0
#include "sanitize/release_order.h"

#include <algorithm>

#include "execute/opcode.h"

namespace flyemu {
namespace {

void merge(Progress &into, const Progress &from) {
  into.complete = std::max(into.complete, from.complete);
  into.stored = std::max(into.stored, from.stored);
  into.writtenBack = std::max(into.writtenBack, from.writtenBack);
  into.issued = std::max(into.issued, from.issued);
}
bool reaches(const WaveTimes &times, const WaveAccess &access) {
  const auto known = times.find(access.wave);
  if (known == times.end())
    return false;
  const bool cached = access.store && !access.coherent;
  const Progress &progress = known->second;
  return access.sequence <= (cached           ? progress.writtenBack
                             : access.counted ? progress.stored
                                              : progress.complete);
}

} // namespace

void merge(WaveTimes &into, const WaveTimes &from) {
  for (const auto &[wave, progress] : from)
    merge(into[wave], progress);
}

ReleaseOrder::ReleaseOrder(uint64_t group, Outstanding &outstanding, uint32_t waves,
                           uint32_t generation)
    : group_(group), writesThrough_(generation >= 10), outstanding_(outstanding), waves_(waves),
      published_(waves) {
  for (Own &own : waves_)
    own.writtenBack.resize(waves);
}

bool ReleaseOrder::unreleased(const WaveAccess &own) const {
  return own.epoch == epoch_ && own.sequence > waves_[own.wave & ((1U << kWaveBits) - 1)].released;
}

void ReleaseOrder::settle(uint32_t wave) {
  Own &own = waves_[wave];
  const auto isDone = [&](const WriteBack &back) {
    if (back.sequence > outstanding_.retired(wave))
      return false;
    for (size_t w = 0; w < waves_.size(); ++w)
      own.writtenBack[w] = std::max(own.writtenBack[w], back.upTo[w]);
    return true;
  };
  if (!own.backs.empty())
    own.backs.erase(std::remove_if(own.backs.begin(), own.backs.end(), isDone), own.backs.end());
  for (auto it = own.pending.begin(); it != own.pending.end();) {
    if (it->sequence > outstanding_.retired(wave))
      return; // later ones are not complete either
    merge(own.ordered, it->times);
    it = own.pending.erase(it);
    changed_ = true;
  }
}

void ReleaseOrder::before(const Wave &wave, const Instruction &inst) {
  if (inst.opcode->cls != OpClass::Control)
    return;
  Own &own = waves_[wave.index];
  if (writesThrough_ && inst.opcode->name == "buffer_gl0_inv") {
    settle(wave.index);
    invalidate(own, 0);
  } else if (writesThrough_ && inst.opcode->name == "buffer_gl1_inv") {
    settle(wave.index);
    invalidate(own, 1);
  }
  if (inst.opcode->name.rfind("s_dcache_inv", 0) == 0)
    invalidateScalars(wave.index);
  if (!inst.modifiers.sc1)
    return;
  if (Outstanding::writesBack(inst)) {
    WriteBack back{sequence(wave.index), std::vector<uint64_t>(waves_.size())};
    for (size_t w = 0; w < waves_.size(); ++w)
      back.upTo[w] = w == wave.index ? back.sequence : published_[w].complete;
    own.backs.push_back(std::move(back));
  } else if (inst.opcode->name == "buffer_inv" || inst.opcode->name == "global_inv") {
    settle(wave.index);
    merge(own.seen, own.ordered);
    changed_ |= !own.seen.empty();
  }
}

/// What was acquired before both were invalidated is seen: of the two, what the other one had.
void ReleaseOrder::invalidate(Own &own, unsigned cache) {
  own.invalidated[cache] = own.ordered;
  merge(own.seen, own.invalidated[1 - cache]);
  changed_ |= !own.seen.empty();
}

/// What is complete then is read afresh: of its own workgroup, whose stores go to the same L2, what
/// was waited for (by other waves before a barrier); of others, what was acquired.
void ReleaseOrder::invalidateScalars(uint32_t wave) {
  settle(wave);
  Own &own = waves_[wave];
  merge(own.scalars, own.ordered);
  for (uint32_t w = 0; w < waves_.size(); ++w) {
    Progress progress;
    progress.complete = w == wave ? outstanding_.retired(w) : published_[w].complete;
    progress.stored = w == wave ? outstanding_.retiredStores(w) : published_[w].stored;
    progress.writtenBack = progress.complete;
    merge(own.scalars[numberOf(w)], progress);
  }
}

bool ReleaseOrder::scalarCacheHas(const WaveAccess &store, uint32_t wave) {
  return writesThrough_ || reaches(waves_[wave].scalars, store);
}

void ReleaseOrder::barrier() {
  ++epoch_;
  std::vector<uint64_t> back(waves_.size());
  for (uint32_t w = 0; w < waves_.size(); ++w) {
    const Outstanding::Arrival &arrival = outstanding_.arrival(w);
    published_[w].complete = arrival.retired;
    published_[w].stored = arrival.retiredStores;
    settle(w);
    for (uint32_t of = 0; of < waves_.size(); ++of)
      back[of] =
          std::max(back[of], w == of ? std::min(waves_[w].writtenBack[w], published_[w].complete)
                                     : waves_[w].writtenBack[of]);
  }
  for (uint32_t w = 0; w < waves_.size(); ++w)
    for (uint32_t of = 0; of < waves_.size(); ++of)
      if (w != of)
        waves_[w].writtenBack[of] = back[of];
  if (!changed_)
    return;
  changed_ = false;
  for (size_t w = 1; w < waves_.size(); ++w) {
    merge(waves_[0].ordered, waves_[w].ordered);
    merge(waves_[0].seen, waves_[w].seen);
  }
  for (size_t w = 1; w < waves_.size(); ++w) {
    waves_[w].ordered = waves_[0].ordered;
    waves_[w].seen = waves_[0].seen;
  }
}

void ReleaseOrder::release(uint32_t wave, WaveTimes &address, bool byAccess) {
  settle(wave);
  Own &own = waves_[wave];
  own.released = sequence(wave);
  const uint64_t issued = outstanding_.issued(wave);
  for (uint32_t w = 0; w < waves_.size(); ++w) {
    const bool self = w == wave;
    Progress progress;
    progress.complete = self ? outstanding_.retired(w) : published_[w].complete;
    progress.stored = self ? outstanding_.retiredStores(w) : published_[w].stored;
    progress.writtenBack =
        writesThrough_ ? progress.stored : std::min(own.writtenBack[w], progress.complete);
    if (self)
      progress.issued = byAccess ? issued + 1 : issued;
    // The release is seen where its value is.
    if (self && byAccess)
      for (uint64_t *reached : {&progress.writtenBack, &progress.stored, &progress.complete})
        *reached += *reached == issued && progress.complete >= issued ? 1 : 0;
    merge(address[numberOf(w)], progress);
  }
  merge(address, own.ordered);
}

void ReleaseOrder::acquire(uint32_t wave, const WaveTimes &address, bool atOnce) {
  const auto isNews = [&](const auto &entry) {
    if (entry.first == numberOf(wave))
      return false;
    const auto known = waves_[wave].ordered.find(entry.first);
    return known == waves_[wave].ordered.end() || known->second.complete < entry.second.complete ||
           known->second.stored < entry.second.stored ||
           known->second.writtenBack < entry.second.writtenBack ||
           known->second.issued < entry.second.issued;
  };
  if (std::none_of(address.begin(), address.end(), isNews))
    return;
  waves_[wave].pending.push_back({atOnce ? 0 : sequence(wave), address});
}

bool ReleaseOrder::isBefore(const WaveAccess &access, uint32_t wave, bool throughCaches) {
  const bool own = isOwn(access.wave);
  if (access.wave == numberOf(wave) || (own && access.epoch < epoch_))
    return true;
  settle(wave);
  const Own &known = waves_[wave];
  if (!own)
    return reaches(throughCaches ? known.seen : known.ordered, access);
  const auto found = known.ordered.find(access.wave);
  return found != known.ordered.end() && access.sequence <= found->second.issued;
}

std::string ReleaseOrder::missing(const WaveAccess &access, uint32_t wave) {
  const WaveTimes &times = waves_[wave].ordered;
  const auto known = times.find(access.wave);
  if (known == times.end())
    return "";
  const CounterSet &counters = outstanding_.counters();
  const bool stores = access.counted && counters.separateStores();
  if ((stores ? known->second.stored : known->second.complete) < access.sequence)
    return std::string(": an ") + counters.wait(stores ? Counter::Store : Counter::Load) +
           " is missing before the release (or before the barrier that comes before it)";
  if (!reaches(times, access))
    return ": a buffer_wbl2 sc1, or the s_waitcnt vmcnt for it, is missing before the release, to "
           "write it back for other workgroups";
  return std::string(": a ") +
         (!writesThrough_              ? "buffer_inv sc1"
          : counters.separateScalars() ? "global_inv scope:SCOPE_DEV"
                                       : "buffer_gl1_inv and buffer_gl0_inv") +
         " is missing after the acquire, to read past what caches still hold";
}

} // namespace flyemu
