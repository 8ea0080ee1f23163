// SPDX-License-Identifier: Apache-2.0
//
// State of the tensor data movers that are built from a tensor, cdna5.tensor_load and
// cdna5.tensor_store.
#ifndef FLY_LIB_CONVERSION_FLYTOROCDL_TENSORATOMS_H
#define FLY_LIB_CONVERSION_FLYTOROCDL_TENSORATOMS_H

#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "mlir/IR/Builders.h"

namespace fly::rocdl {

/// The state of a new atom: `arguments` are the base pointer, the strides (i64, outermost first,
/// one less than the rank) and the extents (i32, one per dimension). Another number or kind of
/// arguments is diagnosed.
mlir::FailureOr<mlir::Value> buildTensorState(mlir::OpBuilder &builder, MakeCopyAtomOp op,
                                              mlir::Type operation, mlir::ValueRange arguments);

/// Whether `field` of `operation` is the tuple of boundary flags.
bool isTensorAxesField(mlir::Type operation, llvm::StringRef field);

/// `state` with the boundary flags that `op` sets.
mlir::FailureOr<mlir::Value> setBoundaryAxes(mlir::OpBuilder &builder, AtomSetValueOp op,
                                             mlir::Type operation, mlir::Value state);

} // namespace fly::rocdl

#endif // FLY_LIB_CONVERSION_FLYTOROCDL_TENSORATOMS_H
