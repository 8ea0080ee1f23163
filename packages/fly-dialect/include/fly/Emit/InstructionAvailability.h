// SPDX-License-Identifier: Apache-2.0
//
// Which AMD GPUs have an instruction, so that asking for one that is not there is answered with
// what is, rather than with LLVM's "cannot select".
#ifndef FLY_EMIT_INSTRUCTIONAVAILABILITY_H
#define FLY_EMIT_INSTRUCTIONAVAILABILITY_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace fly {

/// An instruction that a chip lacks.
struct MissingInstruction {
  std::string needs;   ///< what has it: "gfx950", "the tensor data mover of gfx1250"
  std::string instead; ///< what the chip has in its place; empty where there is nothing
};

/// What is missing on `chip` ("gfx942", also with a suffix) for an intrinsic ("llvm.amdgcn. ...")
/// or an operation of ROCDL ("rocdl. ..."); nothing when it is not known to lack it. A chip that is
/// not AMD's lacks everything of the table.
std::optional<MissingInstruction> findMissing(llvm::StringRef operation, llvm::StringRef chip);

/// The same as a sentence.
std::optional<std::string> whyUnavailable(llvm::StringRef operation, llvm::StringRef chip);

/// A row of the table: the LLVM features ("+gfx950-insts") that instructions of this name need.
struct InstructionNeeds {
  std::string name; ///< how the name begins behind "rocdl." or "llvm.amdgcn."
  std::string features;
};
std::vector<InstructionNeeds> instructionTable();

} // namespace fly

#endif // FLY_EMIT_INSTRUCTIONAVAILABILITY_H
