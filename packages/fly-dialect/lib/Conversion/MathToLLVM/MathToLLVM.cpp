// SPDX-License-Identifier: Apache-2.0
//
// Math functions without a device library: LLVM intrinsics where the back end selects them,
// algorithms of our own where MLIR's lose digits, and MLIR's expansions and approximations
// elsewhere.
#include "NVPTXFunctions.h"
#include "Patterns.h"
#include "fly/Conversion/ControlFlow.h"
#include "fly/Conversion/Passes.h"

#include "mlir/Conversion/ArithCommon/AttrToLLVMConverter.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include "llvm/ADT/FloatingPointMode.h"
#include "llvm/ADT/TypeSwitch.h"

namespace fly {
#define GEN_PASS_DEF_FLYMATHTOLLVMPASS
#include "fly/Conversion/Passes.h.inc"
} // namespace fly

using namespace mlir;

namespace {

/// Functions that MLIR writes in terms of others: powf only with `afn`, and for exponents that are
/// products or roots.
constexpr StringRef expanded[] = {"powf", "fpowi", "round", "rsqrt", "ctlz", "ceildivsi"};

/// Functions for which MLIR has good polynomials in f32.
constexpr StringRef approximated[] = {"math.acos", "math.erf", "math.erfc", "math.expm1",
                                      "math.log1p"};

/// And those that only AMDGPU's back end selects.
constexpr StringRef approximatedForNVPTX[] = {"math.log", "math.log2"};

/// What the backend selects for f64 too, and what has an algorithm of its own for f64.
bool hasDoubleForm(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp, math::FmaOp,
             math::IsFiniteOp, math::IsInfOp, math::IsNaNOp, math::IsNormalOp, math::RoundEvenOp,
             math::RoundOp, math::SqrtOp, math::TruncOp, math::RsqrtOp, math::ClampFOp,
             math::IPowIOp, math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log2Op,
             math::Log10Op, math::Log1pOp, math::PowFOp, math::SinhOp, math::CoshOp, math::TanhOp,
             math::SinOp, math::CosOp, math::TanOp, math::SincosOp, math::AtanOp, math::Atan2Op,
             math::AsinOp, math::AcosOp, math::CbrtOp, math::AsinhOp, math::AcoshOp, math::AtanhOp>(
      op);
}

/// The intrinsic of an operation for which convert-gpu-to-rocdl and convert-gpu-to-nvvm, the next
/// pass, refuse LLVM's op form.
StringRef intrinsicOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<math::CeilOp>([](auto) { return "llvm.ceil"; })
      .Case<math::ExpOp>([](auto) { return "llvm.exp"; })
      .Case<math::Exp2Op>([](auto) { return "llvm.exp2"; })
      .Case<math::FloorOp>([](auto) { return "llvm.floor"; })
      .Case<math::LogOp>([](auto) { return "llvm.log"; })
      .Case<math::Log10Op>([](auto) { return "llvm.log10"; })
      .Case<math::Log2Op>([](auto) { return "llvm.log2"; })
      .Default(StringRef());
}

/// The same for operations of which convert-gpu-to-nvvm alone refuses LLVM's op form.
StringRef intrinsicOfNVPTX(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<math::AbsFOp>([](auto) { return "llvm.fabs"; })
      .Case<math::CopySignOp>([](auto) { return "llvm.copysign"; })
      .Case<math::RoundOp>([](auto) { return "llvm.round"; })
      .Case<math::RoundEvenOp>([](auto) { return "llvm.roundeven"; })
      .Case<math::SqrtOp>([](auto) { return "llvm.sqrt"; })
      .Default(StringRef());
}

/// The suffix that overloads an intrinsic: f32, v4f32.
std::string suffixOf(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto vector = dyn_cast<VectorType>(type))
    stream << 'v' << vector.getNumElements();
  stream << getElementTypeOrSelf(type);
  return text;
}

void callIntrinsic(Operation *op, StringRef intrinsic) {
  OpBuilder builder(op);
  LLVM::FastmathFlags flags = LLVM::FastmathFlags::none;
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op))
    flags = arith::convertArithFastMathFlagsToLLVM(fast.getFastMathFlagsAttr().getValue());
  Type type = op->getResult(0).getType();
  auto call = LLVM::CallIntrinsicOp::create(
      builder, op->getLoc(), type, builder.getStringAttr(intrinsic + "." + suffixOf(type)),
      op->getOperands(), LLVM::FastmathFlagsAttr::get(op->getContext(), flags));
  op->replaceAllUsesWith(call);
  op->erase();
}

/// isinf and isnormal test the class of a number, which is one instruction.
template <typename Op, unsigned classes> struct ClassTest : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::IsFPClass>(op, op.getType(), op.getOperand(), classes);
    return success();
  }
};
using IsInf = ClassTest<math::IsInfOp, llvm::fcInf>;
using IsNormal = ClassTest<math::IsNormalOp, llvm::fcNormal>;

/// min(max(value, low), high); MLIR's expansion mixes the bounds up.
struct Clamp : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ClampFOp op, PatternRewriter &rewriter) const override {
    Value low = arith::MaximumFOp::create(rewriter, op.getLoc(), op.getValue(), op.getMin(),
                                          op.getFastmath());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, low, op.getMax(), op.getFastmath());
    return success();
  }
};

/// erf(x) as erf(|x|) with the sign of x; MLIR's polynomials lose the sign of a zero.
struct SignedErf : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    Value x = op.getOperand();
    if (x.getDefiningOp<math::AbsFOp>())
      return failure();
    Value magnitude = math::AbsFOp::create(rewriter, op.getLoc(), x);
    Value erf = math::ErfOp::create(rewriter, op.getLoc(), magnitude, op.getFastmath());
    rewriter.replaceOpWithNewOp<math::CopySignOp>(op, erf, x);
    return success();
  }
};

/// Powers of integers, modulo 2^width, by squaring. A negative exponent gives what integer division
/// makes of 1 / base^n: 0, but for the bases 1 and -1.
struct IntegerPower : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IPowIOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getType();
    unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    auto constant = [&](int64_t value) -> Value {
      TypedAttr attribute = rewriter.getIntegerAttr(getElementTypeOrSelf(type), value);
      if (auto shaped = dyn_cast<ShapedType>(type))
        attribute = DenseElementsAttr::get(shaped, Attribute(attribute));
      return arith::ConstantOp::create(rewriter, loc, attribute);
    };
    Value base = op.getLhs(), exponent = op.getRhs(), one = constant(1), power = one;
    APInt known;
    const bool isKnown = matchPattern(exponent, m_ConstantInt(&known));
    if (!isKnown || !known.isNegative()) {
      const unsigned bits = isKnown ? known.getActiveBits() : width;
      for (unsigned bit = 0; bit < bits; ++bit) {
        if (bit > 0)
          base = arith::MulIOp::create(rewriter, loc, base, base);
        Value factor = base;
        if (!isKnown)
          factor = arith::SelectOp::create(
              rewriter, loc, hasBit(rewriter, loc, exponent, constant, bit), base, one);
        if (!isKnown || known[bit])
          power = arith::MulIOp::create(rewriter, loc, power, factor);
      }
    }
    if (!isKnown || known.isNegative()) {
      Value zero = constant(0), minusOne = constant(-1);
      auto is = [&](arith::CmpIPredicate predicate, Value value, Value other) -> Value {
        return arith::CmpIOp::create(rewriter, loc, predicate, value, other);
      };
      Value alternating = arith::SelectOp::create(
          rewriter, loc, hasBit(rewriter, loc, exponent, constant, 0), minusOne, one);
      Value inverse = arith::SelectOp::create(
          rewriter, loc, is(arith::CmpIPredicate::eq, op.getLhs(), minusOne), alternating, zero);
      inverse = arith::SelectOp::create(
          rewriter, loc, is(arith::CmpIPredicate::eq, op.getLhs(), one), one, inverse);
      power = arith::SelectOp::create(rewriter, loc, is(arith::CmpIPredicate::slt, exponent, zero),
                                      inverse, power);
    }
    rewriter.replaceOp(op, power);
    return success();
  }

private:
  static Value hasBit(PatternRewriter &rewriter, Location loc, Value value,
                      llvm::function_ref<Value(int64_t)> constant, unsigned bit) {
    Value shifted = arith::ShRUIOp::create(rewriter, loc, value, constant(bit));
    Value last = arith::AndIOp::create(rewriter, loc, shifted, constant(1));
    return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, last, constant(0));
  }
};

struct FlyMathToLLVMPass : fly::impl::FlyMathToLLVMPassBase<FlyMathToLLVMPass> {
  using FlyMathToLLVMPassBase::FlyMathToLLVMPassBase;

  void runOnOperation() override {
    if (!hasMath()) // most kernels; making the patterns takes longer than looking
      return;
    if (failed(refuseDouble()) || failed(widen()) || failed(expand()) || failed(lowerBranches()) ||
        failed(convert()))
      signalPassFailure();
  }

private:
  bool isNVPTX() const { return StringRef(chip).starts_with("sm_"); }

  bool hasMath() {
    return getOperation()
        ->walk([](Operation *op) {
          return isa_and_nonnull<math::MathDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                                      : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// There is no f64 version of the other functions in the backend.
  LogicalResult refuseDouble() {
    WalkResult walked = getOperation()->walk([&](Operation *op) {
      if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) || hasDoubleForm(op))
        return WalkResult::advance();
      if (llvm::none_of(op->getOperandTypes(),
                        [](Type type) { return getElementTypeOrSelf(type).isF64(); }))
        return WalkResult::advance();
      op->emitOpError("has no double-precision form on ")
          << (isNVPTX() ? "NVIDIA" : "AMD") << " GPUs; convert the operand to f32";
      return WalkResult::interrupt();
    });
    return failure(walked.wasInterrupted());
  }

  /// 16-bit floats are computed in f32 and rounded once.
  LogicalResult widen() {
    MLIRContext *context = &getContext();
    TypeConverter converter;
    SetVector<Type> kept;
    kept.insert(Float32Type::get(context));
    kept.insert(Float64Type::get(context));
    math::populateExtendToSupportedTypesTypeConverter(converter, kept, Float32Type::get(context));
    ConversionTarget target(*context);
    math::populateExtendToSupportedTypesConversionTarget(target, converter);
    // Asked first: MLIR's answer reads the dialect.
    target.markUnknownOpDynamicallyLegal([](Operation *op) -> std::optional<bool> {
      return op->getDialect() ? std::nullopt : std::optional<bool>(true);
    });
    RewritePatternSet patterns(context);
    math::populateExtendToSupportedTypesPatterns(patterns, converter);
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  LogicalResult expand() {
    RewritePatternSet patterns(&getContext());
    patterns.add<Clamp, IntegerPower, IsInf, IsNormal>(&getContext());
    patterns.add<SignedErf>(&getContext(), /*benefit=*/2); // before MLIR's
    fly::populateTrigonometryPatterns(patterns);
    fly::populateInverseTrigonometryPatterns(patterns);
    fly::populateHyperbolicPatterns(patterns);
    fly::populatePowerPatterns(patterns);
    fly::populateDoubleExponentialPatterns(patterns);
    fly::populateDoubleLogarithmPatterns(patterns);
    fly::populateDoubleTrigonometryPatterns(patterns);
    fly::populateDoubleInverseTrigonometryPatterns(patterns);
    math::populateExpansionPatterns(patterns, expanded);
    if (isNVPTX())
      fly::populateNVPTXPatterns(patterns);
    populateMathPolynomialApproximationPatterns(patterns, [&](StringRef name) {
      return llvm::is_contained(approximated, name) ||
             (isNVPTX() && llvm::is_contained(approximatedForNVPTX, name));
    });
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    return applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }

  /// The branches of the functions become blocks, as the rest of the control flow is by now. Inside
  /// of structured control flow they stay, for who lowers that.
  LogicalResult lowerBranches() {
    return fly::lowerToControlFlow(getOperation(), [](Operation *op) {
      return isa<scf::IfOp>(op) && isa<FunctionOpInterface>(op->getParentOp());
    });
  }

  LogicalResult convert() {
    getOperation()->walk([&](Operation *op) {
      StringRef intrinsic = intrinsicOf(op);
      if (intrinsic.empty() && isNVPTX())
        intrinsic = intrinsicOfNVPTX(op);
      if (!intrinsic.empty())
        callIntrinsic(op, intrinsic);
    });
    MLIRContext *context = &getContext();
    LLVMTypeConverter converter(context);
    ConversionTarget target(*context);
    target.addIllegalDialect<math::MathDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    RewritePatternSet patterns(context);
    populateMathToLLVMConversionPatterns(converter, patterns);
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }
};

} // namespace
