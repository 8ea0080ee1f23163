// SPDX-License-Identifier: Apache-2.0
//
// Which widths the copy operations have that are instructions of fixed widths.

#ifndef FLY_DIALECT_FLYROCDL_IR_COPYWIDTHS_H
#define FLY_DIALECT_FLYROCDL_IR_COPYWIDTHS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace fly::rocdl {

/// What one lane moves.
struct CopyWidth {
  int32_t bits;
  /// Of a transposed element; 0 for copies that do not transpose.
  int32_t granularity = 0;
};

/// The widths of an operation by the mnemonic of its type ("cdna3.buffer_copy_lds"), on whatever
/// chip; none for types of any width and for other types.
llvm::ArrayRef<CopyWidth> getCopyWidths(llvm::StringRef operation);

} // namespace fly::rocdl

#endif // FLY_DIALECT_FLYROCDL_IR_COPYWIDTHS_H
