// SPDX-License-Identifier: Apache-2.0

#include "fly/Dialect/Fly/IR/AsmText.h"
#include "fly/Dialect/Fly/IR/FlyAttributes.h"
#include "fly/Dialect/Fly/IR/FlyDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

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

template <typename AttrTy, typename T>
static Attribute parseValue(AsmParser &parser, FailureOr<T> (*parse)(TextCursor &)) {
  FailureOr<T> value = parseText(parser, parse);
  return succeeded(value) ? AttrTy::get(parser.getContext(), *value) : AttrTy();
}

Attribute IntTupleAttr::parse(AsmParser &parser, Type) {
  return parseValue<IntTupleAttr>(parser, parseIntTuple);
}
Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  return parseValue<LayoutAttr>(parser, parseLayout);
}
Attribute ComposedLayoutAttr::parse(AsmParser &parser, Type) {
  return parseValue<ComposedLayoutAttr>(parser, parseComposedLayout);
}
Attribute SwizzleAttr::parse(AsmParser &parser, Type) {
  return parseValue<SwizzleAttr>(parser, parseSwizzle);
}
Attribute CoordSwizzleAttr::parse(AsmParser &parser, Type) {
  return parseValue<CoordSwizzleAttr>(parser, parseCoordSwizzle);
}
Attribute TileAttr::parse(AsmParser &parser, Type) {
  return parseValue<TileAttr>(parser, parseTile);
}

void IntTupleAttr::print(AsmPrinter &printer) const { printer.getStream() << getValue(); }
void LayoutAttr::print(AsmPrinter &printer) const { printer.getStream() << getValue(); }
void ComposedLayoutAttr::print(AsmPrinter &printer) const { printer.getStream() << getValue(); }
void SwizzleAttr::print(AsmPrinter &printer) const { printer.getStream() << getValue(); }
void CoordSwizzleAttr::print(AsmPrinter &printer) const { printer.getStream() << getValue(); }
void TileAttr::print(AsmPrinter &printer) const { printer.getStream() << getValue(); }

} // namespace fly
