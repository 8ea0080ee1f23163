// SPDX-License-Identifier: Apache-2.0
//
// `#fly.explicit_module` as an offloading handler.
#include "fly/Dialect/Fly/IR/FlyAttributes.h"
#include "fly/Dialect/Fly/IR/FlyDialect.h"
#include "fly/Emit/Offloading.h"
#include "fly/Emit/Registration.h"

#include "mlir/Dialect/GPU/IR/CompilationInterfaces.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

namespace {

struct ExplicitModuleModel
    : gpu::OffloadingLLVMTranslationAttrInterface::FallbackModel<ExplicitModuleModel> {
  LogicalResult embedBinary(Attribute, Operation *binary, llvm::IRBuilderBase &builder,
                            LLVM::ModuleTranslation &translation) const {
    return fly::embedBinary(cast<gpu::BinaryOp>(binary), builder, translation);
  }
  LogicalResult launchKernel(Attribute, Operation *launch, Operation *binary,
                             llvm::IRBuilderBase &builder,
                             LLVM::ModuleTranslation &translation) const {
    return fly::launchKernel(cast<gpu::LaunchFuncOp>(launch), cast<gpu::BinaryOp>(binary), builder,
                             translation);
  }
};

} // namespace

Attribute fly::offloadingHandler(MLIRContext *context) { return ExplicitModuleAttr::get(context); }

void fly::registerExplicitModuleModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, FlyDialect *) {
    ExplicitModuleAttr::attachInterface<ExplicitModuleModel>(*context);
  });
}
