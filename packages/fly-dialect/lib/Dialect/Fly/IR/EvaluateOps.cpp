// SPDX-License-Identifier: Apache-2.0
//
// Which function of the algebra each op is.

#include "fly/Dialect/Fly/IR/EvaluateOps.h"
#include "fly/Dialect/Fly/IR/Constructors.h"

#include "fly/Algebra/Construct.h"
#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/TupleArithmetic.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly {

namespace {

/// `value` with what `declared` says of it; nothing where they differ in more than divisibility and
/// staticness.
std::optional<IntTuple> trusted(const IntTuple &declared, const IntTuple &value) {
  if (declared.isTuple() != value.isTuple())
    return std::nullopt;
  if (declared.isTuple()) {
    if (declared.rank() != value.rank())
      return std::nullopt;
    SmallVector<IntTuple, 4> modes;
    for (auto [declaredMode, mode] : llvm::zip_equal(declared.modes(), value.modes())) {
      std::optional<IntTuple> trustedMode = trusted(declaredMode, mode);
      if (!trustedMode)
        return std::nullopt;
      modes.push_back(std::move(*trustedMode));
    }
    return IntTuple::tuple(modes);
  }
  if (declared.isNone() != value.isNone() || declared.path() != value.path())
    return std::nullopt;
  if (!declared.isDynamicLeaf())
    return declared;
  if (!value.isDynamicLeaf() || declared.width() != value.width())
    return std::nullopt;
  return declared.withHandle(value.handle());
}

/// Evaluates one op. Operands that are not in normal form make it give up.
class AlgebraEvaluator {
public:
  AlgebraEvaluator(AlgebraContext &cx, Operation *op, ValueReader read)
      : cx(cx), op(op), read(read) {}

  Evaluation run() {
    for (auto family :
         {&AlgebraEvaluator::extractors, &AlgebraEvaluator::tuples, &AlgebraEvaluator::modes,
          &AlgebraEvaluator::functions, &AlgebraEvaluator::layouts, &AlgebraEvaluator::tensors}) {
      const Evaluation evaluation = (this->*family)();
      if (evaluation != Evaluation::NotAlgebra)
        return evaluation;
    }
    return Evaluation::NotAlgebra;
  }

  FlyValue takeResult() { return std::move(*result); }

private:
  //===--------------------------------------------------------------------===//
  // Operands and results
  //===--------------------------------------------------------------------===//

  using Operands = SmallVector<FlyValue, 3>;

  std::optional<Operands> readAll(ValueRange values) {
    Operands operands;
    for (Value value : values) {
      std::optional<FlyValue> operand = read(value);
      if (!operand)
        return std::nullopt;
      operands.push_back(std::move(*operand));
    }
    return operands;
  }

  /// The result is `compute(operands)`.
  template <typename Compute> Evaluation evaluateWith(ValueRange values, const Compute &compute) {
    std::optional<Operands> operands = readAll(values);
    if (!operands)
      return Evaluation::Unknown;
    result = compute(*operands);
    return Evaluation::Done;
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

  Evaluation extractors() {
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
    if (!isa<ComposedGetInnerOp, ComposedGetOffsetOp, ComposedGetOuterOp>(op))
      return Evaluation::NotAlgebra;
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

  Evaluation assumption(AssumeOp assume) {
    auto declared = dyn_cast<IntTupleType>(assume.getResult().getType());
    std::optional<FlyValue> source = read(assume.getSrc());
    if (!declared || !source || !std::holds_alternative<IntTuple>(*source))
      return Evaluation::Unknown;
    std::optional<IntTuple> value = trusted(declared.getValue(), tuple(*source));
    if (!value)
      return Evaluation::Unknown;
    result = std::move(*value);
    return Evaluation::Done;
  }

  Evaluation tuples() {
    if (auto assume = dyn_cast<AssumeOp>(op))
      return assumption(assume);
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
    return Evaluation::NotAlgebra;
  }

  Evaluation modes() {
    const ValueRange values = op->getOperands();
    return llvm::TypeSwitch<Operation *, Evaluation>(op)
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
        .Default(Evaluation::NotAlgebra);
  }

  Evaluation functions() {
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
    return Evaluation::NotAlgebra;
  }

  Evaluation divide(evaluate::Divide kind) {
    return evaluateWith(op->getOperands(),
                        [&](Operands &o) { return evaluate::divide(cx, kind, o[0], o[1]); });
  }

  Evaluation product(evaluate::Product kind) {
    return evaluateWith(op->getOperands(), [&](Operands &o) {
      return evaluate::product(cx, kind, o[0], plain(o[1]));
    });
  }

  Evaluation layouts() {
    const ValueRange values = op->getOperands();
    return llvm::TypeSwitch<Operation *, Evaluation>(op)
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
        .Default(Evaluation::NotAlgebra);
  }

  /// Views of tensors for tiled operations, whose first operand is a tiled_copy or tiled_mma.
  Evaluation tensors() {
    if (isa<DecompositionOp>(op))
      return evaluateWith(op->getOperands(), [&](Operands &o) -> FlyValue {
        return evaluate::decomposition(cx, std::get<TensorValue>(o[0]));
      });
    if (!isa<TiledCopyPartitionSrcOp, TiledCopyPartitionDstOp, TiledCopyRetileOp,
             TiledMmaPartitionOp, TiledMmaPartitionShapeOp>(op))
      return Evaluation::NotAlgebra;
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

  AlgebraContext &cx;
  Operation *op;
  ValueReader read;
  std::optional<FlyValue> result;
};

} // namespace

Evaluation evaluateOp(AlgebraContext &cx, Operation *op, ValueReader read,
                      std::optional<FlyValue> &result) {
  AlgebraEvaluator evaluator(cx, op, read);
  const Evaluation evaluation = evaluator.run();
  if (evaluation == Evaluation::Done)
    result = evaluator.takeResult();
  return evaluation;
}

//===----------------------------------------------------------------------===//
// Constructors
//===----------------------------------------------------------------------===//

/// Nothing if the operands are not one per dynamic leaf, of its width.
static std::optional<IntTuple> readTuple(Operation *op) {
  const IntTuple tuple = cast<IntTupleType>(op->getResult(0).getType()).getValue();
  bool matches = op->getNumOperands() == countDynamicLeaves(tuple);
  unsigned index = 0;
  forEachLeaf(tuple, [&](const IntTuple &leaf) {
    if (matches && leaf.isDynamicLeaf())
      matches = op->getOperand(index++).getType().isInteger(leaf.width());
  });
  if (!matches)
    return std::nullopt;
  return withHandles(tuple, op->getOperands());
}

static std::optional<FlyValue> readView(MakeViewOp view, ValueReader read) {
  std::optional<FlyValue> layout = read(view.getLayout());
  if (!layout)
    return std::nullopt;
  if (auto pointer = dyn_cast<PointerType>(view.getIter().getType()))
    return TensorValue{pointer, 0, std::get<AnyLayout>(*layout)};
  std::optional<FlyValue> base = read(view.getIter());
  if (!base)
    return std::nullopt;
  return TensorValue{{}, std::get<IntTuple>(*base), std::get<AnyLayout>(*layout)};
}

std::optional<FlyValue> readConstructor(Operation *op, ValueReader read) {
  if (isa<MakeIntTupleOp, MakeShapeOp, MakeStrideOp, MakeCoordOp>(op))
    return readTuple(op);
  if (auto view = dyn_cast<MakeViewOp>(op))
    return readView(view, read);
  if (!isa<MakeLayoutOp, MakeComposedLayoutOp>(op))
    return std::nullopt;
  SmallVector<FlyValue, 3> operands;
  for (Value value : op->getOperands()) {
    std::optional<FlyValue> operand = read(value);
    if (!operand)
      return std::nullopt;
    operands.push_back(std::move(*operand));
  }
  if (isa<MakeLayoutOp>(op))
    return AnyLayout(Layout(std::get<IntTuple>(operands[0]), std::get<IntTuple>(operands[1])));
  const auto &offset = std::get<IntTuple>(operands[1]);
  const auto &outer = std::get<AnyLayout>(operands[2]);
  if (const auto *map = std::get_if<InnerMap>(&operands[0]))
    return AnyLayout(ComposedLayout(*map, offset, outer));
  const auto &map = std::get<AnyLayout>(operands[0]);
  const InnerMap inner = map.isComposed() ? InnerMap(map.composed()) : InnerMap(map.plain());
  return AnyLayout(ComposedLayout(inner, offset, outer));
}

} // namespace fly
