// SPDX-License-Identifier: Apache-2.0
//
// Scalar arithmetic, logic, shifts, moves and bit operations (SOP1, SOP2, SOPK).
#include "execute/opcode.h"
#include "execute/wave.h"

namespace flyemu {
namespace {

// The expressions below may use: a, b (sources), wave, inst. `scc` sets SCC from r.
#define SOURCES32                                                                                  \
  const uint32_t a = readScalar(wave, inst.src[0]);                                                \
  const uint32_t b = inst.srcCount > 1 ? readScalar(wave, inst.src[1]) : 0;                        \
  (void)a;                                                                                         \
  (void)b;
#define SOURCES64                                                                                  \
  const uint64_t a = readScalar64(wave, inst.src[0]);                                              \
  const uint64_t b = inst.srcCount > 1 ? readScalar64(wave, inst.src[1]) : 0;                      \
  (void)a;                                                                                         \
  (void)b;
#define ROW(NAME, ...)                                                                             \
  {                                                                                                \
    NAME, [](Wave &wave, const Instruction &inst) { __VA_ARGS__ }                                  \
  }
/// 32 bits, SCC unchanged.
#define MOVE32(NAME, ...)                                                                          \
  ROW(NAME, SOURCES32 const uint32_t r = static_cast<uint32_t>(__VA_ARGS__);                       \
      writeScalar(wave, inst.dst[0], r);)
/// 32 bits, SCC = the result is not zero.
#define LOGIC32(NAME, ...)                                                                         \
  ROW(NAME, SOURCES32 const uint32_t r = static_cast<uint32_t>(__VA_ARGS__);                       \
      writeScalar(wave, inst.dst[0], r); wave.scc = r != 0;)
#define MOVE64(NAME, ...)                                                                          \
  ROW(NAME, SOURCES64 const uint64_t r = static_cast<uint64_t>(__VA_ARGS__);                       \
      writeScalar64(wave, inst.dst[0], r);)
#define LOGIC64(NAME, ...)                                                                         \
  ROW(NAME, SOURCES64 const uint64_t r = static_cast<uint64_t>(__VA_ARGS__);                       \
      writeScalar64(wave, inst.dst[0], r); wave.scc = r != 0;)
/// Old EXEC to the destination, a new one from it and the source; SCC = the new one is not zero.
#define SAVEEXEC(NAME, ...)                                                                        \
  ROW(NAME, SOURCES64 const uint64_t exec = wave.exec(); const uint64_t r = __VA_ARGS__;           \
      writeScalar64(wave, inst.dst[0], exec); wave.setScalar64(scalar::kExec, r);                  \
      wave.scc = r != 0;)
/// A new EXEC, which is also the result.
#define WREXEC(NAME, ...)                                                                          \
  ROW(NAME, SOURCES64 const uint64_t exec = wave.exec(); const uint64_t r = __VA_ARGS__;           \
      writeScalar64(wave, inst.dst[0], r); wave.setScalar64(scalar::kExec, r); wave.scc = r != 0;)

/// The same for waves of 32 lanes.
#define SAVEEXEC32(NAME, ...)                                                                      \
  ROW(NAME, SOURCES32 const uint32_t exec = wave.scalar[scalar::kExec];                            \
      const auto r = static_cast<uint32_t>(__VA_ARGS__); writeScalar(wave, inst.dst[0], exec);     \
      wave.scalar[scalar::kExec] = r; wave.scc = r != 0;)
#define WREXEC32(NAME, ...)                                                                        \
  ROW(NAME, SOURCES32 const uint32_t exec = wave.scalar[scalar::kExec];                            \
      const auto r = static_cast<uint32_t>(__VA_ARGS__); writeScalar(wave, inst.dst[0], r);        \
      wave.scalar[scalar::kExec] = r; wave.scc = r != 0;)

int32_t s32(uint32_t v) { return static_cast<int32_t>(v); }
int64_t s64(uint64_t v) { return static_cast<int64_t>(v); }
uint32_t popcount(uint64_t v) { return static_cast<uint32_t>(__builtin_popcountll(v)); }

uint32_t firstOne(uint64_t v) { return v == 0 ? ~0U : static_cast<uint32_t>(__builtin_ctzll(v)); }
uint32_t leadingZeros32(uint32_t v) {
  return v == 0 ? ~0U : static_cast<uint32_t>(__builtin_clz(v));
}
uint32_t leadingZeros64(uint64_t v) {
  return v == 0 ? ~0U : static_cast<uint32_t>(__builtin_clzll(v));
}
uint32_t leadingSigns32(uint32_t v) { return leadingZeros32(s32(v) < 0 ? ~v : v); }
uint32_t leadingSigns64(uint64_t v) { return leadingZeros64(s64(v) < 0 ? ~v : v); }
uint64_t reverse64(uint64_t v) { return __builtin_bitreverse64(v); }

uint32_t bfe32(uint32_t value, uint32_t control, bool isSigned) {
  const uint32_t offset = control & 31U;
  const uint32_t width = control >> 16 & 0x7fU;
  if (width == 0)
    return 0;
  const uint32_t field = value >> offset;
  if (width >= 32)
    return isSigned ? static_cast<uint32_t>(s32(value) >> offset) : field;
  const uint32_t masked =
      (isSigned ? static_cast<uint32_t>(s32(value) >> offset) : field) & ((1U << width) - 1U);
  const uint32_t sign = 1U << (width - 1);
  return isSigned ? (masked ^ sign) - sign : masked;
}
uint64_t bfe64(uint64_t value, uint32_t control, bool isSigned) {
  const uint32_t offset = control & 63U;
  const uint32_t width = control >> 16 & 0x7fU;
  if (width == 0)
    return 0;
  const uint64_t shifted = isSigned ? static_cast<uint64_t>(s64(value) >> offset) : value >> offset;
  if (width >= 64)
    return shifted;
  const uint64_t masked = shifted & ((uint64_t{1} << width) - 1);
  const uint64_t sign = uint64_t{1} << (width - 1);
  return isSigned ? (masked ^ sign) - sign : masked;
}
uint64_t bitReplicate(uint32_t v) {
  uint64_t r = 0;
  for (unsigned i = 0; i < 32; ++i)
    if ((v >> i & 1U) != 0)
      r |= uint64_t{3} << (2 * i);
  return r;
}
/// Bit i: any of the four bits of group i (quadmask); or the group filled (wqm).
uint64_t quadMask(uint64_t v, unsigned bits) {
  uint64_t r = 0;
  for (unsigned i = 0; i < bits / 4; ++i)
    if ((v >> (4 * i) & 15U) != 0)
      r |= uint64_t{1} << i;
  return r;
}
uint64_t wholeQuad(uint64_t v, unsigned bits) {
  uint64_t r = 0;
  for (unsigned i = 0; i < bits / 4; ++i)
    if ((v >> (4 * i) & 15U) != 0)
      r |= uint64_t{15} << (4 * i);
  return r;
}

void addWide(Wave &wave, const Instruction &inst, uint64_t wide) {
  writeScalar(wave, inst.dst[0], static_cast<uint32_t>(wide));
  wave.scc = (wide >> 32 & 1U) != 0;
}
void addSigned(Wave &wave, const Instruction &inst, uint32_t a, uint32_t b) {
  int32_t r = 0;
  wave.scc = __builtin_add_overflow(s32(a), s32(b), &r);
  writeScalar(wave, inst.dst[0], static_cast<uint32_t>(r));
}
void subSigned(Wave &wave, const Instruction &inst, uint32_t a, uint32_t b) {
  int32_t r = 0;
  wave.scc = __builtin_sub_overflow(s32(a), s32(b), &r);
  writeScalar(wave, inst.dst[0], static_cast<uint32_t>(r));
}
void shiftAdd(Wave &wave, const Instruction &inst, unsigned shift) {
  const uint64_t wide =
      (uint64_t{readScalar(wave, inst.src[0])} << shift) + readScalar(wave, inst.src[1]);
  writeScalar(wave, inst.dst[0], static_cast<uint32_t>(wide));
  wave.scc = wide >> 32 != 0;
}
/// The 16-bit immediate of a SOPK instruction, sign-extended.
int32_t simm16(const Instruction &inst) { return static_cast<int16_t>(inst.immediate[0]); }

/// An index relative to M0 into the scalar registers.
unsigned relativeIndex(const Wave &wave, const Operand &operand, unsigned dwords) {
  const uint64_t index = uint64_t{operand.index} + wave.scalar[scalar::kM0];
  const unsigned end =
      wave.launch->generation >= 10 ? unsigned{scalar::kVcc} : unsigned{scalar::kFlatScratch};
  if (!operand.isScalarRegister() || index + dwords > end)
    throw Fault{"M0 leads a relative scalar access out of the register file"};
  return static_cast<unsigned>(index);
}

constexpr struct {
  const char *name;
  Handler handler;
} kRows[] = {
    MOVE32("s_mov_b32", a),
    MOVE64("s_mov_b64", a),
    ROW("s_cmov_b32", if (wave.scc) writeScalar(wave, inst.dst[0], readScalar(wave, inst.src[0]));),
    ROW("s_cmov_b64",
        if (wave.scc) writeScalar64(wave, inst.dst[0], readScalar64(wave, inst.src[0]));),
    MOVE32("s_cselect_b32", wave.scc ? a : b),
    MOVE64("s_cselect_b64", wave.scc ? a : b),
    ROW("s_movk_i32", writeScalar(wave, inst.dst[0], static_cast<uint32_t>(simm16(inst)));),
    ROW("s_cmovk_i32",
        if (wave.scc) writeScalar(wave, inst.dst[0], static_cast<uint32_t>(simm16(inst)));),
    ROW("s_addk_i32",
        addSigned(wave, inst, readScalar(wave, inst.dst[0]), static_cast<uint32_t>(simm16(inst)));),
    ROW("s_mulk_i32",
        writeScalar(wave, inst.dst[0],
                    readScalar(wave, inst.dst[0]) * static_cast<uint32_t>(simm16(inst)));),
    ROW("s_add_u32", SOURCES32 addWide(wave, inst, uint64_t{a} + b);),
    ROW("s_sub_u32", SOURCES32 addWide(wave, inst, uint64_t{a} - b);),
    ROW("s_addc_u32", SOURCES32 addWide(wave, inst, uint64_t{a} + b + (wave.scc ? 1 : 0));),
    ROW("s_subb_u32", SOURCES32 addWide(wave, inst, uint64_t{a} - b - (wave.scc ? 1 : 0));),
    ROW("s_add_i32", SOURCES32 addSigned(wave, inst, a, b);),
    ROW("s_sub_i32", SOURCES32 subSigned(wave, inst, a, b);),
    MOVE32("s_mul_i32", a *b),
    MOVE32("s_mul_hi_u32", uint64_t{a} * b >> 32),
    MOVE32("s_mul_hi_i32", static_cast<uint64_t>(int64_t{s32(a)} * s32(b)) >> 32),
    ROW("s_lshl1_add_u32", shiftAdd(wave, inst, 1);),
    ROW("s_lshl2_add_u32", shiftAdd(wave, inst, 2);),
    ROW("s_lshl3_add_u32", shiftAdd(wave, inst, 3);),
    ROW("s_lshl4_add_u32", shiftAdd(wave, inst, 4);),
    // SCC says whether the first source was chosen; on equality it was not.
    ROW("s_min_i32", SOURCES32 wave.scc = s32(a) < s32(b);
        writeScalar(wave, inst.dst[0], wave.scc ? a : b);),
    ROW("s_min_u32", SOURCES32 wave.scc = a < b; writeScalar(wave, inst.dst[0], wave.scc ? a : b);),
    // The first operand counts as the larger one where both are equal.
    ROW("s_max_i32", SOURCES32 wave.scc = s32(a) >= s32(b);
        writeScalar(wave, inst.dst[0], wave.scc ? a : b);),
    ROW("s_max_u32", SOURCES32 wave.scc = a >= b;
        writeScalar(wave, inst.dst[0], wave.scc ? a : b);),
    LOGIC32("s_abs_i32", s32(a) < 0 ? 0U - a : a),
    LOGIC32("s_absdiff_i32", s32(a - b) < 0 ? 0U - (a - b) : a - b),
    LOGIC32("s_and_b32", a &b),
    LOGIC64("s_and_b64", a &b),
    LOGIC32("s_or_b32", a | b),
    LOGIC64("s_or_b64", a | b),
    LOGIC32("s_xor_b32", a ^ b),
    LOGIC64("s_xor_b64", a ^ b),
    LOGIC32("s_andn2_b32", a & ~b),
    LOGIC64("s_andn2_b64", a & ~b),
    LOGIC32("s_orn2_b32", a | ~b),
    LOGIC64("s_orn2_b64", a | ~b),
    LOGIC32("s_nand_b32", ~(a &b)),
    LOGIC64("s_nand_b64", ~(a &b)),
    LOGIC32("s_nor_b32", ~(a | b)),
    LOGIC64("s_nor_b64", ~(a | b)),
    LOGIC32("s_xnor_b32", ~(a ^ b)),
    LOGIC64("s_xnor_b64", ~(a ^ b)),
    LOGIC32("s_not_b32", ~a),
    LOGIC64("s_not_b64", ~a),
    LOGIC32("s_lshl_b32", a << (b & 31U)),
    LOGIC32("s_lshr_b32", a >> (b & 31U)),
    LOGIC32("s_ashr_i32", s32(a) >> (b & 31U)),
    ROW("s_lshl_b64", const uint64_t r = readScalar64(wave, inst.src[0])
                                         << (readScalar(wave, inst.src[1]) & 63U);
        writeScalar64(wave, inst.dst[0], r); wave.scc = r != 0;),
    ROW("s_lshr_b64",
        const uint64_t r = readScalar64(wave, inst.src[0]) >> (readScalar(wave, inst.src[1]) & 63U);
        writeScalar64(wave, inst.dst[0], r); wave.scc = r != 0;),
    ROW("s_ashr_i64", const auto r = static_cast<uint64_t>(s64(readScalar64(wave, inst.src[0])) >>
                                                           (readScalar(wave, inst.src[1]) & 63U));
        writeScalar64(wave, inst.dst[0], r); wave.scc = r != 0;),
    MOVE32("s_bfm_b32", ((1U << (a & 31U)) - 1U) << (b & 31U)),
    ROW("s_bfm_b64",
        SOURCES32 writeScalar64(wave, inst.dst[0], ((uint64_t{1} << (a & 63U)) - 1) << (b & 63U));),
    LOGIC32("s_bfe_u32", bfe32(a, b, false)),
    LOGIC32("s_bfe_i32", bfe32(a, b, true)),
    ROW("s_bfe_u64", const uint64_t r = bfe64(readScalar64(wave, inst.src[0]),
                                              readScalar(wave, inst.src[1]), false);
        writeScalar64(wave, inst.dst[0], r); wave.scc = r != 0;),
    ROW("s_bfe_i64", const uint64_t r = bfe64(readScalar64(wave, inst.src[0]),
                                              readScalar(wave, inst.src[1]), true);
        writeScalar64(wave, inst.dst[0], r); wave.scc = r != 0;),
    MOVE32("s_brev_b32", __builtin_bitreverse32(a)),
    MOVE64("s_brev_b64", reverse64(a)),
    LOGIC32("s_bcnt0_i32_b32", 32 - popcount(a)),
    LOGIC32("s_bcnt1_i32_b32", popcount(a)),
    ROW("s_bcnt0_i32_b64", SOURCES64 const uint32_t r = 64 - popcount(a);
        writeScalar(wave, inst.dst[0], r); wave.scc = r != 0;),
    ROW("s_bcnt1_i32_b64", SOURCES64 const uint32_t r = popcount(a);
        writeScalar(wave, inst.dst[0], r); wave.scc = r != 0;),
    MOVE32("s_ff0_i32_b32", a == ~0U ? ~0U : firstOne(~a)),
    MOVE32("s_ff1_i32_b32", firstOne(a)),
    ROW("s_ff0_i32_b64", SOURCES64 writeScalar(wave, inst.dst[0], firstOne(~a));),
    ROW("s_ff1_i32_b64", SOURCES64 writeScalar(wave, inst.dst[0], firstOne(a));),
    MOVE32("s_flbit_i32_b32", leadingZeros32(a)),
    ROW("s_flbit_i32_b64", SOURCES64 writeScalar(wave, inst.dst[0], leadingZeros64(a));),
    MOVE32("s_flbit_i32", leadingSigns32(a)),
    ROW("s_flbit_i32_i64", SOURCES64 writeScalar(wave, inst.dst[0], leadingSigns64(a));),
    MOVE32("s_sext_i32_i8", int32_t{static_cast<int8_t>(a)}),
    MOVE32("s_sext_i32_i16", int32_t{static_cast<int16_t>(a)}),
    ROW("s_bitset0_b32", SOURCES32 wave.scalar[inst.dst[0].index] &= ~(1U << (a & 31U));),
    ROW("s_bitset1_b32", SOURCES32 wave.scalar[inst.dst[0].index] |= 1U << (a & 31U);),
    ROW("s_bitset0_b64",
        SOURCES32 writeScalar64(wave, inst.dst[0],
                                wave.scalar64(inst.dst[0].index) & ~(uint64_t{1} << (a & 63U)));),
    ROW("s_bitset1_b64",
        SOURCES32 writeScalar64(wave, inst.dst[0],
                                wave.scalar64(inst.dst[0].index) | uint64_t{1} << (a & 63U));),
    ROW("s_bitreplicate_b64_b32", SOURCES32 writeScalar64(wave, inst.dst[0], bitReplicate(a));),
    LOGIC32("s_quadmask_b32", quadMask(a, 32)),
    LOGIC64("s_quadmask_b64", quadMask(a, 64)),
    LOGIC32("s_wqm_b32", wholeQuad(a, 32)),
    LOGIC64("s_wqm_b64", wholeQuad(a, 64)),
    MOVE32("s_pack_ll_b32_b16", (a & 0xffffU) | b << 16),
    MOVE32("s_pack_lh_b32_b16", (a & 0xffffU) | (b & 0xffff0000U)),
    MOVE32("s_pack_hh_b32_b16", a >> 16 | (b & 0xffff0000U)),
    SAVEEXEC("s_and_saveexec_b64", a &exec),
    SAVEEXEC("s_or_saveexec_b64", a | exec),
    SAVEEXEC("s_xor_saveexec_b64", a ^ exec),
    SAVEEXEC("s_andn2_saveexec_b64", a & ~exec),
    SAVEEXEC("s_orn2_saveexec_b64", a | ~exec),
    SAVEEXEC("s_nand_saveexec_b64", ~(a &exec)),
    SAVEEXEC("s_nor_saveexec_b64", ~(a | exec)),
    SAVEEXEC("s_xnor_saveexec_b64", ~(a ^ exec)),
    SAVEEXEC("s_andn1_saveexec_b64", ~a &exec),
    SAVEEXEC("s_orn1_saveexec_b64", ~a | exec),
    WREXEC("s_andn1_wrexec_b64", ~a &exec),
    WREXEC("s_andn2_wrexec_b64", a & ~exec),
    SAVEEXEC32("s_and_saveexec_b32", a &exec),
    SAVEEXEC32("s_or_saveexec_b32", a | exec),
    SAVEEXEC32("s_xor_saveexec_b32", a ^ exec),
    SAVEEXEC32("s_andn2_saveexec_b32", a & ~exec),
    SAVEEXEC32("s_orn2_saveexec_b32", a | ~exec),
    SAVEEXEC32("s_nand_saveexec_b32", ~(a &exec)),
    SAVEEXEC32("s_nor_saveexec_b32", ~(a | exec)),
    SAVEEXEC32("s_xnor_saveexec_b32", ~(a ^ exec)),
    SAVEEXEC32("s_andn1_saveexec_b32", ~a &exec),
    SAVEEXEC32("s_orn1_saveexec_b32", ~a | exec),
    WREXEC32("s_andn1_wrexec_b32", ~a &exec),
    WREXEC32("s_andn2_wrexec_b32", a & ~exec),
    MOVE32("s_pack_hl_b32_b16", a >> 16 | b << 16),
    MOVE64("s_add_nc_u64", a + b),
    MOVE64("s_sub_nc_u64", a - b),
    MOVE64("s_mul_u64", a *b),
    // Both indices are in M0: the source's in [9:0], the destination's in [25:16].
    ROW("s_movrelsd_2_b32", const uint32_t m0 = wave.scalar[scalar::kM0];
        const uint32_t from = inst.src[0].index + (m0 & 0x3ffU);
        const uint32_t to = inst.dst[0].index + (m0 >> 16 & 0x3ffU);
        if (from >= scalar::kVcc ||
            to >=
                scalar::
                    kVcc) throw Fault{"M0 leads a relative scalar access out of the register file"};
        wave.scalar[to] = wave.scalar[from];),
    ROW("s_movrels_b32",
        writeScalar(wave, inst.dst[0], wave.scalar[relativeIndex(wave, inst.src[0], 1)]);),
    ROW("s_movrels_b64",
        writeScalar64(wave, inst.dst[0], wave.scalar64(relativeIndex(wave, inst.src[0], 2)));),
    // LLVM lists the destination of these among the sources.
    ROW("s_movreld_b32",
        wave.scalar[relativeIndex(wave, inst.src[0], 1)] = readScalar(wave, inst.src[1]);),
    ROW("s_movreld_b64",
        wave.setScalar64(relativeIndex(wave, inst.src[0], 2), readScalar64(wave, inst.src[1]));),
};

} // namespace

void addScalarAluOpcodes(OpcodeTable &table) {
  for (const auto &row : kRows)
    table.add({row.name, OpClass::ScalarAlu, row.handler, nullptr, 0, Fidelity::Exact});
}

} // namespace flyemu
