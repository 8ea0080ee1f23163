// SPDX-License-Identifier: Apache-2.0
#include "device/wave_order.h"

#include <numeric>

#include "execute/opcode.h"

namespace flyemu {
namespace {

constexpr uint64_t kUndisturbed = 1U << 16; ///< long enough that only spinning is interrupted
constexpr uint64_t kSlice = 64;

bool isAccess(const Instruction &inst) {
  if (inst.opcode == nullptr)
    return false;
  switch (inst.opcode->cls) {
  case OpClass::Lds:
  case OpClass::Global:
  case OpClass::Flat:
  case OpClass::ScalarMemory:
    return true;
  default:
    return false;
  }
}

/// Instructions up to and with the next access, as they follow each other.
uint64_t untilAccess(const Wave &wave) {
  const Instruction *inst = wave.next;
  for (uint64_t count = 1; count < kSlice; ++count, ++inst)
    if (inst->size == 0 || inst->target != nullptr || isAccess(*inst))
      return count;
  return kSlice;
}

uint64_t mix(uint64_t seed, uint64_t value) { return seed * 0x9e3779b97f4a7c15ULL + value; }

} // namespace

void WaveOrder::start(uint64_t seed, uint64_t group, uint32_t waves) {
  constexpr unsigned kKinds = 6;
  const auto number = static_cast<unsigned>(seed % kKinds);
  kind_ = seed == 0 ? Kind::Program : number == 0 ? Kind::Steps : static_cast<Kind>(number);
  waves_ = waves;
  state_ = mix(seed, group);
  turn_ = kind_ == Kind::Backwards ? waves - 1 : 0;
  behind_ = static_cast<uint32_t>(random() % waves);
}

/// SplitMix64: the same numbers everywhere, from a state of one word.
uint64_t WaveOrder::random() {
  state_ += 0x9e3779b97f4a7c15ULL;
  uint64_t z = state_;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

uint32_t WaveOrder::readyFrom(const WorkGroup &group, uint32_t first, bool backwards) const {
  uint32_t pick = first;
  while (group.waves[pick].state != WaveState::Ready)
    pick = (pick + (backwards ? waves_ - 1 : 1)) % waves_;
  return pick;
}

WaveOrder::Turn WaveOrder::next(const WorkGroup &group) {
  const auto any = [&] {
    return readyFrom(group, static_cast<uint32_t>(random() % waves_), false);
  };
  Turn turn{0, kUndisturbed};
  switch (kind_) {
  case Kind::Program:
  case Kind::InStep:
    turn.wave = readyFrom(group, turn_, false);
    turn_ = (turn.wave + 1) % waves_;
    if (kind_ == Kind::InStep)
      turn.budget = 1;
    break;
  case Kind::Backwards:
    turn.wave = readyFrom(group, turn_, true);
    turn_ = (turn.wave + waves_ - 1) % waves_;
    break;
  case Kind::Slices:
    turn.wave = any();
    turn.budget = 1 + random() % kSlice;
    break;
  case Kind::LeftBehind:
    turn.wave = any();
    // Others may spin on what the wave left behind writes: now and then it gets a turn.
    if (turn.wave == behind_ && random() % 16 != 0)
      turn.wave = readyFrom(group, (behind_ + 1) % waves_, false);
    turn.budget = turn.wave == behind_ ? 1 : kUndisturbed;
    break;
  case Kind::Accesses:
    turn.wave = any();
    turn.budget = untilAccess(group.waves[turn.wave]);
    break;
  case Kind::Steps:
    turn.wave = any();
    turn.budget = 1;
    break;
  }
  return turn;
}

uint64_t WaveOrder::groupAt(uint64_t seed, uint64_t position, uint64_t count) {
  if (seed == 0)
    return position;
  if (static_cast<Kind>(seed % 6) == Kind::Backwards)
    return count - 1 - position;
  // An affine permutation: the stride has no factor in common with the count.
  uint64_t stride = mix(seed, 1) % count | 1U;
  while (std::gcd(stride, count) != 1)
    stride += 2;
  // Launches have far fewer workgroups than 2^32 times 2^32, so that the product fits.
  constexpr uint64_t kMost = uint64_t{1} << 32;
  if (count > kMost)
    return position;
  return (stride % count * position + mix(seed, 2) % count) % count;
}

} // namespace flyemu
