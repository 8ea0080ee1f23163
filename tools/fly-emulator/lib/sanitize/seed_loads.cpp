// SPDX-License-Identifier: Apache-2.0
#include "sanitize/seed_loads.h"

#include "execute/memory_access.h"
#include "execute/opcode.h"

namespace flyemu {
namespace {

bool comparesAndSwaps(const std::string &name) {
  return name.find("cmpswap") != std::string::npos || name.find("cmpst") != std::string::npos;
}

} // namespace

void SeedLoads::access(const Wave &wave, const Instruction &inst, const LaneAccess &access) {
  std::unique_ptr<Lanes> &lanes = waves_[wave.index];
  if (access.kind == AccessKind::Load) {
    if (lanes == nullptr)
      lanes = std::make_unique<Lanes>();
    forEachLane(access.lanes, [&](unsigned lane) {
      Lane &own = (*lanes)[lane];
      own.loads[own.next++ % own.loads.size()] = {access.address[lane], &inst};
    });
  } else if (access.kind == AccessKind::Atomic && lanes != nullptr &&
             comparesAndSwaps(inst.opcode->name)) {
    forEachLane(access.lanes, [&](unsigned lane) {
      for (Load &load : (*lanes)[lane].loads)
        if (load.inst != nullptr && load.address == access.address[lane]) {
          sink_.seeds(*load.inst);
          load.inst = nullptr;
        }
    });
  }
}

} // namespace flyemu
