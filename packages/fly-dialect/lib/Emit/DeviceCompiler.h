// SPDX-License-Identifier: Apache-2.0
//
// Compiles a gpu.module for a device: what the targets have in common.
#ifndef FLY_LIB_EMIT_DEVICECOMPILER_H
#define FLY_LIB_EMIT_DEVICECOMPILER_H

#include "DiagnosticCollector.h"

#include "mlir/Target/LLVM/ModuleToObject.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <optional>
#include <string>

namespace fly {

/// What a code generator is made for. The texts live as long as this.
struct DeviceMachine {
  llvm::StringRef vendor; ///< for people: "AMD GPU"
  llvm::StringRef triple;
  llvm::StringRef chip;
  llvm::StringRef features;
  unsigned optLevel; ///< 0 to 3
  std::optional<llvm::Reloc::Model> relocation;
  /// A chip may carry a suffix that names a product rather than an instruction set
  /// ("gfx1201-w7900"): it is left away where LLVM does not know the whole name.
  bool productSuffix = false;
};

/// Creates the code generator, or says why there is none: the triple is of another vendor than
/// `belongs` accepts, or the chip unknown. The target is initialised already.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createDeviceMachine(const DeviceMachine &wanted,
                    llvm::function_ref<bool(const llvm::Triple &)> belongs);

/// Compiles one gpu.module. MLIR's base class translates to LLVM IR and links bitcode that the
/// target names.
class DeviceCompiler : public mlir::LLVM::ModuleToObject {
public:
  DeviceCompiler(mlir::Operation &gpuModule, llvm::TargetMachine &machine, unsigned optLevel,
                 CollectedDiagnostics &diagnostics);

protected:
  void setDataLayoutAndTriple(llvm::Module &module) override;

  /// Appends to `output` what the code generator makes of `module`, which it consumes.
  mlir::LogicalResult emitFile(llvm::Module &module, llvm::CodeGenFileType type,
                               llvm::SmallVectorImpl<char> &output);

  llvm::TargetMachine &machine;
  CollectedDiagnostics &diagnostics;
};

/// Runs `compiler`, which works with `machine` and writes to `diagnostics`. What it could not do is
/// diagnosed on `gpuModule`, a crash of LLVM too: then compiler and machine are left alone for
/// ever.
mlir::FailureOr<llvm::SmallVector<char, 0>>
runDeviceCompiler(mlir::Operation *gpuModule, llvm::StringRef chip,
                  std::unique_ptr<DeviceCompiler> compiler,
                  std::unique_ptr<llvm::TargetMachine> machine, CollectedDiagnostics &diagnostics);

} // namespace fly

#endif // FLY_LIB_EMIT_DEVICECOMPILER_H
