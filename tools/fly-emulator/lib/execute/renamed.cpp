// SPDX-License-Identifier: Apache-2.0
//
// Operations of gfx9 that gfx11 and gfx12 have under another name.
#include "execute/opcode.h"

namespace flyemu {
namespace {

struct Names {
  const char *now;
  const char *before;
};

constexpr Names kNames[] = {
    {"s_and_not1_b32", "s_andn2_b32"},
    {"s_and_not1_b64", "s_andn2_b64"},
    {"s_or_not1_b32", "s_orn2_b32"},
    {"s_or_not1_b64", "s_orn2_b64"},
    {"s_and_not0_saveexec_b32", "s_andn1_saveexec_b32"},
    {"s_and_not0_saveexec_b64", "s_andn1_saveexec_b64"},
    {"s_and_not1_saveexec_b32", "s_andn2_saveexec_b32"},
    {"s_and_not1_saveexec_b64", "s_andn2_saveexec_b64"},
    {"s_or_not0_saveexec_b32", "s_orn1_saveexec_b32"},
    {"s_or_not0_saveexec_b64", "s_orn1_saveexec_b64"},
    {"s_or_not1_saveexec_b32", "s_orn2_saveexec_b32"},
    {"s_or_not1_saveexec_b64", "s_orn2_saveexec_b64"},
    {"s_and_not0_wrexec_b32", "s_andn1_wrexec_b32"},
    {"s_and_not0_wrexec_b64", "s_andn1_wrexec_b64"},
    {"s_and_not1_wrexec_b32", "s_andn2_wrexec_b32"},
    {"s_and_not1_wrexec_b64", "s_andn2_wrexec_b64"},
    {"s_cls_i32", "s_flbit_i32"},
    {"s_cls_i32_i64", "s_flbit_i32_i64"},
    {"s_clz_i32_u32", "s_flbit_i32_b32"},
    {"s_clz_i32_u64", "s_flbit_i32_b64"},
    {"s_ctz_i32_b32", "s_ff1_i32_b32"},
    {"s_ctz_i32_b64", "s_ff1_i32_b64"},
    {"s_add_co_u32", "s_add_u32"},
    {"s_add_co_i32", "s_add_i32"},
    {"s_add_co_ci_u32", "s_addc_u32"},
    {"s_sub_co_u32", "s_sub_u32"},
    {"s_sub_co_i32", "s_sub_i32"},
    {"s_sub_co_ci_u32", "s_subb_u32"},
    {"s_addk_co_i32", "s_addk_i32"},
    {"s_call_i64", "s_call_b64"},
    {"s_get_pc_i64", "s_getpc_b64"},
    {"s_set_pc_i64", "s_setpc_b64"},
    {"s_swap_pc_i64", "s_swappc_b64"},
    {"v_add_nc_u32", "v_add_u32"},
    {"v_sub_nc_u32", "v_sub_u32"},
    {"v_subrev_nc_u32", "v_subrev_u32"},
    {"v_add_nc_i32", "v_add_i32"},
    {"v_sub_nc_i32", "v_sub_i32"},
    {"v_add_nc_u16", "v_add_u16"},
    {"v_sub_nc_u16", "v_sub_u16"},
    {"v_add_nc_i16", "v_add_i16"},
    {"v_sub_nc_i16", "v_sub_i16"},
    {"v_add_co_ci_u32", "v_addc_co_u32"},
    {"v_sub_co_ci_u32", "v_subb_co_u32"},
    {"v_subrev_co_ci_u32", "v_subbrev_co_u32"},
    {"v_mad_co_u64_u32", "v_mad_u64_u32"},
    {"v_mad_co_i64_i32", "v_mad_i64_i32"},
    {"v_cls_i32", "v_ffbh_i32"},
    {"v_clz_i32_u32", "v_ffbh_u32"},
    {"v_ctz_i32_b32", "v_ffbl_b32"},
    {"v_cvt_floor_i32_f32", "v_cvt_flr_i32_f32"},
    {"v_cvt_nearest_i32_f32", "v_cvt_rpi_i32_f32"},
    {"v_cvt_pk_norm_i16_f16", "v_cvt_pknorm_i16_f16"},
    {"v_cvt_pk_norm_u16_f16", "v_cvt_pknorm_u16_f16"},
    {"v_cvt_pk_norm_i16_f32", "v_cvt_pknorm_i16_f32"},
    {"v_cvt_pk_norm_u16_f32", "v_cvt_pknorm_u16_f32"},
    {"v_cvt_pk_rtz_f16_f32", "v_cvt_pkrtz_f16_f32"},
    {"v_dot2acc_f32_f16", "v_dot2c_f32_f16"},
    {"v_dot2acc_f32_bf16", "v_dot2c_f32_bf16"},
    {"v_mul_dx9_zero_f32", "v_mul_legacy_f32"},
    {"v_fma_legacy_f32", "v_fma_dx9_zero_f32"},
    {"v_fmac_legacy_f32", "v_fmac_dx9_zero_f32"},
    {"v_cmp_t_f16", "v_cmp_tru_f16"},
    {"v_cmp_t_f32", "v_cmp_tru_f32"},
    {"v_cmp_t_f64", "v_cmp_tru_f64"},
    {"v_cmpx_t_f16", "v_cmpx_tru_f16"},
    {"v_cmpx_t_f32", "v_cmpx_tru_f32"},
    {"v_cmpx_t_f64", "v_cmpx_tru_f64"},
    {"ds_load_2addr_b32", "ds_read2_b32"},
    {"ds_load_2addr_b64", "ds_read2_b64"},
    {"ds_load_2addr_stride64_b32", "ds_read2st64_b32"},
    {"ds_load_2addr_stride64_b64", "ds_read2st64_b64"},
    {"ds_store_2addr_b32", "ds_write2_b32"},
    {"ds_store_2addr_b64", "ds_write2_b64"},
    {"ds_store_2addr_stride64_b32", "ds_write2st64_b32"},
    {"ds_store_2addr_stride64_b64", "ds_write2st64_b64"},
    {"ds_storexchg_rtn_b32", "ds_wrxchg_rtn_b32"},
    {"ds_storexchg_rtn_b64", "ds_wrxchg_rtn_b64"},
    {"ds_storexchg_2addr_rtn_b32", "ds_wrxchg2_rtn_b32"},
    {"ds_storexchg_2addr_rtn_b64", "ds_wrxchg2_rtn_b64"},
    {"ds_storexchg_2addr_stride64_rtn_b32", "ds_wrxchg2st64_rtn_b32"},
    {"ds_storexchg_2addr_stride64_rtn_b64", "ds_wrxchg2st64_rtn_b64"},
    {"ds_min_num_f32", "ds_min_f32"},
    {"ds_min_num_f64", "ds_min_f64"},
    {"ds_min_num_rtn_f32", "ds_min_rtn_f32"},
    {"ds_min_num_rtn_f64", "ds_min_rtn_f64"},
    {"ds_max_num_f32", "ds_max_f32"},
    {"ds_max_num_f64", "ds_max_f64"},
    {"ds_max_num_rtn_f32", "ds_max_rtn_f32"},
    {"ds_max_num_rtn_f64", "ds_max_rtn_f64"},
};

/// What an access moves: of global, flat, scratch and buffer memory.
constexpr Names kLoads[] = {{"u8", "ubyte"},
                            {"i8", "sbyte"},
                            {"u16", "ushort"},
                            {"i16", "sshort"},
                            {"b32", "dword"},
                            {"b64", "dwordx2"},
                            {"b96", "dwordx3"},
                            {"b128", "dwordx4"},
                            {"d16_u8", "ubyte_d16"},
                            {"d16_i8", "sbyte_d16"},
                            {"d16_b16", "short_d16"},
                            {"d16_hi_u8", "ubyte_d16_hi"},
                            {"d16_hi_i8", "sbyte_d16_hi"},
                            {"d16_hi_b16", "short_d16_hi"}};
constexpr Names kStores[] = {{"b8", "byte"},
                             {"b16", "short"},
                             {"b32", "dword"},
                             {"b64", "dwordx2"},
                             {"b96", "dwordx3"},
                             {"b128", "dwordx4"},
                             {"d16_hi_b8", "byte_d16_hi"},
                             {"d16_hi_b16", "short_d16_hi"}};
constexpr Names kAtomics[] = {{"add_u32", "add"},
                              {"add_u64", "add_x2"},
                              {"sub_u32", "sub"},
                              {"sub_u64", "sub_x2"},
                              {"swap_b32", "swap"},
                              {"swap_b64", "swap_x2"},
                              {"cmpswap_b32", "cmpswap"},
                              {"cmpswap_b64", "cmpswap_x2"},
                              {"and_b32", "and"},
                              {"and_b64", "and_x2"},
                              {"or_b32", "or"},
                              {"or_b64", "or_x2"},
                              {"xor_b32", "xor"},
                              {"xor_b64", "xor_x2"},
                              {"min_i32", "smin"},
                              {"min_i64", "smin_x2"},
                              {"min_u32", "umin"},
                              {"min_u64", "umin_x2"},
                              {"max_i32", "smax"},
                              {"max_i64", "smax_x2"},
                              {"max_u32", "umax"},
                              {"max_u64", "umax_x2"},
                              {"inc_u32", "inc"},
                              {"inc_u64", "inc_x2"},
                              {"dec_u32", "dec"},
                              {"dec_u64", "dec_x2"},
                              {"min_num_f32", "min_f32"},
                              {"max_num_f32", "max_f32"},
                              {"min_num_f64", "min_f64"},
                              {"max_num_f64", "max_f64"},
                              {"cond_sub_u32", "cond_sub"},
                              {"sub_clamp_u32", "sub_clamp"},
                              {"csub_u32", "sub_clamp"}};
constexpr Names kLds[] = {{"u8", "u8"},
                          {"i8", "i8"},
                          {"u16", "u16"},
                          {"i16", "i16"},
                          {"b32", "b32"},
                          {"b64", "b64"},
                          {"b96", "b96"},
                          {"b128", "b128"},
                          {"u8_d16", "u8_d16"},
                          {"u8_d16_hi", "u8_d16_hi"},
                          {"i8_d16", "i8_d16"},
                          {"i8_d16_hi", "i8_d16_hi"},
                          {"u16_d16", "u16_d16"},
                          {"u16_d16_hi", "u16_d16_hi"},
                          {"addtid_b32", "addtid_b32"}};
constexpr Names kLdsStores[] = {{"b8", "b8"},
                                {"b16", "b16"},
                                {"b32", "b32"},
                                {"b64", "b64"},
                                {"b96", "b96"},
                                {"b128", "b128"},
                                {"b8_d16_hi", "b8_d16_hi"},
                                {"b16_d16_hi", "b16_d16_hi"},
                                {"addtid_b32", "addtid_b32"}};
constexpr Names kScalarLoads[] = {{"b32", "dword"},    {"b64", "dwordx2"},  {"b96", "dwordx3"},
                                  {"b128", "dwordx4"}, {"b256", "dwordx8"}, {"b512", "dwordx16"}};

} // namespace

void addRenamedOpcodes(OpcodeTable &table) {
  for (const Names &names : kNames)
    table.rename(names.now, names.before);
  const auto all = [&](const auto &list, const std::string &now, const std::string &before) {
    for (const Names &names : list)
      table.rename(now + names.now, before + names.before);
  };
  for (const std::string space : {"global_", "flat_", "scratch_", "buffer_"}) {
    all(kLoads, space + "load_", space + "load_");
    all(kStores, space + "store_", space + "store_");
    if (space != "scratch_")
      all(kAtomics, space + "atomic_", space + "atomic_");
  }
  for (const std::string space :
       {"global_", "flat_"}) // they also watch the address, for s_monitor_sleep
    for (const Names &names : {Names{"b32", "dword"}, {"b64", "dwordx2"}, {"b128", "dwordx4"}})
      table.rename(space + "load_monitor_" + names.now, space + "load_" + names.before);
  all(kLds, "ds_load_", "ds_read_");
  all(kLdsStores, "ds_store_", "ds_write_");
  all(kScalarLoads, "s_load_", "s_load_");
  all(kScalarLoads, "s_buffer_load_", "s_buffer_load_");
}

} // namespace flyemu
