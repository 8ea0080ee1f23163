// SPDX-License-Identifier: Apache-2.0
//
// Collects what LLVM says while it compiles one module.
#ifndef FLY_LIB_EMIT_DIAGNOSTICCOLLECTOR_H
#define FLY_LIB_EMIT_DIAGNOSTICCOLLECTOR_H

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"

#include <string>
#include <vector>

namespace fly {

/// What the collector found; lives longer than the LLVMContext that owns the collector.
struct CollectedDiagnostics {
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
  llvm::StringMap<uint32_t> occupancy; ///< waves per SIMD by kernel name
};

/// An LLVMContext's diagnostic handler that prints nothing.
class DiagnosticCollector final : public llvm::DiagnosticHandler {
public:
  explicit DiagnosticCollector(CollectedDiagnostics &sink) : sink(sink) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override;

  /// AMDGPU computes a kernel's occupancy only for this remark.
  bool isAnalysisRemarkEnabled(llvm::StringRef pass) const override {
    return pass == "kernel-resource-usage";
  }
  bool isAnyRemarkEnabled() const override { return true; }

private:
  CollectedDiagnostics &sink;
};

} // namespace fly

#endif // FLY_LIB_EMIT_DIAGNOSTICCOLLECTOR_H
