// SPDX-License-Identifier: Apache-2.0

#include "fly/Dialect/Fly/IR/FlyAttributes.h"
#include "fly/Dialect/Fly/IR/AsmText.h"
#include "fly/Dialect/Fly/IR/FlyDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cstring>

#include "fly/Dialect/Fly/IR/FlyEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fly/Dialect/Fly/IR/FlyAttributes.cpp.inc"

using namespace mlir;

namespace fly {

void FlyDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fly/Dialect/Fly/IR/FlyAttributes.cpp.inc"
      >();
}

// --- values, whose text is glued to their keyword
// ------------------------------------------------------

static constexpr StringLiteral kIntTuple = "int_tuple", kLayout = "layout",
                               kComposedLayout = "composed_layout", kSwizzle = "swizzle",
                               kCoordSwizzle = "coord_swizzle", kTile = "tile";

// The attribute whose keyword stands at the current token, `layout(4,8):(8,1)`; nothing where none
// does. The keyword and what follows may be one token to MLIR (`int_tuple1`).
template <typename AttrTy, typename T>
static bool parseValue(AsmParser &parser, StringRef keyword, FailureOr<T> (*parse)(TextCursor &),
                       Attribute &attribute) {
  const char *start = parser.getCurrentLocation().getPointer();
  if (std::strncmp(start, keyword.data(), keyword.size()) != 0)
    return false;
  TextCursor cursor(start + keyword.size());
  FailureOr<T> value = parse(cursor);
  if (failed(value))
    parser.emitError(SMLoc::getFromPointer(cursor.errorPosition()), cursor.message());
  else if (succeeded(skipTokens(parser, cursor.position())))
    attribute = AttrTy::get(parser.getContext(), *value);
  return true;
}

Attribute FlyDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  Attribute attribute;
  if (parseValue<IntTupleAttr>(parser, kIntTuple, parseIntTuple, attribute) ||
      parseValue<LayoutAttr>(parser, kLayout, parseLayout, attribute) ||
      parseValue<ComposedLayoutAttr>(parser, kComposedLayout, parseComposedLayout, attribute) ||
      parseValue<SwizzleAttr>(parser, kSwizzle, parseSwizzle, attribute) ||
      parseValue<CoordSwizzleAttr>(parser, kCoordSwizzle, parseCoordSwizzle, attribute) ||
      parseValue<TileAttr>(parser, kTile, parseTile, attribute))
    return attribute;
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (generatedAttributeParser(parser, &keyword, type, attribute).has_value())
    return attribute;
  parser.emitError(loc, "unknown attribute `") << keyword << "` in dialect `fly`";
  return {};
}

void FlyDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  raw_ostream &os = printer.getStream();
  llvm::TypeSwitch<Attribute>(attribute)
      .Case([&](IntTupleAttr value) { os << kIntTuple << value.getValue(); })
      .Case([&](LayoutAttr value) { os << kLayout << value.getValue(); })
      .Case([&](ComposedLayoutAttr value) { os << kComposedLayout << value.getValue(); })
      .Case([&](SwizzleAttr value) { os << kSwizzle << value.getValue(); })
      .Case([&](CoordSwizzleAttr value) { os << kCoordSwizzle << value.getValue(); })
      .Case([&](TileAttr value) { os << kTile << value.getValue(); })
      .Default([&](Attribute other) { (void)generatedAttributePrinter(other, printer); });
}

} // namespace fly
