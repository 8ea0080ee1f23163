// SPDX-License-Identifier: Apache-2.0
#include "fly/Pipeline.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using llvm::StringRef;
using llvm::Twine;

static StringRef flag(bool value) { return value ? "true" : "false"; }

/// The options of rocdl-attach-target.
static std::string rocdlTargetOptions(const fly::PipelineOptions &options) {
  const bool wave64 = StringRef(options.chip).starts_with("gfx9");
  std::string text =
      ("O=" + Twine(options.optLevel) + " abi=600 chip=" + options.chip +
       " correct-sqrt=true daz=false fast=" + flag(options.fastMath) +
       " finite-only=false triple=amdgcn-amd-amdhsa unsafe-math=" + flag(options.unsafeMath) +
       " wave64=" + flag(wave64))
          .str();
  if (!options.libraries.empty())
    text += " l=" + llvm::join(options.libraries, ",");
  return text;
}

/// The passes that bring device code to the LLVM and ROCDL dialects.
static std::string rocdlPasses(StringRef chip) {
  return ("gpu.module(fly-expand-arith{chip=" + chip +
          "},fly-scf-to-cf,cse,convert-rocdl-fastmath-ops,fly-math-to-llvm,"
          "convert-gpu-to-rocdl{chipset=" +
          chip +
          " index-bitwidth=0 runtime=HIP use-bare-ptr-memref-call-conv=true},"
          "fly-rocdl-cluster-attr)")
      .str();
}

/// The PTX that is written: 8.0 is the first that has sm_90a, and the oldest drivers take it.
static constexpr StringRef ptxFeature = "+ptx80";

/// The options of nvvm-attach-target.
static std::string nvvmTargetOptions(const fly::PipelineOptions &options) {
  return ("O=" + Twine(options.optLevel) + " chip=" + options.chip + " features=" + ptxFeature +
          " fast=" + flag(options.fastMath) + " triple=nvptx64-nvidia-cuda")
      .str();
}

/// The passes that bring device code to the LLVM and NVVM dialects. Of the arithmetic that
/// convert-gpu-to-nvvm finds it makes calls of libdevice, so it finds none.
static std::string nvvmPasses(StringRef chip) {
  return ("gpu.module(fly-expand-arith{chip=" + chip +
          "},fly-scf-to-cf,cse,fly-math-to-llvm{chip=" + chip +
          "},convert-arith-to-llvm,convert-gpu-to-nvvm{index-bitwidth=0 "
          "use-bare-ptr-memref-call-conv=true},fly-nvvm-kernel-parameters,convert-nvvm-to-llvm)")
      .str();
}

bool fly::isNVIDIA(StringRef chip) { return chip.starts_with("sm_"); }

std::vector<fly::PipelineStage> fly::devicePipeline(const PipelineOptions &options) {
  // Without what a name may say of a variant or of features: "gfx1250-strict", "gfx942:sramecc+".
  const std::string chip =
      StringRef(options.chip).take_until([](char c) { return c == '-' || c == ':'; }).str();
  const bool nvidia = isNVIDIA(chip);
  std::vector<PipelineStage> stages;
  // `passes` may have more than the one that gives the stage its name.
  auto add = [&](StringRef name, const Twine &passes) {
    stages.push_back({name.str(), passes.str()});
  };
  auto addPass = [&](StringRef name) { add(name, name); };

  add("fly-rewrite-func-signature",
      "func.func(fly-check-host-functions),fly-argument-effects,fly-rewrite-func-signature");
  addPass("fly-canonicalize");
  if (!nvidia)
    addPass("fly-rocdl-expand-ops");
  addPass("fly-layout-lowering");
  addPass("fly-int-swizzle-simplify");
  addPass("canonicalize");
  addPass("fly-convert-atom-call-to-ssa-form");
  addPass("fly-promote-regmem-to-vectorssa");
  if (nvidia) {
    add("convert-fly-to-nvvm", "convert-fly-to-nvvm{chip=" + Twine(chip) + "}");
    addPass("canonicalize");
    // Before the messages, whose lowering asks for the target.
    add("nvvm-attach-target", "nvvm-attach-target{" + nvvmTargetOptions(options) + "}");
    add("convert-gpu-to-nvvm",
        "convert-fly-messages-to-llvm,fly-define-integer-division," + nvvmPasses(chip));
  } else {
    if (options.ktrace)
      add("convert-fly-ktrace-to-rocdl", "convert-fly-ktrace-to-rocdl{chip=" + Twine(chip) + "}");
    addPass("fly-split-uniform-offsets");
    add("convert-fly-to-rocdl",
        Twine(options.markUninitialised ? "gpu.module(fly-mark-uninitialised)," : "") +
            "convert-fly-to-rocdl{exact-alignment=true}");
    addPass("canonicalize");
    add("convert-gpu-to-rocdl",
        "convert-fly-messages-to-llvm,fly-define-integer-division," + rocdlPasses(chip));
    add("rocdl-attach-target", "rocdl-attach-target{" + rocdlTargetOptions(options) + "}");
  }
  add("convert-scf-to-cf", "fly-scf-to-cf");
  addPass("convert-cf-to-llvm");
  add("gpu-to-llvm",
      "fly-define-host-float-conversions,"
      "gpu-to-llvm{use-bare-pointers-for-host=true use-bare-pointers-for-kernels=true}");
  add("convert-vector-to-llvm", "convert-vector-to-llvm,convert-ub-to-llvm"); // it makes ub.poison
  addPass("convert-arith-to-llvm");
  addPass("convert-func-to-llvm");
  addPass("reconcile-unrealized-casts");
  if (options.debugInfo) {
    // Any other kind makes PTX one for a debugger, which is not optimised.
    const StringRef kind = nvidia ? "DebugDirectivesOnly" : "LineTablesOnly";
    add("ensure-debug-info-scope", "fly-plain-global-locations,"
                                   "ensure-debug-info-scope-on-llvm-func{emission-kind=" +
                                       kind + "}");
  }
  add("gpu-module-to-binary", "gpu-module-to-binary{format=fatbin}");
  return stages;
}
