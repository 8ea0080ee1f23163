// SPDX-License-Identifier: Apache-2.0
//
// Addresses of accesses: swizzles and alignments.
#ifndef FLY_LIB_CONVERSION_FLYTOLLVM_ADDRESSING_H
#define FLY_LIB_CONVERSION_FLYTOLLVM_ADDRESSING_H

#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include "mlir/IR/Builders.h"

namespace fly::lowering {

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

/// The one integer that `offset`, a leaf tuple, stands for. Null when it is not made by
/// make_int_tuple.
mlir::Value offsetValue(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value offset);

/// The coordinate that the tile starts at, innermost first, as i32; nothing unless `tensor` is a
/// view of a base that make_int_tuple makes, with `rank` leaves.
std::optional<llvm::SmallVector<mlir::Value>>
tileOrigin(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tensor, size_t rank);

/// `value` reinterpreted as `type` of the same width; null when the widths differ.
mlir::Value reinterpret(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                        mlir::Type type);

/// Bits of an integer, float or vector of them; 0 for other types.
int64_t bitWidthOf(mlir::Type type);

} // namespace fly::lowering

#endif // FLY_LIB_CONVERSION_FLYTOLLVM_ADDRESSING_H
