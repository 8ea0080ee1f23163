// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_CONVERSION_FLYTOLLVM_PATTERNS_H
#define FLY_LIB_CONVERSION_FLYTOLLVM_PATTERNS_H

#include "mlir/Transforms/DialectConversion.h"

namespace fly::lowering {

/// Pointers, allocations, loads and stores.
void populatePointerPatterns(const mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns);
/// Atoms and their state.
void populateAtomPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
/// Calls of atoms.
void populateAtomCallPatterns(const mlir::TypeConverter &converter,
                              mlir::RewritePatternSet &patterns);
/// Function signatures, launches, structured control flow and selects, whose types change along.
void populateSignaturePatterns(const mlir::TypeConverter &converter, mlir::ConversionTarget &target,
                               mlir::RewritePatternSet &patterns);

} // namespace fly::lowering

#endif // FLY_LIB_CONVERSION_FLYTOLLVM_PATTERNS_H
