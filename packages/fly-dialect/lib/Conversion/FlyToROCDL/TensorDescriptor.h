// SPDX-License-Identifier: Apache-2.0
//
// The descriptor of gfx1250's tensor data mover: four groups of 32-bit words.
#ifndef FLY_LIB_CONVERSION_FLYTOROCDL_TENSORDESCRIPTOR_H
#define FLY_LIB_CONVERSION_FLYTOROCDL_TENSORDESCRIPTOR_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>
#include <optional>

namespace fly::rocdl {

/// Codes of padding in LDS: after every 2^(interval + 1) dwords come amount + 1 dwords.
struct PaddingCode {
  uint32_t interval;
  uint32_t amount;
};

/// The codes for `interval` and `amount` in elements; nothing when the descriptor cannot express
/// them.
std::optional<PaddingCode> encodePadding(int64_t interval, int64_t amount, int64_t elementBits);

/// Constants that the words of a descriptor share. They come first, so that what makes the words
/// reads in the order of the words.
struct WordConstants {
  WordConstants(mlir::OpBuilder &builder, mlir::Location loc);

  mlir::Value zero;
  mlir::Value sixteen;
  mlir::Value lowHalf; ///< 0xFFFF
};

/// What a descriptor says. Dimensions are innermost first; stride j is that of dimension j + 1.
struct TensorDescriptor {
  mlir::Value ldsAddress;    ///< i32, bytes
  mlir::Value globalAddress; ///< i64, bytes
  llvm::SmallVector<int64_t, 5> tileSizes;
  llvm::SmallVector<mlir::Value, 4> strides; ///< i64, in elements
  int64_t elementBits = 0;
  /// Size of the tensor along a dimension, i32, and the mask, i32. Emitted where the words need
  /// them; without a mask there is none.
  std::function<mlir::Value(size_t)> tensorSize;
  std::function<mlir::Value()> workgroupMask;
  mlir::Value earlyTimeout;   ///< i32, 0 or 1; null for 0
  mlir::Value barrierAddress; ///< i32, bytes; null for none
  bool barrier = false;
  bool timeout = false;
  std::optional<PaddingCode> padding;
  int32_t cachePolicy = 0;
};

/// Emits the load to LDS or the store from it.
void emitTensorMove(mlir::OpBuilder &builder, mlir::Location loc, const WordConstants &constants,
                    const TensorDescriptor &descriptor, bool isLoad);

} // namespace fly::rocdl

#endif // FLY_LIB_CONVERSION_FLYTOROCDL_TENSORDESCRIPTOR_H
