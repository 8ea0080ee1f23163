// SPDX-License-Identifier: Apache-2.0
//
// The run-time state of atoms: an LLVM struct whose fields are changed one at a time.
#ifndef FLY_LIB_CONVERSION_FLYTOROCDL_ATOMSTATE_H
#define FLY_LIB_CONVERSION_FLYTOROCDL_ATOMSTATE_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

#include <optional>

namespace fly::rocdl {

/// The state that a new atom of `operation` starts with; an undefined empty struct for a stateless
/// one.
mlir::Value defaultState(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type operation);

/// The position of the field `name` in the state of `operation`.
std::optional<int64_t> stateField(mlir::Type operation, llvm::StringRef name);

/// `value` as the type of a field: integers are truncated or sign-extended, scales and indices
/// reinterpreted.
/// Null when it does not fit.
mlir::Value toFieldType(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type operation,
                        mlir::Value value, mlir::Type fieldType);

/// Field `position` of `state`.
mlir::Value readField(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value state,
                      int64_t position);

/// `state` with field `position` changed.
mlir::Value writeField(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value state,
                       int64_t position, mlir::Value value);

} // namespace fly::rocdl

#endif // FLY_LIB_CONVERSION_FLYTOROCDL_ATOMSTATE_H
