// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_ARTIFACTTABLES_H
#define FLY_LIB_EMIT_ARTIFACTTABLES_H

#include "fly/Emit/Artifact.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace fly {

/// Adds what flydsl/runtime.h asks of an artifact: the FlyArtifact with its tables and note, the
/// function that unpacks slots for the entry function, and the two exported functions. Everything
/// else becomes internal.
llvm::Error addArtifactTables(llvm::Module &module, const ArtifactOptions &options);

} // namespace fly

#endif // FLY_LIB_EMIT_ARTIFACTTABLES_H
