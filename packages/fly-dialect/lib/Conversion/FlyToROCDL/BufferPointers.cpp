// SPDX-License-Identifier: Apache-2.0
#include "BufferPointers.h"
#include "../FlyToLLVM/Contiguity.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

namespace fly::rocdl {

bool isBufferSpace(Attribute addressSpace) { return isa_and_nonnull<BufferDescAttr>(addressSpace); }

bool isBuffer(const CallOperand &operand) {
  return operand.memref() && isBufferSpace(operand.memref().getAddressSpace());
}

LLVM::LLVMStructType getBufferPointerType(MLIRContext *context) {
  return LLVM::LLVMStructType::getLiteral(
      context, {LLVM::LLVMPointerType::get(context, 8), IntegerType::get(context, 32)});
}

Value bufferResource(OpBuilder &builder, Location loc, Value pointer) {
  return LLVM::ExtractValueOp::create(builder, loc, pointer, ArrayRef<int64_t>{0});
}

Value bufferElementOffset(OpBuilder &builder, Location loc, Value pointer) {
  return LLVM::ExtractValueOp::create(builder, loc, pointer, ArrayRef<int64_t>{1});
}

Value packBufferPointer(OpBuilder &builder, Location loc, Value resource, Value elementOffset) {
  Value packed = LLVM::UndefOp::create(builder, loc, getBufferPointerType(builder.getContext()));
  if (!elementOffset)
    elementOffset = constantI32(builder, loc, 0);
  packed = LLVM::InsertValueOp::create(builder, loc, packed, resource, ArrayRef<int64_t>{0});
  return LLVM::InsertValueOp::create(builder, loc, packed, elementOffset, ArrayRef<int64_t>{1});
}

Value bufferByteOffset(OpBuilder &builder, Location loc, Value elementOffset, Type elementType,
                       const Swizzle &swizzle) {
  Value bytes = elementsToBytes(builder, loc, elementOffset, elementType);
  return swizzle.isTrivial() ? bytes : applySwizzle(builder, loc, bytes, swizzle);
}

namespace {

bool isBuffer(Type type) {
  auto pointer = dyn_cast<fly::PointerType>(type);
  return pointer && isBufferSpace(pointer.getAddressSpace());
}

struct MakeBufferLowering : OpConversionPattern<MakePtrOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MakePtrOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isBuffer(op.getResult().getType()))
      return failure();
    ValueRange arguments = adaptor.getArgs();
    if (arguments.size() != 4 || !isa<LLVM::LLVMPointerType>(arguments[0].getType()) ||
        !arguments[1].getType().isInteger(16) || !arguments[2].getType().isInteger(64) ||
        !arguments[3].getType().isInteger(32))
      return op.emitError("a buffer pointer is made of (base pointer, i16 stride, i64 number of "
                          "bytes, i32 flags)");
    Location loc = op.getLoc();
    auto resourceType = LLVM::LLVMPointerType::get(getContext(), 8);
    Value resource = ROCDL::MakeBufferRsrcOp::create(rewriter, loc, resourceType, arguments[0],
                                                     arguments[1], arguments[2], arguments[3]);
    rewriter.replaceOp(op, packBufferPointer(rewriter, loc, resource));
    return success();
  }
};

struct GetBufferRsrcLowering : OpConversionPattern<GetBufferRsrcOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(GetBufferRsrcOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ExtractValueOp>(op, adaptor.getSource(),
                                                      ArrayRef<int64_t>{0});
    return success();
  }
};

struct AddBufferOffsetLowering : OpConversionPattern<AddOffsetOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AddOffsetOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isBuffer(op.getIter().getType()))
      return failure();
    Location loc = op.getLoc();
    Value offset = offsetValue(rewriter, loc, op.getOffset());
    if (!offset)
      return rewriter.notifyMatchFailure(op, "offset is not made by make_int_tuple");
    Value elementOffset = bufferElementOffset(rewriter, loc, adaptor.getIter());
    elementOffset =
        arith::AddIOp::create(rewriter, loc, elementOffset, asI32(rewriter, loc, offset));
    Value resource = bufferResource(rewriter, loc, adaptor.getIter());
    rewriter.replaceOp(op, packBufferPointer(rewriter, loc, resource, elementOffset));
    return success();
  }
};

/// Where a buffer access through a converted pointer of this type goes.
struct BufferAddress {
  Value resource;
  Value offset; ///< in bytes
  Value zero;   ///< for what is not used
};
BufferAddress bufferAddress(OpBuilder &builder, Location loc, fly::PointerType type,
                            Value pointer) {
  Value zero = constantI32(builder, loc, 0);
  Value offset = bufferByteOffset(builder, loc, bufferElementOffset(builder, loc, pointer),
                                  type.getElementType(), type.getSwizzle());
  return {bufferResource(builder, loc, pointer), offset, zero};
}

struct BufferLoadLowering : OpConversionPattern<PtrLoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(PtrLoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getResult().getType());
    if (!isBuffer(op.getPtr().getType()) || !type)
      return failure();
    auto pointer = cast<fly::PointerType>(op.getPtr().getType());
    if (failed(checkSwizzle(op, pointer, type)))
      return failure();
    auto [resource, offset, zero] = bufferAddress(rewriter, op.getLoc(), pointer, adaptor.getPtr());
    rewriter.replaceOpWithNewOp<ROCDL::RawPtrBufferLoadOp>(op, type, resource, offset, zero, zero,
                                                           ArrayAttr(), ArrayAttr(), ArrayAttr());
    return success();
  }
};

struct BufferStoreLowering : OpConversionPattern<PtrStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(PtrStoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isBuffer(op.getPtr().getType()))
      return failure();
    auto pointer = cast<fly::PointerType>(op.getPtr().getType());
    Value value = adaptor.getValue();
    if (failed(checkSwizzle(op, pointer, value.getType())))
      return failure();
    auto [resource, offset, zero] = bufferAddress(rewriter, op.getLoc(), pointer, adaptor.getPtr());
    rewriter.replaceOpWithNewOp<ROCDL::RawPtrBufferStoreOp>(op, value, resource, offset, zero, zero,
                                                            ArrayAttr(), ArrayAttr(), ArrayAttr());
    return success();
  }
};

} // namespace

void populateBufferPointerPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  // Before the patterns of bare pointers.
  const PatternBenefit own = 2;
  patterns.add<MakeBufferLowering, GetBufferRsrcLowering, AddBufferOffsetLowering,
               BufferLoadLowering, BufferStoreLowering>(converter, patterns.getContext(), own);
}

} // namespace fly::rocdl
