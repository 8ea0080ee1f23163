// SPDX-License-Identifier: Apache-2.0
//
// Which shapes the matrix instructions have, by the types of their elements.

#ifndef FLY_DIALECT_FLYROCDL_IR_MATRIXSHAPES_H
#define FLY_DIALECT_FLYROCDL_IR_MATRIXSHAPES_H

#include "mlir/IR/Types.h"

namespace fly::rocdl {

/// A shape of an operation, and the types that it has the shape for. Types are spelled as MLIR
/// prints them.
struct MatrixShape {
  int32_t m, n, k;
  /// Of A and of B, which may differ.
  llvm::ArrayRef<llvm::StringLiteral> elements;
  llvm::StringLiteral acc;
  /// The products that one call computes; 0 where no atom has the fragments of its several blocks.
  int32_t blocks = 1;
  /// The sets of indices that one register of a sparse operation holds.
  int32_t indexSets = 1;
};

/// The shapes of an operation by the mnemonic of its type ("cdna3.mfma"), on whatever chip; none
/// for other types.
llvm::ArrayRef<MatrixShape> getMatrixShapes(llvm::StringRef operation);

/// The shape of `operation` with these extents and types; null where it has none.
const MatrixShape *findMatrixShape(llvm::StringRef operation, int32_t m, int32_t n, int32_t k,
                                   mlir::Type a, mlir::Type b, mlir::Type acc);

/// How many products one MFMA of a shape computes; 1 for every shape that is not known for more.
int32_t getMFMABlocks(int32_t m, int32_t n, int32_t k, mlir::Type a, mlir::Type b);

/// The mnemonic of the WMMA type that a target has ("gfx1250.wmma"), if it has one.
std::optional<llvm::StringRef> getWMMAMnemonic(llvm::StringRef target);

} // namespace fly::rocdl

#endif // FLY_DIALECT_FLYROCDL_IR_MATRIXSHAPES_H
