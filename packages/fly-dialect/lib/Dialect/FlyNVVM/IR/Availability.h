// SPDX-License-Identifier: Apache-2.0
//
// Which targets have an operation.

#ifndef FLY_LIB_DIALECT_FLYNVVM_AVAILABILITY_H
#define FLY_LIB_DIALECT_FLYNVVM_AVAILABILITY_H

#include "mlir/IR/Types.h"

#include <optional>
#include <string>

namespace fly::nvvm {

/// Why code for `target` has no use for an operation of Hopper's; nothing for sm_90a.
std::optional<std::string> whyNotHopper(mlir::Type operation, llvm::StringRef target,
                                        llvm::StringRef instead);

} // namespace fly::nvvm

#endif // FLY_LIB_DIALECT_FLYNVVM_AVAILABILITY_H
