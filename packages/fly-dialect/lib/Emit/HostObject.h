// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_HOSTOBJECT_H
#define FLY_LIB_EMIT_HOSTOBJECT_H

#include "fly/Emit/Artifact.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace fly {

/// The code generator for the artifact's host, or the reason why there is none.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createHostMachine(const ArtifactOptions &options);

/// Optimises `module` and compiles it to a relocatable object.
llvm::Error compileHostObject(llvm::Module &module, llvm::TargetMachine &machine, unsigned optLevel,
                              llvm::SmallVectorImpl<char> &object);

/// Links `object` into the shared object `options.outputPath`, which needs fly-runtime and, only
/// when the code copies or clears memory, the C library. Any other undefined function is an error
/// that names it.
llvm::Error linkArtifact(llvm::ArrayRef<char> object, const ArtifactOptions &options);

} // namespace fly

#endif // FLY_LIB_EMIT_HOSTOBJECT_H
