// SPDX-License-Identifier: Apache-2.0
//
// What LLVM's archives refer to and we have no use for.

#include "llvm/Plugins/PassPlugin.h"

// Debian's LLVM is built with Polly, which link-time optimisation of bitcode would run.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "absent", [](llvm::PassBuilder &) {}};
}
