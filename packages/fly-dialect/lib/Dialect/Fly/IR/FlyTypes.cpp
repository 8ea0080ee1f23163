// SPDX-License-Identifier: Apache-2.0

#include "fly/Dialect/Fly/IR/FlyTypes.h"
#include "fly/Dialect/Fly/IR/FlyDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "fly/Dialect/Fly/IR/FlyTypeInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "fly/Dialect/Fly/IR/FlyTypes.cpp.inc"

using namespace mlir;

namespace fly {

void FlyDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "fly/Dialect/Fly/IR/FlyTypes.cpp.inc"
      >();
}

// --- element types
// -----------------------------------------------------------------------------------

bool isElementType(Type type) {
  if (auto integer = dyn_cast_or_null<IntegerType>(type))
    return integer.getWidth() > 0;
  return isa_and_nonnull<FloatType>(type);
}

int32_t getElementBitWidth(Type elementType) {
  return isElementType(elementType) ? static_cast<int32_t>(elementType.getIntOrFloatBitWidth()) : 0;
}

int32_t getElementByteSize(Type elementType) { return (getElementBitWidth(elementType) + 7) / 8; }

// --- verifiers
// ---------------------------------------------------------------------------------------

LogicalResult BasisType::verify(function_ref<InFlightDiagnostic()> emitError,
                                IntTuple value) { // NOLINT: declared by ODS
  if (!value.isBasis())
    return emitError() << "expected a basis element such as 1E0, got " << value.str();
  return success();
}

static LogicalResult verifyPointer(function_ref<InFlightDiagnostic()> emitError, Type elementType,
                                   Attribute addressSpace, int32_t alignment) {
  if (!isElementType(elementType))
    return emitError() << "element type must be an integer or a float, got " << elementType;
  if (!addressSpace)
    return emitError() << "expected an address space";
  int32_t size = getElementByteSize(elementType);
  if (alignment <= 0 || alignment % size != 0)
    return emitError() << "alignment must be a positive multiple of element byte size (" << size
                       << "), got " << alignment;
  return success();
}

LogicalResult TiledCopyType::verify(function_ref<InFlightDiagnostic()> emitError, CopyAtomType,
                                    LayoutType layoutTV, TileType) {
  if (!layoutTV.getValue().isStatic())
    return emitError() << "the thread-value layout of a tiled copy must be static, got "
                       << layoutTV.getValue().str();
  return success();
}

LogicalResult TiledMmaType::verify(function_ref<InFlightDiagnostic()> emitError, MmaAtomType atom,
                                   LayoutType atomLayout, TileType) {
  if (!isTileable(atom))
    return emitError() << "a tiled matrix operation takes dense atoms of one block, got "
                       << atom.getMmaOp();
  if (!atomLayout.getValue().isStatic())
    return emitError() << "the atom layout of a tiled matrix operation must be static, got "
                       << atomLayout.getValue().str();
  return success();
}

LogicalResult PointerType::verify(function_ref<InFlightDiagnostic()> emitError, Type elementType,
                                  Attribute addressSpace, int32_t alignment, Swizzle) {
  return verifyPointer(emitError, elementType, addressSpace, alignment);
}

LogicalResult MemRefType::verify(function_ref<InFlightDiagnostic()> emitError, Type elementType,
                                 Attribute addressSpace, AnyLayout, // NOLINT: declared by ODS
                                 int32_t alignment, Swizzle) {
  return verifyPointer(emitError, elementType, addressSpace, alignment);
}

// --- pointers and tensors
// ------------------------------------------------------------------------------

static std::optional<AddressSpace> knownSpace(Attribute space) {
  if (auto known = dyn_cast<AddressSpaceAttr>(space))
    return known.getValue();
  return std::nullopt;
}

std::optional<AddressSpace> PointerType::getKnownAddressSpace() const {
  return knownSpace(getAddressSpace());
}

std::optional<AddressSpace> MemRefType::getKnownAddressSpace() const {
  return knownSpace(getAddressSpace());
}

PointerType MemRefType::getPointerType() const {
  return PointerType::get(getContext(), getElementType(), getAddressSpace(), getAlignment(),
                          getSwizzle());
}

// --- questions to any type
// -----------------------------------------------------------------------------

bool isStaticType(Type type) {
  return llvm::TypeSwitch<Type, bool>(type)
      .Case<IntTupleType, LayoutType, ComposedLayoutType>(
          [](auto spelled) { return spelled.getValue().isStatic(); })
      .Case<CoordTensorType>([](CoordTensorType tensor) {
        return tensor.getBase().isStatic() && tensor.getLayout().isStatic();
      })
      .Case<BasisType, SwizzleType, CoordSwizzleType, TileType>([](Type) { return true; })
      .Case<CopyAtomType>(
          [](CopyAtomType atom) { return !isa<StatefulOpTypeInterface>(atom.getCopyOp()); })
      .Case<MmaAtomType>(
          [](MmaAtomType atom) { return !isa<StatefulOpTypeInterface>(atom.getMmaOp()); })
      .Case<TiledCopyType, TiledMmaType>([](auto tiled) { return isStaticType(tiled.getAtom()); })
      .Default(false);
}

std::optional<AnyLayout> getAnyLayout(Type type) {
  return llvm::TypeSwitch<Type, std::optional<AnyLayout>>(type)
      .Case<LayoutType, ComposedLayoutType>(
          [](auto layout) { return AnyLayout(layout.getValue()); })
      .Case<MemRefType, CoordTensorType>([](auto tensor) { return tensor.getLayout(); })
      .Default(std::nullopt);
}

Type getLayoutType(MLIRContext *context, const AnyLayout &layout) {
  if (layout.isComposed())
    return ComposedLayoutType::get(context, layout.composed());
  return LayoutType::get(context, layout.plain());
}

Type getInnerMapType(MLIRContext *context, const InnerMap &inner) {
  if (const Swizzle *swizzle = inner.swizzle())
    return SwizzleType::get(context, *swizzle);
  if (const CoordSwizzle *swizzle = inner.coordSwizzle())
    return CoordSwizzleType::get(context, *swizzle);
  if (const Layout *layout = inner.layout())
    return LayoutType::get(context, *layout);
  return ComposedLayoutType::get(context, *inner.composed());
}

std::optional<InnerMap> getInnerMap(Type type) {
  return llvm::TypeSwitch<Type, std::optional<InnerMap>>(type)
      .Case<SwizzleType, CoordSwizzleType, LayoutType, ComposedLayoutType>(
          [](auto inner) { return InnerMap(inner.getValue()); })
      .Default(std::nullopt);
}

} // namespace fly
