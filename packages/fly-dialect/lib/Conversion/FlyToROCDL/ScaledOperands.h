// SPDX-License-Identifier: Apache-2.0
//
// What cdna4.mfma_scale and gfx1250.wmma_scale have in common: small float formats and block
// scales.
#ifndef FLY_LIB_CONVERSION_FLYTOROCDL_SCALEDOPERANDS_H
#define FLY_LIB_CONVERSION_FLYTOROCDL_SCALEDOPERANDS_H

#include "AtomCalls.h"

namespace fly::rocdl {

struct ScaledOperands {
  mlir::Value a; ///< vectors of i32
  mlir::Value b;
  mlir::Value scaleA;
  mlir::Value scaleB;
};

/// The instructions' number of a matrix format: f8E4M3 0, f8E5M2 1, f6E2M3 2, f6E3M2 3, f4E2M1 4.
int32_t matrixFormat(mlir::Type elementType);

/// Reads data and scales of a call whose matrices have `elementsA` and `elementsB` elements, spread
/// over `lanes` lanes. A scale in the operand group takes the place of the atom's state. Diagnoses
/// groups of another size.
mlir::FailureOr<ScaledOperands> readScaledOperands(mlir::OpBuilder &builder, const MmaCall &call,
                                                   mlir::Type elementA, mlir::Type elementB,
                                                   int64_t lanes, int64_t elementsA,
                                                   int64_t elementsB);

} // namespace fly::rocdl

#endif // FLY_LIB_CONVERSION_FLYTOROCDL_SCALEDOPERANDS_H
