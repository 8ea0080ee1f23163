// SPDX-License-Identifier: Apache-2.0

#include "fly/Registration.h"

#include "fly/Conversion/Passes.h"
#include "fly/Program/Passes.h"
#include "fly/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void fly::registerPasses() {
  registerFlyTransformsPasses();
  registerFlyConversionPasses();
  registerFlyProgramPasses();
  registerDefaultPipeline();

  registerCanonicalizerPass();
  registerCSEPass();
  registerControlFlowSinkPass();
  registerInlinerPass();
  registerLocationSnapshotPass();
  registerLoopInvariantCodeMotionPass();
  registerPrintIRPass();
  registerRemoveDeadValuesPass();
  registerSCCPPass();
  registerStripDebugInfoPass();
  registerSymbolDCEPass();

  registerArithToAMDGPUConversionPass();
  registerConvertAMDGPUToROCDLPass();
  registerArithToLLVMConversionPass();
  registerConvertControlFlowToLLVMPass();
  registerConvertFuncToLLVMPass();
  registerConvertGpuOpsToNVVMOpsPass();
  registerConvertGpuOpsToROCDLOpsPass();
  registerConvertIndexToLLVMPass();
  registerConvertMathToLLVMPass();
  registerConvertMathToROCDLPass();
  registerConvertNVVMToLLVMPass();
  registerConvertVectorToLLVMPass();
  registerFinalizeMemRefToLLVMConversionPass();
  registerGpuToLLVMConversionPass();
  registerReconcileUnrealizedCastsPass();
  registerSCFToControlFlowPass();
  registerUBToLLVMConversionPass();

  registerGpuModuleToBinaryPass();
  registerGpuNVVMAttachTarget();
  registerGpuROCDLAttachTarget();
  LLVM::registerDIScopeForLLVMFuncOpPass();

  arith::registerArithExpandOpsPass();
  arith::registerArithIntRangeOpts();
  math::registerMathExpandOpsPass();
  memref::registerExpandStridedMetadataPass();
  registerSCFForLoopCanonicalization();
}
