// SPDX-License-Identifier: Apache-2.0

#include "State.h"

#include "fly/Algebra/Leaf.h"
#include "fly/Dialect/Fly/IR/EvaluateOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace fly {

void LoweringState::setPosition(Operation *op) {
  builder.setInsertionPoint(op);
  location = op->getLoc();
  arith.setLoc(location);
  emitted = Emitted();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Makes coord_tensors, like tuples, completely known from a static type.
static std::optional<FlyValue> readStaticType(Type type) {
  return isStaticType(type) ? getFlyValue(type) : std::nullopt;
}

std::optional<FlyValue> LoweringState::read(Value value) {
  auto known = values.find(value);
  if (known != values.end())
    return known->second;
  std::optional<FlyValue> result = readStaticType(value.getType());
  if (!result)
    result = readDefinition(value);
  if (result)
    values.try_emplace(value, *result);
  return result;
}

std::optional<FlyValue> LoweringState::readOpaqueMemRef(Value value) {
  auto type = dyn_cast<fly::MemRefType>(value.getType());
  if (!type || !type.getLayout().isStatic())
    return std::nullopt;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  pointers.try_emplace(value, PointerValue{GetIterOp::create(builder, value.getLoc(), value)});
  return TensorValue{type.getPointerType(), 0, type.getLayout()};
}

std::optional<FlyValue> LoweringState::readDefinition(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return readOpaqueMemRef(value);
  std::optional<FlyValue> made = readConstructor(op, [&](Value operand) { return read(operand); });
  if (auto view = dyn_cast<MakeViewOp>(op); view && made && isa<fly::MemRefType>(value.getType()))
    pointers.try_emplace(value, readPointer(view.getIter()));
  return made;
}

std::optional<IntTuple> LoweringState::readTuple(Value value) {
  std::optional<FlyValue> known = read(value);
  if (!known || !std::holds_alternative<IntTuple>(*known))
    return std::nullopt;
  return std::get<IntTuple>(std::move(*known));
}

std::optional<AnyLayout> LoweringState::readLayout(Value value) {
  std::optional<FlyValue> known = read(value);
  if (!known || !std::holds_alternative<AnyLayout>(*known))
    return std::nullopt;
  return std::get<AnyLayout>(std::move(*known));
}

std::optional<TensorOperand> LoweringState::readTensor(Value value) {
  std::optional<FlyValue> known = read(value);
  if (!known || !std::holds_alternative<TensorValue>(*known))
    return std::nullopt;
  TensorOperand tensor{std::get<TensorValue>(std::move(*known)), std::nullopt, value};
  if (tensor.value.isMemRef())
    tensor.pointer = pointers.lookup(value);
  return tensor;
}

PointerValue LoweringState::readPointer(Value pointer) {
  auto known = pointers.find(pointer);
  return known != pointers.end() ? known->second : PointerValue{pointer};
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void LoweringState::define(Value result, FlyValue value) {
  values.insert_or_assign(result, std::move(value));
}

void LoweringState::define(Value result, TensorOperand tensor) {
  if (tensor.pointer) {
    // Here, where the program says it, and not where it is used first.
    PointerValue advanced = *tensor.pointer;
    advanced.staticOffset = std::nullopt;
    if (!advanced.dynamicOffset.isStaticInt(0))
      tensor.pointer->dynamicPointer = emitPointer(advanced);
    pointers.insert_or_assign(result, std::move(*tensor.pointer));
  }
  define(result, FlyValue(std::move(tensor.value)));
}

void LoweringState::definePointer(Value result, PointerValue pointer) {
  pointers.insert_or_assign(result, std::move(pointer));
}

void LoweringState::keepParts(Value result, Value source, bool withOutermost) {
  std::optional<FlyValue> before = read(source);
  auto after = values.find(result);
  if (!before || after == values.end())
    return;
  auto known = parts.find(source);
  const LayoutParts all = known != parts.end() ? known->second : partsOf(source);
  LayoutParts kept = keptParts(all, *before, after->second);
  if (withOutermost)
    kept.outermost = keptOutermost(all, *before, after->second);
  if (!kept.empty())
    parts.insert_or_assign(result, std::move(kept));
}

/// `pointer` with exactly the type that remaining users were built for.
static Value withType(OpBuilder &builder, Location loc, Value pointer, Type type) {
  return pointer.getType() == type ? pointer
                                   : RecastIterOp::create(builder, loc, type, pointer).getResult();
}

Value LoweringState::constructLayout(const AnyLayout &layout, const LayoutParts &parts,
                                     Constructors::First first) {
  Constructors make(builder, location, first);
  if (!layout.isComposed())
    return parts.outermost ? parts.outermost : make.layout(layout);
  LayoutParts rest = parts;
  LayoutParts::Map map;
  if (!rest.maps.empty()) {
    map = rest.maps.front();
    rest.maps.erase(rest.maps.begin());
  }
  const ComposedLayout &composed = layout.composed();
  if (!map.inner)
    map.inner = make.inner(composed.inner());
  if (!map.offset)
    map.offset = make.tuple(composed.offset());
  Value outer = constructLayout(composed.outer(), rest, first);
  return MakeComposedLayoutOp::create(builder, location, map.inner, map.offset, outer);
}

void LoweringState::construct(Value result) {
  Operation *op = result.getDefiningOp();
  setPosition(op);
  const LayoutParts known = parts.lookup(result);
  // Only these put layouts together mode by mode, shapes first.
  const auto first =
      isa<AppendOp, PrependOp>(op) ? Constructors::First::Shape : Constructors::First::Stride;
  Value constructed;
  if (auto type = dyn_cast<PointerType>(result.getType())) {
    constructed = withType(builder, location, emitPointer(readPointer(result)), type);
  } else if (auto type = dyn_cast<fly::MemRefType>(result.getType())) {
    Value pointer =
        withType(builder, location, emitPointer(pointers.lookup(result)), type.getPointerType());
    const auto &tensor = std::get<TensorValue>(values.find(result)->second);
    Value layout = constructLayout(tensor.layout, known, first);
    constructed = MakeViewOp::create(builder, location, pointer, layout);
  } else if (const FlyValue &value = values.find(result)->second;
             const auto *tensor = std::get_if<TensorValue>(&value)) {
    Value base = known.base ? known.base : constructors().tuple(tensor->offset);
    Value layout = constructLayout(tensor->layout, known, first);
    constructed = MakeViewOp::create(builder, location, base, layout);
  } else if (const auto *layout = std::get_if<AnyLayout>(&value)) {
    constructed = constructLayout(*layout, known, first);
  } else {
    constructed = constructors().value(value);
  }
  result.replaceAllUsesWith(constructed);
}

void LoweringState::finish() {
  for (Operation *op : llvm::reverse(obsolete)) {
    for (Value result : op->getResults())
      if (!result.use_empty())
        construct(result);
    op->erase();
  }
  obsolete.clear();
  values.clear();
  pointers.clear();
  parts.clear();
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Value LoweringState::emitPointer(const PointerValue &pointer) {
  if (pointer.dynamicOffset.isStaticInt(0) && !pointer.staticOffset)
    return pointer.base;
  if (pointer.dynamicPointer && !pointer.staticOffset)
    return pointer.dynamicPointer;
  const auto key = std::make_tuple(pointer.base, pointer.dynamicOffset.handle(),
                                   pointer.staticOffset.value_or(int64_t(1) << 32));
  if (Value known = emitted.pointers.lookup(key))
    return known;
  Value result;
  if (pointer.staticOffset) {
    const IntTuple offset = static_cast<int32_t>(*pointer.staticOffset);
    PointerValue dynamicPart = pointer;
    dynamicPart.staticOffset = std::nullopt;
    Value base = emitPointer(dynamicPart);
    Value tuple = pointer.staticTuple ? pointer.staticTuple : constructors().tuple(offset);
    result = AddOffsetOp::create(builder, location, base, tuple);
  } else {
    Value tuple =
        pointer.dynamicTuple ? pointer.dynamicTuple : constructors().tuple(pointer.dynamicOffset);
    result = AddOffsetOp::create(builder, location, pointer.base, tuple);
  }
  emitted.pointers[key] = result;
  return result;
}

Value LoweringState::emitLayout(const AnyLayout &layout) {
  if (!layout.isStatic())
    return constructors().layout(layout);
  for (const auto &[known, value] : emitted.layouts)
    if (known == layout)
      return value;
  Value value = constructors().layout(layout);
  emitted.layouts.emplace_back(layout, value);
  return value;
}

Value LoweringState::emitTensor(const TensorOperand &tensor) {
  if (tensor.original)
    return tensor.original;
  if (!tensor.pointer)
    return constructors().value(tensor.value);
  Value pointer = emitPointer(*tensor.pointer);
  Value layout = emitLayout(tensor.value.layout);
  Value &view = emitted.views[{pointer, layout}];
  if (!view)
    view = MakeViewOp::create(builder, location, pointer, layout);
  return view;
}

Value LoweringState::emitLeaf(const IntTuple &leaf, unsigned width) {
  if (leaf.isStaticLeaf())
    return arith.integer(leaf.staticValue(),
                         builder.getIntegerType(width ? width : std::max(leaf.width(), 32u)));
  Value value = toValue(leaf.handle());
  if (width > leaf.width())
    return toValue(arith.extend(leaf.handle()));
  return value;
}

PointerValue LoweringState::advance(AlgebraContext &cx, const PointerValue &pointer,
                                    const IntTuple &offset, Value tuple) {
  PointerValue result = pointer;
  if (offset.isDynamicLeaf()) {
    result.dynamicOffset = leafAdd(cx, pointer.dynamicOffset, offset);
    result.dynamicTuple = {};
    result.dynamicPointer = {};
    if (tuple && !cx.failed())
      result.dynamicTuple =
          pointer.dynamicOffset.isStaticInt(0) ? tuple : constructors().tuple(result.dynamicOffset);
    return result;
  }
  result.staticOffset = pointer.staticOffset.value_or(0) + offset.staticValue();
  result.staticTuple = {};
  if (!llvm::isInt<32>(*result.staticOffset))
    cx.fail("a pointer offset of " + Twine(*result.staticOffset) + " elements does not fit int32");
  else if (tuple)
    result.staticTuple = pointer.staticOffset
                             ? constructors().tuple(static_cast<int32_t>(*result.staticOffset))
                             : tuple;
  return result;
}

TensorOperand LoweringState::moved(AlgebraContext &cx, const TensorOperand &tensor,
                                   TensorValue value, bool advances) {
  TensorOperand result{std::move(value)};
  if (!tensor.pointer || cx.failed())
    return result;
  result.pointer = tensor.pointer;
  if (!advances && result.value.offset.isStaticInt(0))
    return result;
  result.pointer = advance(cx, *tensor.pointer, result.value.offset);
  // The type that the pointer has now.
  result.value.pointer = advancePointer(tensor.value.pointer, result.value.offset);
  result.value.offset = 0;
  return result;
}

TensorOperand LoweringState::sliced(AlgebraContext &cx, const TensorOperand &tensor,
                                    const IntTuple &coord) {
  return moved(cx, tensor, std::get<TensorValue>(evaluate::slice(cx, tensor.value, coord)),
               !tensor.value.layout.isComposed());
}

TensorOperand LoweringState::decomposed(AlgebraContext &cx, const TensorOperand &tensor) {
  if (!tensor.value.layout.isComposed())
    return tensor;
  return moved(cx, tensor, evaluate::decomposition(cx, tensor.value), true);
}

} // namespace fly
