// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_CONVERSION_STORAGETYPE_H
#define FLY_CONVERSION_STORAGETYPE_H

#include "mlir/IR/BuiltinTypes.h"

namespace fly {

/// The type that values of `type`, a scalar or a vector, have in registers: LLVM has no floats
/// narrower than 16 bits, so those are integers of their width.
inline mlir::Type getStorageType(mlir::Type type) {
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
    return vector.clone(getStorageType(vector.getElementType()));
  if (auto floating = mlir::dyn_cast<mlir::FloatType>(type); floating && floating.getWidth() < 16)
    return mlir::IntegerType::get(type.getContext(), floating.getWidth());
  return type;
}

} // namespace fly

#endif // FLY_CONVERSION_STORAGETYPE_H
