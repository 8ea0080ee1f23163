// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "execute/wave.h"

namespace flyemu {

/// The order in which the waves of a workgroup, and the workgroups of a launch, take their turns.
///
/// Seed 0 is program order: wave 0 as far as it goes, then wave 1. Every other seed is one of six
/// kinds of order (seed modulo 6), so that six seeds in a row hold them all; what is random in one
/// follows from the seed and the workgroup.
///
/// | seed % 6 | order |
/// |---|---|
/// | 1 | backwards: the last wave first, as far as it goes; the last workgroup first |
/// | 2 | in step: every wave one instruction in turn |
/// | 3 | random waves for up to 64 instructions |
/// | 4 | one wave is left behind while others can go on |
/// | 5 | a random other wave after every access to LDS or memory |
/// | 0 | random waves for one instruction |
///
/// From seed 1 on workgroups are taken in an order of the seed's, too.
class WaveOrder {
public:
  struct Turn {
    uint32_t wave;
    uint64_t budget; ///< instructions
  };

  void start(uint64_t seed, uint64_t group, uint32_t waves);
  /// Who goes next. At least one wave has to be ready.
  Turn next(const WorkGroup &group);

  /// The workgroup that is started as number `position` of `count`: a permutation.
  static uint64_t groupAt(uint64_t seed, uint64_t position, uint64_t count);

private:
  enum class Kind : uint8_t { Program, Backwards, InStep, Slices, LeftBehind, Accesses, Steps };

  uint64_t random();
  uint32_t readyFrom(const WorkGroup &group, uint32_t first, bool backwards) const;

  Kind kind_ = Kind::Program;
  uint32_t waves_ = 1;
  uint32_t turn_ = 0;
  uint32_t behind_ = 0;
  uint64_t state_ = 0; ///< of random()
};

} // namespace flyemu
