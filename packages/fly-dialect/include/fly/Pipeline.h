// SPDX-License-Identifier: Apache-2.0
//
// The stages from a traced program to code objects. This is the one list: fly-opt's
// `--fly-default-pipeline` runs it in one go, and the compiler stage by stage, so that it can time
// and dump each.

#ifndef FLY_PIPELINE_H
#define FLY_PIPELINE_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace fly {

/// One step: the name that dumps and reports use, and its passes as text of the pass manager for a
/// builtin.module.
struct PipelineStage {
  std::string name;
  std::string passes;
};

struct PipelineOptions {
  /// The architecture, with what stands behind a dash ("gfx1250-strict"); "sm_90a" for NVIDIA's.
  std::string chip = "gfx942";
  int optLevel = 2;
  bool fastMath = false;
  bool unsafeMath = false;
  /// Lower the events of kernels to stores to a trace buffer.
  bool ktrace = false;
  /// Keep line tables.
  bool debugInfo = false;
  /// Mark register memory that is read before it is written, for the emulator's sanitizer.
  bool markUninitialised = false;
  /// Bitcode to link into the code object: paths.
  std::vector<std::string> libraries;
};

/// Whether a chip is one of NVIDIA's.
bool isNVIDIA(llvm::StringRef chip);

/// The stages for the chip, in order: AMD GPUs get code objects, NVIDIA GPUs PTX. The order is a
/// contract: signatures become static before folding, folding gives the normal form that the layout
/// lowering takes, and register memory becomes SSA only after the atoms have their SSA form.
///
/// For NVIDIA there is no `unsafeMath`, `ktrace`, `markUninitialised` and `libraries`: who asks for
/// the stages refuses them.
std::vector<PipelineStage> devicePipeline(const PipelineOptions &options);

} // namespace fly

#endif // FLY_PIPELINE_H
