// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringRef.h"

namespace flyemu {

/// Can LLVM 22 read this .debug_line section? It crashes on DWARF 5 headers whose entry formats
/// name forms that the standard does not allow there; such a section is not worth reading.
bool hasKnownLineForms(llvm::StringRef section);

} // namespace flyemu
