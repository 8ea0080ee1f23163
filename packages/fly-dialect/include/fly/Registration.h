// SPDX-License-Identifier: Apache-2.0
//
// What a program that uses this library registers: the dialects and passes that FlyDSL compiles
// with, and no others, so that a context is cheap to create.

#ifndef FLY_REGISTRATION_H
#define FLY_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace fly {

/// Adds the fly dialects, the upstream dialects that kernels are traced into and lowered to, and
/// the interfaces that inlining, conversion to LLVM, translation to LLVM IR and the ROCDL target
/// need.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers the fly passes and the upstream passes of the default pipeline, by name, for the pass
/// manager's textual pipelines. Safe to call more than once.
void registerPasses();

/// Registers `fly-default-pipeline`. The passes must be registered when it runs.
void registerDefaultPipeline();

} // namespace fly

#endif // FLY_REGISTRATION_H
