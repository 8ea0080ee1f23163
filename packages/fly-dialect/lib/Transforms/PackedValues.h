// SPDX-License-Identifier: Apache-2.0
//
// How Fly values cross function boundaries: what is static in a type is not passed at all, the rest
// as packed LLVM structs and pointers.

#ifndef FLY_LIB_TRANSFORMS_PACKEDVALUES_H
#define FLY_LIB_TRANSFORMS_PACKEDVALUES_H

#include "mlir/IR/Builders.h"

#include <optional>

namespace fly {

/// The types that pass a value of `type`: none for a static one, a struct, a pointer, or a pointer
/// and a struct. Nothing for types that cross as they are.
std::optional<llvm::SmallVector<mlir::Type, 2>> getPackedTypes(mlir::Type type);

/// The values, of getPackedTypes, that pass `value`.
llvm::SmallVector<mlir::Value, 2> pack(mlir::OpBuilder &builder, mlir::Location loc,
                                       mlir::Value value);

/// The value of `type` that `packed` pass.
mlir::Value unpack(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                   mlir::ValueRange packed);

} // namespace fly

#endif // FLY_LIB_TRANSFORMS_PACKEDVALUES_H
