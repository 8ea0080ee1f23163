// SPDX-License-Identifier: Apache-2.0
//
// The matrix operation of a warp, and the copies between shared memory and the fragments that it
// takes and gives: what exists, text, thread-value layouts. The layouts are those of the PTX ISA's
// figures of fragments of mma.sync, ldmatrix and stmatrix.

#include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.h"

#include "../../AtomSyntax.h"
#include "Availability.h"

#include <limits>

using namespace mlir;

namespace fly::nvvm {

using EmitError = function_ref<InFlightDiagnostic()>;

static constexpr int32_t lanes = 32;
static constexpr int32_t wordBits = 32;

static IntTuple tuple(std::initializer_list<IntTuple> modes) {
  return IntTuple::tuple(ArrayRef<IntTuple>(modes.begin(), modes.size()));
}

// --- products: what exists -----------------------------------------------------------------------

static bool isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

static int32_t bitsOf(Type element) {
  return isa<FloatTF32Type>(element) ? wordBits : getElementBitWidth(element);
}

/// Whether the instruction takes elements of these types, and adds in `acc`.
static bool areElements(Type a, Type b, Type acc) {
  if (isFloat8(a) && isFloat8(b))
    return acc.isF32();
  if (a != b)
    return false;
  if (a.isInteger(8))
    return acc.isInteger(32);
  if (a.isF64())
    return acc.isF64();
  if (a.isF16())
    return acc.isF32() || acc.isF16();
  return (a.isBF16() || isa<FloatTF32Type>(a)) && acc.isF32();
}

LogicalResult SM80MmaSyncType::verify(EmitError emitError, int32_t m, int32_t n, int32_t k, Type a,
                                      Type b, Type acc) {
  if (!areElements(a, b, acc))
    return emitError() << "mma_sync has no (" << a << ", " << b << ") -> " << acc
                       << ": A and B are f16, bf16, tf32, i8 or f64, alike, or any of f8E4M3FN and "
                          "f8E5M2; the accumulators f32, of f16 also f16, of i8 i32, of f64 f64";
  constexpr int32_t mostBitsOfK = 256;
  const int32_t most = mostBitsOfK / bitsOf(a);
  if (a.isF64()) {
    if (m != 8 || n != 8 || k != 4)
      return emitError() << "mma_sync of f64 is 8x8x4, got " << m << 'x' << n << 'x' << k;
    return success();
  }
  const bool hasHalf = !isFloat8(a);
  if (m == 16 && n == 8 && (k == most || (hasHalf && k == most / 2)))
    return success();
  InFlightDiagnostic diagnostic = emitError() << "mma_sync of " << a << " is 16x8x" << most;
  if (hasHalf)
    diagnostic << " or 16x8x" << most / 2;
  return diagnostic << ", got " << m << 'x' << n << 'x' << k;
}

std::optional<std::string> SM80MmaSyncType::whyUnavailable(StringRef target) const {
  return whyNotHopper(*this, target,
                      target.starts_with("gfx") ? "fx.rocdl.MFMA or fx.rocdl.WMMA"
                                                : "fx.UniversalFMA");
}

// --- products: text ------------------------------------------------------------------------------

Type SM80MmaSyncType::parse(AsmParser &parser) {
  SmallVector<int64_t> extents;
  Type a, b, acc;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(extents, /*allowDynamic=*/false, /*withTrailingX=*/false))
    return {};
  if (extents.size() != 3 || llvm::any_of(extents, [](int64_t extent) {
        return extent > std::numeric_limits<int32_t>::max();
      })) {
    parser.emitError(loc, "expected MxNxK");
    return {};
  }
  if (parser.parseComma() || parser.parseLParen() || parser.parseType(a) || parser.parseComma() ||
      parser.parseType(b) || parser.parseRParen() || parser.parseArrow() || parser.parseType(acc) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<SM80MmaSyncType>(
      loc, parser.getContext(), static_cast<int32_t>(extents[0]), static_cast<int32_t>(extents[1]),
      static_cast<int32_t>(extents[2]), a, b, acc);
}

void SM80MmaSyncType::print(AsmPrinter &printer) const {
  printer << '<' << getM() << 'x' << getN() << 'x' << getK() << ", (" << getElemTyA() << ", "
          << getElemTyB() << ") -> " << getElemTyAcc() << '>';
}

// --- products: geometry --------------------------------------------------------------------------

std::array<int32_t, 3> SM80MmaSyncType::getShapeMNK() const { return {getM(), getN(), getK()}; }
Layout SM80MmaSyncType::getThreadLayout() const { return Layout(lanes, 1); }

Type SM80MmaSyncType::getElementType(MmaOperand operand) const {
  Type element = operand == MmaOperand::A   ? getElemTyA()
                 : operand == MmaOperand::B ? getElemTyB()
                                            : getElemTyAcc();
  // The instruction drops the low bits of f32 itself.
  return isa<FloatTF32Type>(element) ? Float32Type::get(element.getContext()) : element;
}

/// The values of a lane: registers of `perWord` elements side by side along K, `extents` of them at
/// `strides`.
static Layout fragment(int32_t rows, int32_t perWord, std::initializer_list<IntTuple> extents,
                       std::initializer_list<IntTuple> strides) {
  SmallVector<IntTuple> shape, stride;
  if (perWord != 1) {
    shape.push_back(perWord);
    stride.push_back(rows);
  }
  shape.append(extents);
  stride.append(strides);
  // One value has a layout, too.
  if (shape.empty())
    return Layout(tuple({tuple({4, 8}), 1}), tuple({tuple({rows, 1}), 0}));
  IntTuple values = shape.size() == 1 ? shape.front() : IntTuple::tuple(shape);
  IntTuple distances = stride.size() == 1 ? stride.front() : IntTuple::tuple(stride);
  return Layout(tuple({tuple({4, 8}), values}), tuple({tuple({rows * perWord, 1}), distances}));
}

// Lane l is at row l / 4 of A, or column of B, and at register l % 4 along K. The next registers of
// A are 8 rows on, those behind them, and the next one of B, 4 registers of K.
Layout SM80MmaSyncType::getThreadValueLayout(MmaOperand operand) const {
  const int32_t m = getM(), n = getN();
  const bool isDouble = getElemTyA().isF64();
  if (operand != MmaOperand::A && operand != MmaOperand::B) {
    // Two columns side by side, and those of 8 rows on.
    if (isDouble)
      return Layout(tuple({tuple({4, 8}), 2}), tuple({tuple({2 * m, 1}), m}));
    return Layout(tuple({tuple({4, 8}), tuple({2, 2})}), tuple({tuple({2 * m, 1}), tuple({m, 8})}));
  }
  if (isDouble)
    return fragment(operand == MmaOperand::A ? m : n, 1, {}, {});
  const int32_t perWord = wordBits / bitsOf(getElemTyA());
  const int32_t half = 4 * perWord; // Of K: one register of four lanes.
  const bool hasBothHalves = getK() != half;
  if (operand == MmaOperand::A)
    return hasBothHalves ? fragment(m, perWord, {2, 2}, {8, m * half})
                         : fragment(m, perWord, {2}, {8});
  return hasBothHalves ? fragment(n, perWord, {2}, {n * half}) : fragment(n, perWord, {}, {});
}

// --- copies: what exists -------------------------------------------------------------------------

static LogicalResult verifyMatrices(EmitError emitError, StringRef operation, int32_t matrices) {
  if (matrices != 1 && matrices != 2 && matrices != 4)
    return emitError() << operation << " moves 1, 2 or 4 matrices, got " << matrices;
  return success();
}

LogicalResult LdMatrixType::verify(EmitError emitError, int32_t matrices, bool) {
  return verifyMatrices(emitError, getMnemonic(), matrices);
}
LogicalResult StMatrixType::verify(EmitError emitError, int32_t matrices, bool) {
  return verifyMatrices(emitError, getMnemonic(), matrices);
}

std::optional<std::string> LdMatrixType::whyUnavailable(StringRef target) const {
  return whyNotHopper(*this, target,
                      target.starts_with("gfx")
                          ? "fx.UniversalCopy by the threads, or fx.rocdl.LDSReadTrans"
                          : "fx.UniversalCopy by the threads");
}
std::optional<std::string> StMatrixType::whyUnavailable(StringRef target) const {
  return whyNotHopper(*this, target, "fx.UniversalCopy by the threads");
}

// --- copies: text --------------------------------------------------------------------------------

template <typename Atom> static Type parseMatrices(AsmParser &parser) {
  int32_t matrices = 0;
  bool transposed = false;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseInteger(matrices) ||
      parseNextKey(parser, "transposed", transposed) || parser.parseGreater())
    return {};
  return parser.getChecked<Atom>(loc, parser.getContext(), matrices, transposed);
}

template <typename Atom> static void printMatrices(AsmPrinter &printer, Atom atom) {
  printer << '<' << atom.getMatrices();
  printKey(printer, "transposed", atom.getTransposed());
  printer << '>';
}

Type LdMatrixType::parse(AsmParser &parser) { return parseMatrices<LdMatrixType>(parser); }
void LdMatrixType::print(AsmPrinter &printer) const { printMatrices(printer, *this); }
Type StMatrixType::parse(AsmParser &parser) { return parseMatrices<StMatrixType>(parser); }
void StMatrixType::print(AsmPrinter &printer) const { printMatrices(printer, *this); }

// --- copies: geometry ----------------------------------------------------------------------------

static constexpr int32_t rowsOfMatrix = 8;
static constexpr int32_t rowBits = 128;
static constexpr int32_t matrixBits = rowsOfMatrix * rowBits;
static constexpr int32_t elementBits = 16;

/// The rows that the lanes name, in the matrices' order.
static Layout rowsInMemory(int32_t matrices) {
  const int32_t rows = rowsOfMatrix * matrices;
  if (rows == lanes)
    return Layout(tuple({lanes, rowBits}), tuple({rowBits, 1}));
  return Layout(tuple({tuple({rows, lanes / rows}), rowBits}), tuple({tuple({rowBits, 0}), 1}));
}

/// The 32 bits of every matrix that a lane holds.
static Layout bitsInRegisters(int32_t matrices, bool transposed) {
  if (transposed) {
    IntTuple threads = tuple({4, 8}), next = tuple({2 * rowBits, elementBits});
    if (matrices == 1)
      return Layout(tuple({threads, tuple({elementBits, 2})}), tuple({next, tuple({1, rowBits})}));
    return Layout(tuple({threads, tuple({elementBits, 2, matrices})}),
                  tuple({next, tuple({1, rowBits, matrixBits})}));
  }
  if (matrices == 1)
    return Layout(tuple({lanes, wordBits}), tuple({wordBits, 1}));
  return Layout(tuple({lanes, tuple({wordBits, matrices})}),
                tuple({wordBits, tuple({1, matrixBits})}));
}

Layout LdMatrixType::getThreadLayout() const { return Layout(lanes, 1); }
Layout LdMatrixType::getSourceBitLayout() const { return rowsInMemory(getMatrices()); }
Layout LdMatrixType::getDestinationBitLayout() const {
  return bitsInRegisters(getMatrices(), getTransposed());
}
Layout LdMatrixType::getReferenceBitLayout() const { return getDestinationBitLayout(); }

Layout StMatrixType::getThreadLayout() const { return Layout(lanes, 1); }
Layout StMatrixType::getSourceBitLayout() const {
  return bitsInRegisters(getMatrices(), getTransposed());
}
Layout StMatrixType::getDestinationBitLayout() const { return rowsInMemory(getMatrices()); }
Layout StMatrixType::getReferenceBitLayout() const { return getSourceBitLayout(); }

} // namespace fly::nvvm
