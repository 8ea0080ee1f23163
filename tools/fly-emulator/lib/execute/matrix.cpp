// SPDX-License-Identifier: Apache-2.0
//
// MFMA and SMFMAC. EXEC does not matter to them.
//
// Accumulation: each element of D is one chain of single-precision fused multiply-adds, in the
// order of k, beginning with C. Hardware adds products in small groups before it rounds, in a way
// that AMD does not document; results can differ from it in the last places ("assumed" in the
// fidelity report). Integers are exact.
#include <cmath>
#include <cstring>
#include <deque>
#include <mutex>

#include "execute/lane_tables.h"
#include "execute/matrix_shape.h"
#include "execute/opcode.h"
#include "execute/wave.h"

namespace flyemu {
namespace {

constexpr unsigned kMaxElements = 64 * 32; ///< of A or B: lanes, and elements in each

std::deque<MatrixShape> &shapes() {
  static std::deque<MatrixShape> list;
  return list;
}

/// Where an element of A or B belongs: row (column), k and block.
struct ElementCoordinate {
  unsigned row;
  unsigned k;
  unsigned block;
};

/// Lane groups take turns with runs of consecutive k: one run each, but for the 8-bit formats of
/// f8f6f4, whose 32 elements are two runs of 16 (so compilers lay them out for the hardware).
unsigned runOf(const MatrixShape &s, MatrixElement element) {
  constexpr unsigned kByteRun = 16;
  return s.anyFormat && bitsOf(element) == 8 ? kByteRun : s.perLane();
}

ElementCoordinate coordinateOf(const MatrixShape &s, unsigned lane, unsigned e, unsigned run) {
  if (s.a == MatrixElement::F64 && s.blocks > 1) // v_mfma_f64_4x4x4_4b: k in the upper lane bits
    return {lane % 4, lane / 16, lane / 4 % 4};
  if (s.blocks > 1)
    return {lane % s.m, e, lane / s.m};
  const unsigned groups = kLanes / s.m;
  return {lane % s.m, (e / run * groups + lane / s.m) * run + e % run, 0};
}

/// Index of an element in the dense arrays that the arithmetic works on: [block][k][row].
unsigned indexOf(const MatrixShape &s, const ElementCoordinate &p) {
  return (p.block * s.k + p.k) * s.m + p.row;
}

/// The row and the first lane of a run of M elements of C in the register file.
struct CRow {
  unsigned reg;  ///< in elements
  unsigned lane; ///< of column 0
};

CRow rowOfC(const MatrixShape &s, unsigned block, unsigned i) {
  if (s.out == MatrixElement::F64)
    return s.blocks > 1 ? CRow{0, 16 * i + 4 * block} : CRow{i / 4, 16 * (i % 4)};
  if (s.m == 4)
    return {i, 4 * block};
  if (s.m == 16)
    return {4 * block + i % 4, 16 * (i / 4)};
  return {16 * block + 4 * (i / 8) + i % 4, 32 * (i / 4 % 2)};
}

/// The lane that lane l of B is read from (BLGP): broadcasts of half or quarter waves, or all lanes
/// moved by 16 to the left, as DPP's rotations count.
unsigned lanePattern(unsigned blgp, unsigned lane) {
  switch (blgp) {
  case 0:
    return lane;
  case 1:
    return lane & 31U;
  case 2:
    return 32U | (lane & 31U);
  case 4:
  case 5:
  case 6:
  case 7:
    return (blgp - 4) * 16 + (lane & 15U);
  default:
    return (lane + 16) % kLanes;
  }
}

/// The block of A that a block uses (CBSZ, ABID): one of each group is broadcast to all of it.
unsigned blockOfA(const Modifiers &m, unsigned block) {
  return m.cbsz == 0 ? block : (block >> m.cbsz << m.cbsz) + m.abid;
}

/// CBSZ, ABID and BLGP where an instruction has them; in f8f6f4 ones they are formats, in sparse
/// ones ABID chooses a set of indices.
void checkModifiers(const MatrixShape &s, const Modifiers &m) {
  if (s.anyFormat || s.sparse || s.out == MatrixElement::F64)
    return;
  if ((1U << m.cbsz) > s.blocks || m.abid >= 1U << m.cbsz)
    throw Fault{"CBSZ and ABID name blocks that the matrix instruction does not have"};
  if (m.blgp != 0 && s.blocks == 1 && s.b != MatrixElement::F32)
    throw Fault{"BLGP is set on a matrix instruction that does not have it"};
}

const uint32_t *rowsOf(const Wave &wave, const Operand &operand) {
  if (!operand.isVector())
    throw Fault{"a matrix operand is no vector register"};
  return wave.row(operand.index);
}

uint32_t bitField(const uint32_t *rows, unsigned lane, unsigned element, unsigned bits) {
  const unsigned bit = element * bits;
  const unsigned word = bit / 32;
  const unsigned shift = bit % 32;
  uint64_t value = rows[word * kLanes + lane];
  if (shift + bits > 32)
    value |= uint64_t{rows[(word + 1) * kLanes + lane]} << 32;
  return static_cast<uint32_t>(value >> shift & ((uint64_t{1} << bits) - 1));
}

/// xf32: the operand keeps ten bits of mantissa, rounded to nearest.
float roundXf32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if ((bits & 0x7f800000U) != 0x7f800000U)
    bits = (bits + 0xfffU + (bits >> 13 & 1U)) & 0xffffe000U;
  std::memcpy(&value, &bits, 4);
  return value;
}

float elementValue(const Wave &wave, const uint32_t *rows, unsigned lane, unsigned e,
                   MatrixElement element) {
  const uint32_t bits = bitField(rows, lane, e, bitsOf(element));
  switch (element) {
  case MatrixElement::F32:
  case MatrixElement::Xf32: {
    float value;
    std::memcpy(&value, &bits, 4);
    return element == MatrixElement::Xf32 ? roundXf32(value) : value;
  }
  default:
    return wave.launch->helpers->decodeSmall(bits, static_cast<unsigned>(element),
                                             wave.launch->ocpFloat8);
  }
}

/// Gather 16-bit elements, widened all at once.
void gatherHalves(const Wave &wave, const MatrixShape &s, const uint32_t *rows,
                  MatrixElement element, unsigned blgp, float *out) {
  alignas(64) uint16_t halves[kMaxElements];
  const unsigned per = s.perLane();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned from = lanePattern(blgp, lane);
    const ElementCoordinate first = coordinateOf(s, lane, 0, per);
    unsigned index = indexOf(s, first);
    for (unsigned word = 0; word < per / 2; ++word, index += 2 * s.m) {
      const uint32_t value = rows[word * kLanes + from];
      halves[index] = static_cast<uint16_t>(value);
      halves[index + s.m] = static_cast<uint16_t>(value >> 16);
    }
  }
  const LaneHelpers &helpers = *wave.launch->helpers;
  (element == MatrixElement::Bf16 ? helpers.widenBf16 : helpers.widenF16)(out, halves,
                                                                          s.k * s.m * s.blocks);
}

/// All numbers of a small format.
struct SmallNumbers {
  float value[256];

  static const SmallNumbers &of(const Wave &wave, MatrixElement element) {
    static SmallNumbers tables[2][5];
    static std::once_flag once;
    const LaneHelpers &helpers = *wave.launch->helpers;
    std::call_once(once, [&] {
      for (unsigned ocp = 0; ocp < 2; ++ocp)
        for (unsigned format = 0; format < 5; ++format)
          for (uint32_t code = 0; code < 256; ++code)
            tables[ocp][format].value[code] =
                code >> bitsOf(static_cast<MatrixElement>(format)) == 0
                    ? helpers.decodeSmall(code, format, ocp != 0)
                    : 0.0F;
    });
    return tables[wave.launch->ocpFloat8 ? 1 : 0][static_cast<unsigned>(element)];
  }
};

/// Gather bytes through a table: T is float or int32_t.
template <typename T, typename F>
void gatherBytes(const MatrixShape &s, const uint32_t *rows, unsigned blgp, unsigned run, T *out,
                 F &&convert) {
  const unsigned per = s.perLane();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned from = lanePattern(blgp, lane);
    for (unsigned first = 0; first < per; first += run) {
      unsigned index = indexOf(s, coordinateOf(s, lane, first, run));
      for (unsigned e = first; e < first + run; ++e, index += s.m)
        out[index] = convert(rows[e / 4 * kLanes + from] >> (8 * (e % 4)) & 0xffU);
    }
  }
}

void gatherFloats(const Wave &wave, const MatrixShape &s, const uint32_t *rows,
                  MatrixElement element, unsigned blgp, float *out) {
  if (bitsOf(element) == 16) {
    gatherHalves(wave, s, rows, element, blgp, out);
    return;
  }
  const unsigned per = s.perLane();
  const unsigned run = runOf(s, element);
  if (bitsOf(element) == 8) {
    const SmallNumbers &numbers = SmallNumbers::of(wave, element);
    gatherBytes(s, rows, blgp, run, out, [&](uint32_t code) { return numbers.value[code]; });
    return;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned from = lanePattern(blgp, lane);
    for (unsigned e = 0; e < per; ++e)
      out[indexOf(s, coordinateOf(s, lane, e, run))] = elementValue(wave, rows, from, e, element);
  }
}

void gatherIntegers(const MatrixShape &s, const uint32_t *rows, unsigned blgp, int32_t *out) {
  gatherBytes(s, rows, blgp, s.perLane(), out,
              [](uint32_t code) { return int32_t{static_cast<int8_t>(code)}; });
}

/// The position in its group of four that a sparse element has: indices are pairs of two bits, one
/// pair a group; ABID chooses among the sets that one index register holds.
unsigned sparseIndex(const MatrixShape &s, const Modifiers &m, const uint32_t *indices,
                     unsigned lane, unsigned e) {
  const unsigned setBits = s.perLane(); // two bits for each of perLane / 2 elements
  const unsigned set = m.cbsz == 0 ? m.abid : 0;
  const unsigned sets = setBits >= 32 ? 1 : 32 / setBits;
  return indices[lane] >> (set % sets * setBits + 2 * e) & 3U;
}

/// Spread the stored half of a sparse A over its dense places.
template <typename T, typename Read>
void expandSparse(const MatrixShape &s, const Modifiers &m, const uint32_t *indices, T *out,
                  Read read) {
  std::memset(out, 0, sizeof(T) * s.k * s.m);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned e = 0; e < s.perLane() / 2; ++e) {
      const unsigned dense = e / 2 * 4 + sparseIndex(s, m, indices, lane, e);
      out[indexOf(s, coordinateOf(s, lane, dense, s.perLane()))] = read(lane, e);
    }
}

float sparseFloat(const Wave &wave, const uint32_t *rows, unsigned lane, unsigned e,
                  MatrixElement element) {
  if (bitsOf(element) != 16)
    return elementValue(wave, rows, lane, e, element);
  alignas(64) uint16_t half[16] = {static_cast<uint16_t>(bitField(rows, lane, e, 16))};
  alignas(64) float wide[16];
  const LaneHelpers &helpers = *wave.launch->helpers;
  (element == MatrixElement::Bf16 ? helpers.widenBf16 : helpers.widenF16)(wide, half, 16);
  return wide[0];
}

/// The accumulator as dense rows, from registers or a constant; T is float, int32_t or double.
template <typename T>
void loadC(const Wave &wave, const MatrixShape &s, const Operand &operand, T *c) {
  constexpr unsigned words = sizeof(T) / 4;
  if (!operand.isVector()) {
    T value;
    const uint64_t bits = readScalar64(wave, operand);
    std::memcpy(&value, &bits, sizeof value);
    for (unsigned i = 0; i < s.blocks * s.m * s.n; ++i)
      c[i] = value;
    return;
  }
  const uint32_t *rows = wave.row(operand.index);
  for (unsigned block = 0; block < s.blocks; ++block)
    for (unsigned i = 0; i < s.m; ++i) {
      const CRow at = rowOfC(s, block, i);
      T *to = c + (block * s.m + i) * s.n;
      if (words == 1) {
        std::memcpy(to, rows + at.reg * kLanes + at.lane, s.n * 4);
        continue;
      }
      for (unsigned j = 0; j < s.n; ++j) {
        const uint32_t pair[2] = {rows[2 * at.reg * kLanes + at.lane + j],
                                  rows[(2 * at.reg + 1) * kLanes + at.lane + j]};
        std::memcpy(to + j, pair, sizeof(T));
      }
    }
}

template <typename T>
void storeD(Wave &wave, const MatrixShape &s, const Operand &operand, const T *c) {
  constexpr unsigned words = sizeof(T) / 4;
  uint32_t *rows = wave.row(operand.index);
  for (unsigned block = 0; block < s.blocks; ++block)
    for (unsigned i = 0; i < s.m; ++i) {
      const CRow at = rowOfC(s, block, i);
      const T *from = c + (block * s.m + i) * s.n;
      if (words == 1) {
        std::memcpy(rows + at.reg * kLanes + at.lane, from, s.n * 4);
        continue;
      }
      for (unsigned j = 0; j < s.n; ++j) {
        uint32_t pair[2] = {};
        std::memcpy(pair, from + j, sizeof(T));
        rows[2 * at.reg * kLanes + at.lane + j] = pair[0];
        rows[(2 * at.reg + 1) * kLanes + at.lane + j] = pair[1];
      }
    }
}

/// NaNs of a result in the form that AMD gives them.
void normaliseNans(float *c, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    if (std::isnan(c[i])) {
      constexpr uint32_t kNan = 0x7fc00000U;
      std::memcpy(c + i, &kNan, 4);
    }
}

/// E8M0 scales of one operand: lane group g has those of the g-th 32 consecutive k, whatever lanes
/// hold the elements.
void applyScales(const Wave &wave, const MatrixShape &s, const Operand &operand, unsigned byte,
                 float *values) {
  constexpr unsigned kScaledRun = 32;
  uint32_t constant[kLanes];
  const uint32_t *scales = constant;
  if (operand.isVector())
    scales = wave.row(operand.index);
  else
    wave.launch->helpers->splat(constant, readScalar(wave, operand));
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint32_t code = scales[lane] >> (8 * byte) & 0xffU;
    const float factor =
        code == 0xff ? std::nanf("") : std::ldexp(1.0F, static_cast<int>(code) - 127);
    for (unsigned i = 0; i < kScaledRun; ++i)
      values[indexOf(s, {lane % s.m, lane / s.m * kScaledRun + i, 0})] *= factor;
  }
}

MatrixElement formatOf(unsigned code) {
  if (code > 4)
    throw Fault{"an unknown element format of an f8f6f4 matrix instruction"};
  return static_cast<MatrixElement>(code);
}

void floatMatrix(Wave &wave, const Instruction &inst, const MatrixShape &shape) {
  const Modifiers &m = inst.modifiers;
  MatrixShape s = shape;
  if (s.anyFormat) {
    s.a = formatOf(m.cbsz);
    s.b = formatOf(m.blgp);
  }
  alignas(64) float a[kMaxElements];
  alignas(64) float b[kMaxElements];
  alignas(64) float c[32 * 32 * 2];
  const uint32_t *aRows = rowsOf(wave, inst.src[0]);
  const unsigned pattern = s.anyFormat || s.sparse ? 0 : m.blgp;
  if (s.sparse) {
    expandSparse(s, m, rowsOf(wave, inst.src[2]), a,
                 [&](unsigned lane, unsigned e) { return sparseFloat(wave, aRows, lane, e, s.a); });
  } else {
    gatherFloats(wave, s, aRows, s.a, 0, a);
  }
  gatherFloats(wave, s, rowsOf(wave, inst.src[1]), s.b, pattern, b);
  loadC(wave, s, s.sparse ? inst.dst[0] : inst.src[2], c);
  if (s.scaled) {
    const auto byteOf = [&](unsigned i) {
      return (m.scaleSelect >> i & 1U) | (m.scaleSelectHi >> i & 1U) << 1;
    };
    applyScales(wave, s, inst.src[3], byteOf(0), a);
    applyScales(wave, s, inst.src[4], byteOf(1), b);
  }
  const LaneHelpers &helpers = *wave.launch->helpers;
  for (unsigned block = 0; block < s.blocks; ++block) {
    const unsigned from = s.anyFormat || s.sparse ? 0 : blockOfA(m, block);
    helpers.matmulF32(c + block * s.m * s.n, a + from * s.k * s.m, b + block * s.k * s.m, s.m, s.n,
                      s.k);
  }
  normaliseNans(c, s.blocks * s.m * s.n);
  storeD(wave, s, inst.dst[0], c);
}

void integerMatrix(Wave &wave, const Instruction &inst, const MatrixShape &s) {
  const Modifiers &m = inst.modifiers;
  alignas(64) int32_t a[kMaxElements];
  alignas(64) int32_t b[kMaxElements];
  alignas(64) int32_t c[32 * 32 * 2];
  const uint32_t *aRows = rowsOf(wave, inst.src[0]);
  if (s.sparse)
    expandSparse(s, m, rowsOf(wave, inst.src[2]), a, [&](unsigned lane, unsigned e) {
      return int32_t{static_cast<int8_t>(bitField(aRows, lane, e, 8))};
    });
  else
    gatherIntegers(s, aRows, 0, a);
  gatherIntegers(s, rowsOf(wave, inst.src[1]), s.sparse ? 0 : m.blgp, b);
  loadC(wave, s, s.sparse ? inst.dst[0] : inst.src[2], c);
  for (unsigned block = 0; block < s.blocks; ++block) {
    const unsigned from = s.sparse ? 0 : blockOfA(m, block);
    wave.launch->helpers->matmulI32(c + block * s.m * s.n, a + from * s.k * s.m,
                                    b + block * s.k * s.m, s.m, s.n, s.k);
  }
  storeD(wave, s, inst.dst[0], c);
}

/// Doubles; BLGP negates A, B and C here.
void doubleMatrix(Wave &wave, const Instruction &inst, const MatrixShape &s) {
  alignas(64) double a[256];
  alignas(64) double b[256];
  alignas(64) double c[256];
  const unsigned negate = inst.modifiers.negLo | inst.modifiers.blgp;
  const auto gather = [&](const Operand &operand, bool negative, double *out) {
    const uint32_t *rows = rowsOf(wave, operand);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const uint64_t bits = rows[lane] | uint64_t{rows[kLanes + lane]} << 32;
      double value;
      std::memcpy(&value, &bits, 8);
      out[indexOf(s, coordinateOf(s, lane, 0, s.perLane()))] = negative ? -value : value;
    }
  };
  gather(inst.src[0], (negate & 1U) != 0, a);
  gather(inst.src[1], (negate & 2U) != 0, b);
  loadC(wave, s, inst.src[2], c);
  if ((negate & 4U) != 0)
    for (double &value : c)
      value = -value;
  for (unsigned block = 0; block < s.blocks; ++block)
    wave.launch->helpers->matmulF64(c + block * s.m * s.n, a + block * s.k * s.m,
                                    b + block * s.k * s.m, s.m, s.n, s.k);
  storeD(wave, s, inst.dst[0], c);
}

void executeMatrix(Wave &wave, const Instruction &inst) {
  const MatrixShape &s = shapes()[inst.opcode->parameter];
  checkModifiers(s, inst.modifiers);
  if (s.out == MatrixElement::F64)
    doubleMatrix(wave, inst, s);
  else if (s.out == MatrixElement::I32)
    integerMatrix(wave, inst, s);
  else
    floatMatrix(wave, inst, s);
}

} // namespace

void addMatrixOpcodes(OpcodeTable &table) {
  static const char *const names[] = {
#include "execute/matrix_names.inc"
  };
  for (const char *name : names) {
    MatrixShape shape;
    if (!MatrixShape::parse(name, shape))
      continue;
    Opcode opcode;
    opcode.name = name;
    opcode.cls = OpClass::Matrix;
    opcode.handler = executeMatrix;
    opcode.parameter = static_cast<uint32_t>(shapes().size());
    opcode.fidelity = shape.out == MatrixElement::I32 ? Fidelity::Exact : Fidelity::Assumed;
    shapes().push_back(shape);
    table.add(opcode);
  }
}

} // namespace flyemu
