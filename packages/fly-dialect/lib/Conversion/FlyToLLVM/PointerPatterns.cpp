// SPDX-License-Identifier: Apache-2.0
#include "Addressing.h"
#include "Contiguity.h"
#include "DeviceConversion.h"
#include "Patterns.h"
#include "SharedMemory.h"
#include "TypeConverter.h"
#include "fly/Conversion/StorageType.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace fly::lowering {
namespace {

std::optional<int64_t> integerFrom(std::optional<DictionaryAttr> attributes, StringRef name) {
  auto value = attributes ? attributes->getAs<IntegerAttr>(name) : IntegerAttr();
  if (!value)
    return std::nullopt;
  return value.getInt();
}

struct MakePtrLowering : OpConversionPattern<MakePtrOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MakePtrOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<fly::PointerType>(op.getResult().getType());
    if (type.isInSpace(AddressSpace::Register))
      return allocateRegisters(op, type, rewriter);
    if (type.isInSpace(AddressSpace::Shared))
      return allocateShared(op, rewriter);
    return rewriter.notifyMatchFailure(op, "no meaning in this address space");
  }

private:
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

  LogicalResult allocateShared(MakePtrOp op, ConversionPatternRewriter &rewriter) const {
    std::optional<int64_t> bytes = integerFrom(op.getDictAttrs(), "allocBytes");
    std::optional<int64_t> alignment = integerFrom(op.getDictAttrs(), "allocAlign");
    if (!bytes || *bytes <= 0 || !alignment ||
        !llvm::isPowerOf2_64(std::max<int64_t>(*alignment, 0)))
      return op.emitError(
          "a shared pointer needs a positive allocBytes and an allocAlign that is a "
          "power of two");
    FailureOr<LLVM::GlobalOp> global =
        createSharedGlobal(rewriter, op, deviceOf(*this).getSharedLinkage(), *bytes, *alignment);
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
      return op.emitError("pointer address space does not lower to a bare ")
             << deviceOf(*this).getName()
             << " LLVM pointer: " << op.getSource().getType().getAddressSpace();
    if (type.getAddressSpace() != static_cast<unsigned>(op.getLlvmAddressSpace()))
      return op.emitError("requested LLVM address space ")
             << op.getLlvmAddressSpace() << " but " << deviceOf(*this).getName()
             << " conversion requires " << type.getAddressSpace();
    rewriter.replaceOp(op, adaptor.getSource());
    return success();
  }
};

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
    Value address = swizzlePointer(rewriter, loc, adaptor.getPtr(), pointer.getSwizzle());
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(
        op, value, address, accessAlignment(pointer.getAlignment(), pointer.getSwizzle()));
    return success();
  }
};

} // namespace

void populatePointerPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<MakePtrLowering, GetDynSharedLowering, IntToPtrLowering, PtrToIntLowering,
               ToLLVMPtrLowering, AddOffsetLowering, IdentityLowering<ApplySwizzleOp>,
               IdentityLowering<RecastIterOp>, IdentityLowering<MakeViewOp>,
               IdentityLowering<GetIterOp>, ExtractAlignedPointerLowering, PtrLoadLowering,
               PtrStoreLowering>(converter, patterns.getContext());
}

} // namespace fly::lowering
