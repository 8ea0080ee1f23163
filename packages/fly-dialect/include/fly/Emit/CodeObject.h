// SPDX-License-Identifier: Apache-2.0
//
// Device code: a gpu.module in the LLVM and ROCDL dialects becomes an AMD code object (an ELF
// file). Everything happens in process: no ROCm installation, no device bitcode library, no
// external linker.
#ifndef FLY_EMIT_CODEOBJECT_H
#define FLY_EMIT_CODEOBJECT_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::ROCDL {
class ROCDLTargetAttr;
}

namespace fly {

/// What one kernel uses, as the code generator reports it.
struct KernelResources {
  std::string name;
  uint32_t vgpr = 0; ///< registers per lane, AGPRs included where the file is unified
  uint32_t agpr = 0;
  uint32_t sgpr = 0;
  uint32_t ldsBytes = 0;     ///< static LDS per workgroup
  uint32_t scratchBytes = 0; ///< per lane
  uint32_t vgprSpills = 0;
  uint32_t sgprSpills = 0;
  uint32_t occupancy = 0; ///< waves per SIMD that registers and LDS allow
  uint32_t waveSize = 0;
  uint32_t maxWorkgroupSize = 0;
};

enum class EmitFormat {
  Bitcode,    ///< optimised LLVM bitcode
  Assembly,   ///< ISA text
  CodeObject, ///< linked ELF file
};

struct CodeObjectOptions {
  std::string triple = "amdgcn-amd-amdhsa";
  std::string chip;     ///< "gfx942", ...
  std::string features; ///< subtarget features, "+wavefrontsize64"
  /// LLVM's code object version times 100. Version 6 is the default of LLVM 22 and the first that
  /// has generic targets; version 5 changes nothing but the ELF header for the targets here.
  unsigned abiVersion = 600;
  unsigned optLevel = 2; ///< 0 to 3
  bool fastMath = false; ///< implies unsafeMath and finiteOnly
  bool unsafeMath = false;
  bool finiteOnly = false;
  bool flushDenormals = false; ///< f32 only
  bool correctSqrt = true;
  std::optional<bool> wave64; ///< refused when the chip has no such waves
  /// (minimum, maximum) waves per execution unit for kernels that do not say; maximum 0 means open.
  std::optional<std::pair<unsigned, unsigned>> wavesPerEu;
  std::vector<std::string> bitcodeFiles; ///< linked in this order, before optimisation
  EmitFormat format = EmitFormat::CodeObject;
  bool wantIsa = false;    ///< also fill CodeObject::isa
  bool wantLlvmIr = false; ///< also fill CodeObject::llvmIr
};

struct CodeObject {
  llvm::SmallVector<char, 0> bytes;     ///< in the requested format
  std::vector<KernelResources> kernels; ///< by name; for EmitFormat::CodeObject only
  std::string isa;
  std::string llvmIr; ///< after optimisation
  std::vector<std::string> warnings;
};

/// Reads the options of a `#rocdl.target`.
CodeObjectOptions optionsFromTarget(mlir::ROCDL::ROCDLTargetAttr target);

/// Compiles `gpuModule`. Failures are diagnosed on it: an instruction that the chip does not have,
/// registers or LDS over the limit, an undefined function, an unknown chip.
mlir::FailureOr<CodeObject> emitCodeObject(mlir::Operation *gpuModule,
                                           const CodeObjectOptions &options);

} // namespace fly

#endif // FLY_EMIT_CODEOBJECT_H
