// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sanitize/outstanding.h"

namespace flyemu {

/// How far the vector memory accesses of a wave have come, by their number: those that are
/// complete, and those whose stores have been written back for other workgroups to see (buffer_wbl2
/// sc1).
struct Progress {
  uint64_t complete = 0; ///< loads, and all else where nothing counts stores apart
  uint64_t stored = 0;   ///< what returns nothing
  uint64_t writtenBack = 0;
  uint64_t issued = 0; ///< enough for the waves of one workgroup, whose cache works in order
};

/// What somebody knows of the progress of waves, by their number.
using WaveTimes = std::unordered_map<uint64_t, Progress>;
void merge(WaveTimes &into, const WaveTimes &from);

/// One access of a wave, as it is remembered.
struct WaveAccess {
  uint64_t wave = ~uint64_t{0}; ///< ReleaseOrder::numberOf
  uint64_t sequence = 0;        ///< among the wave's vector memory accesses
  uint32_t epoch = 0;           ///< barriers that the workgroup had passed
  bool store = false;
  bool counted = false;  ///< by the counter of stores, where there is one
  bool coherent = false; ///< past the caches that other workgroups do not share (sc1, or atomic)
};

/// Which accesses to global memory happened before others, for the waves of one workgroup.
///
/// Within a workgroup a barrier orders them, since its waves share the vector cache, which works in
/// order. Between workgroups the machine code has to do each of the following, and what it leaves
/// out is not ordered:
///
/// - release: complete the accesses (s_waitcnt vmcnt, before the barrier if it was another wave's),
///   write stores back with buffer_wbl2 sc1 unless they are sc1 themselves, and wait for that too
///   (s_waitcnt vmcnt), then an atomic or an sc1 store;
/// - acquire: an atomic that returns the old value or an sc1 load at the same address later on,
/// wait
///   for it, and invalidate the caches with buffer_inv sc1 before plain loads.
///
/// Of atomics themselves, each is taken to follow all earlier ones at its address.
///
/// gfx11 and gfx12 write every store through to where other workgroups see it, so that a release
/// needs no write-back; what invalidates is `global_inv scope:SCOPE_DEV` on gfx12, and both of
/// buffer_gl1_inv and buffer_gl0_inv on gfx11.
class ReleaseOrder {
public:
  ReleaseOrder(uint64_t group, Outstanding &outstanding, uint32_t waves, uint32_t generation);

  /// Of a wave of a launch.
  uint64_t numberOf(uint32_t wave) const { return group_ << kWaveBits | wave; }
  bool isOwn(uint64_t number) const { return number >> kWaveBits == group_; }
  uint32_t epoch() const { return epoch_; }
  /// Of the access that is being executed.
  uint64_t sequence(uint32_t wave) const { return outstanding_.issued(wave) + 1; }
  /// Has the wave released nothing since an access of its own?
  bool unreleased(const WaveAccess &own) const;

  /// Writing back and invalidating caches.
  void before(const Wave &wave, const Instruction &inst);
  void barrier();
  /// `byAccess`: what releases is an access to global memory itself, the next one of the wave.
  void release(uint32_t wave, WaveTimes &address, bool byAccess = true);
  /// `at once`: the instruction itself waits.
  void acquire(uint32_t wave, const WaveTimes &address, bool atOnce);

  /// Did an access happen before the one that a wave is executing? `throughCaches`: that is a plain
  /// load.
  bool isBefore(const WaveAccess &access, uint32_t wave, bool throughCaches);
  /// Has a wave invalidated the scalar cache since an earlier store came to where that reads from?
  bool scalarCacheHas(const WaveAccess &store, uint32_t wave);
  /// Of an access that did not: what is missing, as ": ..."; empty where it is all.
  std::string missing(const WaveAccess &access, uint32_t wave);

private:
  struct Acquire {
    uint64_t sequence;
    WaveTimes times;
  };
  /// A buffer_wbl2, until it is waited for.
  struct WriteBack {
    uint64_t sequence;
    std::vector<uint64_t> upTo; ///< accesses of each wave of the workgroup
  };
  struct Own {
    std::vector<Acquire> pending;      ///< acquired, and not waited for
    std::vector<WriteBack> backs;      ///< not waited for
    WaveTimes ordered;                 ///< acquired
    WaveTimes seen;                    ///< and caches invalidated since
    WaveTimes scalars;                 ///< the same of the scalar cache
    WaveTimes invalidated[2];          ///< of two caches, what was acquired before it was
    std::vector<uint64_t> writtenBack; ///< accesses of each wave of the workgroup
    uint64_t released = 0;             ///< accesses issued at the latest release
  };

  static constexpr unsigned kWaveBits = 5;

  void settle(uint32_t wave);
  void invalidate(Own &own, unsigned cache);
  void invalidateScalars(uint32_t wave);

  const uint64_t group_;
  const bool writesThrough_;
  Outstanding &outstanding_;
  uint32_t epoch_ = 0;
  bool changed_ = false; ///< what is known of other workgroups, since the last barrier
  std::vector<Own> waves_;
  std::vector<Progress> published_; ///< of each wave at the last barrier: complete and stored
};

} // namespace flyemu
