// SPDX-License-Identifier: Apache-2.0
//
// Which tiles in shared memory a matrix instruction of a warpgroup reads, and how it is told.

#ifndef FLY_DIALECT_FLYNVVM_IR_SHAREDTILE_H
#define FLY_DIALECT_FLYNVVM_IR_SHAREDTILE_H

#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include "llvm/Support/Error.h"

namespace fly::nvvm {

/// What a descriptor says of a tile beside its address.
struct SharedTile {
  int32_t swizzleBytes; ///< the width of the pattern: 0, 32, 64 or 128
  int64_t leadingBytes; ///< leading byte offset
  int64_t strideBytes;  ///< stride byte offset

  /// The 64 bits of the descriptor without the address (PTX ISA, "matrix descriptor").
  uint64_t descriptor() const;
};

/// The swizzle of byte addresses that a pattern of so many bytes has: 0, 32, 64 or 128.
Swizzle swizzleOfWidth(int32_t bytes);

/// The tile of `extent` (M or N) by `k` elements that `memref` holds, M or N first; `mnMajor` where
/// it is contiguous along M or N. The error says what the hardware cannot read, and gives a layout
/// that it can.
llvm::Expected<SharedTile> describeSharedTile(MemRefType memref, int32_t extent, int32_t k,
                                              bool mnMajor);

} // namespace fly::nvvm

#endif // FLY_DIALECT_FLYNVVM_IR_SHAREDTILE_H
