// SPDX-License-Identifier: Apache-2.0
#include "fly/Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace fly {
#define GEN_PASS_DEF_FLYROCDLCLUSTERATTRPASS
#include "fly/Transforms/Passes.h.inc"
} // namespace fly

using namespace mlir;

namespace {

struct FlyROCDLClusterAttrPass : fly::impl::FlyROCDLClusterAttrPassBase<FlyROCDLClusterAttrPass> {
  void runOnOperation() override {
    constexpr StringLiteral clusterDims = "rocdl.cluster_dims";
    Builder builder(&getContext());
    getOperation()->walk([&](LLVM::LLVMFuncOp function) {
      auto dims = function->getAttrOfType<StringAttr>(clusterDims);
      if (!dims)
        return;
      SmallVector<Attribute> passthrough;
      if (ArrayAttr existing = function.getPassthroughAttr())
        llvm::append_range(passthrough, existing);
      passthrough.push_back(
          builder.getArrayAttr({builder.getStringAttr("amdgpu-cluster-dims"), dims}));
      function.setPassthroughAttr(builder.getArrayAttr(passthrough));
      function->removeAttr(clusterDims);
    });
  }
};

} // namespace
