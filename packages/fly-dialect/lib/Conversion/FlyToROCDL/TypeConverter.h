// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_CONVERSION_FLYTOROCDL_TYPECONVERTER_H
#define FLY_LIB_CONVERSION_FLYTOROCDL_TYPECONVERTER_H

#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace fly::rocdl {

/// ptr and memref become LLVM pointers, in `#fly_rocdl.buffer_desc` a resource with an element
/// offset; atoms their state; narrow floats integers. Other types stay.
class FlyToROCDLTypeConverter : public mlir::TypeConverter {
public:
  explicit FlyToROCDLTypeConverter(mlir::MLIRContext *context);
};

bool isBufferSpace(mlir::Attribute addressSpace);

/// LLVM's number of an address space that bare pointers have; an unknown space counts as generic.
unsigned getLLVMAddressSpace(mlir::Attribute addressSpace);

/// `!llvm.struct<(ptr<8>, i32)>`
mlir::LLVM::LLVMStructType getBufferPointerType(mlir::MLIRContext *context);

/// The struct that a copy or matrix operation's state is held in; the empty struct for a stateless
/// one.
mlir::LLVM::LLVMStructType getAtomStateType(mlir::Type operation);

/// The copy or matrix operation of an atom or tiled atom type; null for other types.
mlir::Type getAtomOperation(mlir::Type type);

} // namespace fly::rocdl

#endif // FLY_LIB_CONVERSION_FLYTOROCDL_TYPECONVERTER_H
