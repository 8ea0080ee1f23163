// SPDX-License-Identifier: Apache-2.0
//
// Evaluates the ops that have a value in the algebra, with the functions that type inference uses.

#include "LayoutLowering.h"

#include "fly/Algebra/Construct.h"
#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/TupleArithmetic.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly {

namespace {

/// Evaluates one op. Operands that are not in normal form make it give up.
class AlgebraEvaluator {
public:
  AlgebraEvaluator(LoweringState &state, Operation *op) : state(state), op(op), cx(&state.arith) {}

  Lowered run() {
    for (auto family :
         {&AlgebraEvaluator::extractors, &AlgebraEvaluator::tuples, &AlgebraEvaluator::modes,
          &AlgebraEvaluator::functions, &AlgebraEvaluator::layouts, &AlgebraEvaluator::tensors}) {
      const Lowered lowered = (this->*family)();
      if (lowered == Lowered::NotMine)
        continue;
      // Declared types hold what the operation infers, so failing means that the operands were
      // never admissible.
      return lowered == Lowered::Done ? doneUnlessFailed(op, cx) : lowered;
    }
    return Lowered::NotMine;
  }

private:
  //===--------------------------------------------------------------------===//
  // Operands and results
  //===--------------------------------------------------------------------===//

  using Operands = SmallVector<FlyValue, 3>;

  std::optional<Operands> readAll(ValueRange values) {
    Operands operands;
    for (Value value : values) {
      std::optional<FlyValue> operand = state.read(value);
      if (!operand)
        return std::nullopt;
      operands.push_back(std::move(*operand));
    }
    return operands;
  }

  /// Defines the result as `compute(operands)`. On tensors, the value says how far it moved.
  template <typename Compute> Lowered evaluateWith(ValueRange values, const Compute &compute) {
    std::optional<Operands> operands = readAll(values);
    if (!operands)
      return Lowered::Left;
    FlyValue result = compute(*operands);
    if (cx.failed())
      return Lowered::Done;
    if (auto *tensor = std::get_if<TensorValue>(&result))
      state.define(op->getResult(0), moved(*state.readTensor(values.front()), std::move(*tensor)));
    else
      state.define(op->getResult(0), std::move(result));
    return Lowered::Done;
  }

  TensorOperand moved(const TensorOperand &from, TensorValue to) {
    const bool composed = from.value.layout.isComposed();
    const bool advances =
        composed
            ? isa<DecompositionOp>(op)
            : isa<SliceOp, TiledCopyPartitionSrcOp, TiledCopyPartitionDstOp, TiledMmaPartitionOp>(
                  op);
    return state.moved(cx, from, std::move(to), advances);
  }

  static const IntTuple &tuple(const FlyValue &value) { return std::get<IntTuple>(value); }
  static const Layout &plain(const FlyValue &value) { return std::get<AnyLayout>(value).plain(); }
  static const AnyLayout &layoutOf(const FlyValue &value) {
    if (const auto *layout = std::get_if<AnyLayout>(&value))
      return *layout;
    return std::get<TensorValue>(value).layout;
  }

  //===--------------------------------------------------------------------===//
  // Families of ops
  //===--------------------------------------------------------------------===//

  Lowered extractors() {
    if (isa<GetShapeOp>(op))
      return evaluateWith(op->getOperands(), [&](Operands &operands) -> FlyValue {
        return layoutOf(operands[0]).outermost().shape();
      });
    if (isa<GetStrideOp>(op))
      return evaluateWith(op->getOperands(), [&](Operands &operands) -> FlyValue {
        return layoutOf(operands[0]).outermost().stride();
      });
    if (isa<GetLayoutOp>(op))
      return evaluateWith(op->getOperands(),
                          [&](Operands &operands) -> FlyValue { return layoutOf(operands[0]); });
    if (isa<GetIterOp>(op))
      return iterator();
    if (!isa<ComposedGetInnerOp, ComposedGetOffsetOp, ComposedGetOuterOp>(op))
      return Lowered::NotMine;
    return evaluateWith(op->getOperands(), [&](Operands &operands) -> FlyValue {
      const ComposedLayout &composed = layoutOf(operands[0]).composed();
      if (isa<ComposedGetOffsetOp>(op))
        return composed.offset();
      if (isa<ComposedGetOuterOp>(op))
        return composed.outer();
      if (const Layout *layout = composed.inner().layout())
        return AnyLayout(*layout);
      if (const ComposedLayout *layout = composed.inner().composed())
        return AnyLayout(*layout);
      return composed.inner();
    });
  }

  Lowered iterator() {
    std::optional<TensorOperand> tensor = state.readTensor(op->getOperand(0));
    if (!tensor)
      return Lowered::Left;
    if (tensor->pointer)
      state.definePointer(op->getResult(0), *tensor->pointer);
    else
      state.define(op->getResult(0), FlyValue(tensor->value.offset));
    return Lowered::Done;
  }

  Lowered tuples() {
    using Binary = IntTuple (*)(AlgebraContext &, const IntTuple &, const IntTuple &);
    const Binary binary = llvm::TypeSwitch<Operation *, Binary>(op)
                              .Case<IntTupleAddOp>([](auto) { return tupleAdd; })
                              .Case<IntTupleSubOp>([](auto) { return tupleSub; })
                              .Case<IntTupleMulOp>([](auto) { return tupleMul; })
                              .Case<IntTupleDivOp>([](auto) { return tupleDiv; })
                              .Case<IntTupleModOp>([](auto) { return tupleMod; })
                              .Case<IntTupleProductLikeOp>([](auto) { return tupleProductLike; })
                              .Case<ShapeDivOp>([](auto) { return tupleShapeDiv; })
                              .Case<CeilDivOp>([](auto) { return tupleCeilDiv; })
                              .Default([](Operation *) -> Binary { return nullptr; });
    if (binary)
      return evaluateWith(op->getOperands(), [&](Operands &operands) -> FlyValue {
        return binary(cx, tuple(operands[0]), tuple(operands[1]));
      });
    if (isa<IntTupleProductOp>(op))
      return evaluateWith(op->getOperands(), [&](Operands &operands) -> FlyValue {
        return tupleProduct(cx, tuple(operands[0]));
      });
    if (isa<IntTupleProductEachOp>(op))
      return evaluateWith(op->getOperands(), [&](Operands &operands) -> FlyValue {
        return tupleProductEach(cx, tuple(operands[0]));
      });
    return Lowered::NotMine;
  }

  Lowered modes() {
    const ValueRange values = op->getOperands();
    return llvm::TypeSwitch<Operation *, Lowered>(op)
        .Case<GetOp>([&](GetOp get) {
          return evaluateWith(values,
                              [&](Operands &o) { return evaluate::get(cx, o[0], get.getMode()); });
        })
        .Case<TakeOp>([&](TakeOp take) {
          return evaluateWith(values, [&](Operands &o) {
            return evaluate::take(cx, o[0], take.getBegin(), take.getEnd());
          });
        })
        .Case<GroupOp>([&](GroupOp group) {
          return evaluateWith(values, [&](Operands &o) {
            return evaluate::group(cx, o[0], group.getBegin(), group.getEnd());
          });
        })
        .Case<SelectOp>([&](SelectOp select) {
          return evaluateWith(
              values, [&](Operands &o) { return evaluate::select(cx, o[0], select.getIndices()); });
        })
        .Case<AppendOp>([&](AppendOp append) {
          return evaluateWith(values, [&](Operands &o) {
            return evaluate::append(cx, o[0], o[1], append.getN().value_or(-1));
          });
        })
        .Case<PrependOp>([&](PrependOp prepend) {
          return evaluateWith(values, [&](Operands &o) {
            return evaluate::prepend(cx, o[0], o[1], prepend.getN().value_or(-1));
          });
        })
        .Case<SliceOp>([&](SliceOp) {
          return evaluateWith(values,
                              [&](Operands &o) { return evaluate::slice(cx, o[0], tuple(o[1])); });
        })
        .Case<DiceOp>([&](DiceOp) {
          return evaluateWith(values,
                              [&](Operands &o) { return evaluate::dice(cx, o[0], tuple(o[1])); });
        })
        .Default(Lowered::NotMine);
  }

  Lowered functions() {
    const ValueRange values = op->getOperands();
    using OfLayout = IntTuple (*)(AlgebraContext &, const Layout &);
    const OfLayout ofLayout = llvm::TypeSwitch<Operation *, OfLayout>(op)
                                  .Case<CoprofileOp>([](auto) { return coprofile; })
                                  .Case<CoshapeOp>([](auto) { return coshape; })
                                  .Case<CosizeOp>([](auto) { return cosize; })
                                  .Default([](Operation *) -> OfLayout { return nullptr; });
    if (ofLayout)
      return evaluateWith(values, [&](Operands &o) -> FlyValue {
        return ofLayout(cx, layoutOf(o[0]).outermost());
      });
    if (isa<SizeOp>(op))
      return evaluateWith(values,
                          [&](Operands &o) -> FlyValue { return evaluate::size(cx, o[0]); });
    if (isa<Crd2IdxOp>(op))
      return evaluateWith(values, [&](Operands &o) -> FlyValue {
        return evaluate::crd2idx(cx, tuple(o[0]), o[1]);
      });
    using Coordinate = IntTuple (*)(AlgebraContext &, const IntTuple &, const Layout &);
    const Coordinate coordinate = llvm::TypeSwitch<Operation *, Coordinate>(op)
                                      .Case<Idx2CrdOp>([](auto) { return idx2crd; })
                                      .Case<GetFlatCoordOp>([](auto) { return flatCoord; })
                                      .Case<Get1DCoordOp>([](auto) { return linearCoord; })
                                      .Default([](Operation *) -> Coordinate { return nullptr; });
    if (coordinate)
      return evaluateWith(values, [&](Operands &o) -> FlyValue {
        return coordinate(cx, tuple(o[0]), plain(o[1]));
      });
    return Lowered::NotMine;
  }

  Lowered divide(evaluate::Divide kind) {
    return evaluateWith(op->getOperands(),
                        [&](Operands &o) { return evaluate::divide(cx, kind, o[0], o[1]); });
  }

  Lowered product(evaluate::Product kind) {
    return evaluateWith(op->getOperands(), [&](Operands &o) {
      return evaluate::product(cx, kind, o[0], plain(o[1]));
    });
  }

  Lowered layouts() {
    const ValueRange values = op->getOperands();
    return llvm::TypeSwitch<Operation *, Lowered>(op)
        .Case<MakeIdentityLayoutOp>([&](auto) {
          return evaluateWith(values, [&](Operands &o) -> FlyValue {
            return AnyLayout(identityLayout(cx, tuple(o[0])));
          });
        })
        .Case<MakeOrderedLayoutOp>([&](auto) {
          return evaluateWith(values, [&](Operands &o) -> FlyValue {
            return AnyLayout(orderedLayout(cx, tuple(o[0]), tuple(o[1])));
          });
        })
        .Case<MakeLayoutLikeOp>([&](auto) {
          return evaluateWith(values, [&](Operands &o) -> FlyValue {
            return AnyLayout(layoutLike(cx, plain(o[0])));
          });
        })
        .Case<MakeFragmentLayoutLikeOp>([&](auto) {
          return evaluateWith(values, [&](Operands &o) -> FlyValue {
            return AnyLayout(fragmentLayout(cx, layoutOf(o[0]).outermost()));
          });
        })
        .Case<CoalesceOp>([&](auto) {
          return evaluateWith(values, [&](Operands &o) {
            return evaluate::coalesce(cx, o[0], o.size() > 1 ? &tuple(o[1]) : nullptr);
          });
        })
        .Case<CompositionOp>([&](auto) {
          return evaluateWith(values,
                              [&](Operands &o) { return evaluate::composition(cx, o[0], o[1]); });
        })
        .Case<ComplementOp>([&](auto) {
          return evaluateWith(values, [&](Operands &o) {
            return evaluate::complement(cx, o[0], o.size() > 1 ? &tuple(o[1]) : nullptr);
          });
        })
        .Case<RightInverseOp>([&](auto) {
          return evaluateWith(values,
                              [&](Operands &o) { return evaluate::rightInverse(cx, o[0]); });
        })
        .Case<LeftInverseOp>([&](auto) {
          return evaluateWith(values, [&](Operands &o) { return evaluate::leftInverse(cx, o[0]); });
        })
        .Case<LogicalDivideOp>([&](auto) { return divide(evaluate::Divide::Logical); })
        .Case<ZippedDivideOp>([&](auto) { return divide(evaluate::Divide::Zipped); })
        .Case<TiledDivideOp>([&](auto) { return divide(evaluate::Divide::Tiled); })
        .Case<FlatDivideOp>([&](auto) { return divide(evaluate::Divide::Flat); })
        .Case<LogicalProductOp>([&](auto) { return product(evaluate::Product::Logical); })
        .Case<ZippedProductOp>([&](auto) { return product(evaluate::Product::Zipped); })
        .Case<TiledProductOp>([&](auto) { return product(evaluate::Product::Tiled); })
        .Case<FlatProductOp>([&](auto) { return product(evaluate::Product::Flat); })
        .Case<BlockedProductOp>([&](auto) { return product(evaluate::Product::Blocked); })
        .Case<RakedProductOp>([&](auto) { return product(evaluate::Product::Raked); })
        .Case<RecastLayoutOp>([&](RecastLayoutOp recast) {
          return evaluateWith(values, [&](Operands &o) {
            return evaluate::recastLayout(cx, o[0], recast.getNewTypeBits(),
                                          recast.getOldTypeBits());
          });
        })
        .Case<TileToShapeOp>([&](auto) {
          return evaluateWith(values, [&](Operands &o) {
            return evaluate::tileToShape(cx, o[0], tuple(o[1]), tuple(o[2]));
          });
        })
        .Default(Lowered::NotMine);
  }

  /// Views of tensors for tiled operations, whose first operand is a tiled_copy or tiled_mma.
  Lowered tensors() {
    if (isa<DecompositionOp>(op))
      return evaluateWith(op->getOperands(), [&](Operands &o) -> FlyValue {
        return evaluate::decomposition(cx, std::get<TensorValue>(o[0]));
      });
    if (!isa<TiledCopyPartitionSrcOp, TiledCopyPartitionDstOp, TiledCopyRetileOp,
             TiledMmaPartitionOp, TiledMmaPartitionShapeOp>(op))
      return Lowered::NotMine;
    const Type tiled = op->getOperand(0).getType();
    return evaluateWith(op->getOperands().drop_front(), [&](Operands &o) -> FlyValue {
      if (isa<TiledCopyPartitionSrcOp>(op))
        return evaluate::partitionCopy(cx, cast<TiledCopyType>(tiled), CopyOperand::Source,
                                       std::get<TensorValue>(o[0]), tuple(o[1]));
      if (isa<TiledCopyPartitionDstOp>(op))
        return evaluate::partitionCopy(cx, cast<TiledCopyType>(tiled), CopyOperand::Destination,
                                       std::get<TensorValue>(o[0]), tuple(o[1]));
      if (isa<TiledCopyRetileOp>(op))
        return evaluate::retile(cx, cast<TiledCopyType>(tiled), std::get<TensorValue>(o[0]));
      if (auto partition = dyn_cast<TiledMmaPartitionOp>(op))
        return evaluate::partitionMma(cx, cast<TiledMmaType>(tiled), partition.getOperandId(),
                                      std::get<TensorValue>(o[0]), tuple(o[1]));
      return evaluate::partitionMmaShape(cx, cast<TiledMmaType>(tiled),
                                         cast<TiledMmaPartitionShapeOp>(op).getOperandId(),
                                         tuple(o[0]));
    });
  }

  LoweringState &state;
  Operation *op;
  AlgebraContext cx;
};

} // namespace

Lowered lowerAlgebra(LoweringState &state, Operation *op) {
  return AlgebraEvaluator(state, op).run();
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static Lowered lowerGetScalar(LoweringState &state, GetScalarOp op) {
  std::optional<IntTuple> tuple = state.readTuple(op.getSource());
  if (!tuple)
    return Lowered::Left;
  const IntTuple *leaf = &*tuple;
  while (leaf->isTuple())
    leaf = &leaf->mode(0);
  Value value =
      leaf->isNone() ? state.arith.integer(0, op.getType()) : state.emitLeaf(leaf->withPath({}));
  op.getResult().replaceAllUsesWith(value);
  return Lowered::Done;
}

static Lowered lowerGetLeaves(LoweringState &state, GetLeavesOp op) {
  std::optional<IntTuple> tuple = state.readTuple(op.getSource());
  if (!tuple)
    return Lowered::Left;
  SmallVector<Value> leaves;
  forEachLeaf(*tuple, [&](const IntTuple &leaf) {
    if (leaf.isDynamicLeaf() || !op.getDynamicOnly())
      leaves.push_back(state.emitLeaf(leaf.withPath({})));
  });
  op->replaceAllUsesWith(leaves);
  return Lowered::Done;
}

static Lowered lowerComparison(LoweringState &state, Operation *op) {
  std::optional<IntTuple> lhs = state.readTuple(op->getOperand(0));
  std::optional<IntTuple> rhs = state.readTuple(op->getOperand(1));
  if (!lhs || !rhs)
    return Lowered::Left;
  AlgebraContext cx(&state.arith);
  const Truth truth = isa<EqualOp>(op) ? tupleEqual(cx, *lhs, *rhs) : elemLess(cx, *lhs, *rhs);
  if (cx.failed())
    return doneUnlessFailed(op, cx);
  Value value = truth.known ? state.arith.integer(*truth.known, op->getResult(0).getType())
                            : toValue(truth.handle);
  op->getResult(0).replaceAllUsesWith(value);
  return Lowered::Done;
}

Lowered lowerScalars(LoweringState &state, Operation *op) {
  if (auto scalar = dyn_cast<GetScalarOp>(op))
    return lowerGetScalar(state, scalar);
  if (auto leaves = dyn_cast<GetLeavesOp>(op))
    return lowerGetLeaves(state, leaves);
  if (isa<EqualOp, ElemLessOp>(op))
    return lowerComparison(state, op);
  return Lowered::NotMine;
}

} // namespace fly
