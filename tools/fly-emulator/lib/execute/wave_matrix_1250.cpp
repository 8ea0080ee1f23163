// SPDX-License-Identifier: Apache-2.0
//
// WMMA and SWMMAC of gfx1250: D = A * B + C, of waves of 32 lanes; EXEC does not matter.
//
// AMD has published no places of elements. A and B are held in runs along K, alternating between
// the halves of the wave: of eight elements, and in f8f6f4 instructions of 16 of 8 bits or 32 of
// fewer. That is how compilers fill them, and how MLIR says which scales the halves of the wave
// need. C and D are as gfx12 has them; the 32-row form and its scales are what existing kernels are
// written for. Sums are one chain in the order of k. All of that is assumed, as is all of the
// sparse forms.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "execute/lane_tables.h"
#include "execute/opcode.h"
#include "execute/wave.h"
#include "execute/wave_elements.h"
#include "support/format.h"

namespace flyemu {
namespace {

constexpr unsigned kColumns = 16;
constexpr unsigned kWave = 32;
constexpr unsigned kMostRows = 32;
constexpr unsigned kMostK = 128;

using Element = WaveElement;

/// One instruction, apart from the formats that a field of it chooses.
struct Shape {
  Element in;  ///< of C
  Element out; ///< of D
  Element a;
  Element b;
  unsigned rows;
  unsigned k;
  bool sparse;
  bool anyFormat;       ///< matrix_a_fmt and matrix_b_fmt say what A and B are
  unsigned scaledBlock; ///< elements of k that share a scale; 0 without scales
  bool smallFormats;    ///< f8f6f4, or f4 alone
};

/// The k of element e of a lane, of a row that two lanes share.
unsigned kOf(const Shape &s, Element element, unsigned lane, unsigned e) {
  const unsigned half = lane / 16;
  if (element == Element::F32)
    return 2 * half + e;
  const unsigned run = !s.smallFormats ? 8 : bitsOf(element) == 8 ? 16 : 32;
  return e / run * 2 * run + run * half + e % run;
}

WaveSlot resultSlot(const Shape &s, Element element, unsigned row, unsigned column) {
  const unsigned perLane = s.rows / 2;
  const unsigned reg = row % perLane;
  const unsigned lane = row / perLane * 16 + column;
  return bitsOf(element) == 32 ? WaveSlot{reg, lane, 0} : WaveSlot{reg / 2, lane, reg % 2 * 16};
}

/// Gather A or B as [k][row]; T is float or int32_t.
template <typename T, typename F>
void gather(const Shape &s, const uint32_t *rows, unsigned rowCount, Element element, T *out,
            F &&value) {
  const unsigned bits = bitsOf(element);
  const unsigned perLane = s.k * rowCount / kWave;
  for (unsigned lane = 0; lane < kWave; ++lane)
    for (unsigned e = 0; e < perLane; ++e) {
      const unsigned k = rowCount == kWave ? e : kOf(s, element, lane, e);
      out[k * rowCount + lane % rowCount] = value(fieldOf(rows, lane, e, bits), e);
    }
}

/// The stored half of a sparse A: two of each four elements, at the positions that indices name,
/// two bits for each stored element in its order.
template <typename T, typename F>
void gatherSparse(const Wave &wave, const Instruction &inst, const Shape &s, T *out, F &&value) {
  const unsigned stored = s.k / 4; // of a lane
  const unsigned registers = stored * 2 / 32;
  const Operand &indexOperand = inst.src[3];
  if (inst.modifiers.indexKey != 0)
    throw Fault{"index_key of a sparse matrix instruction, whose indices fill their registers, is "
                "not modelled"};
  if (registers != indexOperand.dwords)
    throw Fault{"a sparse matrix instruction whose indices have another number of registers"};
  const uint32_t *rows = matrixRows(wave, inst.src[0]);
  const uint32_t *indices = matrixRows(wave, indexOperand);
  std::memset(out, 0, sizeof(T) * s.k * s.rows);
  for (unsigned lane = 0; lane < kWave; ++lane)
    for (unsigned e = 0; e < stored; ++e) {
      const unsigned position = indices[size_t{e / 16} * kLanes + lane] >> (2 * (e % 16)) & 3U;
      out[kOf(s, s.a, lane, e / 2 * 4 + position) * s.rows + lane % s.rows] =
          value(fieldOf(rows, lane, e, bitsOf(s.a)), e);
    }
}

/// E8M0 scales of one operand: the byte of each row's block of k, in the lane of the row. Of 16
/// rows the modifier chooses the half of the wave that has them.
void applyScales(const Wave &wave, const Operand &operand, unsigned rowCount, unsigned half,
                 const Shape &s, float *values) {
  for (unsigned row = 0; row < rowCount; ++row) {
    const unsigned lane = rowCount == kWave ? row : row + 16 * half;
    for (unsigned block = 0; block < s.k / s.scaledBlock; ++block) {
      uint32_t word = 0;
      if (operand.isVector())
        word = wave.row(operand.index)[size_t{block / 4} * kLanes + lane];
      else if (operand.isScalarRegister())
        word = wave.scalar[operand.index + block / 4];
      else
        word = static_cast<uint32_t>(operand.constant >> (32 * (block / 4)));
      const uint32_t code = word >> (8 * (block % 4)) & 0xffU;
      const float factor =
          code == 0xff ? std::nanf("") : std::ldexp(1.0F, static_cast<int>(code) - 127);
      for (unsigned i = 0; i < s.scaledBlock; ++i)
        values[(block * s.scaledBlock + i) * rowCount + row] *= factor;
    }
  }
}

void requireE8M0(const Modifiers &m) {
  if (m.scaleFormatA != 0 || m.scaleFormatB != 0)
    throw Fault{"scales of a matrix instruction other than E8M0 (matrix_a_scale_fmt, "
                "matrix_b_scale_fmt) are not modelled"};
}

void floatMatrix(Wave &wave, const Instruction &inst, Shape s) {
  const Modifiers &m = inst.modifiers;
  if (s.anyFormat) {
    s.a = static_cast<Element>(m.cbsz);
    s.b = static_cast<Element>(m.blgp);
  }
  alignas(64) float a[kMostK * kMostRows];
  alignas(64) float b[kMostK * kColumns];
  alignas(64) float c[kMostRows * kColumns];
  const auto valueA = [&](uint32_t bits, unsigned e) {
    return floatValue(wave, bits, s.a, e, inst.src[0].modifiers);
  };
  if (s.sparse)
    gatherSparse(wave, inst, s, a, valueA);
  else
    gather(s, matrixRows(wave, inst.src[0]), s.rows, s.a, a, valueA);
  gather(s, matrixRows(wave, inst.src[1]), kColumns, s.b, b, [&](uint32_t bits, unsigned e) {
    return floatValue(wave, bits, s.b, e, inst.src[1].modifiers);
  });
  if (s.scaledBlock != 0) {
    requireE8M0(m);
    applyScales(wave, inst.src[3], s.rows, m.scaleRowA, s, a);
    applyScales(wave, inst.src[4], kColumns, m.scaleRowB, s, b);
  }
  for (unsigned i = 0; i < s.rows; ++i)
    for (unsigned j = 0; j < kColumns; ++j)
      c[i * kColumns + j] = loadC(wave, inst.src[2], s.in, resultSlot(s, s.in, i, j));
  wave.launch->helpers->matmulF32(c, a, b, s.rows, kColumns, s.k);
  for (unsigned i = 0; i < s.rows; ++i)
    for (unsigned j = 0; j < kColumns; ++j)
      storeD(wave, inst.dst[0], s.out, resultSlot(s, s.out, i, j), c[i * kColumns + j]);
}

void integerMatrix(Wave &wave, const Instruction &inst, const Shape &s) {
  alignas(64) int32_t a[kMostK * kColumns];
  alignas(64) int32_t b[kMostK * kColumns];
  const auto isSigned = [&](unsigned i) { return (inst.src[i].modifiers & modifier::kNeg) != 0; };
  const auto valueA = [&](uint32_t bits, unsigned) { return integerValue(bits, s.a, isSigned(0)); };
  if (s.sparse)
    gatherSparse(wave, inst, s, a, valueA);
  else
    gather(s, matrixRows(wave, inst.src[0]), s.rows, s.a, a, valueA);
  gather(s, matrixRows(wave, inst.src[1]), kColumns, s.b, b,
         [&](uint32_t bits, unsigned) { return integerValue(bits, s.b, isSigned(1)); });
  multiplyIntegers(wave, inst, a, b, s.rows, s.k, [&](unsigned row, unsigned column) {
    return resultSlot(s, s.out, row, column);
  });
}

struct NamedShape {
  std::string name;
  Shape shape;
};

const std::vector<NamedShape> &shapes() {
  static const std::vector<NamedShape> all = [] {
    using E = Element;
    std::vector<NamedShape> out;
    const auto add = [&](const std::string &name, const Shape &shape) {
      out.push_back({name, shape});
    };
    const auto both = [&](const std::string &what, unsigned k, E in, E d, E a, E b) {
      add("v_wmma_" + what, {in, d, a, b, 16, k, false, false, 0, false});
    };
    const auto sparse = [&](const std::string &what, unsigned k, E in, E d, E a, E b) {
      add("v_swmmac_" + what, {in, d, a, b, 16, k, true, false, 0, false});
    };
    both("f32_16x16x4_f32", 4, E::F32, E::F32, E::F32, E::F32);
    both("f32_16x16x32_f16", 32, E::F32, E::F32, E::F16, E::F16);
    both("f32_16x16x32_bf16", 32, E::F32, E::F32, E::Bf16, E::Bf16);
    both("f16_16x16x32_f16", 32, E::F16, E::F16, E::F16, E::F16);
    both("bf16_16x16x32_bf16", 32, E::Bf16, E::Bf16, E::Bf16, E::Bf16);
    both("bf16f32_16x16x32_bf16", 32, E::F32, E::Bf16, E::Bf16, E::Bf16);
    both("i32_16x16x64_iu8", 64, E::I32, E::I32, E::I8, E::I8);
    sparse("f32_16x16x64_f16", 64, E::F32, E::F32, E::F16, E::F16);
    sparse("f32_16x16x64_bf16", 64, E::F32, E::F32, E::Bf16, E::Bf16);
    sparse("f16_16x16x64_f16", 64, E::F16, E::F16, E::F16, E::F16);
    sparse("bf16_16x16x64_bf16", 64, E::Bf16, E::Bf16, E::Bf16, E::Bf16);
    sparse("i32_16x16x128_iu8", 128, E::I32, E::I32, E::I8, E::I8);
    for (const E a : {E::Fp8, E::Bf8})
      for (const E b : {E::Fp8, E::Bf8}) {
        const auto nameOf = [](E e) { return std::string(e == E::Fp8 ? "fp8" : "bf8"); };
        const std::string types = nameOf(a) + "_" + nameOf(b);
        for (const E d : {E::F32, E::F16}) {
          const std::string to = d == E::F32 ? "f32_" : "f16_";
          both(to + "16x16x64_" + types, 64, d, d, a, b);
          both(to + "16x16x128_" + types, 128, d, d, a, b);
          sparse(to + "16x16x128_" + types, 128, d, d, a, b);
        }
      }
    const auto small = [&](const std::string &name, unsigned rows, unsigned block) {
      const E kind = rows == 32 ? E::Fp4 : E::Fp8;
      add("v_wmma_" + name,
          {E::F32, E::F32, kind, kind, rows, 128, false, rows == 16, block, true});
    };
    for (const auto &[prefix, block] :
         {std::pair<std::string, unsigned>{"", 0}, {"scale_", 32}, {"scale16_", 16}}) {
      small(prefix + "f32_16x16x128_f8f6f4", 16, block);
      small(prefix + "f32_32x16x128_f4", 32, block);
    }
    return out;
  }();
  return all;
}

void execute(Wave &wave, const Instruction &inst) {
  const Shape &shape = shapes()[inst.opcode->parameter].shape;
  if (wave.lanes() != kWave)
    throw Fault{"matrix instructions of gfx1250 are for waves of 32 lanes"};
  if (shape.out == Element::I32)
    integerMatrix(wave, inst, shape);
  else
    floatMatrix(wave, inst, shape);
}

} // namespace

void addWaveMatrix1250Opcodes(OpcodeTable &table) {
  uint32_t index = 0;
  for (const NamedShape &named : shapes())
    table.add({named.name, OpClass::Matrix, execute, nullptr, index++, Fidelity::Assumed});
}

} // namespace flyemu
