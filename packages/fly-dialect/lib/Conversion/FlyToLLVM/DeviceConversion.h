// SPDX-License-Identifier: Apache-2.0
//
// What the conversions of the fly dialect for one vendor's devices and another's differ in.
#ifndef FLY_LIB_CONVERSION_FLYTOLLVM_DEVICECONVERSION_H
#define FLY_LIB_CONVERSION_FLYTOLLVM_DEVICECONVERSION_H

#include "AtomCalls.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace fly::lowering {

/// What devices of one kind have beside what all have: spaces, atoms and accesses of their own. The
/// defaults are those of a device that has none.
class DeviceConversion {
public:
  virtual ~DeviceConversion() = default;

  /// The dialect of the device's instructions, for diagnostics: "ROCDL".
  virtual llvm::StringRef getName() const = 0;

  /// What a pointer into `addressSpace` becomes; null where the device has no such space.
  virtual mlir::Type convertPointer(mlir::Attribute addressSpace) const = 0;

  /// The linkage of a global that stands for static shared memory.
  virtual mlir::LLVM::Linkage getSharedLinkage() const = 0;

  /// Lowers a call of a copy atom that is not universal. Failing without a message leaves the call
  /// illegal.
  virtual CopyResult lowerCopy(mlir::OpBuilder &builder, mlir::Type operation,
                               const CopyCall &call) const;

  /// Whether a call of a copy atom whose predicate is false fills its destination with zeros, where
  /// others leave it alone: its lowering gets the predicate.
  virtual bool fillsWithZeros(mlir::Type operation) const;

  /// Lowers a call of a matrix atom that is not universal.
  virtual mlir::FailureOr<mlir::Value> lowerMma(mlir::OpBuilder &builder, mlir::Type operation,
                                                const MmaCall &call) const;

  /// Whether an operand group of a matrix atom may hold more than the data.
  virtual bool takesAuxiliaryOperands(mlir::Type operation) const;

  /// The state that a new atom of `operation` starts with; by default all of it is zero.
  virtual mlir::Value defaultState(mlir::OpBuilder &builder, mlir::Location loc,
                                   mlir::Type operation) const;

  /// Whether values of the state of `operation` keep their bits, where others are truncated or
  /// extended.
  virtual bool keepsStateBits(mlir::Type operation) const;

  /// LLVM's number of a scope of atomic operations, which fly has in the terms of AMD's memory
  /// model ("agent", "workgroup"); nothing where the device has no such scope.
  virtual std::optional<llvm::StringRef> getSyncScope(llvm::StringRef scope) const;

  /// What to say of the alignment of a load of an atom's operand from memory of `type`; 0 for that
  /// of the loaded type, which atoms promise.
  virtual unsigned getLoadAlignment(fly::MemRefType type) const;

  /// The old value of the destination of a predicated copy, as what follows is to see it.
  virtual mlir::Value keepOldValue(mlir::OpBuilder &builder, mlir::Location loc,
                                   mlir::Value old) const;
};

/// Converts what fly-layout-lowering leaves below `op`: the body of a conversion pass. `target`
/// says which ops of the device's own dialects are legal. `extend` adds patterns for those that are
/// not, which come before the shared ones where they have a larger benefit.
mlir::LogicalResult
convertToLLVM(mlir::Operation *op, const DeviceConversion &device, mlir::ConversionTarget &target,
              llvm::function_ref<void(mlir::TypeConverter &, mlir::RewritePatternSet &)> extend);

} // namespace fly::lowering

#endif // FLY_LIB_CONVERSION_FLYTOLLVM_DEVICECONVERSION_H
