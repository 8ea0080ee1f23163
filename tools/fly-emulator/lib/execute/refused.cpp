// SPDX-License-Identifier: Apache-2.0
//
// Opcodes of gfx942 and gfx950 that are not executed, and why.
#include "execute/opcode.h"
#include "execute/wave.h"

namespace flyemu {
namespace {

constexpr char kGws[] =
    "is a semaphore of global wave sync, of which HIP's device library uses the barriers only";
constexpr char kTrapHandler[] = "returns from the trap handler, and is not allowed outside of it";

constexpr struct {
  const char *name;
  const char *why;
} kRows[] = {
    {"ds_gws_sema_v", kGws},
    {"ds_gws_sema_p", kGws},
    {"ds_gws_sema_br", kGws},
    {"ds_gws_sema_release_all", kGws},
    {"s_rfe_b64", kTrapHandler},
    {"s_rfe_restore_b64", kTrapHandler},
    {"s_sendmsghalt", "halts the wave until a debugger on the host resumes it"},
    {"s_endpgm_ordered_ps_done",
     "ends the ordered section of a pixel shader, which a kernel is not"},
    {"v_screen_partition_4se_b32", "looks up the rasteriser's partition of the screen, which a "
                                   "kernel has no part in"},
    {"v_mfma_ld_scale_b32", "is the first half of v_mfma_scale_*, which are decoded as a whole; by "
                            "itself it has no defined effect"},
};

[[noreturn]] void refuse(Wave &, const Instruction &inst) {
  throw Fault{std::string("the emulator does not execute this instruction: it ") +
              inst.opcode->refusal};
}

} // namespace

void addRefusedOpcodes(OpcodeTable &table) {
  for (const auto &row : kRows) {
    Opcode opcode;
    opcode.name = row.name;
    opcode.cls = OpClass::Control;
    opcode.handler = refuse;
    opcode.refusal = row.why;
    table.add(std::move(opcode));
  }
}

} // namespace flyemu
