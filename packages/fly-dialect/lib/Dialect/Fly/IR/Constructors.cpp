// SPDX-License-Identifier: Apache-2.0

#include "fly/Dialect/Fly/IR/Constructors.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly {

Value Constructors::tuple(const IntTuple &tuple) {
  SmallVector<Value> leaves;
  forEachLeaf(tuple, [&](const IntTuple &leaf) {
    if (leaf.isDynamicLeaf())
      leaves.push_back(toValue(leaf.handle()));
  });
  auto type = IntTupleType::get(builder.getContext(), tuple.withoutHandles());
  return MakeIntTupleOp::create(builder, loc, type, leaves);
}

Value Constructors::layout(const AnyLayout &layout) {
  if (!layout.isComposed()) {
    Value stride;
    if (first == First::Stride)
      stride = tuple(layout.plain().stride());
    Value shape = tuple(layout.plain().shape());
    if (first == First::Shape)
      stride = tuple(layout.plain().stride());
    return MakeLayoutOp::create(builder, loc, shape, stride);
  }
  const ComposedLayout &composed = layout.composed();
  Value innerValue = inner(composed.inner());
  Value offset = tuple(composed.offset());
  Value outer = this->layout(composed.outer());
  return MakeComposedLayoutOp::create(builder, loc, innerValue, offset, outer);
}

Value Constructors::inner(const InnerMap &inner) {
  if (const Layout *plain = inner.layout())
    return layout(*plain);
  if (const ComposedLayout *composed = inner.composed())
    return layout(*composed);
  return StaticOp::create(builder, loc, getInnerMapType(builder.getContext(), inner));
}

Value Constructors::view(Value iterator, const AnyLayout &layout) {
  Value layoutValue = this->layout(layout);
  return MakeViewOp::create(builder, loc, iterator, layoutValue);
}

Value Constructors::value(const FlyValue &value) {
  if (const auto *integers = std::get_if<IntTuple>(&value))
    return tuple(*integers);
  if (const auto *map = std::get_if<AnyLayout>(&value))
    return layout(*map);
  if (const auto *map = std::get_if<InnerMap>(&value))
    return inner(*map);
  if (const auto *tile = std::get_if<Tile>(&value))
    return StaticOp::create(builder, loc, TileType::get(builder.getContext(), *tile));
  const auto &tensor = std::get<TensorValue>(value);
  assert(!tensor.isMemRef() && "a memref needs its pointer");
  return view(tuple(tensor.offset), tensor.layout);
}

Value Constructors::ofStaticType(Type type) {
  return llvm::TypeSwitch<Type, Value>(type)
      .Case<CopyAtomType>([&](CopyAtomType atom) {
        return MakeCopyAtomOp::create(builder, loc, atom, ValueRange(), atom.getValBits());
      })
      .Case<MmaAtomType>(
          [&](MmaAtomType atom) { return MakeMmaAtomOp::create(builder, loc, atom); })
      .Case<TiledCopyType>([&](TiledCopyType copy) {
        Value atom = ofStaticType(copy.getAtom());
        Value threadValue = ofStaticType(copy.getLayoutTV());
        Value tile = ofStaticType(copy.getTile());
        return MakeTiledCopyOp::create(builder, loc, atom, threadValue, tile);
      })
      .Case<TiledMmaType>([&](TiledMmaType mma) {
        Value atom = ofStaticType(mma.getAtom());
        Value atomLayout = ofStaticType(mma.getAtomLayout());
        Value permutation = ofStaticType(mma.getPermutation());
        return MakeTiledMmaOp::create(builder, loc, atom, atomLayout, permutation);
      })
      .Default([&](Type other) { return value(*getFlyValue(other)); });
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// make_shape, make_stride and make_coord say the same as make_int_tuple.
static bool isTupleAlias(Operation *op) { return isa<MakeShapeOp, MakeStrideOp, MakeCoordOp>(op); }

/// A constructor, whose operands are folded instead.
static bool isConstructor(Operation *op) {
  return isa<MakeIntTupleOp, MakeLayoutOp, MakeComposedLayoutOp, MakeViewOp, MakeCopyAtomOp,
             MakeMmaAtomOp, MakeTiledCopyOp, MakeTiledMmaOp>(op);
}

bool isFoldable(Operation *op) {
  if (op->getNumResults() != 1 || !isa_and_nonnull<FlyDialect>(op->getDialect()))
    return false;
  const Type type = op->getResult(0).getType();
  // Without its operands there is nothing to make it of.
  if (isTupleAlias(op))
    return op->getNumOperands() != 0 || isStaticType(type);
  // `basis` has no constructor; a change of state of an atom without state is reported later.
  if (isa<BasisType>(type) || !isStaticType(type) || isa<AtomSetValueOp>(op) || isConstructor(op))
    return false;
  // Of these types, fly.static is the constructor; what yields one otherwise stays.
  return !isa<SwizzleType, CoordSwizzleType, TileType>(type);
}

Value constructFolded(OpBuilder &builder, Operation *op) {
  if (isTupleAlias(op) && op->getNumOperands() != 0)
    return MakeIntTupleOp::create(builder, op->getLoc(), op->getResultTypes().front(),
                                  op->getOperands());
  return Constructors(builder, op->getLoc()).ofStaticType(op->getResultTypes().front());
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

static IntTuple attachHandles(const IntTuple &tuple, ValueRange &values) {
  if (tuple.isStatic())
    return tuple;
  if (tuple.isLeaf()) {
    Value value = values.front();
    values = values.drop_front();
    return tuple.withHandle(toHandle(value));
  }
  SmallVector<IntTuple, 4> modes;
  for (const IntTuple &mode : tuple.modes())
    modes.push_back(attachHandles(mode, values));
  return IntTuple::tuple(modes);
}

IntTuple withHandles(const IntTuple &tuple, ValueRange values) {
  return attachHandles(tuple, values);
}

unsigned countDynamicLeaves(const IntTuple &tuple) {
  unsigned count = 0;
  forEachLeaf(tuple, [&](const IntTuple &leaf) { count += leaf.isDynamicLeaf(); });
  return count;
}

} // namespace fly
