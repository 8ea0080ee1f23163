// SPDX-License-Identifier: Apache-2.0
#include "fly/Algebra/Compose.h"
#include "fly/Conversion/StorageType.h"
#include "fly/Dialect/Fly/IR/FlyOps.h"
#include "fly/Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"

namespace fly {
#define GEN_PASS_DEF_FLYCONVERTATOMCALLTOSSAFORMPASS
#include "fly/Transforms/Passes.h.inc"
} // namespace fly

using namespace mlir;
using namespace fly;

namespace {

bool isInRegisters(Value operand) {
  auto type = dyn_cast<fly::MemRefType>(operand.getType());
  return type && type.isInSpace(AddressSpace::Register);
}

/// A register tensor whose elements lie side by side.
struct ContiguousRegisters {
  Value iterator;
  Type valueType; ///< a vector of the elements; of one element, a scalar
};

/// The operand as contiguous registers, if it is: a memref in `register` that is defined by
/// make_view and whose layout coalesces to one leaf of stride 1 or extent 1.
std::optional<ContiguousRegisters> asContiguousRegisters(Value operand) {
  auto type = operand ? dyn_cast<fly::MemRefType>(operand.getType()) : fly::MemRefType();
  auto view = operand ? operand.getDefiningOp<MakeViewOp>() : MakeViewOp();
  if (!type || !view || !type.isInSpace(AddressSpace::Register) || type.getLayout().isComposed())
    return std::nullopt;
  AlgebraContext algebra;
  Layout layout = canonicalise(algebra, coalesce(algebra, type.getLayout().plain()));
  if (algebra.failed() || !layout.shape().isLeaf() || !layout.shape().isStaticLeaf())
    return std::nullopt;
  int32_t extent = layout.shape().staticValue();
  if (extent < 1 || (extent != 1 && !layout.stride().isStaticInt(1)))
    return std::nullopt;
  Type element = getStorageType(type.getElementType());
  return ContiguousRegisters{view.getIter(),
                             extent == 1 ? element : VectorType::get(extent, element)};
}

Value loadRegisters(OpBuilder &builder, Location loc, const ContiguousRegisters &registers) {
  return PtrLoadOp::create(builder, loc, registers.valueType, registers.iterator);
}

/// The value of an eligible operand; another operand as it is.
Value loadIfEligible(OpBuilder &builder, Location loc, Value operand) {
  auto registers = asContiguousRegisters(operand);
  return registers ? loadRegisters(builder, loc, *registers) : operand;
}

/// Stores `call`'s result to the registers that it was a destination for, and erases the memory
/// form.
void finish(RewriterBase &rewriter, Operation *memoryForm, Operation *call,
            const std::optional<ContiguousRegisters> &destination) {
  if (destination)
    PtrStoreOp::create(rewriter, call->getLoc(), call->getResult(0), destination->iterator);
  rewriter.eraseOp(memoryForm);
}

void convert(RewriterBase &rewriter, CopyAtomCallOp op) {
  auto destination = asContiguousRegisters(op.getDst());
  // Between other memories the predicate may be what is in registers. Registers that are not
  // contiguous stay operands, and so does a predicate beside them.
  const bool ofMemory = !isInRegisters(op.getSrc()) && !isInRegisters(op.getDst());
  if (!destination && !asContiguousRegisters(op.getSrc()) &&
      !(ofMemory && asContiguousRegisters(op.getPred())))
    return;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value source = loadIfEligible(rewriter, loc, op.getSrc());
  Value predicate = op.getPred() ? loadIfEligible(rewriter, loc, op.getPred()) : Value();
  Value oldValue = op.getDst();
  SmallVector<Type, 1> results;
  if (destination) {
    // A call that does not happen leaves the registers as they were.
    oldValue = predicate ? loadRegisters(rewriter, loc, *destination) : Value();
    results.push_back(destination->valueType);
  }
  auto call =
      CopyAtomCallSSAOp::create(rewriter, loc, results, op.getAtom(), source, oldValue, predicate);
  finish(rewriter, op, call, destination);
}

void convert(RewriterBase &rewriter, MmaAtomCallOp op) {
  auto destination = asContiguousRegisters(op.getD());
  bool eligible = destination.has_value();
  for (Value operand : op->getOperands())
    eligible |= asContiguousRegisters(operand).has_value();
  if (!eligible)
    return;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto loadAll = [&](ValueRange operands) {
    SmallVector<Value> values;
    for (Value operand : operands)
      values.push_back(loadIfEligible(rewriter, loc, operand));
    return values;
  };
  SmallVector<Value> a = loadAll(op.getA());
  SmallVector<Value> b = loadAll(op.getB());
  Value c = loadIfEligible(rewriter, loc, op.getC());
  SmallVector<Type, 1> results;
  if (destination)
    results.push_back(destination->valueType);
  auto call = MmaAtomCallSSAOp::create(rewriter, loc, results, op.getAtom(),
                                       destination ? Value() : op.getD(), a, b, c);
  finish(rewriter, op, call, destination);
}

struct FlyConvertAtomCallToSSAFormPass
    : fly::impl::FlyConvertAtomCallToSSAFormPassBase<FlyConvertAtomCallToSSAFormPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](Operation *op) {
      if (auto copy = dyn_cast<CopyAtomCallOp>(op))
        convert(rewriter, copy);
      else if (auto mma = dyn_cast<MmaAtomCallOp>(op))
        convert(rewriter, mma);
    });
  }
};

} // namespace
