// SPDX-License-Identifier: Apache-2.0
//
// fly-default-pipeline: what the compiler runs, for fly-opt.

#include "fly/Pipeline.h"
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
  Option<bool> markUninitialised{*this, "mark-uninitialised",
                                 llvm::cl::desc("mark registers that are read before written"),
                                 llvm::cl::init(false)};
  ListOption<std::string> libraries{*this, "l", llvm::cl::desc("bitcode to link")};

  fly::PipelineOptions get() const {
    fly::PipelineOptions options;
    options.chip = chip;
    options.optLevel = optimization;
    options.fastMath = fast;
    options.unsafeMath = unsafeMath;
    options.ktrace = ktrace;
    options.debugInfo = debugInfo;
    options.markUninitialised = markUninitialised;
    options.libraries.assign(libraries.begin(), libraries.end());
    return options;
  }
};

} // namespace

void fly::registerDefaultPipeline() {
  static PassPipelineRegistration<DefaultPipelineOptions> registration(
      "fly-default-pipeline", "Compile kernels as the compiler does, down to code objects or PTX",
      [](OpPassManager &manager, const DefaultPipelineOptions &options) {
        for (const PipelineStage &stage : devicePipeline(options.get()))
          if (failed(parsePassPipeline(stage.passes, manager)))
            llvm::report_fatal_error("fly-default-pipeline names a pass that is not registered");
      });
}
