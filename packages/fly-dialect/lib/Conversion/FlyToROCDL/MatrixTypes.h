// SPDX-License-Identifier: Apache-2.0
//
// How matrix instructions name types, and the registers that they take.
#ifndef FLY_LIB_CONVERSION_FLYTOROCDL_MATRIXTYPES_H
#define FLY_LIB_CONVERSION_FLYTOROCDL_MATRIXTYPES_H

#include "mlir/IR/BuiltinTypes.h"

#include <string>

namespace fly::rocdl {

/// The intrinsics' name of an 8-bit float; null for other types. OCP and FNUZ encodings share
/// instructions, the architecture decides.
inline const char *float8Name(mlir::Type type) {
  if (mlir::isa<mlir::Float8E4M3FNType, mlir::Float8E4M3FNUZType>(type))
    return "fp8";
  if (mlir::isa<mlir::Float8E5M2Type, mlir::Float8E5M2FNUZType>(type))
    return "bf8";
  return nullptr;
}

/// The values of one lane: a vector, or the element when there is one.
inline mlir::Type laneType(int64_t count, mlir::Type element) {
  return count == 1 ? element : mlir::Type(mlir::VectorType::get(count, element));
}

/// "MxNxK" of a matrix operation.
template <typename Atom> std::string extentsOf(Atom operation) {
  return std::to_string(operation.getM()) + "x" + std::to_string(operation.getN()) + "x" +
         std::to_string(operation.getK());
}

} // namespace fly::rocdl

#endif // FLY_LIB_CONVERSION_FLYTOROCDL_MATRIXTYPES_H
