// SPDX-License-Identifier: Apache-2.0
//
// Lowerings of the atoms of NVIDIA GPUs: one function per family.
#ifndef FLY_LIB_CONVERSION_FLYTONVVM_ATOMCALLS_H
#define FLY_LIB_CONVERSION_FLYTONVVM_ATOMCALLS_H

#include "../FlyToLLVM/AtomCalls.h"
#include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.h"

namespace fly::nvvm {

mlir::FailureOr<mlir::Value> lowerWGMMA(mlir::OpBuilder &builder, SM90WGMMAType operation,
                                        const lowering::MmaCall &call);
lowering::CopyResult lowerTMALoad(mlir::OpBuilder &builder, SM90TMALoadType operation,
                                  const lowering::CopyCall &call);
lowering::CopyResult lowerTMAStore(mlir::OpBuilder &builder, SM90TMAStoreType operation,
                                   const lowering::CopyCall &call);

} // namespace fly::nvvm

#endif // FLY_LIB_CONVERSION_FLYTONVVM_ATOMCALLS_H
