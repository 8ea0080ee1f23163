// SPDX-License-Identifier: Apache-2.0
//
// Host code: a module whose kernels are compiled (gpu.binary) and whose host functions are in the
// LLVM dialect becomes one ELF shared object, as flydsl/runtime.h and docs/artifact.md define it.
#ifndef FLY_EMIT_ARTIFACT_H
#define FLY_EMIT_ARTIFACT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace fly {

struct ArtifactOptions {
  std::string
      entry; ///< symbol of the llvm.func that is the compiled @jit function; it returns nothing
  std::string name; ///< what the artifact exports: `name` and `__tvm_ffi_<name>`; a C identifier
  std::string note; ///< the JSON note, embedded byte for byte
  std::string outputPath; ///< written beside itself under a temporary name, then renamed
  /// The baseline is the oldest CPU of the architecture: an artifact runs on other machines than
  /// this one.
  std::string hostTriple = "x86_64-unknown-linux-gnu";
  std::string hostCpu = "x86-64";
  unsigned optLevel = 2; ///< 0 to 3
};

/// Compiles and links `module`, which is left as it is. Parameter i of the entry function is loaded
/// from slot i. Failures are diagnosed on the module. The same input gives the same bytes.
mlir::LogicalResult emitArtifact(mlir::ModuleOp module, const ArtifactOptions &options);

} // namespace fly

#endif // FLY_EMIT_ARTIFACT_H
