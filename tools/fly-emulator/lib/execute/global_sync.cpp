// SPDX-License-Identifier: Apache-2.0
//
// Global wave sync: barriers of all workgroups of a cooperative launch, as the device library of
// HIP makes its grid barrier. Every launch finds its resources free and initialised, which a
// runtime does before a cooperative one.
#include "execute/global_sync.h"

#include "execute/opcode.h"
#include "execute/wave.h"

namespace flyemu {
namespace {

uint32_t resourceOf(const Wave &wave, const Instruction &inst) {
  return (wave.scalar[scalar::kM0] >> 16 & 0x3fU) + static_cast<uint32_t>(inst.modifiers.offset);
}

/// The first active lane holds the number of waves, less one.
uint32_t wavesOf(const Wave &wave, const Instruction &inst) {
  const uint64_t exec = wave.exec();
  const unsigned lane = exec == 0 ? 0 : static_cast<unsigned>(__builtin_ctzll(exec));
  return (wave.row(inst.src[0].index)[lane] & 0x1fffU) + 1;
}

void initialise(Wave &, const Instruction &) {}

/// Executed again and again until all have arrived.
void barrier(Wave &wave, const Instruction &inst) {
  GlobalSync &sync = *wave.launch->globalSync;
  const uint32_t resource = resourceOf(wave, inst);
  if (wave.globalTicket == 0)
    wave.globalTicket = sync.arrive(resource, wavesOf(wave, inst));
  if (sync.mayPass(resource, wave.globalTicket)) {
    wave.globalTicket = 0;
    return;
  }
  wave.next = &inst;
  wave.yield = true;
}

} // namespace

void addGlobalSyncOpcodes(OpcodeTable &table) {
  table.add({"ds_gws_init", OpClass::Control, initialise, nullptr, 0, Fidelity::Assumed});
  table.add({"ds_gws_barrier", OpClass::Control, barrier, nullptr, 0, Fidelity::Assumed});
}

} // namespace flyemu
