// SPDX-License-Identifier: Apache-2.0
#include "sanitize/global_marks.h"

#include <algorithm>

#include "execute/memory_access.h"
#include "execute/opcode.h"

namespace flyemu {

void GlobalMarks::begin() {
  if (any_ == 0)
    return;
  any_ = 0;
  dwords_ = {};
}

void GlobalMarks::noteByte(const Instruction &inst, unsigned lane, uint64_t address,
                           unsigned dword) {
  if (any_ == 0)
    origin_ = {&inst, address, static_cast<int>(lane), true};
  any_ |= uint64_t{1} << lane;
  dwords_[std::min(dword, kMostDwords - 1)] |= uint64_t{1} << lane;
}

bool GlobalMarks::access(const Wave &wave, const Instruction &inst, const LaneAccess &access) {
  const MemoryView &memory = *wave.launch->memory;
  if (!memory.followsWrites())
    return true;
  WrittenBytes *written = nullptr;
  forEachLane(access.lanes, [&](unsigned lane) {
    const uint64_t first = access.address[lane];
    if (written == nullptr || first < written->begin() || first >= written->end())
      written = memory.writtenAt(first);
    if (written == nullptr || written->isAll())
      return;
    const uint64_t end = std::min(first + access.bytes, written->end());
    if (access.kind != AccessKind::Store)
      for (uint64_t at = first; at < end; ++at)
        if (!written->has(at))
          noteByte(inst, lane, at, static_cast<unsigned>(at - first) / 4);
    if (access.kind != AccessKind::Load)
      written->note(first, end - first);
  });
  return access.kind != AccessKind::Atomic || any_ == 0;
}

void GlobalMarks::hand(const Instruction &inst, Definedness &defined) const {
  if (any_ == 0 || inst.dstCount == 0)
    return;
  const Operand &to = inst.dst[0];
  // Formats unpack: any byte may be in any component.
  const bool unpacks = inst.opcode->name.find("format") != std::string::npos;
  for (unsigned d = 0; d < to.dwords && d < kMostDwords; ++d) {
    const uint64_t lanes = unpacks ? any_ : dwords_[d];
    if (lanes == 0)
      continue;
    if (to.isVector())
      defined.forget(to, d, lanes, &origin_);
    else
      defined.forgetScalar(to, d, origin_);
  }
}

} // namespace flyemu
