// SPDX-License-Identifier: Apache-2.0
//
// Device code for NVIDIA GPUs: a gpu.module in the LLVM and NVVM dialects becomes PTX text, which
// the driver compiles when it loads it. No CUDA toolkit, no libdevice.
#ifndef FLY_EMIT_PTX_H
#define FLY_EMIT_PTX_H

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
}
namespace mlir::NVVM {
class NVVMTargetAttr;
}

namespace fly {

struct PtxOptions {
  std::string triple = "nvptx64-nvidia-cuda";
  std::string chip;                ///< "sm_90a"
  std::string features = "+ptx80"; ///< the version of PTX that is written
  unsigned optLevel = 2;           ///< 0 to 3
  bool fastMath = false;
  bool wantLlvmIr = false; ///< also fill Ptx::llvmIr
};

/// What is known of a kernel before the driver has compiled it.
struct PtxKernel {
  std::string name;
  uint32_t sharedBytes = 0; ///< static shared memory of a block that its code reaches
};

struct Ptx {
  std::string text;
  std::vector<PtxKernel> kernels; ///< by name
  std::string llvmIr;             ///< after optimisation
  std::vector<std::string> warnings;
};

/// Reads the options of a `#nvvm.target`.
PtxOptions optionsFromTarget(mlir::NVVM::NVVMTargetAttr target);

/// Compiles `gpuModule`. Failures are diagnosed on it: an unknown chip, what the back end cannot
/// select, an undefined function.
mlir::FailureOr<Ptx> emitPtx(mlir::Operation *gpuModule, const PtxOptions &options);

/// Lets `#nvvm.target` compile gpu.modules with emitPtx, so that `gpu-module-to-binary` needs no
/// CUDA toolkit.
///
/// MLIR keeps the first implementation of an interface that it sees: call this before anything that
/// registers upstream's (`registerAllDialects`, `registerAllExtensions`).
void registerNVVMTargetModel(mlir::DialectRegistry &registry);

} // namespace fly

#endif // FLY_EMIT_PTX_H
