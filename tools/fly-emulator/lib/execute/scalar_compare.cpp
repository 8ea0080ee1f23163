// SPDX-License-Identifier: Apache-2.0
//
// Scalar comparisons, which set SCC (SOPC, and SOPK against a constant).
#include "execute/opcode.h"
#include "execute/wave.h"

namespace flyemu {
namespace {

int32_t s32(uint32_t v) { return static_cast<int32_t>(v); }

#define COMPARE(NAME, ...)                                                                         \
  {NAME, [](Wave &wave, const Instruction &inst) {                                                 \
     const uint32_t a = readScalar(wave, inst.src[0]);                                             \
     const uint32_t b = readScalar(wave, inst.src[1]);                                             \
     wave.scc = __VA_ARGS__;                                                                       \
   }}
#define COMPARE64(NAME, ...)                                                                       \
  {NAME, [](Wave &wave, const Instruction &inst) {                                                 \
     const uint64_t a = readScalar64(wave, inst.src[0]);                                           \
     const uint64_t b = readScalar64(wave, inst.src[1]);                                           \
     wave.scc = __VA_ARGS__;                                                                       \
   }}
#define BIT64(NAME, VALUE)                                                                         \
  {NAME, [](Wave &wave, const Instruction &inst) {                                                 \
     const uint64_t a = readScalar64(wave, inst.src[0]);                                           \
     wave.scc = (a >> (readScalar(wave, inst.src[1]) & 63U) & 1U) == (VALUE);                      \
   }}
/// The register that LLVM lists as the only source or destination, and a 16-bit constant.
#define CONSTANT(NAME, T, EXTEND, OPERATOR)                                                        \
  {NAME, [](Wave &wave, const Instruction &inst) {                                                 \
     const Operand &reg = inst.srcCount != 0 ? inst.src[0] : inst.dst[0];                          \
     const auto a = static_cast<T>(readScalar(wave, reg));                                         \
     wave.scc = a OPERATOR static_cast<T>(static_cast<EXTEND>(inst.immediate[0]));                 \
   }}

constexpr struct {
  const char *name;
  Handler handler;
} kRows[] = {
    COMPARE("s_cmp_eq_i32", a == b),
    COMPARE("s_cmp_lg_i32", a != b),
    COMPARE("s_cmp_gt_i32", s32(a) > s32(b)),
    COMPARE("s_cmp_ge_i32", s32(a) >= s32(b)),
    COMPARE("s_cmp_lt_i32", s32(a) < s32(b)),
    COMPARE("s_cmp_le_i32", s32(a) <= s32(b)),
    COMPARE("s_cmp_eq_u32", a == b),
    COMPARE("s_cmp_lg_u32", a != b),
    COMPARE("s_cmp_gt_u32", a > b),
    COMPARE("s_cmp_ge_u32", a >= b),
    COMPARE("s_cmp_lt_u32", a < b),
    COMPARE("s_cmp_le_u32", a <= b),
    COMPARE("s_bitcmp0_b32", (a >> (b & 31U) & 1U) == 0),
    COMPARE("s_bitcmp1_b32", (a >> (b & 31U) & 1U) == 1),
    COMPARE64("s_cmp_eq_u64", a == b),
    COMPARE64("s_cmp_lg_u64", a != b),
    BIT64("s_bitcmp0_b64", 0),
    BIT64("s_bitcmp1_b64", 1),
    CONSTANT("s_cmpk_eq_i32", int32_t, int16_t, ==),
    CONSTANT("s_cmpk_lg_i32", int32_t, int16_t, !=),
    CONSTANT("s_cmpk_gt_i32", int32_t, int16_t, >),
    CONSTANT("s_cmpk_ge_i32", int32_t, int16_t, >=),
    CONSTANT("s_cmpk_lt_i32", int32_t, int16_t, <),
    CONSTANT("s_cmpk_le_i32", int32_t, int16_t, <=),
    CONSTANT("s_cmpk_eq_u32", uint32_t, uint16_t, ==),
    CONSTANT("s_cmpk_lg_u32", uint32_t, uint16_t, !=),
    CONSTANT("s_cmpk_gt_u32", uint32_t, uint16_t, >),
    CONSTANT("s_cmpk_ge_u32", uint32_t, uint16_t, >=),
    CONSTANT("s_cmpk_lt_u32", uint32_t, uint16_t, <),
    CONSTANT("s_cmpk_le_u32", uint32_t, uint16_t, <=),
};

} // namespace

void addScalarCompareOpcodes(OpcodeTable &table) {
  for (const auto &row : kRows)
    table.add({row.name, OpClass::ScalarAlu, row.handler, nullptr, 0, Fidelity::Exact});
}

} // namespace flyemu
