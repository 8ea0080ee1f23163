// SPDX-License-Identifier: Apache-2.0
#include "sanitize/hazard_check.h"

#include "support/format.h"

namespace flyemu {

void HazardCheck::before(Wave &wave, const Instruction &inst) {
  const auto report = [&](const HazardRule &rule, const HazardEvent &event, unsigned states,
                          unsigned needed) {
    const bool lint = rule.lintFrom != 0 && states >= rule.lintFrom;
    const unsigned wanted = lint ? sanitizer::kLint : sanitizer::kHazard;
    if ((sanitizers_ & wanted) == 0)
      return;
    sink_.add({lint ? "lint" : "hazard", wave, inst, -1, event.facts->inst}, [&] {
      return format("%s: %u wait state%s between the two, %u are needed (s_nop)", rule.what, states,
                    states == 1 ? "" : "s", needed);
    });
  };
  waves_[wave.index].step(facts_.of(inst), facts_.gfx950(), report);
}

void RdnaHazardCheck::before(Wave &wave, const Instruction &inst) {
  auto [it, isNew] = facts_.try_emplace(&inst);
  if (isNew)
    it->second = {rdnaFacts(inst), scalarFacts(inst)};
  const uint32_t generation = wave.launch->generation;
  const uint32_t lanes = wave.lanes();
  const auto report = [&](const auto *hazard) {
    if (hazard != nullptr)
      sink_.add({"hazard", wave, inst, -1, hazard->earlier},
                [&] { return std::string(hazard->what); });
  };
  Windows &windows = waves_[wave.index];
  report(windows.vector.step(it->second.vector, generation, lanes));
  report(windows.scalar.step(inst, it->second.scalar, generation, lanes));
}

} // namespace flyemu
