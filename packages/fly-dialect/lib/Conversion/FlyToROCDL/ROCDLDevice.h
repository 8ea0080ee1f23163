// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_CONVERSION_FLYTOROCDL_ROCDLDEVICE_H
#define FLY_LIB_CONVERSION_FLYTOROCDL_ROCDLDEVICE_H

#include "../FlyToLLVM/DeviceConversion.h"
#include "AtomCalls.h"

namespace fly::rocdl {

/// What the conversion for AMD GPUs has of its own.
class ROCDLDevice : public DeviceConversion {
public:
  /// With `exactAlignment`, loads of atoms from global memory get an alignment below that of scalar
  /// loads where no other is proved.
  explicit ROCDLDevice(bool exactAlignment) : exactAlignment(exactAlignment) {}

  llvm::StringRef getName() const override { return "ROCDL"; }
  mlir::Type convertPointer(mlir::Attribute addressSpace) const override;
  mlir::LLVM::Linkage getSharedLinkage() const override { return mlir::LLVM::Linkage::External; }
  CopyResult lowerCopy(mlir::OpBuilder &builder, mlir::Type operation,
                       const CopyCall &call) const override;
  mlir::FailureOr<mlir::Value> lowerMma(mlir::OpBuilder &builder, mlir::Type operation,
                                        const MmaCall &call) const override;
  bool takesAuxiliaryOperands(mlir::Type operation) const override;
  mlir::Value defaultState(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Type operation) const override;
  bool keepsStateBits(mlir::Type operation) const override;
  unsigned getLoadAlignment(fly::MemRefType type) const override;
  mlir::Value keepOldValue(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value old) const override;

private:
  bool exactAlignment;
};

/// Atoms of the tensor data mover that are built from a tensor, and the fields of their state.
void populateTensorAtomPatterns(const mlir::TypeConverter &converter,
                                mlir::RewritePatternSet &patterns);

} // namespace fly::rocdl

#endif // FLY_LIB_CONVERSION_FLYTOROCDL_ROCDLDEVICE_H
