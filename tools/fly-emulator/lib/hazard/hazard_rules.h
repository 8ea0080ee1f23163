// SPDX-License-Identifier: Apache-2.0
//
// The data hazards of gfx942 and gfx950 that hardware does not wait for by itself: which later
// instruction has to stay how many wait states behind which earlier one. An instruction is one
// wait state, s_nop n is n + 1.
//
// The facts are those that LLVM 22 compiles by (GCNHazardRecognizer and its predicates for gfx940
// and gfx950) and that AMD's ISA documents list as "manually inserted wait states". Where the two
// disagree, LLVM is followed, whose code is what runs.
#pragma once

#include <cstdint>

#include "hazard/hazard_facts.h"

namespace flyemu {

/// The most wait states that any rule asks for.
constexpr unsigned kLongestHazard = 20;

struct HazardRule {
  Trail trail;
  Touch touch;
  /// Wait states between the two: `earlier` left the trail, `later` touches it. 0: no hazard.
  unsigned (*states)(const HazardFacts &earlier, const HazardFacts &later, bool gfx950);
  const char *what;   ///< "the result of a matrix instruction is read too early"
  const char *source; ///< where the number is from
  /// From so many wait states on it is a matter of the lint: published kernels keep no more in
  /// assembly of their own, and run right on hardware. 0: never.
  unsigned lintFrom = 0;
};

/// Every rule; for documentation and tests.
const HazardRule *hazardRules(unsigned &count);

/// The rule for a trail and a touch, or null.
const HazardRule *hazardRule(Trail trail, Touch touch);

/// One bit for each trail that some rule holds against a touch.
uint32_t trailsAwaitedBy(Touch touch);

} // namespace flyemu
