// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hazard/hazard_facts.h"
#include "hazard/hazard_rules.h"

namespace flyemu {

/// An instruction that later ones may be too close behind.
struct HazardEvent {
  const HazardFacts *facts = nullptr;
  uint64_t clock = 0;       ///< wait states of the path when it was done
  RegisterSpan matrix = {}; ///< its matrix result, as far as no later one has replaced it
};

/// A later matrix instruction has replaced a part of an earlier one's result. What is left in the
/// middle of it keeps the whole.
inline void replaceResult(RegisterSpan &earlier, const RegisterSpan &later) {
  if (!earlier.overlaps(later))
    return;
  if (later.begin <= earlier.begin && later.end >= earlier.end)
    earlier = {}; // an empty span further up would still lie inside of others
  else if (later.begin <= earlier.begin)
    earlier.begin = later.end;
  else if (later.end >= earlier.end)
    earlier.end = later.begin;
}

/// The result of a matrix instruction; empty of another one.
inline RegisterSpan matrixResult(const HazardFacts &facts) {
  for (const HazardFacts::Left &left : facts.left)
    if (left.trail == Trail::Matrix)
      return left.span;
  return {};
}

/// Holds an instruction against an earlier one that is `states` wait states before it. `found` is
/// called with the rule and the wait states that it asks for, for each rule that is broken.
template <typename F>
void checkHazard(const HazardEvent &event, const HazardFacts &later, uint64_t states, bool gfx950,
                 F &&found) {
  const HazardFacts &earlier = *event.facts;
  for (const HazardFacts::Done &done : later.done) {
    if ((done.awaited & earlier.trails) == 0)
      continue;
    for (const HazardFacts::Left &left : earlier.left) {
      const RegisterSpan span = left.trail == Trail::Matrix ? event.matrix : left.span;
      if (!span.overlaps(done.span))
        continue;
      const HazardRule *rule = hazardRule(left.trail, done.touch);
      if (rule == nullptr)
        continue;
      if (const unsigned needed = rule->states(earlier, later, gfx950); states < needed)
        found(*rule, needed);
    }
  }
}

/// The instructions of one path that may still matter: those of the last wait states.
class HazardWindow {
public:
  /// The next instruction of the path.
  template <typename F> void step(const HazardFacts &facts, bool gfx950, F &&found) {
    if (facts.awaited != 0) {
      look(quick_, kQuick, facts, gfx950, found);
      look(slow_, kSlow, facts, gfx950, found);
    }
    clock_ += facts.states;
    if (facts.leaves)
      quick_.count = slow_.count = 0;
    else if (facts.matrix)
      addMatrix(facts);
    if (facts.trails != 0 && !facts.matrix && !facts.leaves)
      quick_.add({&facts, clock_, {}});
  }

private:
  static constexpr unsigned kQuick = 6;                 ///< but for matrix instructions
  static constexpr unsigned kSlow = kLongestHazard + 1; ///< one a wait state at most

  template <unsigned N> struct Ring {
    HazardEvent events[N];
    unsigned next = 0;
    unsigned count = 0;

    void add(const HazardEvent &event) {
      events[next] = event;
      next = (next + 1) % N;
      count = count < N ? count + 1 : N;
    }
    HazardEvent &latest(unsigned back) { return events[(next + N - 1 - back) % N]; }
  };

  template <unsigned N, typename F>
  void look(Ring<N> &ring, uint64_t longest, const HazardFacts &facts, bool gfx950, F &&found) {
    for (unsigned back = 0; back < ring.count; ++back) {
      const HazardEvent &event = ring.latest(back);
      const uint64_t states = clock_ - event.clock;
      if (states >= longest) {
        ring.count = back; // they only grow older
        return;
      }
      if ((event.facts->trails & facts.awaited) != 0)
        checkHazard(event, facts, states, gfx950, [&](const HazardRule &rule, unsigned needed) {
          found(rule, event, static_cast<unsigned>(states), needed);
        });
    }
  }

  void addMatrix(const HazardFacts &facts) {
    const RegisterSpan result = matrixResult(facts);
    for (unsigned back = 0; back < slow_.count; ++back)
      replaceResult(slow_.latest(back).matrix, result);
    slow_.add({&facts, clock_, result});
  }

  uint64_t clock_ = 0;
  Ring<kQuick> quick_;
  Ring<kSlow> slow_;
};

} // namespace flyemu
