// SPDX-License-Identifier: Apache-2.0
//
// WMMA and SWMMAC of RDNA: D = A * B + C on tiles of 16 x 16, of waves of 32 and of 64 lanes. EXEC
// does not matter to them.
//
// Where elements lie is what AMD publishes. gfx11 wants A and B in every group of 16 lanes; what it
// makes of groups that differ nobody says, so that this is an error here. Accumulation is one chain
// of fused multiply-adds in the order of k, as for MFMA, and assumed as it is there.
#include <cstring>
#include <utility>

#include "execute/lane_tables.h"
#include "execute/opcode.h"
#include "execute/wave.h"
#include "execute/wave_elements.h"
#include "support/format.h"

namespace flyemu {
namespace {

constexpr unsigned kTile = 16; ///< rows and columns
constexpr unsigned kMostK = 64;

using Element = WaveElement;

/// One instruction, apart from the wave that it runs on.
struct Shape {
  Element out;
  Element a;
  Element b;
  unsigned k;
  bool sparse;
};

/// The shape on a wave: who holds what.
struct Layout {
  const Shape &shape;
  bool doubled;    ///< gfx11: every group of 16 lanes has all of A and B
  unsigned groups; ///< of 16 lanes

  Layout(const Wave &wave, const Shape &s)
      : shape(s), doubled(wave.launch->generation < 12), groups(wave.lanes() / kTile) {}

  /// Elements of B (of a dense A) in a lane.
  unsigned perLane() const { return doubled ? shape.k : shape.k / groups; }

  /// Row (or column) and k of element e of a lane.
  unsigned kOf(unsigned lane, unsigned e) const {
    const unsigned group = lane / kTile;
    if (doubled)
      return e;
    if (shape.sparse || bitsOf(shape.a) < 16)
      return groups == 2 ? perLane() * group + e
                         : shape.k / 2 * (group % 2) + perLane() * (group / 2) + e;
    constexpr unsigned kRun = 4;
    return e / kRun * kRun * groups + kRun * group + e % kRun;
  }

  /// Where an element of D lies; `high` names the half of a register that has it alone, on gfx11.
  WaveSlot slot(unsigned row, unsigned column, bool high) const {
    const auto [reg, lane] = position(row, column);
    if (bitsOf(shape.out) == 32)
      return {reg, lane, 0};
    if (doubled)
      return {reg, lane, high ? 16U : 0U};
    return {reg / 2, lane, reg % 2 * 16};
  }

private:
  /// The register, in elements of the result, and the lane.
  std::pair<unsigned, unsigned> position(unsigned row, unsigned column) const {
    if (doubled)
      return {row / groups, row % groups * kTile + column};
    if (groups == 2)
      return {row % 8, row / 8 * kTile + column};
    return {row % 4, 32 * (row / 4 % 2) + row / 8 * kTile + column};
  }
};

void requireDoubled(const Layout &layout, const uint32_t *rows, unsigned bits, char name) {
  const unsigned registers = layout.perLane() * bits / 32;
  for (unsigned r = 0; r < registers; ++r)
    for (unsigned lane = kTile; lane < layout.groups * kTile; ++lane)
      if (rows[r * kLanes + lane] != rows[r * kLanes + lane % kTile])
        throw Fault{format("the operand %c of this matrix instruction differs between lane %u and "
                           "lane %u: gfx11 wants it the same in each group of 16 lanes, and its "
                           "result is not defined else",
                           name, lane % kTile, lane),
                    static_cast<int>(lane)};
}

/// Gather A or B as [k][row]; T is float or int32_t.
template <typename T, typename F>
void gather(const Layout &layout, const uint32_t *rows, unsigned bits, T *out, F &&value) {
  const unsigned lanes = layout.doubled ? kTile : layout.groups * kTile;
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned e = 0; e < layout.perLane(); ++e)
      out[layout.kOf(lane, e) * kTile + lane % kTile] = value(fieldOf(rows, lane, e, bits), e);
}

/// The stored half of a sparse A: two of each four elements, at the positions that indices name.
template <typename T, typename F>
void gatherSparse(const Layout &layout, const uint32_t *rows, const uint32_t *indices, unsigned key,
                  unsigned bits, T *out, F &&value) {
  std::memset(out, 0, sizeof(T) * layout.shape.k * kTile);
  const unsigned stored = layout.perLane() / 2;
  const unsigned sets = 32 / (2 * stored);
  for (unsigned lane = 0; lane < layout.groups * kTile; ++lane)
    for (unsigned e = 0; e < stored; ++e) {
      const unsigned position = indices[lane] >> (key % sets * 2 * stored + 2 * e) & 3U;
      out[layout.kOf(lane, e / 2 * 4 + position) * kTile + lane % kTile] =
          value(fieldOf(rows, lane, e, bits), e);
    }
}

template <typename T, typename F>
void gatherA(const Wave &wave, const Instruction &inst, const Layout &layout, T *out, F &&value) {
  const unsigned bits = bitsOf(layout.shape.a);
  const uint32_t *rows = matrixRows(wave, inst.src[0]);
  if (layout.shape.sparse)
    gatherSparse(layout, rows, matrixRows(wave, inst.src[3]), inst.modifiers.indexKey, bits, out,
                 value);
  else
    gather(layout, rows, bits, out, value);
  if (layout.doubled)
    requireDoubled(layout, rows, bits, 'A');
}

void checkWidth(const Layout &layout) {
  if (layout.perLane() * bitsOf(layout.shape.a) / (layout.shape.sparse ? 2 : 1) < 32)
    throw Fault{"this matrix instruction on waves of 64 lanes, whose elements would not fill a "
                "register, is not modelled"};
}

void floatMatrix(Wave &wave, const Instruction &inst, const Shape &s) {
  const Layout layout(wave, s);
  checkWidth(layout);
  alignas(64) float a[kMostK * kTile];
  alignas(64) float b[kMostK * kTile];
  alignas(64) float c[kTile * kTile];
  gatherA(wave, inst, layout, a, [&](uint32_t bits, unsigned e) {
    return floatValue(wave, bits, s.a, e, inst.src[0].modifiers);
  });
  const uint32_t *bRows = matrixRows(wave, inst.src[1]);
  gather(layout, bRows, bitsOf(s.b), b, [&](uint32_t bits, unsigned e) {
    return floatValue(wave, bits, s.b, e, inst.src[1].modifiers);
  });
  if (layout.doubled)
    requireDoubled(layout, bRows, bitsOf(s.b), 'B');
  // gfx11 has one 16-bit element of C and D in a register, in the half that op_sel names.
  const bool high = (inst.modifiers.scaleSelect >> 2 & 1U) != 0;
  for (unsigned i = 0; i < kTile; ++i)
    for (unsigned j = 0; j < kTile; ++j)
      c[i * kTile + j] = loadC(wave, inst.src[2], s.out, layout.slot(i, j, high));
  wave.launch->helpers->matmulF32(c, a, b, kTile, kTile, s.k);
  for (unsigned i = 0; i < kTile; ++i)
    for (unsigned j = 0; j < kTile; ++j)
      storeD(wave, inst.dst[0], s.out, layout.slot(i, j, high), c[i * kTile + j]);
}

void integerMatrix(Wave &wave, const Instruction &inst, const Shape &s) {
  const Layout layout(wave, s);
  checkWidth(layout);
  const unsigned bits = bitsOf(s.a);
  alignas(64) int32_t a[kMostK * kTile];
  alignas(64) int32_t b[kMostK * kTile];
  const auto isSigned = [&](unsigned i) { return (inst.src[i].modifiers & modifier::kNeg) != 0; };
  gatherA(wave, inst, layout, a,
          [&](uint32_t field, unsigned) { return integerValue(field, s.a, isSigned(0)); });
  const uint32_t *bRows = matrixRows(wave, inst.src[1]);
  gather(layout, bRows, bits, b,
         [&](uint32_t field, unsigned) { return integerValue(field, s.b, isSigned(1)); });
  if (layout.doubled)
    requireDoubled(layout, bRows, bits, 'B');
  multiplyIntegers(wave, inst, a, b, kTile, s.k,
                   [&](unsigned row, unsigned column) { return layout.slot(row, column, false); });
}

struct NamedShape {
  const char *name;
  Shape shape;
};
constexpr NamedShape kShapes[] = {
    {"v_wmma_f32_16x16x16_f16", {Element::F32, Element::F16, Element::F16, 16, false}},
    {"v_wmma_f32_16x16x16_bf16", {Element::F32, Element::Bf16, Element::Bf16, 16, false}},
    {"v_wmma_f16_16x16x16_f16", {Element::F16, Element::F16, Element::F16, 16, false}},
    {"v_wmma_bf16_16x16x16_bf16", {Element::Bf16, Element::Bf16, Element::Bf16, 16, false}},
    {"v_wmma_i32_16x16x16_iu8", {Element::I32, Element::I8, Element::I8, 16, false}},
    {"v_wmma_i32_16x16x16_iu4", {Element::I32, Element::I4, Element::I4, 16, false}},
    {"v_wmma_i32_16x16x32_iu4", {Element::I32, Element::I4, Element::I4, 32, false}},
    {"v_wmma_f32_16x16x16_fp8_fp8", {Element::F32, Element::Fp8, Element::Fp8, 16, false}},
    {"v_wmma_f32_16x16x16_fp8_bf8", {Element::F32, Element::Fp8, Element::Bf8, 16, false}},
    {"v_wmma_f32_16x16x16_bf8_fp8", {Element::F32, Element::Bf8, Element::Fp8, 16, false}},
    {"v_wmma_f32_16x16x16_bf8_bf8", {Element::F32, Element::Bf8, Element::Bf8, 16, false}},
    {"v_swmmac_f32_16x16x32_f16", {Element::F32, Element::F16, Element::F16, 32, true}},
    {"v_swmmac_f32_16x16x32_bf16", {Element::F32, Element::Bf16, Element::Bf16, 32, true}},
    {"v_swmmac_f16_16x16x32_f16", {Element::F16, Element::F16, Element::F16, 32, true}},
    {"v_swmmac_bf16_16x16x32_bf16", {Element::Bf16, Element::Bf16, Element::Bf16, 32, true}},
    {"v_swmmac_i32_16x16x32_iu8", {Element::I32, Element::I8, Element::I8, 32, true}},
    {"v_swmmac_i32_16x16x32_iu4", {Element::I32, Element::I4, Element::I4, 32, true}},
    {"v_swmmac_i32_16x16x64_iu4", {Element::I32, Element::I4, Element::I4, 64, true}},
    {"v_swmmac_f32_16x16x32_fp8_fp8", {Element::F32, Element::Fp8, Element::Fp8, 32, true}},
    {"v_swmmac_f32_16x16x32_fp8_bf8", {Element::F32, Element::Fp8, Element::Bf8, 32, true}},
    {"v_swmmac_f32_16x16x32_bf8_fp8", {Element::F32, Element::Bf8, Element::Fp8, 32, true}},
    {"v_swmmac_f32_16x16x32_bf8_bf8", {Element::F32, Element::Bf8, Element::Bf8, 32, true}},
};

void execute(Wave &wave, const Instruction &inst) {
  const Shape &shape = kShapes[inst.opcode->parameter].shape;
  if (shape.out == Element::I32)
    integerMatrix(wave, inst, shape);
  else
    floatMatrix(wave, inst, shape);
}

} // namespace

void addWaveMatrixOpcodes(OpcodeTable &table) {
  uint32_t index = 0;
  for (const NamedShape &named : kShapes)
    table.add({named.name, OpClass::Matrix, execute, nullptr, index++,
               named.shape.out == Element::I32 ? Fidelity::Exact : Fidelity::Assumed});
}

} // namespace flyemu
