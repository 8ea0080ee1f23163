// SPDX-License-Identifier: Apache-2.0
#include "check/wait_counts.h"

#include "execute/opcode.h"

namespace flyemu {
namespace {

/// A field that is all ones waits for nothing.
uint32_t field(uint32_t simm, unsigned shift, unsigned bits) {
  const uint32_t mask = (1U << bits) - 1;
  const uint32_t value = simm >> shift & mask;
  return value == mask ? WaitCounts::kAny : value;
}

WaitCounts ofGfx9(uint32_t simm) {
  WaitCounts out;
  out.loads = field((simm & 0xfU) | (simm >> 14 & 3U) << 4, 0, 6);
  out.local = field(simm, 8, 4);
  return out;
}

WaitCounts ofGfx11(const Instruction &inst, const std::string &name, uint32_t simm) {
  WaitCounts out;
  if (name == "s_waitcnt") {
    out.loads = field(simm, 10, 6);
    out.local = field(simm, 4, 6);
    return out;
  }
  // Their register is added to the number: NULL reads zero, and of others nothing is promised.
  for (unsigned i = 0; i < inst.srcCount; ++i)
    if (inst.src[i].isScalarRegister() && inst.src[i].index != scalar::kNull)
      return out;
  for (unsigned i = 0; i < inst.dstCount; ++i)
    if (inst.dst[i].isScalarRegister() && inst.dst[i].index != scalar::kNull)
      return out;
  if (name == "s_waitcnt_vscnt")
    out.stores = simm & 0x3fU;
  else if (name == "s_waitcnt_vmcnt")
    out.loads = simm & 0x3fU;
  else if (name == "s_waitcnt_lgkmcnt")
    out.local = simm & 0x3fU;
  return out;
}

WaitCounts ofGfx12(const std::string &name, uint32_t simm) {
  WaitCounts out;
  constexpr unsigned kFirst = 8;
  if (name == "s_wait_loadcnt") {
    out.loads = simm & 0x3fU;
  } else if (name == "s_wait_storecnt") {
    out.stores = simm & 0x3fU;
  } else if (name == "s_wait_dscnt") {
    out.local = simm & 0x3fU;
  } else if (name == "s_wait_kmcnt") {
    out.scalars = simm & 0x1fU;
  } else if (name == "s_wait_loadcnt_dscnt") {
    out.loads = simm >> kFirst & 0x3fU;
    out.local = simm & 0x3fU;
  } else if (name == "s_wait_storecnt_dscnt") {
    out.stores = simm >> kFirst & 0x3fU;
    out.local = simm & 0x3fU;
  } else if (name == "s_wait_asynccnt") {
    out.async = simm & 0x3fU;
  } else if (name == "s_wait_tensorcnt") {
    out.tensor = simm & 0x3fU;
  } else if (name == "s_wait_idle") {
    out.loads = out.stores = out.local = out.scalars = out.async = out.tensor = 0;
  }
  return out;
}

} // namespace

Counter copyCounter(const Instruction &inst) {
  const std::string &name = inst.opcode->name;
  if (name.rfind("tensor_", 0) == 0)
    return Counter::Tensor;
  return name.find("_async_") != std::string::npos ? Counter::Async : Counter::Load;
}

WaitCounts waitCounts(const Instruction &inst, uint32_t generation) {
  const auto simm =
      inst.immediateCount == 0
          ? 0U
          : static_cast<uint32_t>(inst.immediate[static_cast<size_t>(inst.immediateCount) - 1]);
  if (generation < 10)
    return ofGfx9(simm);
  const std::string &name = inst.opcode->name;
  return generation < 12 ? ofGfx11(inst, name, simm) : ofGfx12(name, simm);
}

uint32_t CounterSet::most(Counter counter) const {
  constexpr uint32_t kSixBits = 63;
  if (generation_ < 10)
    return home(counter) == Counter::Local ? 15 : kSixBits;
  return counter == Counter::Scalar && separateScalars() ? 31 : kSixBits;
}

const char *CounterSet::wait(Counter counter) const {
  switch (home(counter)) {
  case Counter::Load:
    return generation_ < 12 ? "s_waitcnt vmcnt" : "s_wait_loadcnt";
  case Counter::Store:
    return generation_ < 12 ? "s_waitcnt_vscnt" : "s_wait_storecnt";
  case Counter::Local:
    return generation_ < 12 ? "s_waitcnt lgkmcnt" : "s_wait_dscnt";
  case Counter::Scalar:
    return "s_wait_kmcnt";
  case Counter::Async:
    return "s_wait_asynccnt";
  case Counter::Tensor:
    return "s_wait_tensorcnt";
  }
  return "";
}

} // namespace flyemu
