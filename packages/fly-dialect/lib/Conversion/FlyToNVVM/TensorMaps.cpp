// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps in host functions: 128 bytes that the runtime encodes, and that launches pass by
// value.
#include "../FlyToLLVM/Addressing.h"
#include "NVVMDevice.h"
#include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.h"
#include "fly/Emit/Offloading.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace fly::lowering;

namespace fly::nvvm {
namespace {

constexpr int64_t mapBytes = 128, mapAlignment = 64;

/// The number that the CUDA driver has of an element type (CUtensorMapDataType).
int32_t dataTypeOf(Type elem, bool isSigned) {
  if (elem.isF16())
    return 6;
  if (elem.isF32())
    return 7;
  if (elem.isF64())
    return 8;
  if (elem.isBF16())
    return 9;
  switch (elem.getIntOrFloatBitWidth()) {
  case 8:
    return 0;
  case 16:
    return 1;
  case 32:
    return isSigned ? 3 : 2;
  default:
    return isSigned ? 5 : 4;
  }
}

int32_t swizzleNumber(int32_t bytes) {
  return bytes == 0 ? 0 : bytes == 32 ? 1 : bytes == 64 ? 2 : 3;
}

int32_t promotionNumber(int32_t bytes) { return bytes == 64 ? 1 : bytes == 128 ? 2 : 3; }

/// Declares what is called; the emission of the artifact defines the table.
void declareRuntime(OpBuilder &builder, ModuleOp module) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  Location loc = UnknownLoc::get(module.getContext());
  const auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  if (!module.lookupSymbol(tensorMapSymbol))
    LLVM::LLVMFuncOp::create(
        builder, loc, tensorMapSymbol,
        LLVM::LLVMFunctionType::get(builder.getI32Type(), {pointer, pointer, pointer}));
  if (!module.lookupSymbol(artifactSymbol))
    LLVM::GlobalOp::create(builder, loc, LLVM::LLVMStructType::getLiteral(module.getContext(), {}),
                           /*isConstant=*/false, LLVM::Linkage::External, artifactSymbol,
                           Attribute());
}

struct MakeTensorMapLowering : OpConversionPattern<MakeTensorMapOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MakeTensorMapOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto module = op->getParentOfType<ModuleOp>();
    auto function = op->getParentOfType<func::FuncOp>();
    if (!module || !function)
      return op.emitError("a tensor map is made in a host function");
    declareRuntime(rewriter, module);
    const TensorMapType map = op.getResult().getType();
    const auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
    const Type i32 = rewriter.getI32Type(), i64 = rewriter.getI64Type();

    // On the stack of the whole function: a map in a loop must not make it grow.
    auto slot = [&](Type type, int64_t count, int64_t alignment = 0) -> Value {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(&function.front());
      Value size = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(count));
      return LLVM::AllocaOp::create(rewriter, loc, pointer, type, size, alignment);
    };
    auto store = [&](Value array, Type type, int64_t index, Value value) {
      Value at = LLVM::GEPOp::create(rewriter, loc, pointer, type, array,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
      LLVM::StoreOp::create(rewriter, loc, value, at);
    };
    const auto rank = static_cast<int64_t>(map.getBox().size());
    Value extents = slot(i64, rank), strides = slot(i64, rank), box = slot(i32, rank),
          steps = slot(i32, rank);
    const int64_t bytes = getElementBitWidth(map.getElem()) / 8;
    for (int64_t axis = 0; axis != rank; ++axis) {
      store(extents, i64, axis, adaptor.getExtents()[axis]);
      store(box, i32, axis, constantI32(rewriter, loc, map.getBox()[rank - 1 - axis]));
      store(steps, i32, axis, constantI32(rewriter, loc, 1));
      if (axis + 1 == rank)
        break;
      Value distance = arith::MulIOp::create(rewriter, loc, adaptor.getStrides()[axis],
                                             constantI64(rewriter, loc, bytes));
      store(strides, i64, axis, distance);
    }

    // FlyTensorMap of flydsl/runtime.h.
    const auto struct_ = LLVM::LLVMStructType::getLiteral(
        rewriter.getContext(),
        {i32, i32, i64, pointer, pointer, pointer, pointer, i32, i32, i32, i32});
    constexpr int32_t noInterleave = 0, fillWithZeros = 0;
    Value base = LLVM::PtrToIntOp::create(rewriter, loc, i64, adaptor.getBase());
    Value fields[] = {constantI32(rewriter, loc, dataTypeOf(map.getElem(), op.getIsSigned())),
                      constantI32(rewriter, loc, static_cast<int32_t>(rank)),
                      base,
                      extents,
                      strides,
                      box,
                      steps,
                      constantI32(rewriter, loc, noInterleave),
                      constantI32(rewriter, loc, swizzleNumber(map.getSwizzle())),
                      constantI32(rewriter, loc, promotionNumber(op.getFetched())),
                      constantI32(rewriter, loc, fillWithZeros)};
    Value description = slot(struct_, 1);
    for (auto [index, field] : llvm::enumerate(fields)) {
      Value at = LLVM::GEPOp::create(rewriter, loc, pointer, struct_, description,
                                     ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
      LLVM::StoreOp::create(rewriter, loc, field, at);
    }
    Value encoded = slot(rewriter.getI8Type(), mapBytes, mapAlignment);
    Value artifact = LLVM::AddressOfOp::create(rewriter, loc, pointer, artifactSymbol);
    // The emission of the artifact ends the function where the status is not 0.
    LLVM::CallOp::create(rewriter, loc, TypeRange(i32), tensorMapSymbol,
                         ValueRange({artifact, encoded, description}));
    Type converted = getTypeConverter()->convertType(map);
    rewriter.replaceOp(op, LLVM::LoadOp::create(rewriter, loc, converted, encoded).getResult());
    return success();
  }
};

} // namespace

void populateTensorMapPatterns(TypeConverter &converter, RewritePatternSet &patterns) {
  converter.addConversion([](TensorMapType type) -> Type {
    return LLVM::LLVMArrayType::get(IntegerType::get(type.getContext(), 64), mapBytes / 8);
  });
  patterns.add<MakeTensorMapLowering>(converter, patterns.getContext());
}

} // namespace fly::nvvm
