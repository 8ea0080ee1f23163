// SPDX-License-Identifier: Apache-2.0
//
// Opcodes that are not executed, and why.
#include "execute/opcode.h"
#include "execute/wave.h"

namespace flyemu {
namespace {

constexpr char kGws[] =
    "is a semaphore of global wave sync, of which HIP's device library uses the barriers only";
constexpr char kTrapHandler[] = "returns from the trap handler, and is not allowed outside of it";

constexpr char kNamedBarrier[] = "is about barriers other than the workgroup's";
constexpr char kGraphics[] = "is of graphics shaders or of ray tracing, which a kernel is not";
constexpr char kFormats[] = "needs the unified buffer formats of RDNA, which are not modelled";
constexpr char kNotYet[] = "is not modelled yet";

constexpr struct {
  const char *name;
  const char *why;
} kRows[] = {
    {"s_barrier_init", kNamedBarrier},
    {"s_barrier_join", kNamedBarrier},
    {"s_barrier_leave", kNamedBarrier},
    {"s_get_barrier_state", kNamedBarrier},
    {"s_alloc_vgpr", kNotYet},
    {"s_subvector_loop_begin", kNotYet},
    {"s_subvector_loop_end", kNotYet},
    {"v_swaprel_b32", kNotYet},
    {"global_load_tr_b128", kNotYet},
    {"global_load_tr_b64", kNotYet},
    {"global_load_block", kNotYet},
    {"global_store_block", kNotYet},
    {"scratch_load_block", kNotYet},
    {"scratch_store_block", kNotYet},
    {"global_atomic_ordered_add_b64", kNotYet},
    {"ds_add_gs_reg_rtn", kGraphics},
    {"ds_sub_gs_reg_rtn", kGraphics},
    {"ds_ordered_count", kGraphics},
    {"ds_param_load", kGraphics},
    {"ds_direct_load", kGraphics},
    {"lds_param_load", kGraphics},
    {"lds_direct_load", kGraphics},
    {"ds_bvh_stack_rtn_b32", kGraphics},
    {"ds_bvh_stack_push4_pop1_rtn_b32", kGraphics},
    {"ds_bvh_stack_push8_pop1_rtn_b32", kGraphics},
    {"ds_bvh_stack_push8_pop2_rtn_b64", kGraphics},
    {"exp", kGraphics},
    {"export", kGraphics},
    {"v_illegal", "is there to be illegal"},
    {"s_code_end", "stands behind the end of the code"},
    {"tbuffer_load_d16_format_x", kFormats},
    {"tbuffer_load_d16_format_xy", kFormats},
    {"tbuffer_load_d16_format_xyz", kFormats},
    {"tbuffer_load_d16_format_xyzw", kFormats},
    {"tbuffer_store_d16_format_x", kFormats},
    {"tbuffer_store_d16_format_xy", kFormats},
    {"tbuffer_store_d16_format_xyz", kFormats},
    {"tbuffer_store_d16_format_xyzw", kFormats},
    {"buffer_load_d16_format_x", kFormats},
    {"buffer_load_d16_format_xy", kFormats},
    {"buffer_load_d16_format_xyz", kFormats},
    {"buffer_load_d16_format_xyzw", kFormats},
    {"buffer_load_d16_hi_format_x", kFormats},
    {"buffer_store_d16_format_x", kFormats},
    {"buffer_store_d16_format_xy", kFormats},
    {"buffer_store_d16_format_xyz", kFormats},
    {"buffer_store_d16_format_xyzw", kFormats},
    {"buffer_store_d16_hi_format_x", kFormats},
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
