// SPDX-License-Identifier: Apache-2.0
//
// The matrix operation of a warpgroup: its shapes, its text, its thread-value layouts, its state.
// The layouts are those of the PTX ISA's figures of wgmma fragments.

#include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.h"
#include "fly/Dialect/FlyNVVM/IR/SharedTile.h"

#include "../../AtomSyntax.h"
#include "Availability.h"

#include <limits>

using namespace mlir;

namespace fly::nvvm {

static constexpr int32_t warpgroupRows = 64;
static constexpr int32_t bitsOfK = 256;
static constexpr int32_t mostColumns = 256;

static IntTuple tuple(std::initializer_list<IntTuple> modes) {
  return IntTuple::tuple(ArrayRef<IntTuple>(modes.begin(), modes.size()));
}

// --- what exists ---------------------------------------------------------------------------------

static bool isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }
static bool isInteger8(Type type) { return type.isInteger(8); }

/// Whether the instruction takes elements of these types, and adds in `acc`.
static bool areElements(Type a, Type b, Type acc) {
  if (isFloat8(a) && isFloat8(b))
    return acc.isF32() || acc.isF16();
  if (isInteger8(a) && isInteger8(b))
    return acc.isInteger(32);
  if (a != b)
    return false;
  if (a.isF16())
    return acc.isF32() || acc.isF16();
  return (a.isBF16() || isa<FloatTF32Type>(a)) && acc.isF32();
}

static int32_t bitsOf(Type element) {
  return isa<FloatTF32Type>(element) ? 32 : getElementBitWidth(element);
}

LogicalResult SM90WGMMAType::verify(function_ref<InFlightDiagnostic()> emitError, int32_t m,
                                    int32_t n, int32_t k, Type a, Type b, Type acc, bool,
                                    bool mnMajorA, bool mnMajorB) {
  if (!areElements(a, b, acc))
    return emitError()
           << "wgmma has no (" << a << ", " << b << ") -> " << acc
           << ": A and B are f16, bf16 or tf32, alike, or any of f8E4M3FN and f8E5M2, "
              "or i8; the accumulators f32, of f16 and 8-bit floats also f16, of i8 i32";
  if (m != warpgroupRows || k != bitsOfK / bitsOf(a))
    return emitError() << "wgmma of " << a << " is 64xNx" << bitsOfK / bitsOf(a) << ", got " << m
                       << 'x' << n << 'x' << k;
  const bool isInteger = acc.isInteger(32);
  if (n < 8 || n > mostColumns || n % 8 != 0 || (isInteger && n > 32 && n % 16 != 0) ||
      (isInteger && n < 32 && n % 8 != 0))
    return emitError() << "N of wgmma of " << a << " is a multiple of 8 from 8 to 256"
                       << (isInteger ? ", above 32 of 16" : "") << ", got " << n;
  if ((mnMajorA || mnMajorB) && bitsOf(a) != 16)
    return emitError() << "wgmma reads tiles that are contiguous along M or N of 16-bit elements "
                          "only, got "
                       << a << "; copy the tile transposed, so that it is contiguous along K";
  return success();
}

std::optional<std::string> SM90WGMMAType::whyUnavailable(StringRef target) const {
  return whyNotHopper(*this, target,
                      target.starts_with("gfx") ? "fx.rocdl.MFMA or fx.rocdl.WMMA"
                                                : "fx.UniversalFMA");
}

// --- text ----------------------------------------------------------------------------------------

Type SM90WGMMAType::parse(AsmParser &parser) {
  SmallVector<int64_t> extents;
  Type a, b, acc;
  bool registersA = false, mnMajorA = false, mnMajorB = false;
  const SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(extents, /*allowDynamic=*/false, /*withTrailingX=*/false))
    return {};
  if (extents.size() != 3 || llvm::any_of(extents, [](int64_t extent) {
        return extent > std::numeric_limits<int32_t>::max();
      })) {
    parser.emitError(loc, "expected 64xNxK");
    return {};
  }
  if (parser.parseComma() || parser.parseLParen() || parser.parseType(a) || parser.parseComma() ||
      parser.parseType(b) || parser.parseRParen() || parser.parseArrow() || parser.parseType(acc) ||
      parseNextKey(parser, "registersA", registersA) ||
      parseNextKey(parser, "mnMajorA", mnMajorA) || parseNextKey(parser, "mnMajorB", mnMajorB) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<SM90WGMMAType>(
      loc, parser.getContext(), static_cast<int32_t>(extents[0]), static_cast<int32_t>(extents[1]),
      static_cast<int32_t>(extents[2]), a, b, acc, registersA, mnMajorA, mnMajorB);
}

void SM90WGMMAType::print(AsmPrinter &printer) const {
  printer << '<' << getM() << 'x' << getN() << 'x' << getK() << ", (" << getElemTyA() << ", "
          << getElemTyB() << ") -> " << getElemTyAcc();
  printKey(printer, "registersA", getRegistersA());
  printKey(printer, "mnMajorA", getMnMajorA());
  printKey(printer, "mnMajorB", getMnMajorB());
  printer << '>';
}

// --- geometry ------------------------------------------------------------------------------------

std::array<int32_t, 3> SM90WGMMAType::getShapeMNK() const { return {getM(), getN(), getK()}; }
Layout SM90WGMMAType::getThreadLayout() const { return Layout(128, 1); }

Type SM90WGMMAType::getElementType(MmaOperand operand) const {
  Type element = operand == MmaOperand::A   ? getElemTyA()
                 : operand == MmaOperand::B ? getElemTyB()
                                            : getElemTyAcc();
  // The instruction drops the low bits of f32 itself.
  return isa<FloatTF32Type>(element) ? Float32Type::get(element.getContext()) : element;
}

/// A tile in shared memory: every thread names all of it.
static Layout wholeTile(int32_t rows, int32_t k) {
  return Layout(tuple({128, tuple({rows, k})}), tuple({0, tuple({1, rows})}));
}

/// A in registers: a thread holds 32 bits of a row side by side, of two rows, of two halves of K.
static Layout fragmentOfA(int32_t bits) {
  const int32_t perWord = 32 / bits; // Elements.
  if (perWord == 1)
    return Layout(tuple({tuple({4, 8, 4}), tuple({2, 2})}),
                  tuple({tuple({64, 1, 16}), tuple({8, 256})}));
  return Layout(tuple({tuple({4, 8, 4}), tuple({perWord, 2, 2})}),
                tuple({tuple({64 * perWord, 1, 16}), tuple({64, 8, 256 * perWord})}));
}

Layout SM90WGMMAType::getThreadValueLayout(MmaOperand operand) const {
  if (operand == MmaOperand::A)
    return getRegistersA() ? fragmentOfA(bitsOf(getElemTyA())) : wholeTile(getM(), getK());
  if (operand == MmaOperand::B)
    return wholeTile(getN(), getK());
  return Layout(tuple({tuple({4, 8, 4}), tuple({2, 2, getN() / 8})}),
                tuple({tuple({128, 1, 16}), tuple({64, 8, 512})}));
}

bool SM90WGMMAType::readsMemory(MmaOperand operand) const {
  return operand == MmaOperand::B || (operand == MmaOperand::A && !getRegistersA());
}

std::optional<std::string> SM90WGMMAType::whyUnreadable(MmaOperand operand,
                                                        fly::MemRefType memref) const {
  const bool isA = operand == MmaOperand::A;
  if (memref.getElementType() != getElementType(operand)) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "takes elements of " << getElementType(operand) << ", got " << memref.getElementType();
    return text;
  }
  llvm::Expected<SharedTile> tile = describeSharedTile(memref, isA ? getM() : getN(), getK(),
                                                       isA ? getMnMajorA() : getMnMajorB());
  if (tile)
    return std::nullopt;
  return llvm::toString(tile.takeError());
}

// --- state ---------------------------------------------------------------------------------------

ArrayRef<StringLiteral> SM90WGMMAType::getStateMembers() const {
  static constexpr StringLiteral members[] = {"accumulate"};
  return members;
}
Type SM90WGMMAType::getStateType() const {
  return LLVM::LLVMStructType::getLiteral(getContext(), {IntegerType::get(getContext(), 1)});
}

} // namespace fly::nvvm
