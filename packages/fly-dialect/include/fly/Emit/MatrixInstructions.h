// SPDX-License-Identifier: Apache-2.0
//
// Which chips have which matrix instructions, so that asking for one that is not there is answered
// with what is, rather than with LLVM's "cannot select".
#ifndef FLY_EMIT_MATRIXINSTRUCTIONS_H
#define FLY_EMIT_MATRIXINSTRUCTIONS_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace fly {

/// An instruction that a chip lacks.
struct MissingInstruction {
  std::string needs;   ///< what has it: "gfx950"
  std::string instead; ///< what the chip has in its place
};

/// What is missing on `chip` for an intrinsic ("llvm.amdgcn.mfma. ...") or an operation of ROCDL
/// ("rocdl.mfma. ..."); nothing when it is not known to lack it.
std::optional<MissingInstruction> findMissing(llvm::StringRef operation, llvm::StringRef chip);

/// The same as a sentence.
std::optional<std::string> whyUnavailable(llvm::StringRef operation, llvm::StringRef chip);

} // namespace fly

#endif // FLY_EMIT_MATRIXINSTRUCTIONS_H
