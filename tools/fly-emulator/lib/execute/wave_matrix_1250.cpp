// SPDX-License-Identifier: Apache-2.0
//
// WMMA and SWMMAC of gfx1250: D = A * B + C, of waves of 32 lanes; EXEC does not matter.
//
// AMD has published no places of elements. A and B are held in runs of eight along K, alternating
// between the halves of the wave, C and D as gfx12 has them; the 32-row form and its scales are
// what existing kernels are written for. Sums are one chain in the order of k. All of that is
// assumed, as is all of the sparse forms.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "execute/lane_tables.h"
#include "execute/opcode.h"
#include "execute/wave.h"
#include "support/format.h"

namespace flyemu {
namespace {

constexpr unsigned kColumns = 16;
constexpr unsigned kWave = 32;
constexpr unsigned kMostRows = 32;
constexpr unsigned kMostK = 128;

/// The first five are numbered as the fields of f8f6f4 instructions.
enum class Element : uint8_t { Fp8, Bf8, Fp6, Bf6, Fp4, F16, Bf16, F32, I8, I32 };

unsigned bitsOf(Element element) {
  switch (element) {
  case Element::Fp8:
  case Element::Bf8:
  case Element::I8:
    return 8;
  case Element::Fp6:
  case Element::Bf6:
    return 6;
  case Element::Fp4:
    return 4;
  case Element::F16:
  case Element::Bf16:
    return 16;
  case Element::F32:
  case Element::I32:
    return 32;
  }
  return 32;
}

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
};

/// The k of element e of a lane, of a row that two lanes share.
unsigned kOf(Element element, unsigned lane, unsigned e) {
  const unsigned half = lane / 16;
  if (element == Element::F32)
    return 2 * half + e;
  constexpr unsigned kRun = 8;
  return e / kRun * 2 * kRun + kRun * half + e % kRun;
}

/// A row of D and the register and lane that hold it (in whole elements).
struct Slot {
  unsigned reg;
  unsigned lane;
};
Slot resultSlot(const Shape &s, unsigned row, unsigned column) {
  const unsigned perLane = s.rows / 2;
  return {row % perLane, row / perLane * 16 + column};
}

const uint32_t *rowsOf(const Wave &wave, const Operand &operand) {
  if (!operand.isVector())
    throw Fault{"a matrix operand is no vector register"};
  return wave.row(operand.index);
}

uint32_t fieldOf(const uint32_t *rows, unsigned lane, unsigned element, unsigned bits) {
  const unsigned bit = element * bits;
  uint64_t word = rows[size_t{bit / 32} * kLanes + lane];
  if (bit % 32 + bits > 32) // of six bits, some lie in two registers
    word |= uint64_t{rows[size_t{bit / 32 + 1} * kLanes + lane]} << 32;
  return static_cast<uint32_t>(word >> (bit % 32) & ((uint64_t{1} << bits) - 1));
}

float wordValue(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

float halfValue(const Wave &wave, uint32_t bits, Element element) {
  alignas(64) uint16_t in[16] = {static_cast<uint16_t>(bits)};
  alignas(64) float out[16];
  const LaneHelpers &helpers = *wave.launch->helpers;
  (element == Element::Bf16 ? helpers.widenBf16 : helpers.widenF16)(out, in, 16);
  return out[0];
}

/// The value of element e of A or B, with the negations of the instruction.
float floatValue(const Wave &wave, uint32_t bits, Element element, unsigned e, uint8_t modifiers) {
  float value = 0;
  switch (element) {
  case Element::F32:
    value = wordValue(bits);
    break;
  case Element::F16:
  case Element::Bf16:
    value = halfValue(wave, bits, element);
    break;
  default:
    return wave.launch->helpers->decodeSmall(bits, static_cast<unsigned>(element), true);
  }
  const uint8_t negation = e % 2 == 0 || element == Element::F32 ? modifier::kNeg : modifier::kAbs;
  return (modifiers & negation) != 0 ? -value : value;
}

int32_t integerValue(uint32_t bits, bool isSigned) {
  return isSigned ? static_cast<int8_t>(bits) : static_cast<int32_t>(bits);
}

/// Gather A or B as [k][row]; T is float or int32_t.
template <typename T, typename F>
void gather(const Shape &s, const uint32_t *rows, unsigned rowCount, Element element, T *out,
            F &&value) {
  const unsigned bits = bitsOf(element);
  const unsigned perLane = s.k * rowCount / kWave;
  for (unsigned lane = 0; lane < kWave; ++lane)
    for (unsigned e = 0; e < perLane; ++e) {
      const unsigned k = rowCount == kWave ? e : kOf(element, lane, e);
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
  const uint32_t *rows = rowsOf(wave, inst.src[0]);
  const uint32_t *indices = rowsOf(wave, indexOperand);
  std::memset(out, 0, sizeof(T) * s.k * s.rows);
  for (unsigned lane = 0; lane < kWave; ++lane)
    for (unsigned e = 0; e < stored; ++e) {
      const unsigned position = indices[size_t{e / 16} * kLanes + lane] >> (2 * (e % 16)) & 3U;
      out[kOf(s.a, lane, e / 2 * 4 + position) * s.rows + lane % s.rows] =
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

float loadC(const Wave &wave, const Operand &c, const Shape &s, const Slot &slot) {
  float value = 0;
  if (bitsOf(s.in) == 32) {
    value = wordValue(c.isVector() ? wave.row(c.index)[size_t{slot.reg} * kLanes + slot.lane]
                                   : readScalar(wave, c));
  } else {
    const uint32_t word = c.isVector()
                              ? wave.row(c.index)[size_t{slot.reg / 2} * kLanes + slot.lane] >>
                                    (slot.reg % 2 != 0 ? 16 : 0)
                              : readScalar(wave, c);
    value = halfValue(wave, word, s.in);
  }
  if ((c.modifiers & modifier::kAbs) != 0)
    value = std::fabs(value);
  return (c.modifiers & modifier::kNeg) != 0 ? -value : value;
}

void storeD(Wave &wave, const Operand &d, const Shape &s, const Slot &slot, float value) {
  const LaneHelpers &helpers = *wave.launch->helpers;
  uint32_t *to = wave.row(d.index);
  if (bitsOf(s.out) == 32) {
    uint32_t bits = 0x7fc00000U;
    if (!std::isnan(value))
      std::memcpy(&bits, &value, sizeof bits);
    to[size_t{slot.reg} * kLanes + slot.lane] = bits;
    return;
  }
  const uint32_t half = std::isnan(value)       ? (s.out == Element::F16 ? 0x7e00U : 0x7fc0U)
                        : s.out == Element::F16 ? helpers.narrowF16(value)
                                                : helpers.narrowBf16(value);
  const unsigned shift = slot.reg % 2 != 0 ? 16 : 0;
  uint32_t &word = to[size_t{slot.reg / 2} * kLanes + slot.lane];
  word = (word & ~(0xffffU << shift)) | half << shift;
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
    gather(s, rowsOf(wave, inst.src[0]), s.rows, s.a, a, valueA);
  gather(s, rowsOf(wave, inst.src[1]), kColumns, s.b, b, [&](uint32_t bits, unsigned e) {
    return floatValue(wave, bits, s.b, e, inst.src[1].modifiers);
  });
  if (s.scaledBlock != 0) {
    requireE8M0(m);
    applyScales(wave, inst.src[3], s.rows, m.scaleRowA, s, a);
    applyScales(wave, inst.src[4], kColumns, m.scaleRowB, s, b);
  }
  for (unsigned i = 0; i < s.rows; ++i)
    for (unsigned j = 0; j < kColumns; ++j)
      c[i * kColumns + j] = loadC(wave, inst.src[2], s, resultSlot(s, i, j));
  wave.launch->helpers->matmulF32(c, a, b, s.rows, kColumns, s.k);
  for (unsigned i = 0; i < s.rows; ++i)
    for (unsigned j = 0; j < kColumns; ++j)
      storeD(wave, inst.dst[0], s, resultSlot(s, i, j), c[i * kColumns + j]);
}

void integerMatrix(Wave &wave, const Instruction &inst, const Shape &s) {
  alignas(64) int32_t a[kMostK * kColumns];
  alignas(64) int32_t b[kMostK * kColumns];
  const auto isSigned = [&](unsigned i) { return (inst.src[i].modifiers & modifier::kNeg) != 0; };
  const auto valueA = [&](uint32_t bits, unsigned) { return integerValue(bits, isSigned(0)); };
  if (s.sparse)
    gatherSparse(wave, inst, s, a, valueA);
  else
    gather(s, rowsOf(wave, inst.src[0]), s.rows, s.a, a, valueA);
  gather(s, rowsOf(wave, inst.src[1]), kColumns, s.b, b,
         [&](uint32_t bits, unsigned) { return integerValue(bits, isSigned(1)); });
  const Operand &c = inst.src[2];
  uint32_t *to = wave.row(inst.dst[0].index);
  for (unsigned i = 0; i < s.rows; ++i)
    for (unsigned j = 0; j < kColumns; ++j) {
      const Slot slot = resultSlot(s, i, j);
      const size_t at = size_t{slot.reg} * kLanes + slot.lane;
      int64_t sum =
          static_cast<int32_t>(c.isVector() ? wave.row(c.index)[at] : readScalar(wave, c));
      for (unsigned k = 0; k < s.k; ++k)
        sum += int64_t{a[k * s.rows + i]} * b[k * kColumns + j];
      if (inst.modifiers.clamp)
        sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
      to[at] = static_cast<uint32_t>(sum);
    }
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
      add("v_wmma_" + what, {in, d, a, b, 16, k, false, false, 0});
    };
    const auto sparse = [&](const std::string &what, unsigned k, E in, E d, E a, E b) {
      add("v_swmmac_" + what, {in, d, a, b, 16, k, true, false, 0});
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
      add("v_wmma_" + name, {E::F32, E::F32, kind, kind, rows, 128, false, rows == 16, block});
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
