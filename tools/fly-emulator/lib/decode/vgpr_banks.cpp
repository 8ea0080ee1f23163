// SPDX-License-Identifier: Apache-2.0
#include "decode/vgpr_banks.h"

#include "execute/opcode.h"
#include "execute/wave.h"

namespace flyemu {
namespace {

enum Role : uint8_t { kFirst, kSecond, kThird, kDestination, kNone };

[[noreturn]] void refuseModeWrite(Wave &, const Instruction &) {
  throw Fault{"writing the bits of MODE that select banks of vector registers (12 to 19) by "
              "s_setreg is not modelled: s_set_vgpr_msb does that"};
}

void move(Operand &operand, uint8_t state, Role role) {
  if (operand.isVector() && role != kNone)
    operand.index = static_cast<uint16_t>(operand.index + 256 * (state >> (2 * role) & 3U));
}

bool begins(const std::string &name, const char *prefix) { return name.rfind(prefix, 0) == 0; }
bool has(const std::string &name, const char *part) { return name.find(part) != std::string::npos; }

/// The role of vector source `position` (counted among vector sources where memory is accessed,
/// among all else).
Role roleOf(const Instruction &inst, unsigned position, int tied) {
  const OpClass cls = inst.opcode->cls;
  const std::string &name = inst.opcode->name;
  switch (cls) {
  case OpClass::Global:
  case OpClass::Flat:
  case OpClass::Scratch:
    if (begins(name, "buffer_") || begins(name, "tbuffer_")) // data first, where it is a source
      return position == 0 && inst.dstCount == 0 && !has(name, "load") ? kDestination : kFirst;
    if (has(name, "_load_async_to_lds")) // the address in LDS stands where results do
      return position == 0 ? kDestination : kFirst;
    if (cls == OpClass::Scratch && has(name, "store")) // data, address
      return position == 0 ? kSecond : kFirst;
    return position == 0 ? kFirst : position == 1 ? kSecond : kNone;
  case OpClass::Matrix:
    // A, B, C (or D's old value and the indices); scales are in the first 256 registers.
    if (begins(name, "v_swmmac_"))
      return position < 2 ? static_cast<Role>(position) : position == 2 ? kDestination : kThird;
    return position < 3 ? static_cast<Role>(position) : kNone;
  default:
    if (static_cast<int>(position) == tied)
      return kDestination;
    // v_fmamk's constant stands between its sources.
    if (begins(name, "v_fmamk_") && position == 2)
      return kSecond;
    return position < 3 ? static_cast<Role>(position) : kNone;
  }
}

} // namespace

void refuseBankJump(Wave &, const Instruction &) {
  throw Fault{"a jump between code under different s_set_vgpr_msb, or a call under one that is not "
              "zero, is not modelled"};
}

void VgprBanks::apply(Instruction &inst, int tied) {
  if (inst.opcode == nullptr)
    return;
  const std::string &name = inst.opcode->name;
  if (name == "s_set_vgpr_msb") {
    state_ = static_cast<uint8_t>(inst.immediate[0]);
    return;
  }
  if (begins(name, "s_setreg")) {
    constexpr unsigned kMode = 1;
    const auto field = static_cast<unsigned>(inst.immediate[inst.immediateCount - 1U]);
    const unsigned first = field >> 6 & 31U;
    const unsigned last = first + (field >> 11 & 31U);
    if ((field & 63U) == kMode && first <= 19 && last >= 12)
      inst.execute = refuseModeWrite;
    return;
  }
  if (state_ == 0 || !isVectorClass(inst.opcode->cls))
    return;
  const OpClass cls = inst.opcode->cls;
  const bool memory = cls == OpClass::Global || cls == OpClass::Flat || cls == OpClass::Scratch ||
                      cls == OpClass::Lds;
  for (unsigned i = 0; i < inst.dstCount; ++i)
    move(inst.dst[i], state_, kDestination);
  unsigned position = 0;
  for (unsigned i = 0; i < inst.srcCount; ++i) {
    if (memory && !inst.src[i].isVector())
      continue;
    move(inst.src[i], state_, roleOf(inst, position, tied));
    ++position;
  }
}

} // namespace flyemu
