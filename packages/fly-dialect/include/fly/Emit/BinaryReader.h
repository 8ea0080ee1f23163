// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_EMIT_BINARYREADER_H
#define FLY_EMIT_BINARYREADER_H

#include "fly/Emit/CodeObject.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace fly {

/// One object of a gpu.binary.
struct EmbeddedCodeObject {
  std::string arch;
  std::string bytes;
  std::vector<KernelResources> kernels; ///< by name
};

/// Reads the objects of the module's gpu.binary back, as `#rocdl.target` and `#nvvm.target` made
/// them, and machine code for the latter; none when there is no such op. An object of another kind
/// is diagnosed.
mlir::FailureOr<std::vector<EmbeddedCodeObject>> readCodeObjects(mlir::ModuleOp module);

} // namespace fly

#endif // FLY_EMIT_BINARYREADER_H
