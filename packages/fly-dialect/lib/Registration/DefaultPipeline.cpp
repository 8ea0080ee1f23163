// SPDX-License-Identifier: Apache-2.0
//
// fly-default-pipeline: what the compiler runs, in its order. flydsl.compiler.pipeline builds the
// same list pass by pass, so that it can time and dump each; a test compares the two.

#include "fly/Registration.h"

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace {

struct DefaultPipelineOptions : PassPipelineOptions<DefaultPipelineOptions> {
  Option<std::string> chip{*this, "chip", llvm::cl::desc("the target's architecture"),
                           llvm::cl::init("gfx942")};
  Option<int> optimization{*this, "O", llvm::cl::desc("LLVM's optimisation level"),
                           llvm::cl::init(2)};
  Option<bool> fast{*this, "fast", llvm::cl::desc("all fast-math flags"), llvm::cl::init(false)};
  Option<bool> unsafeMath{*this, "unsafe-math", llvm::cl::desc("reassociate and approximate"),
                          llvm::cl::init(false)};
  Option<bool> ktrace{*this, "ktrace", llvm::cl::desc("record the events of kernels"),
                      llvm::cl::init(false)};
  Option<bool> debugInfo{*this, "debug-info", llvm::cl::desc("keep line tables"),
                         llvm::cl::init(false)};
};

StringRef flag(bool value) { return value ? "true" : "false"; }

/// The passes as a textual pipeline.
std::string textOf(const DefaultPipelineOptions &options) {
  const StringRef target = options.chip.getValue();
  const std::string chip = target.split('-').first.str();
  const bool wave64 = target.starts_with("gfx9");
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "fly-rewrite-func-signature,fly-canonicalize,fly-rocdl-expand-ops,fly-layout-lowering,"
            "fly-int-swizzle-simplify,canonicalize,fly-convert-atom-call-to-ssa-form,"
            "fly-promote-regmem-to-vectorssa,";
  if (options.ktrace)
    stream << "convert-fly-ktrace-to-rocdl{chip=" << chip << "},";
  stream << "fly-split-uniform-offsets,convert-fly-to-rocdl,canonicalize,"
         << "gpu.module(fly-expand-arith{chip=" << chip
         << "},convert-scf-to-cf,cse,convert-rocdl-fastmath-ops,fly-math-to-llvm,"
         << "convert-gpu-to-rocdl{chipset=" << chip
         << " index-bitwidth=0 runtime=HIP use-bare-ptr-memref-call-conv=true},"
            "fly-rocdl-cluster-attr),"
         << "rocdl-attach-target{O=" << options.optimization << " abi=600 chip=" << target
         << " correct-sqrt=true daz=false fast=" << flag(options.fast)
         << " finite-only=false triple=amdgcn-amd-amdhsa unsafe-math=" << flag(options.unsafeMath)
         << " wave64=" << flag(wave64) << "},"
         << "convert-scf-to-cf,convert-cf-to-llvm,"
            "gpu-to-llvm{use-bare-pointers-for-host=true use-bare-pointers-for-kernels=true},"
            "convert-vector-to-llvm,convert-ub-to-llvm,convert-arith-to-llvm,convert-func-to-llvm,"
            "reconcile-unrealized-casts,";
  if (options.debugInfo)
    stream << "ensure-debug-info-scope-on-llvm-func{emission-kind=LineTablesOnly},";
  stream << "gpu-module-to-binary{format=fatbin}";
  return text;
}

} // namespace

void fly::registerDefaultPipeline() {
  static PassPipelineRegistration<DefaultPipelineOptions> registration(
      "fly-default-pipeline", "Compile kernels as the compiler does, down to code objects",
      [](OpPassManager &manager, const DefaultPipelineOptions &options) {
        if (failed(parsePassPipeline(textOf(options), manager)))
          llvm::report_fatal_error("fly-default-pipeline names a pass that is not registered");
      });
}
