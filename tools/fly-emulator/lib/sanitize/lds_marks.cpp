// SPDX-License-Identifier: Apache-2.0
#include "sanitize/lds_marks.h"

#include "execute/memory_access.h"
#include "execute/opcode.h"

namespace flyemu {
namespace {

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

} // namespace

bool LdsMarks::follows(const Instruction &inst) {
  return inst.opcode->cls == OpClass::Lds && startsWith(inst.opcode->name, "ds_write");
}

void LdsMarks::begin() {
  accesses_ = 0;
  if (loadsMarked_)
    loaded_ = {};
  loadsMarked_ = false;
}

void LdsMarks::access(const Instruction &inst, const LaneAccess &access,
                      const Definedness &defined) {
  if (access.kind == AccessKind::Load)
    load(inst, access);
  else
    store(inst, access, defined);
  ++accesses_;
}

void LdsMarks::store(const Instruction &inst, const LaneAccess &access,
                     const Definedness &defined) {
  // The data of anything but a plain store had to be defined.
  const unsigned data = inst.opcode->name == "ds_write_addtid_b32" ? 0 : 1 + accesses_;
  const uint64_t read = follows(inst) ? defined.lanesRead(inst, data) : access.lanes;
  const bool whole = (access.lanes & ~read) == 0;
  if (whole && marks_.empty())
    return;
  marks_.resize(bytes_);
  forEachLane(access.lanes, [&](unsigned lane) {
    for (uint32_t i = 0; i < access.bytes && access.address[lane] + i < bytes_; ++i)
      marks_[access.address[lane] + i] =
          !whole &&
          ((access.bytes < 4 ? read : defined.lanesOf(inst.src[data], i / 4)) >> lane & 1U) == 0;
  });
}

void LdsMarks::load(const Instruction &inst, const LaneAccess &access) {
  if (marks_.empty())
    return;
  const unsigned dwords = (access.bytes + 3) / 4;
  const unsigned first = accesses_ * dwords;
  // A transposing read shuffles the elements of 16 lanes: none of them is known then.
  const bool shuffles = inst.opcode->name.find("_tr_") != std::string::npos;
  forEachLane(access.lanes, [&](unsigned lane) {
    for (uint32_t i = 0; i < access.bytes && access.address[lane] + i < bytes_; ++i) {
      if (!marks_[access.address[lane] + i])
        continue;
      loadsMarked_ = true;
      if (shuffles)
        for (unsigned d = 0; d < dwords && d < kMostDwords; ++d)
          loaded_[d] |= uint64_t{0xffff} << (lane / 16 * 16);
      else if (first + i / 4 < kMostDwords)
        loaded_[first + i / 4] |= uint64_t{1} << lane;
    }
  });
}

void LdsMarks::hand(const Instruction &inst, Definedness &defined) const {
  if (!loadsMarked_ || inst.dstCount == 0)
    return;
  for (unsigned d = 0; d < inst.dst[0].dwords && d < kMostDwords; ++d)
    defined.forget(inst.dst[0], d, loaded_[d]);
}

} // namespace flyemu
