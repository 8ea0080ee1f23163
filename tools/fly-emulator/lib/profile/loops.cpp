// SPDX-License-Identifier: Apache-2.0
#include "profile/loops.h"

#include <map>

namespace flyemu {

std::vector<Loop> findLoops(const std::vector<const Instruction *> &instructions) {
  std::map<uint64_t, Loop> byHeader;
  for (const Instruction *inst : instructions) {
    if (inst->target == nullptr || inst->target->address > inst->address)
      continue;
    Loop &loop = byHeader[inst->target->address];
    loop.header = inst->target;
    if (loop.latch == nullptr || loop.latch->address < inst->address)
      loop.latch = inst;
  }
  std::vector<Loop> loops;
  loops.reserve(byHeader.size());
  for (const auto &[address, loop] : byHeader)
    loops.push_back(loop);
  for (Loop &outer : loops)
    for (Loop &inner : loops)
      if (&inner != &outer && outer.contains(*inner.header) && outer.contains(*inner.latch)) {
        ++inner.depth;
        outer.innermost = false;
      }
  return loops;
}

} // namespace flyemu
