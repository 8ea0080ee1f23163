// SPDX-License-Identifier: Apache-2.0
//
// What is asked of a copy or matrix operation besides its geometry: its run-time state, the chips
// that have it, and what it leaves to its operands.

#ifndef FLY_DIALECT_FLYROCDL_IR_ATOMOPERATIONS_H
#define FLY_DIALECT_FLYROCDL_IR_ATOMOPERATIONS_H

#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include <optional>
#include <string>

namespace fly::rocdl {

/// Names of the first members of an operation's state, in their order; none of a stateless one.
llvm::ArrayRef<llvm::StringLiteral> getStateMembers(mlir::Type operation);

/// The fields that `atom.set_value` takes for an atom of `operation`.
llvm::SmallVector<llvm::StringRef> getStateFields(mlir::Type operation);

/// How many products one MFMA of a shape computes; 1 for every shape that is not known for more.
int32_t getMFMABlocks(int32_t m, int32_t n, int32_t k, mlir::Type a, mlir::Type b);

/// Why code for `target` ("gfx942", also with a suffix: "gfx1250-strict") has no use for
/// `operation`, as a sentence; nothing when the target is not known to lack it.
std::optional<std::string> whyUnavailable(mlir::Type operation, llvm::StringRef target);

/// The operand in LDS that lanes and hardware address between them, so that the swizzle of its
/// pointer is not applied; nothing where all swizzles are.
std::optional<CopyOperand> getUnswizzledOperand(mlir::Type operation);

/// The bits that either operand of one call holds, for plain copies between memory and registers.
std::optional<int32_t> getOperandBits(mlir::Type operation);

} // namespace fly::rocdl

#endif // FLY_DIALECT_FLYROCDL_IR_ATOMOPERATIONS_H
