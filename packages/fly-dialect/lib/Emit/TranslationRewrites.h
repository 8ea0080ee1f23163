// SPDX-License-Identifier: Apache-2.0
//
// What the translation of a GPU module to LLVM IR needs and its lowering does not give.
#ifndef FLY_LIB_EMIT_TRANSLATIONREWRITES_H
#define FLY_LIB_EMIT_TRANSLATIONREWRITES_H

#include "mlir/IR/Operation.h"

namespace fly {

/// Gives the branches in `gpuModule` the loop annotations that came with them from scf.for as
/// discardable attributes. Translation to LLVM IR looks at the branches' own only, so that without
/// this `unroll` would have no effect.
void adoptLoopAnnotations(mlir::Operation *gpuModule);

/// The offset field of a buffer load to LDS is part of the instruction. Where the program computes
/// it, adds it to the per-lane offset instead, so that every load in `gpuModule` has a constant
/// there.
void foldDynamicImmediates(mlir::Operation *gpuModule);

/// Swizzled addresses of `gpuModule`, `inttoptr (x ^ ((x & mask) >> shift))` with x = `ptrtoint p`,
/// become offsets from p. So LLVM still knows which allocation an access is to, and does not wait
/// for loads straight to other LDS. And of the constants that p is behind another pointer, whole
/// multiples of a power of two above all bits that the swizzle reads or writes go behind the
/// swizzle: accesses that differ by those share one swizzled address, and have them in their
/// instructions.
void offsetSwizzledAddresses(mlir::Operation *gpuModule);

} // namespace fly

#endif // FLY_LIB_EMIT_TRANSLATIONREWRITES_H
