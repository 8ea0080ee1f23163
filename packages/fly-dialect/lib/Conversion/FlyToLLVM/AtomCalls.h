// SPDX-License-Identifier: Apache-2.0
//
// What the lowering of one atom is given, and the lowerings of universal atoms: one function per
// family. A lowering that fails without a message leaves the call illegal.
#ifndef FLY_LIB_CONVERSION_FLYTOLLVM_ATOMCALLS_H
#define FLY_LIB_CONVERSION_FLYTOLLVM_ATOMCALLS_H

#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace fly::lowering {

class DeviceConversion;

/// One operand of a call: a tensor in memory, or a value.
struct CallOperand {
  mlir::Value original;  ///< before conversion; null when the call does not have the operand
  mlir::Value converted; ///< a pointer for a memref, the value otherwise

  explicit operator bool() const { return static_cast<bool>(original); }
  /// The type as a memref; null when the operand is a value or a coordinate tensor.
  fly::MemRefType memref() const {
    return original ? mlir::dyn_cast<fly::MemRefType>(original.getType()) : fly::MemRefType();
  }
  bool isValue() const {
    return original && !mlir::isa<fly::MemRefType, fly::CoordTensorType>(original.getType());
  }
  /// A memref behind a bare LLVM pointer.
  bool isPlainMemory() const;
  /// A memref in a known space.
  bool isMemoryIn(fly::AddressSpace space) const {
    fly::MemRefType type = memref();
    return type && type.isInSpace(space);
  }
};

/// One call of a copy atom.
struct CopyCall {
  mlir::Operation *op; ///< for diagnostics
  mlir::Value state;   ///< of the atom
  CallOperand source;
  CallOperand destination; ///< absent when the result takes its place
  mlir::Type resultType;   ///< converted; null without result
  const DeviceConversion *device;
  mlir::Value predicate = {}; ///< an i1, of an atom that fills with zeros; else null

  mlir::Location loc() const { return op->getLoc(); }
};

/// The value that a copy call yields; null when it stores.
using CopyResult = mlir::FailureOr<mlir::Value>;

CopyResult lowerUniversalCopy(mlir::OpBuilder &builder, UniversalCopyType operation,
                              const CopyCall &call);
CopyResult lowerUniversalAtomic(mlir::OpBuilder &builder, UniversalAtomicType operation,
                                const CopyCall &call);

/// The data that a per-lane copy reads from its source, which is a value or plain memory, as
/// `type`. Natural alignment, where the device does not say otherwise. Null when the source is
/// neither or has another width.
mlir::Value readSource(mlir::OpBuilder &builder, const CopyCall &call, mlir::Type type);
/// Hands `value` on to where the call wants it: the result, or the plain memory of the destination.
CopyResult writeResult(mlir::OpBuilder &builder, const CopyCall &call, mlir::Value value);

/// One call of a matrix atom on values.
struct MmaCall {
  mlir::Operation *op;              ///< for diagnostics
  mlir::Value state;                ///< of the atom
  llvm::SmallVector<mlir::Value> a; ///< data, and a scale if given
  llvm::SmallVector<mlir::Value> b;
  mlir::Value c;
  /// The memrefs of A and B where the operation reads them in memory itself, and `a` and `b` are
  /// pointers; null otherwise.
  fly::MemRefType memoryA, memoryB;

  mlir::Location loc() const { return op->getLoc(); }
};

/// The result has the accumulator's lane type.
mlir::FailureOr<mlir::Value> lowerUniversalFMA(mlir::OpBuilder &builder, UniversalFMAType operation,
                                               const MmaCall &call);

/// Creates the intrinsic op `name` ("rocdl.mfma. ...") with one result. A name that this LLVM does
/// not have is diagnosed on the call.
mlir::FailureOr<mlir::Value> createIntrinsic(mlir::OpBuilder &builder, mlir::Operation *call,
                                             const llvm::Twine &name, mlir::ValueRange operands,
                                             mlir::Type resultType,
                                             llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

} // namespace fly::lowering

#endif // FLY_LIB_CONVERSION_FLYTOLLVM_ATOMCALLS_H
