// SPDX-License-Identifier: Apache-2.0
#include "Addressing.h"
#include "Contiguity.h"
#include "Patterns.h"
#include "SharedMemory.h"
#include "TypeConverter.h"
#include "fly/Conversion/StorageType.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

namespace fly::rocdl {
namespace {

std::optional<int64_t> integerFrom(std::optional<DictionaryAttr> attributes, StringRef name) {
  auto value = attributes ? attributes->getAs<IntegerAttr>(name) : IntegerAttr();
  if (!value)
    return std::nullopt;
  return value.getInt();
}

struct MakePtrLowering : OpConversionPattern<MakePtrOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MakePtrOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<fly::PointerType>(op.getResult().getType());
    if (isBufferSpace(type.getAddressSpace()))
      return makeBuffer(op, adaptor, rewriter);
    if (type.isInSpace(AddressSpace::Register))
      return allocateRegisters(op, type, rewriter);
    if (type.isInSpace(AddressSpace::Shared))
      return allocateShared(op, rewriter);
    return rewriter.notifyMatchFailure(op, "no meaning in this address space");
  }

private:
  LogicalResult makeBuffer(MakePtrOp op, OpAdaptor adaptor,
                           ConversionPatternRewriter &rewriter) const {
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

  LogicalResult allocateRegisters(MakePtrOp op, fly::PointerType type,
                                  ConversionPatternRewriter &rewriter) const {
    std::optional<int64_t> size = integerFrom(op.getDictAttrs(), "allocSize");
    if (!size || *size <= 0)
      return op.emitError("a register pointer needs a positive allocSize, in elements");
    // In the entry block an alloca is one piece of the frame, which LLVM splits into registers.
    if (auto function = op->getParentOfType<FunctionOpInterface>()) {
      Block *entry = &function.getFunctionBody().front();
      if (op->getBlock() != entry)
        rewriter.setInsertionPointToStart(entry);
    }
    Value count = constantI64(rewriter, op.getLoc(), *size);
    rewriter.replaceOpWithNewOp<LLVM::AllocaOp>(op, getTypeConverter()->convertType(type),
                                                getStorageType(type.getElementType()), count);
    return success();
  }

  static LogicalResult allocateShared(MakePtrOp op, ConversionPatternRewriter &rewriter) {
    std::optional<int64_t> bytes = integerFrom(op.getDictAttrs(), "allocBytes");
    std::optional<int64_t> alignment = integerFrom(op.getDictAttrs(), "allocAlign");
    if (!bytes || *bytes <= 0 || !alignment ||
        !llvm::isPowerOf2_64(std::max<int64_t>(*alignment, 0)))
      return op.emitError(
          "a shared pointer needs a positive allocBytes and an allocAlign that is a "
          "power of two");
    FailureOr<LLVM::GlobalOp> global = createSharedGlobal(rewriter, op, *bytes, *alignment);
    if (failed(global))
      return failure();
    rewriter.replaceOpWithNewOp<LLVM::AddressOfOp>(op, *global);
    return success();
  }
};

struct GetDynSharedLowering : OpConversionPattern<GetDynSharedOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(GetDynSharedOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<LLVM::GlobalOp> global = getDynamicSharedGlobal(rewriter, op);
    if (failed(global))
      return failure();
    Value address = LLVM::AddressOfOp::create(rewriter, op.getLoc(), *global);
    rewriter.replaceOpWithNewOp<LLVM::GEPOp>(op, address.getType(), rewriter.getI8Type(), address,
                                             ArrayRef<LLVM::GEPArg>{0});
    return success();
  }
};

struct IntToPtrLowering : OpConversionPattern<IntToPtrOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(IntToPtrOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast_or_null<LLVM::LLVMPointerType>(
        getTypeConverter()->convertType(op.getResult().getType()));
    if (!type)
      return rewriter.notifyMatchFailure(op, "not a bare pointer");
    rewriter.replaceOpWithNewOp<LLVM::IntToPtrOp>(op, type, adaptor.getSource());
    return success();
  }
};

struct PtrToIntLowering : OpConversionPattern<PtrToIntOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(PtrToIntOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::PtrToIntOp>(op, op.getResult().getType(),
                                                  adaptor.getSource());
    return success();
  }
};

struct ToLLVMPtrLowering : OpConversionPattern<ToLLVMPtrOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ToLLVMPtrOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<LLVM::LLVMPointerType>(adaptor.getSource().getType());
    if (!type)
      return op.emitError("pointer address space does not lower to a bare ROCDL LLVM pointer: ")
             << op.getSource().getType().getAddressSpace();
    if (type.getAddressSpace() != static_cast<unsigned>(op.getLlvmAddressSpace()))
      return op.emitError("requested LLVM address space ")
             << op.getLlvmAddressSpace() << " but ROCDL conversion requires "
             << type.getAddressSpace();
    rewriter.replaceOp(op, adaptor.getSource());
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

/// The one integer that `offset`, a leaf tuple, stands for. Null when it is not made by
/// make_int_tuple.
Value offsetValue(OpBuilder &builder, Location loc, Value offset) {
  IntTuple leaf = cast<IntTupleType>(offset.getType()).getValue();
  while (leaf.isTuple() && leaf.rank() == 1)
    leaf = IntTuple(leaf.mode(0));
  if (leaf.isStaticLeaf())
    return constantI32(builder, loc, leaf.staticValue());
  auto made = offset.getDefiningOp<MakeIntTupleOp>();
  if (!leaf.isDynamicLeaf() || !made || made.getDynamicLeaves().size() != 1)
    return Value();
  return made.getDynamicLeaves().front();
}

struct AddOffsetLowering : OpConversionPattern<AddOffsetOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(AddOffsetOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<fly::PointerType>(op.getIter().getType());
    if (!type)
      return rewriter.notifyMatchFailure(op, "not a pointer");
    Location loc = op.getLoc();
    Value offset = offsetValue(rewriter, loc, op.getOffset());
    if (!offset)
      return rewriter.notifyMatchFailure(op, "offset is not made by make_int_tuple");
    if (isBufferSpace(type.getAddressSpace())) {
      Value elementOffset = bufferElementOffset(rewriter, loc, adaptor.getIter());
      elementOffset =
          arith::AddIOp::create(rewriter, loc, elementOffset, asI32(rewriter, loc, offset));
      Value resource = bufferResource(rewriter, loc, adaptor.getIter());
      rewriter.replaceOp(op, packBufferPointer(rewriter, loc, resource, elementOffset));
      return success();
    }
    rewriter.replaceOpWithNewOp<LLVM::GEPOp>(op, adaptor.getIter().getType(),
                                             getStorageType(type.getElementType()),
                                             adaptor.getIter(), ValueRange{offset});
    return success();
  }
};

/// Ops that only change what the type says about a pointer.
template <typename Op> struct IdentityLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename OpConversionPattern<Op>::OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value source = adaptor.getOperands().front();
    if (source.getType() != this->getTypeConverter()->convertType(op.getResult().getType()))
      return rewriter.notifyMatchFailure(op, "the pointer's representation changes");
    rewriter.replaceOp(op, source);
    return success();
  }
};

struct ExtractAlignedPointerLowering : OpConversionPattern<ExtractAlignedPointerAsIndexOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(ExtractAlignedPointerAsIndexOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value pointer = adaptor.getSource();
    Type type = getTypeConverter()->convertType(op.getResult().getType());
    if (!isa<LLVM::LLVMPointerType>(pointer.getType()) ||
        !isa_and_nonnull<LLVM::LLVMPointerType>(type))
      return rewriter.notifyMatchFailure(op, "not a bare pointer");
    if (pointer.getType() != type)
      pointer = LLVM::AddrSpaceCastOp::create(rewriter, op.getLoc(), type, pointer);
    rewriter.replaceOp(op, pointer);
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

struct PtrLoadLowering : OpConversionPattern<PtrLoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(PtrLoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto pointer = dyn_cast<fly::PointerType>(op.getPtr().getType());
    Type type = getTypeConverter()->convertType(op.getResult().getType());
    if (!pointer || !type)
      return rewriter.notifyMatchFailure(op, "not a load through a pointer");
    if (failed(checkSwizzle(op, pointer, type)))
      return failure();
    Location loc = op.getLoc();
    if (isBufferSpace(pointer.getAddressSpace())) {
      auto [resource, offset, zero] = bufferAddress(rewriter, loc, pointer, adaptor.getPtr());
      rewriter.replaceOpWithNewOp<ROCDL::RawPtrBufferLoadOp>(op, type, resource, offset, zero, zero,
                                                             ArrayAttr(), ArrayAttr(), ArrayAttr());
      return success();
    }
    Value address = swizzlePointer(rewriter, loc, adaptor.getPtr(), pointer.getSwizzle());
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(
        op, type, address, accessAlignment(pointer.getAlignment(), pointer.getSwizzle()));
    return success();
  }
};

struct PtrStoreLowering : OpConversionPattern<PtrStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(PtrStoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto pointer = cast<fly::PointerType>(op.getPtr().getType());
    Value value = adaptor.getValue();
    if (failed(checkSwizzle(op, pointer, value.getType())))
      return failure();
    Location loc = op.getLoc();
    if (isBufferSpace(pointer.getAddressSpace())) {
      auto [resource, offset, zero] = bufferAddress(rewriter, loc, pointer, adaptor.getPtr());
      rewriter.replaceOpWithNewOp<ROCDL::RawPtrBufferStoreOp>(
          op, value, resource, offset, zero, zero, ArrayAttr(), ArrayAttr(), ArrayAttr());
      return success();
    }
    Value address = swizzlePointer(rewriter, loc, adaptor.getPtr(), pointer.getSwizzle());
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(
        op, value, address, accessAlignment(pointer.getAlignment(), pointer.getSwizzle()));
    return success();
  }
};

} // namespace

void populatePointerPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<MakePtrLowering, GetDynSharedLowering, IntToPtrLowering, PtrToIntLowering,
               ToLLVMPtrLowering, GetBufferRsrcLowering, AddOffsetLowering,
               IdentityLowering<ApplySwizzleOp>, IdentityLowering<RecastIterOp>,
               IdentityLowering<MakeViewOp>, IdentityLowering<GetIterOp>,
               ExtractAlignedPointerLowering, PtrLoadLowering, PtrStoreLowering>(
      converter, patterns.getContext());
}

} // namespace fly::rocdl
