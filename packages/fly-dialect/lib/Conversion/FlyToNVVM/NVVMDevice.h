// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_CONVERSION_FLYTONVVM_NVVMDEVICE_H
#define FLY_LIB_CONVERSION_FLYTONVVM_NVVMDEVICE_H

#include "AtomCalls.h"

#include "../FlyToLLVM/DeviceConversion.h"

namespace fly::nvvm {

/// What the conversion for NVIDIA GPUs has of its own.
///
/// Accesses of atoms have the natural alignment that atoms promise: an address that breaks the
/// promise ends the launch with an error of the driver. There is no unaligned access mode.
class NVVMDevice : public lowering::DeviceConversion {
public:
  llvm::StringRef getName() const override { return "NVVM"; }
  mlir::Type convertPointer(mlir::Attribute addressSpace) const override;
  /// ptxas takes an external array in shared memory for the launch's dynamic one, whatever its
  /// size.
  mlir::LLVM::Linkage getSharedLinkage() const override { return mlir::LLVM::Linkage::Internal; }
  std::optional<llvm::StringRef> getSyncScope(llvm::StringRef scope) const override;
  lowering::CopyResult lowerCopy(mlir::OpBuilder &builder, mlir::Type operation,
                                 const lowering::CopyCall &call) const override;
  bool fillsWithZeros(mlir::Type operation) const override;
  mlir::FailureOr<mlir::Value> lowerMma(mlir::OpBuilder &builder, mlir::Type operation,
                                        const lowering::MmaCall &call) const override;
  mlir::Value defaultState(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Type operation) const override;

private:
  mutable OpenProducts open; // of one conversion, in the order of the program
};

/// Shuffles between lanes, as `shfl.sync` of 32-bit words. The lanes of a group of `width` name
/// each other, and no others, so that groups of one warp may be at different places.
void populateShufflePatterns(const mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns);

/// What orders products of a warpgroup.
void populateWGMMAPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);

/// Atoms of copies that are made of tensor maps.
void populateTensorCopyPatterns(const mlir::TypeConverter &converter,
                                mlir::RewritePatternSet &patterns);

/// Tensor maps: how they cross boundaries, and how host functions make them.
void populateTensorMapPatterns(mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);

/// Makes one operation of each chain of slices of vectors, where one does.
void mergeVectorSlices(mlir::Operation *root);

/// Diagnoses the first operation or type that only AMD GPUs have, with what there is instead.
mlir::LogicalResult refuseForeign(mlir::Operation *root, llvm::StringRef chip);

} // namespace fly::nvvm

#endif // FLY_LIB_CONVERSION_FLYTONVVM_NVVMDEVICE_H
