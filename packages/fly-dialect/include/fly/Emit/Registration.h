// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_EMIT_REGISTRATION_H
#define FLY_EMIT_REGISTRATION_H

namespace mlir {
class DialectRegistry;
}

namespace fly {

/// Lets `#rocdl.target` compile gpu.modules with emitCodeObject, so that `gpu-module-to-binary`
/// needs no ROCm.
///
/// MLIR keeps the first implementation of an interface that it sees: call this before anything that
/// registers upstream's (`registerAllDialects`, `registerAllExtensions`).
void registerROCDLTargetModel(mlir::DialectRegistry &registry);

/// Lets `#fly.explicit_module` handle gpu.binary and gpu.launch_func on translation to LLVM IR.
void registerExplicitModuleModel(mlir::DialectRegistry &registry);

} // namespace fly

#endif // FLY_EMIT_REGISTRATION_H
