// SPDX-License-Identifier: Apache-2.0
#include "fly/Pipeline.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using llvm::StringRef;
using llvm::Twine;

static StringRef flag(bool value) { return value ? "true" : "false"; }

/// The options of rocdl-attach-target.
static std::string targetOptions(const fly::ROCDLPipelineOptions &options) {
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
static std::string devicePasses(StringRef chip) {
  return ("gpu.module(fly-expand-arith{chip=" + chip +
          "},fly-scf-to-cf,cse,convert-rocdl-fastmath-ops,fly-math-to-llvm,"
          "convert-gpu-to-rocdl{chipset=" +
          chip +
          " index-bitwidth=0 runtime=HIP use-bare-ptr-memref-call-conv=true},"
          "fly-rocdl-cluster-attr)")
      .str();
}

std::vector<fly::PipelineStage> fly::rocdlPipeline(const ROCDLPipelineOptions &options) {
  // Without what a name may say of a variant or of features: "gfx1250-strict", "gfx942:sramecc+".
  const std::string chip =
      StringRef(options.chip).take_until([](char c) { return c == '-' || c == ':'; }).str();
  std::vector<PipelineStage> stages;
  // `passes` may have more than the one that gives the stage its name.
  auto add = [&](StringRef name, const Twine &passes) {
    stages.push_back({name.str(), passes.str()});
  };
  auto addPass = [&](StringRef name) { add(name, name); };

  add("fly-rewrite-func-signature",
      "func.func(fly-check-host-functions),fly-argument-effects,fly-rewrite-func-signature");
  addPass("fly-canonicalize");
  addPass("fly-rocdl-expand-ops");
  addPass("fly-layout-lowering");
  addPass("fly-int-swizzle-simplify");
  addPass("canonicalize");
  addPass("fly-convert-atom-call-to-ssa-form");
  addPass("fly-promote-regmem-to-vectorssa");
  if (options.ktrace)
    add("convert-fly-ktrace-to-rocdl", "convert-fly-ktrace-to-rocdl{chip=" + Twine(chip) + "}");
  addPass("fly-split-uniform-offsets");
  add("convert-fly-to-rocdl",
      Twine(options.markUninitialised ? "gpu.module(fly-mark-uninitialised)," : "") +
          "convert-fly-to-rocdl{exact-alignment=true}");
  addPass("canonicalize");
  add("convert-gpu-to-rocdl",
      "convert-fly-messages-to-llvm,fly-define-integer-division," + devicePasses(chip));
  add("rocdl-attach-target", "rocdl-attach-target{" + targetOptions(options) + "}");
  add("convert-scf-to-cf", "fly-scf-to-cf");
  addPass("convert-cf-to-llvm");
  add("gpu-to-llvm",
      "fly-define-host-float-conversions,"
      "gpu-to-llvm{use-bare-pointers-for-host=true use-bare-pointers-for-kernels=true}");
  add("convert-vector-to-llvm", "convert-vector-to-llvm,convert-ub-to-llvm"); // it makes ub.poison
  addPass("convert-arith-to-llvm");
  addPass("convert-func-to-llvm");
  addPass("reconcile-unrealized-casts");
  if (options.debugInfo)
    add("ensure-debug-info-scope",
        "fly-plain-global-locations,"
        "ensure-debug-info-scope-on-llvm-func{emission-kind=LineTablesOnly}");
  add("gpu-module-to-binary", "gpu-module-to-binary{format=fatbin}");
  return stages;
}
