// SPDX-License-Identifier: Apache-2.0
//
// The target-neutral copy and matrix operations: syntax, verification and geometry.

#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace fly {

// One lane that moves `bits` bits.
static Layout oneThread() { return Layout(1, 1); }
static Layout oneThreadBits(int32_t bits) {
  return Layout(IntTuple::tuple({1, bits}), IntTuple::tuple({1, 1}));
}

// --- universal_copy
// ----------------------------------------------------------------------------------

LogicalResult UniversalCopyType::verify(function_ref<InFlightDiagnostic()> emitError,
                                        int32_t bits) {
  if (bits <= 0)
    return emitError() << "universal copy must move at least one bit, got " << bits;
  return success();
}

Layout UniversalCopyType::getThreadLayout() const { return oneThread(); }
Layout UniversalCopyType::getSourceBitLayout() const { return oneThreadBits(getBits()); }
Layout UniversalCopyType::getDestinationBitLayout() const { return oneThreadBits(getBits()); }
Layout UniversalCopyType::getReferenceBitLayout() const { return oneThreadBits(getBits()); }

// --- universal_atomic
// --------------------------------------------------------------------------------

LogicalResult UniversalAtomicType::verify(function_ref<InFlightDiagnostic()> emitError, AtomicOp,
                                          Type valueType, StringAttr) {
  if (!isElementType(valueType))
    return emitError() << "universal atomic needs an integer or float scalar, got " << valueType;
  return success();
}

Type UniversalAtomicType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  Type valueType;
  std::string scope;
  if (parser.parseLess() || parser.parseKeyword(&keyword))
    return {};
  std::optional<AtomicOp> op = symbolizeAtomicOp(keyword);
  if (!op) {
    parser.emitError(loc,
                     "expected atomic operation to be one of: add, max, min, and, or, inc, dec");
    return {};
  }
  if (parser.parseComma() || parser.parseType(valueType))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseString(&scope))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<UniversalAtomicType>(loc, parser.getContext(), *op, valueType,
                                                StringAttr::get(parser.getContext(), scope));
}

void UniversalAtomicType::print(AsmPrinter &printer) const {
  printer << '<' << stringifyAtomicOp(getOp()) << ", " << getValueType();
  if (!getSyncScope().getValue().empty())
    printer << ", " << getSyncScope();
  printer << '>';
}

Layout UniversalAtomicType::getThreadLayout() const { return oneThread(); }
Layout UniversalAtomicType::getSourceBitLayout() const {
  return oneThreadBits(getElementBitWidth(getValueType()));
}
Layout UniversalAtomicType::getDestinationBitLayout() const { return getSourceBitLayout(); }
Layout UniversalAtomicType::getReferenceBitLayout() const { return getSourceBitLayout(); }

// --- universal_fma
// -----------------------------------------------------------------------------------

LogicalResult UniversalFMAType::verify(function_ref<InFlightDiagnostic()> emitError,
                                       Type elementType) {
  if (!isElementType(elementType))
    return emitError() << "universal FMA needs an integer or float scalar, got " << elementType;
  return success();
}

Type UniversalFMAType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type a, b, result;
  // The list ends in a type, so the last extent has no `x` behind it.
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false, /*withTrailingX=*/false))
    return {};
  if (shape.size() != 3) {
    parser.emitError(loc, "expected 3 dimensions in MNK dimension list");
    return {};
  }
  if (shape != ArrayRef<int64_t>{1, 1, 1}) {
    parser.emitError(loc, "expected 1x1x1 dimensions for universal FMA, got ")
        << shape[0] << 'x' << shape[1] << 'x' << shape[2];
    return {};
  }
  if (parser.parseComma() || parser.parseLParen() || parser.parseType(a) || parser.parseComma() ||
      parser.parseType(b) || parser.parseRParen() || parser.parseArrow() ||
      parser.parseType(result) || parser.parseGreater())
    return {};
  if (a != b || a != result) {
    parser.emitError(loc, "expected all element types to be the same for universal FMA");
    return {};
  }
  return parser.getChecked<UniversalFMAType>(loc, parser.getContext(), a);
}

void UniversalFMAType::print(AsmPrinter &printer) const {
  Type type = getElementType();
  printer << "<1x1x1, (" << type << ", " << type << ") -> " << type << '>';
}

std::array<int32_t, 3> UniversalFMAType::getShapeMNK() const { return {1, 1, 1}; }
Layout UniversalFMAType::getThreadLayout() const { return oneThread(); }
Type UniversalFMAType::getElementType(MmaOperand) const { return getElementType(); }
Layout UniversalFMAType::getThreadValueLayout(MmaOperand) const { return oneThreadBits(1); }

} // namespace fly
