// SPDX-License-Identifier: Apache-2.0
//
// Accesses of atoms move one piece of memory. Whether a tensor is one is in its type: in its layout
// and in the swizzle of its pointer.
#ifndef FLY_LIB_CONVERSION_FLYTOLLVM_CONTIGUITY_H
#define FLY_LIB_CONVERSION_FLYTOLLVM_CONTIGUITY_H

#include "AtomCalls.h"

namespace fly::lowering {

/// Diagnoses a call of a plain copy, a universal one or one of the device's own, that moves all
/// elements of a tensor which do not lie side by side: the instruction would move others. Tensors
/// of another size than the copy, and layouts that are not static, are taken on trust; so are two
/// tensors in memory with the same gapless layout.
mlir::LogicalResult checkContiguity(mlir::Type operation, const CopyCall &call);

/// Diagnoses a call of a copy atom that moves more bits at once than the swizzle of an operand's
/// pointer keeps side by side, and one whose operand has a composed layout, of which the call would
/// see the first element's place only. Operands whose swizzle the atom does not apply, those in LDS
/// of loads to LDS and of transposed reads, are the program's business.
mlir::LogicalResult checkSwizzles(mlir::Type operation, const CopyCall &call);

/// Whether a swizzle of byte addresses moves an access of `bits` bits at an address with
/// `alignment` bytes as a whole.
bool keepsWhole(const Swizzle &swizzle, int64_t bits, int64_t alignment);

/// Diagnoses an access to memory of `type` that its pointer's swizzle would tear apart. `operand`
/// names it.
mlir::LogicalResult checkSwizzle(mlir::Operation *op, llvm::StringRef operand, fly::MemRefType type,
                                 int64_t bits);

/// Diagnoses a load or store of a `value` type through a pointer whose swizzle would tear it apart.
mlir::LogicalResult checkSwizzle(mlir::Operation *op, fly::PointerType type, mlir::Type value);

/// Whether the elements of a static layout lie side by side, in order.
bool isContiguous(const AnyLayout &layout);

} // namespace fly::lowering

#endif // FLY_LIB_CONVERSION_FLYTOLLVM_CONTIGUITY_H
