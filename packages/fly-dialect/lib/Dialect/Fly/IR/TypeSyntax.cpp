// SPDX-License-Identifier: Apache-2.0
//
// Text of the types.

#include "fly/Dialect/Fly/IR/AsmText.h"
#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;

namespace fly {

// Takes any one token of those that the grammar of the algebra is made of.
static ParseResult skipToken(AsmParser &parser) {
  StringRef keyword;
  APInt integer;
  OptionalParseResult number = parser.parseOptionalInteger(integer);
  if (number.has_value())
    return *number;
  if (succeeded(parser.parseOptionalKeyword(&keyword)) || succeeded(parser.parseOptionalComma()) ||
      succeeded(parser.parseOptionalColon()) || succeeded(parser.parseOptionalLParen()) ||
      succeeded(parser.parseOptionalRParen()) || succeeded(parser.parseOptionalLSquare()) ||
      succeeded(parser.parseOptionalRSquare()) || succeeded(parser.parseOptionalLBrace()) ||
      succeeded(parser.parseOptionalRBrace()) || succeeded(parser.parseOptionalLess()) ||
      succeeded(parser.parseOptionalGreater()) || succeeded(parser.parseOptionalStar()) ||
      succeeded(parser.parseOptionalQuestion()) || succeeded(parser.parseOptionalVerticalBar()) ||
      succeeded(parser.parseOptionalEqual()))
    return success();
  return parser.emitError(parser.getCurrentLocation(), "unexpected token");
}

ParseResult skipTokens(AsmParser &parser, const char *end) {
  while (parser.getCurrentLocation().getPointer() < end) {
    const char *before = parser.getCurrentLocation().getPointer();
    if (skipToken(parser))
      return failure();
    // The parser is now at the next token, with blanks between; where the last one overlaps `end`,
    // the two grammars disagree about what a token is (`1E0F`).
    const char *next = parser.getCurrentLocation().getPointer();
    StringRef skipped(before, std::min(next, end) - before);
    if (next > end && !skipped.empty() && llvm::isAlnum(end[-1]) &&
        (llvm::isAlnum(*end) || *end == '_' || *end == '$' || *end == '.'))
      return parser.emitError(llvm::SMLoc::getFromPointer(end), "unexpected character '")
             << *end << "'";
  }
  return success();
}

// --- one value in angle brackets
// -------------------------------------------------------------------

template <typename TypeTy, typename T>
static Type parseValue(AsmParser &parser, FailureOr<T> (*parse)(TextCursor &)) {
  if (parser.parseLess())
    return {};
  FailureOr<T> value = parseText(parser, parse);
  if (failed(value) || parser.parseGreater())
    return {};
  return TypeTy::get(parser.getContext(), *value);
}

Type IntTupleType::parse(AsmParser &parser) {
  return parseValue<IntTupleType>(parser, parseIntTuple);
}
Type LayoutType::parse(AsmParser &parser) { return parseValue<LayoutType>(parser, parseLayout); }
Type ComposedLayoutType::parse(AsmParser &parser) {
  return parseValue<ComposedLayoutType>(parser, parseComposedLayout);
}
Type SwizzleType::parse(AsmParser &parser) { return parseValue<SwizzleType>(parser, parseSwizzle); }
Type CoordSwizzleType::parse(AsmParser &parser) {
  return parseValue<CoordSwizzleType>(parser, parseCoordSwizzle);
}
Type TileType::parse(AsmParser &parser) { return parseValue<TileType>(parser, parseTile); }

Type BasisType::parse(AsmParser &parser) {
  SMLoc loc;
  if (parser.parseLess() || parser.getCurrentLocation(&loc))
    return {};
  FailureOr<IntTuple> value = parseText(parser, parseIntTuple);
  if (failed(value) || parser.parseGreater())
    return {};
  return parser.getChecked<BasisType>(loc, parser.getContext(), *value);
}

template <typename T> static void printValue(AsmPrinter &printer, const T &value) {
  printer.getStream() << '<' << value << '>';
}

void IntTupleType::print(AsmPrinter &printer) const { printValue(printer, getValue()); }
void BasisType::print(AsmPrinter &printer) const { printValue(printer, getValue()); }
void LayoutType::print(AsmPrinter &printer) const { printValue(printer, getValue()); }
void ComposedLayoutType::print(AsmPrinter &printer) const { printValue(printer, getValue()); }
void SwizzleType::print(AsmPrinter &printer) const { printValue(printer, getValue()); }
void CoordSwizzleType::print(AsmPrinter &printer) const { printValue(printer, getValue()); }
void TileType::print(AsmPrinter &printer) const { printValue(printer, getValue()); }

// --- coord_tensor
// ----------------------------------------------------------------------------------

Type CoordTensorType::parse(AsmParser &parser) {
  if (parser.parseLess())
    return {};
  FailureOr<IntTuple> base = parseText(parser, parseIntTuple);
  if (failed(base) || parser.parseComma())
    return {};
  FailureOr<AnyLayout> layout = parseText(parser, parseAnyLayout);
  if (failed(layout) || parser.parseGreater())
    return {};
  return get(parser.getContext(), *base, *layout);
}

void CoordTensorType::print(AsmPrinter &printer) const {
  printer.getStream() << '<' << getBase() << ", " << getLayout() << '>';
}

// --- ptr and memref
// --------------------------------------------------------------------------------

static ParseResult parseAddressSpace(AsmParser &parser, Attribute &space) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword)))
    return parser.parseAttribute(space);
  std::optional<AddressSpace> known = symbolizeAddressSpace(keyword);
  if (!known)
    return parser.emitError(
        loc, "expected address space to be one of: generic, global, shared, register");
  space = AddressSpaceAttr::get(parser.getContext(), *known);
  return success();
}

// What may follow element type, space and layout: `, align<N>` and `, S<...>`, in this order.
static ParseResult parsePointerSuffix(AsmParser &parser, Type elementType, int32_t &alignment,
                                      Swizzle &swizzle) {
  alignment = getElementByteSize(elementType);
  bool comma = succeeded(parser.parseOptionalComma());
  if (comma && succeeded(parser.parseOptionalKeyword("align"))) {
    SMLoc loc;
    int64_t bytes = 0;
    if (parser.parseLess() || parser.getCurrentLocation(&loc) || parser.parseInteger(bytes))
      return failure();
    if (bytes < std::numeric_limits<int32_t>::min() || bytes > std::numeric_limits<int32_t>::max())
      return parser.emitError(loc, "alignment does not fit 32 bits: ") << bytes;
    alignment = static_cast<int32_t>(bytes);
    if (parser.parseGreater())
      return failure();
    comma = succeeded(parser.parseOptionalComma());
  }
  if (!comma)
    return success();
  FailureOr<Swizzle> parsed = parseText(parser, parseSwizzle);
  if (failed(parsed))
    return failure();
  swizzle = *parsed;
  return success();
}

static void printAddressSpace(AsmPrinter &printer, Attribute space) {
  if (auto known = dyn_cast<AddressSpaceAttr>(space))
    printer << stringifyAddressSpace(known.getValue());
  else
    printer << space;
}

static void printPointerSuffix(AsmPrinter &printer, Type elementType, int32_t alignment,
                               const Swizzle &swizzle) {
  if (alignment != getElementByteSize(elementType))
    printer << ", align<" << alignment << '>';
  if (swizzle != Swizzle())
    printer.getStream() << ", " << swizzle;
}

/// `<f16, global`
static ParseResult parsePointerHead(AsmParser &parser, Type &elementType, Attribute &space) {
  return failure(parser.parseLess() || parser.parseType(elementType) || parser.parseComma() ||
                 parseAddressSpace(parser, space));
}

Type PointerType::parse(AsmParser &parser) {
  Type elementType;
  Attribute space;
  int32_t alignment = 0;
  Swizzle swizzle;
  SMLoc loc = parser.getCurrentLocation();
  if (parsePointerHead(parser, elementType, space) ||
      parsePointerSuffix(parser, elementType, alignment, swizzle) || parser.parseGreater())
    return {};
  return parser.getChecked<PointerType>(loc, parser.getContext(), elementType, space, alignment,
                                        swizzle);
}

void PointerType::print(AsmPrinter &printer) const {
  printer << '<' << getElementType() << ", ";
  printAddressSpace(printer, getAddressSpace());
  printPointerSuffix(printer, getElementType(), getAlignment(), getSwizzle());
  printer << '>';
}

Type MemRefType::parse(AsmParser &parser) {
  Type elementType;
  Attribute space;
  int32_t alignment = 0;
  Swizzle swizzle;
  SMLoc loc = parser.getCurrentLocation();
  if (parsePointerHead(parser, elementType, space) || parser.parseComma())
    return {};
  FailureOr<AnyLayout> layout = parseText(parser, parseAnyLayout);
  if (failed(layout) || parsePointerSuffix(parser, elementType, alignment, swizzle) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<MemRefType>(loc, parser.getContext(), elementType, space, *layout,
                                       alignment, swizzle);
}

void MemRefType::print(AsmPrinter &printer) const {
  printer << '<' << getElementType() << ", ";
  printAddressSpace(printer, getAddressSpace());
  printer.getStream() << ", " << getLayout();
  printPointerSuffix(printer, getElementType(), getAlignment(), getSwizzle());
  printer << '>';
}

// --- atoms
// -------------------------------------------------------------------------------------

// The operation of an atom. Its own diagnostic comes first; the second one says what it was for.
static FailureOr<Type> parseOperation(AsmParser &parser, StringRef atom, StringRef parameter) {
  Type operation;
  if (parser.parseLess())
    return failure();
  if (succeeded(parser.parseType(operation)))
    return operation;
  return parser.emitError(parser.getCurrentLocation())
         << "failed to parse " << atom << " parameter '" << parameter
         << "' which is to be a `Type`";
}

Type CopyAtomType::parse(AsmParser &parser) {
  int32_t valBits = 0;
  FailureOr<Type> operation = parseOperation(parser, "Fly_CopyAtom", "copyOp");
  if (failed(operation) || parser.parseComma() || parser.parseInteger(valBits) ||
      parser.parseGreater())
    return {};
  return CopyAtomType::get(parser.getContext(), *operation, valBits);
}

void CopyAtomType::print(AsmPrinter &printer) const {
  printer << '<' << getCopyOp() << ", " << getValBits() << '>';
}

Type MmaAtomType::parse(AsmParser &parser) {
  FailureOr<Type> operation = parseOperation(parser, "Fly_MmaAtom", "mmaOp");
  if (failed(operation) || parser.parseGreater())
    return {};
  return MmaAtomType::get(parser.getContext(), *operation);
}

void MmaAtomType::print(AsmPrinter &printer) const { printer << '<' << getMmaOp() << '>'; }

// --- tiled_mma
// -------------------------------------------------------------------------------------

Type TiledMmaType::parse(AsmParser &parser) {
  MmaAtomType atom;
  LayoutType atomLayout;
  // A layout or tile may also stand there without its `!fly.layout` or `!fly.tile`.
  if (parser.parseLess() || parser.parseType(atom) || parser.parseComma() ||
      parser.parseCustomTypeWithFallback(atomLayout))
    return {};
  TileType permutation = TileType::get(parser.getContext(), Tile::keepAll(3));
  if (succeeded(parser.parseOptionalComma()) && parser.parseCustomTypeWithFallback(permutation))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TiledMmaType>(parser.getContext(), atom, atomLayout, permutation);
}

void TiledMmaType::print(AsmPrinter &printer) const {
  printer << '<' << getAtom() << ", " << getAtomLayout();
  if (getPermutation().getValue() != Tile::keepAll(3))
    printer << ", " << getPermutation();
  printer << '>';
}

} // namespace fly
