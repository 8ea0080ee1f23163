// SPDX-License-Identifier: Apache-2.0
//
// Which chips have which matrix instructions, so that asking for one that is not there is answered
// with what is, rather than with LLVM's "cannot select".
#ifndef FLY_LIB_EMIT_MATRIXINSTRUCTIONS_H
#define FLY_LIB_EMIT_MATRIXINSTRUCTIONS_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace fly {

/// Why `chip` does not have the instruction of an intrinsic ("llvm.amdgcn.mfma. ..."), and what it
/// has; nothing when it is not known to lack it.
std::optional<std::string> whyUnavailable(llvm::StringRef intrinsic, llvm::StringRef chip);

} // namespace fly

#endif // FLY_LIB_EMIT_MATRIXINSTRUCTIONS_H
