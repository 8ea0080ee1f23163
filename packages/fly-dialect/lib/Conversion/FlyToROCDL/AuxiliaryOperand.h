// SPDX-License-Identifier: Apache-2.0
//
// What an operand group of a matrix atom holds besides the data: a scale, or the indices of sparse
// data.
#ifndef FLY_LIB_CONVERSION_FLYTOROCDL_AUXILIARYOPERAND_H
#define FLY_LIB_CONVERSION_FLYTOROCDL_AUXILIARYOPERAND_H

#include "AtomCalls.h"

namespace fly::rocdl {

/// The second member of `group`, reinterpreted as the type of field `field` of the atom's state;
/// the field itself where the group has the data alone. Diagnoses a value `what` of another width.
/// Requires a group of one or two.
mlir::FailureOr<mlir::Value> readAuxiliary(mlir::OpBuilder &builder, const MmaCall &call,
                                           llvm::ArrayRef<mlir::Value> group, int64_t field,
                                           llvm::StringRef what);

} // namespace fly::rocdl

#endif // FLY_LIB_CONVERSION_FLYTOROCDL_AUXILIARYOPERAND_H
