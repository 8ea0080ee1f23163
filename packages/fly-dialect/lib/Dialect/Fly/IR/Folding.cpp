// SPDX-License-Identifier: Apache-2.0
//
// Folders. They run wherever MLIR folds: in `canonicalize`, in `sccp`, and in builders that ask for
// it; but not in the passes whose output existing tests fix. An op may have lost attributes when it
// is folded.

#include "fly/Dialect/Fly/IR/Folding.h"
#include "fly/Algebra/TupleArithmetic.h"
#include "fly/Dialect/Fly/IR/Constructors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fly;

static thread_local unsigned pauses = 0;

FoldingPause::FoldingPause() { ++pauses; }
FoldingPause::~FoldingPause() { --pauses; }

std::optional<FlyValue> fly::readConstructed(Value value) {
  if (isStaticType(value.getType()))
    return getFlyValue(value.getType());
  Operation *op = value.getDefiningOp();
  return op ? readConstructor(op, readConstructed) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Construction and extraction
//===----------------------------------------------------------------------===//

/// The operand of the constructor of `source` that the extractor `op` asks for; null if there is
/// none.
static Value extracted(Operation *op, Value source) {
  Operation *maker = source.getDefiningOp();
  if (!maker)
    return {};
  return llvm::TypeSwitch<Operation *, Value>(maker)
      .Case([&](MakeLayoutOp make) -> Value {
        if (isa<GetShapeOp>(op))
          return make.getShape();
        return isa<GetStrideOp>(op) ? make.getStride() : Value();
      })
      .Case([&](MakeComposedLayoutOp make) -> Value {
        if (isa<ComposedGetInnerOp>(op))
          return make.getInner();
        if (isa<ComposedGetOffsetOp>(op))
          return make.getOffset();
        if (isa<ComposedGetOuterOp>(op))
          return make.getOuter();
        return isa<GetShapeOp>(op) ? extracted(op, make.getOuter()) : Value();
      })
      .Case([&](MakeViewOp make) -> Value {
        if (isa<GetIterOp>(op))
          return make.getIter();
        if (isa<GetLayoutOp>(op))
          return make.getLayout();
        return extracted(op, make.getLayout());
      })
      .Case([&](MakeTiledCopyOp make) -> Value {
        return isa<GetCopyAtomOp>(op) ? make.getAtom() : Value();
      })
      .Case([&](MakeTiledMmaOp make) -> Value {
        return isa<GetMmaAtomOp>(op) ? make.getAtom() : Value();
      })
      .Case([&](IntToPtrOp make) -> Value {
        return isa<PtrToIntOp>(op) ? make.getSource() : Value();
      })
      .Default(Value());
}

/// What all operands have been extracted from, in this order; null otherwise.
template <typename... Extractors> static Value sourceOf(ValueRange operands) {
  Value source;
  unsigned index = 0;
  auto matches = [&](auto extractor) {
    if (!extractor)
      return false;
    Value from = extractor->getOperand(0);
    bool same = !source || source == from;
    source = from;
    return same;
  };
  return (matches(operands[index++].getDefiningOp<Extractors>()) && ...) ? source : Value();
}

/// An op may have lost the attribute.
static bool takesOnlyDynamic(GetLeavesOp op) {
  BoolAttr attribute = op.getDynamicOnlyAttr();
  return attribute && attribute.getValue();
}

/// What a tuple of all its dynamic leaves is.
static Value sourceOfLeaves(MakeIntTupleOp op) {
  if (op->getNumOperands() == 0)
    return {};
  auto leaves = op->getOperand(0).getDefiningOp<GetLeavesOp>();
  return leaves && takesOnlyDynamic(leaves) && leaves.getResults() == op->getOperands()
             ? leaves.getSource()
             : Value();
}

/// Where one of the values that `op` puts together or takes apart is its result; null otherwise.
static Value partOrWhole(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<GetShapeOp, GetStrideOp, GetLayoutOp, GetIterOp, ComposedGetInnerOp,
            ComposedGetOffsetOp, ComposedGetOuterOp, GetCopyAtomOp, GetMmaAtomOp, PtrToIntOp>(
          [](Operation *extractor) { return extracted(extractor, extractor->getOperand(0)); })
      .Case(
          [](MakeLayoutOp make) { return sourceOf<GetShapeOp, GetStrideOp>(make->getOperands()); })
      .Case([](MakeViewOp make) { return sourceOf<GetIterOp, GetLayoutOp>(make->getOperands()); })
      .Case([](MakeComposedLayoutOp make) {
        return sourceOf<ComposedGetInnerOp, ComposedGetOffsetOp, ComposedGetOuterOp>(
            make->getOperands());
      })
      .Case([](MakeIntTupleOp make) { return sourceOfLeaves(make); })
      .Default(Value());
}

//===----------------------------------------------------------------------===//
// Identities
//===----------------------------------------------------------------------===//

static bool isAll(Value value, int32_t wanted) {
  auto type = dyn_cast<IntTupleType>(value.getType());
  if (!type)
    return false;
  bool all = true;
  forEachLeaf(type.getValue(), [&](const IntTuple &leaf) { all &= leaf.isStaticInt(wanted); });
  return all;
}

static bool isInOrder(SelectOp op) {
  DenseI32ArrayAttr indices = op.getIndicesAttr();
  return indices && llvm::all_of(llvm::enumerate(indices.asArrayRef()), [](auto entry) {
           return entry.value() == static_cast<int32_t>(entry.index());
         });
}

/// Whether `op` hands its first operand on if its result has that operand's type. Most of these
/// change the structure of a type unless they change nothing.
static bool isIdentity(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<IntTupleAddOp, IntTupleSubOp>([](auto sum) { return isAll(sum.getRhs(), 0); })
      .Case<IntTupleMulOp, IntTupleDivOp, ShapeDivOp, CeilDivOp>(
          [](auto product) { return isAll(product.getRhs(), 1); })
      .Case([](AddOffsetOp add) { return isAll(add.getOffset(), 0); })
      .Case([](SelectOp select) { return isInOrder(select); })
      .Case<GetOp, TakeOp, SliceOp, DiceOp, AppendOp, PrependOp, CoalesceOp, DecompositionOp,
            ApplySwizzleOp, RecastIterOp, IntTupleProductOp, IntTupleProductEachOp>(
          [](Operation *) { return true; })
      .Case([](SizeOp size) { return isa<IntTupleType>(size.getSource().getType()); })
      .Default(false);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// `leaf` as an integer of `type`; null if it is not known. None is 0.
static OpFoldResult toInteger(const IntTuple &leaf, Type type) {
  if (leaf.isDynamicLeaf()) {
    Value value = toValue(leaf.handle());
    return value && value.getType() == type ? value : Value();
  }
  return IntegerAttr::get(type, leaf.isNone() ? 0 : leaf.withPath({}).staticValue());
}

static OpFoldResult foldScalar(GetScalarOp op) {
  std::optional<FlyValue> tuple = readConstructed(op.getSource());
  if (!tuple)
    return {};
  const IntTuple *leaf = &std::get<IntTuple>(*tuple);
  while (leaf->isTuple())
    leaf = &leaf->mode(0);
  return toInteger(*leaf, op.getType());
}

LogicalResult GetLeavesOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  std::optional<FlyValue> tuple;
  if (pauses == 0)
    tuple = readConstructed(getSource());
  if (!tuple)
    return failure();
  SmallVector<IntTuple> wanted;
  forEachLeaf(std::get<IntTuple>(*tuple), [&](const IntTuple &leaf) {
    if (leaf.isDynamicLeaf() || !takesOnlyDynamic(*this))
      wanted.push_back(leaf);
  });
  if (wanted.empty() || wanted.size() != getNumResults())
    return failure();
  for (auto [leaf, type] : llvm::zip_equal(wanted, getResultTypes()))
    results.push_back(toInteger(leaf, type));
  return success(!llvm::is_contained(results, OpFoldResult()));
}

/// A comparison of tuples whose types decide it.
static OpFoldResult foldComparison(Operation *op) {
  AlgebraContext cx;
  const IntTuple &lhs = cast<IntTupleType>(op->getOperand(0).getType()).getValue();
  const IntTuple &rhs = cast<IntTupleType>(op->getOperand(1).getType()).getValue();
  if (!lhs.isStatic() || !rhs.isStatic())
    return {};
  const Truth truth = isa<EqualOp>(op) ? tupleEqual(cx, lhs, rhs) : elemLess(cx, lhs, rhs);
  if (cx.failed() || !truth.known)
    return {};
  return BoolAttr::get(op->getContext(), *truth.known);
}

OpFoldResult fly::foldOp(Operation *op) {
  if (pauses != 0)
    return {};
  const Type type = op->getResult(0).getType();
  if (auto assume = dyn_cast<AssumeOp>(op))
    return assume.getSrc().getType() == type ? assume.getSrc() : Value();
  if (auto scalar = dyn_cast<GetScalarOp>(op))
    return foldScalar(scalar);
  if (isa<EqualOp, ElemLessOp>(op))
    return foldComparison(op);
  if (Value value = partOrWhole(op); value && value.getType() == type)
    return value;
  if (isIdentity(op) && op->getOperand(0).getType() == type)
    return op->getOperand(0);
  return {};
}

Operation *FlyDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                           Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
