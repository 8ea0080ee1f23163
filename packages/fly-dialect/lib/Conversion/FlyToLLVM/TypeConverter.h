// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_CONVERSION_FLYTOLLVM_TYPECONVERTER_H
#define FLY_LIB_CONVERSION_FLYTOLLVM_TYPECONVERTER_H

#include "DeviceConversion.h"
#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace fly::lowering {

/// ptr and memref become what the device has for their space, LLVM pointers for the most part;
/// atoms their state; narrow floats integers. Other types stay.
class DeviceTypeConverter : public mlir::TypeConverter {
public:
  explicit DeviceTypeConverter(const DeviceConversion &device);

  const DeviceConversion &device;
};

/// The device that a pattern of this conversion converts for.
const DeviceConversion &deviceOf(const mlir::ConversionPattern &pattern);

/// The struct that a copy or matrix operation's state is held in; the empty struct for a stateless
/// one.
mlir::LLVM::LLVMStructType getAtomStateType(mlir::Type operation);

/// The copy or matrix operation of an atom or tiled atom type; null for other types.
mlir::Type getAtomOperation(mlir::Type type);

} // namespace fly::lowering

#endif // FLY_LIB_CONVERSION_FLYTOLLVM_TYPECONVERTER_H
