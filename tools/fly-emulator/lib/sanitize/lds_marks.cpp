// SPDX-License-Identifier: Apache-2.0
#include "sanitize/lds_marks.h"

#include <algorithm>

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
  loadsUnwritten_ = false;
}

bool LdsMarks::touchesUnwritten(const LaneAccess &access, unsigned lane, uint64_t &byte) const {
  const uint64_t end = std::min<uint64_t>(access.address[lane] + access.bytes, bytes_.size());
  for (byte = access.address[lane]; byte < end; ++byte)
    if (bytes_[byte] == State::Unwritten)
      return true;
  return false;
}

void LdsMarks::access(const Instruction &inst, const LaneAccess &access, const Definedness &defined,
                      uint64_t unwritten) {
  if (access.kind == AccessKind::Load)
    load(inst, access);
  else
    store(inst, access, defined, unwritten);
  ++accesses_;
}

void LdsMarks::store(const Instruction &inst, const LaneAccess &access, const Definedness &defined,
                     uint64_t unwritten) {
  // The data of anything but a plain store had to be defined.
  const unsigned data = inst.opcode->name == "ds_write_addtid_b32" ? 0 : 1 + accesses_;
  const uint64_t read = follows(inst) ? defined.lanesRead(inst, data) : access.lanes & ~unwritten;
  forEachLane(access.lanes, [&](unsigned lane) {
    for (uint32_t i = 0; i < access.bytes && access.address[lane] + i < bytes_.size(); ++i) {
      const uint64_t known =
          access.bytes < 4 || !follows(inst) ? read : defined.lanesOf(inst.src[data], i / 4);
      bytes_[access.address[lane] + i] =
          (known >> lane & 1U) != 0 ? State::Defined : State::Undefined;
    }
  });
}

void LdsMarks::load(const Instruction &inst, const LaneAccess &access) {
  const unsigned dwords = (access.bytes + 3) / 4;
  const unsigned first = accesses_ * dwords;
  // A transposing read shuffles the elements of 16 lanes: none of them is known then.
  const bool shuffles = inst.opcode->name.find("_tr") != std::string::npos;
  forEachLane(access.lanes, [&](unsigned lane) {
    for (uint32_t i = 0; i < access.bytes && access.address[lane] + i < bytes_.size(); ++i) {
      const State state = bytes_[access.address[lane] + i];
      if (state == State::Defined)
        continue;
      loadsMarked_ = true;
      if (state == State::Unwritten && !loadsUnwritten_) {
        loadsUnwritten_ = true;
        origin_ = {&inst, access.address[lane] + i, static_cast<int>(lane)};
      }
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
    defined.forget(inst.dst[0], d, loaded_[d], loadsUnwritten_ ? &origin_ : nullptr);
}

} // namespace flyemu
