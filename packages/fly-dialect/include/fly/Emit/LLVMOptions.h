// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_EMIT_LLVMOPTIONS_H
#define FLY_EMIT_LLVMOPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace fly {

/// Gives the LLVM command line option `name` (without dashes) the value that `text` spells, for the
/// whole process, until the matching popLLVMOption. Pushes of one option nest. LLVM reads options
/// without locks, so no other thread may be compiling. Errors: no such option; a text that the
/// option does not accept (nothing has changed then).
llvm::Error pushLLVMOption(llvm::StringRef name, llvm::StringRef text);

/// Undoes the last push of `name`: back to the text pushed before, or to the option's default. No
/// pushed value is an error.
llvm::Error popLLVMOption(llvm::StringRef name);

} // namespace fly

#endif // FLY_EMIT_LLVMOPTIONS_H
