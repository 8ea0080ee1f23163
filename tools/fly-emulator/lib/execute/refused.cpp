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

constexpr char kGraphics[] = "is of graphics shaders or of ray tracing, which a kernel is not";
constexpr char kFormats[] = "needs the unified buffer formats of RDNA, which are not modelled";
constexpr char kNotYet[] = "is not modelled yet";
constexpr char kUnpublished[] = "is of gfx1250, and what it does exactly nobody has published";

constexpr struct {
  const char *name;
  const char *why;
} kRows[] = {
    {"s_alloc_vgpr", kNotYet},
    {"s_subvector_loop_begin", kNotYet},
    {"s_subvector_loop_end", kNotYet},
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
    {kImageOpcodes, "is of images, which are not modelled"},
    {"v_interp_p10_f32", kGraphics},
    {"v_interp_p2_f32", kGraphics},
    {"v_interp_p10_f16_f32", kGraphics},
    {"v_interp_p2_f16_f32", kGraphics},
    {"v_interp_p10_rtz_f16_f32", kGraphics},
    {"v_interp_p2_rtz_f16_f32", kGraphics},
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
    {"ds_load_tr6_b96", kUnpublished},
    {"global_load_tr6_b96", kUnpublished},
    {"cluster_load_b32", kUnpublished},
    {"cluster_load_b64", kUnpublished},
    {"cluster_load_b128", kUnpublished},
    {"ds_atomic_async_barrier_arrive_b64", kUnpublished},
    {"ds_atomic_barrier_arrive_rtn_b64", kUnpublished},
    {"tensor_save", kUnpublished},
    {"tensor_stop", kUnpublished},
    {"v_permlane_bcast_b32", kUnpublished},
    {"v_permlane_up_b32", kUnpublished},
    {"v_permlane_down_b32", kUnpublished},
    {"v_permlane_xor_b32", kUnpublished},
    {"v_permlane_idx_gen_b32", kUnpublished},
    {"v_perm_pk16_b4_u4", kUnpublished},
    {"v_perm_pk16_b6_u4", kUnpublished},
    {"v_perm_pk16_b8_u4", kUnpublished},
    {"v_cvt_sr_fp8_f16", kUnpublished},
    {"v_cvt_sr_bf8_f16", kUnpublished},
    {"v_swmmac_bf16f32_16x16x64_bf16", kUnpublished},
    {"v_wmma_ld_scale_paired_b32", kUnpublished},
    {"v_wmma_ld_scale16_paired_b64", kUnpublished},
    {"s_rfe_i64", kTrapHandler},
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
