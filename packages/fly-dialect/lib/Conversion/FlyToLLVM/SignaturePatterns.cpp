// SPDX-License-Identifier: Apache-2.0
#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace fly::lowering {
namespace {

/// An op that means the same on the converted types of its operands and results.
template <typename Op> struct RetypeOperands : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult matchAndRewrite(Op op, typename OpConversionPattern<Op>::OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(this->getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(adaptor.getOperands());
    state.addTypes(types);
    state.addAttributes(op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

} // namespace

void populateSignaturePatterns(const TypeConverter &converter, ConversionTarget &target,
                               RewritePatternSet &patterns) {
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, converter);
  populateFunctionOpInterfaceTypeConversionPattern<gpu::GPUFuncOp>(patterns, converter);
  populateCallOpTypeConversionPattern(patterns, converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  cf::populateCFStructuralTypeConversionsAndLegality(converter, patterns, target);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, target);
  patterns.add<RetypeOperands<gpu::LaunchFuncOp>, RetypeOperands<gpu::ReturnOp>,
               RetypeOperands<arith::SelectOp>, RetypeOperands<ub::PoisonOp>>(
      converter, patterns.getContext());

  target.addDynamicallyLegalOp<func::FuncOp, gpu::GPUFuncOp>([&](Operation *op) {
    auto function = cast<FunctionOpInterface>(op);
    return converter.isSignatureLegal(cast<FunctionType>(function.getFunctionType())) &&
           converter.isLegal(&function.getFunctionBody());
  });
  target.addDynamicallyLegalOp<func::CallOp, func::ReturnOp, gpu::LaunchFuncOp, gpu::ReturnOp,
                               arith::SelectOp, ub::PoisonOp>(
      [&](Operation *op) { return converter.isLegal(op); });
}

} // namespace fly::lowering
