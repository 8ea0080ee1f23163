// SPDX-License-Identifier: Apache-2.0
//
// What `#fly.explicit_module` does with gpu.binary and gpu.launch_func on their way to LLVM IR.
#ifndef FLY_EMIT_OFFLOADING_H
#define FLY_EMIT_OFFLOADING_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class IRBuilderBase;
}
namespace mlir::LLVM {
class ModuleTranslation;
}

namespace fly {

/// The attribute `#fly.explicit_module`.
mlir::Attribute offloadingHandler(mlir::MLIRContext *context);

/// Names of the globals that embedBinary defines and launchKernel refers to.
inline constexpr llvm::StringLiteral artifactSymbol = "flydsl_artifact";
inline constexpr llvm::StringLiteral launchSymbol = "flydsl_launch";
/// The runtime function that host functions print and check with; it returns a status too.
/// The runtime's function that encodes a tensor map.
inline constexpr llvm::StringLiteral tensorMapSymbol = "flydsl_tensor_map";
inline constexpr llvm::StringLiteral printSymbol = "flydsl_print";
inline constexpr llvm::StringLiteral codeObjectsSymbol = "flydsl.code_objects";
inline constexpr llvm::StringLiteral kernelNamesSymbol = "flydsl.kernel_names";

/// The kernels of `binary` in the order of the artifact's kernel table (by name). Every object must
/// hold the same ones; otherwise the reason is diagnosed on `binary`.
mlir::FailureOr<llvm::SmallVector<llvm::StringRef>> kernelNames(mlir::gpu::BinaryOp binary);

/// Embeds the code objects, a table of FlyCodeObject and the table of kernel names as internal
/// constants.
mlir::LogicalResult embedBinary(mlir::gpu::BinaryOp binary, llvm::IRBuilderBase &builder,
                                mlir::LLVM::ModuleTranslation &translation);

/// Turns `launch` into a call of flydsl_launch on the artifact. Its status is dropped here;
/// emitArtifact makes the host functions return it.
mlir::LogicalResult launchKernel(mlir::gpu::LaunchFuncOp launch, mlir::gpu::BinaryOp binary,
                                 llvm::IRBuilderBase &builder,
                                 mlir::LLVM::ModuleTranslation &translation);

} // namespace fly

#endif // FLY_EMIT_OFFLOADING_H
