// SPDX-License-Identifier: Apache-2.0
//
// The run-time state of atoms: an LLVM struct whose fields are changed one at a time.
#ifndef FLY_LIB_CONVERSION_FLYTOLLVM_ATOMSTATE_H
#define FLY_LIB_CONVERSION_FLYTOLLVM_ATOMSTATE_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

#include <optional>

namespace fly::lowering {

/// A state of `operation` whose fields are zero; an undefined empty struct for a stateless one.
mlir::Value zeroState(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type operation);

/// The position of the field `name` in the state of `operation`.
std::optional<int64_t> stateField(mlir::Type operation, llvm::StringRef name);

/// `value` as the type of a field: integers are truncated or sign-extended; with `keepsBits`, as
/// scales and indices have it, reinterpreted. Null when it does not fit.
mlir::Value toFieldType(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                        mlir::Type fieldType, bool keepsBits);

/// Field `position` of `state`.
mlir::Value readField(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value state,
                      int64_t position);

/// `state` with field `position` changed.
mlir::Value writeField(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value state,
                       int64_t position, mlir::Value value);

} // namespace fly::lowering

#endif // FLY_LIB_CONVERSION_FLYTOLLVM_ATOMSTATE_H
