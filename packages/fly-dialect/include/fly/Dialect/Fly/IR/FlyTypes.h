// SPDX-License-Identifier: Apache-2.0
//
// The types of the fly dialect, the interfaces of atom operations, and what is asked of types.

#ifndef FLY_DIALECT_FLY_IR_FLYTYPES_H
#define FLY_DIALECT_FLY_IR_FLYTYPES_H

#include "fly/Dialect/Fly/IR/FlyAttributes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Types.h"

#include <array>
#include <optional>

#include "fly/Dialect/Fly/IR/FlyTypeInterfaces.h.inc"

namespace fly {

/// Whether `type` may be the element type of a pointer: an integer of at least one bit or a float.
bool isElementType(mlir::Type type);
/// Bits of an element type; 0 for what is none.
int32_t getElementBitWidth(mlir::Type elementType);
/// Bytes of an element type, rounded up; 0 for what is none. The default alignment of pointers.
int32_t getElementByteSize(mlir::Type elementType);

} // namespace fly

#define GET_TYPEDEF_CLASSES
#include "fly/Dialect/Fly/IR/FlyTypes.h.inc"

namespace fly {

/// Whether `type` describes its value completely, so that the value can be rebuilt from
/// it. False for types of other dialects.
bool isStaticType(mlir::Type type);

/// The layout of a layout, composed_layout, memref or coord_tensor type; nothing for other types.
std::optional<AnyLayout> getAnyLayout(mlir::Type type);

/// The layout or composed_layout type of `layout`.
mlir::Type getLayoutType(mlir::MLIRContext *context, const AnyLayout &layout);
/// The swizzle, coord_swizzle, layout or composed_layout type of `inner`.
mlir::Type getInnerMapType(mlir::MLIRContext *context, const InnerMap &inner);
/// The inner map that a swizzle, coord_swizzle, layout or composed_layout type spells.
std::optional<InnerMap> getInnerMap(mlir::Type type);

/// The thread-value layouts of a copy atom in units of its values: the bit layouts of its operation
/// recast from 1 bit to `valBits` bits, rounding extents up.
enum class CopyOperand { Source, Destination, Reference };
mlir::FailureOr<Layout> getValueLayout(CopyAtomType atom, CopyOperand operand);

/// Whether a tiled matrix operation can be made of the atom.
bool isTileable(MmaAtomType atom);

} // namespace fly

#endif // FLY_DIALECT_FLY_IR_FLYTYPES_H
