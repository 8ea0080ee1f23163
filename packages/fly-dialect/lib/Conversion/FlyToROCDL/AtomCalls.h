// SPDX-License-Identifier: Apache-2.0
//
// The lowerings of atoms that are instructions of AMD GPUs: one function per family, dispatched by
// the type of the operation in ROCDLDevice.cpp. A lowering that fails without a message leaves the
// call illegal.
#ifndef FLY_LIB_CONVERSION_FLYTOROCDL_ATOMCALLS_H
#define FLY_LIB_CONVERSION_FLYTOROCDL_ATOMCALLS_H

#include "../FlyToLLVM/Addressing.h"
#include "../FlyToLLVM/AtomCalls.h"
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

namespace fly::rocdl {

using namespace fly::lowering;

CopyResult lowerBufferCopy(mlir::OpBuilder &builder, CDNA3BufferCopyType operation,
                           const CopyCall &call);
CopyResult lowerBufferAtomic(mlir::OpBuilder &builder, CDNA3BufferAtomicType operation,
                             const CopyCall &call);
CopyResult lowerBufferCopyLDS(mlir::OpBuilder &builder, CDNA3BufferCopyLDSType operation,
                              const CopyCall &call);
CopyResult lowerBufferLoadAsyncLDS(mlir::OpBuilder &builder, CDNA4BufferLoadAsyncLDSType operation,
                                   const CopyCall &call);
CopyResult lowerGlobalLoadAsyncLDS(mlir::OpBuilder &builder, CDNA4GlobalLoadAsyncLDSType operation,
                                   const CopyCall &call);
CopyResult lowerLdsReadTrans(mlir::OpBuilder &builder, CDNA4LdsReadTransType operation,
                             const CopyCall &call);
CopyResult lowerTDM(mlir::OpBuilder &builder, GFX1250TDMType operation, const CopyCall &call);
CopyResult lowerTensorLoad(mlir::OpBuilder &builder, CDNA5TensorLoadType operation,
                           const CopyCall &call);
CopyResult lowerTensorStore(mlir::OpBuilder &builder, CDNA5TensorStoreType operation,
                            const CopyCall &call);

mlir::FailureOr<mlir::Value> lowerMFMA(mlir::OpBuilder &builder, CDNA3MFMAType operation,
                                       const MmaCall &call);
mlir::FailureOr<mlir::Value> lowerSMFMAC(mlir::OpBuilder &builder, CDNA3SMFMACType operation,
                                         const MmaCall &call);
mlir::FailureOr<mlir::Value> lowerMFMAScale(mlir::OpBuilder &builder, CDNA4MFMAScaleType operation,
                                            const MmaCall &call);
mlir::FailureOr<mlir::Value> lowerGFX11WMMA(mlir::OpBuilder &builder, GFX11WMMAType operation,
                                            const MmaCall &call);
mlir::FailureOr<mlir::Value> lowerGFX120XWMMA(mlir::OpBuilder &builder, GFX120XWMMAType operation,
                                              const MmaCall &call);
mlir::FailureOr<mlir::Value> lowerGFX1250WMMA(mlir::OpBuilder &builder, GFX1250WMMAType operation,
                                              const MmaCall &call);
mlir::FailureOr<mlir::Value> lowerGFX1250WMMAScale(mlir::OpBuilder &builder,
                                                   GFX1250WMMAScaleType operation,
                                                   const MmaCall &call);

} // namespace fly::rocdl

#endif // FLY_LIB_CONVERSION_FLYTOROCDL_ATOMCALLS_H
