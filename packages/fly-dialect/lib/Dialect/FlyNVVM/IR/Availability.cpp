// SPDX-License-Identifier: Apache-2.0

#include "Availability.h"

#include "llvm/Support/raw_ostream.h"

namespace fly::nvvm {

std::optional<std::string> whyNotHopper(mlir::Type operation, llvm::StringRef target,
                                        llvm::StringRef instead) {
  if (target == "sm_90a")
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream(text) << operation;
  return text.substr(1) + " needs sm_90a, but the kernel is compiled for " + target.str() +
         "; use " + instead.str();
}

} // namespace fly::nvvm
