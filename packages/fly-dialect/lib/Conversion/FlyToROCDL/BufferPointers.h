// SPDX-License-Identifier: Apache-2.0
//
// Pointers that are buffer resources: those in `#fly_rocdl.buffer_desc`.
#ifndef FLY_LIB_CONVERSION_FLYTOROCDL_BUFFERPOINTERS_H
#define FLY_LIB_CONVERSION_FLYTOROCDL_BUFFERPOINTERS_H

#include "AtomCalls.h"

#include "mlir/Transforms/DialectConversion.h"

namespace fly::rocdl {

bool isBufferSpace(mlir::Attribute addressSpace);

/// Whether an operand is a memref behind a buffer resource.
bool isBuffer(const CallOperand &operand);

/// `!llvm.struct<(ptr<8>, i32)>`
mlir::LLVM::LLVMStructType getBufferPointerType(mlir::MLIRContext *context);

/// The resource, an !llvm.ptr<8>, of a converted buffer pointer.
mlir::Value bufferResource(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer);
/// The offset, an i32 number of elements, of a converted buffer pointer.
mlir::Value bufferElementOffset(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer);
/// A buffer pointer; without an offset it points to the resource's first element.
mlir::Value packBufferPointer(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value resource,
                              mlir::Value elementOffset = {});

/// The byte offset of an access through a buffer pointer with this element offset, swizzled. The
/// base address takes no part in the swizzle.
mlir::Value bufferByteOffset(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value elementOffset, mlir::Type elementType,
                             const Swizzle &swizzle);

/// Buffer pointers: how they are made, moved, read and written through.
void populateBufferPointerPatterns(const mlir::TypeConverter &converter,
                                   mlir::RewritePatternSet &patterns);

} // namespace fly::rocdl

#endif // FLY_LIB_CONVERSION_FLYTOROCDL_BUFFERPOINTERS_H
