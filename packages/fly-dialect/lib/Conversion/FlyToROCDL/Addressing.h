// SPDX-License-Identifier: Apache-2.0
//
// Addresses of accesses: swizzles, alignments, and pointers that are buffer resources.
#ifndef FLY_LIB_CONVERSION_FLYTOROCDL_ADDRESSING_H
#define FLY_LIB_CONVERSION_FLYTOROCDL_ADDRESSING_H

#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include "mlir/IR/Builders.h"

namespace fly::rocdl {

mlir::Value constantI32(mlir::OpBuilder &builder, mlir::Location loc, int32_t value);
mlir::Value constantI64(mlir::OpBuilder &builder, mlir::Location loc, int64_t value);

/// An integer or index `value` as i32: truncated or sign-extended. Null when it is neither.
mlir::Value asI32(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);

/// Bytes that `elements` (i32) elements of a type take; for elements that are not whole bytes the
/// bits divided by 8.
mlir::Value elementsToBytes(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value elements,
                            mlir::Type elementType);

/// `address xor ((address and mask) shr shift)` on an integer of any width.
mlir::Value applySwizzle(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value address,
                         const Swizzle &swizzle);

/// The address that an access through a bare LLVM pointer goes to.
mlir::Value swizzlePointer(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer,
                           const Swizzle &swizzle);

/// What is known of the alignment of an access: the largest power of two that divides the pointer's
/// alignment and the swizzle's granularity.
int64_t accessAlignment(int64_t pointerAlignment, const Swizzle &swizzle);

/// The resource, an !llvm.ptr<8>, of a converted buffer pointer.
mlir::Value bufferResource(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer);
/// The offset, an i32 number of elements, of a converted buffer pointer.
mlir::Value bufferElementOffset(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer);
/// A buffer pointer; without an offset it points to the resource's first element.
mlir::Value packBufferPointer(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value resource,
                              mlir::Value elementOffset = {});

/// The byte offset of an access through a buffer pointer with this element offset, swizzled. The
/// base address takes no part in the swizzle.
mlir::Value bufferByteOffset(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value elementOffset, mlir::Type elementType,
                             const Swizzle &swizzle);

/// `value` reinterpreted as `type` of the same width; null when the widths differ.
mlir::Value reinterpret(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                        mlir::Type type);

/// Bits of an integer, float or vector of them; 0 for other types.
int64_t bitWidthOf(mlir::Type type);

} // namespace fly::rocdl

#endif // FLY_LIB_CONVERSION_FLYTOROCDL_ADDRESSING_H
