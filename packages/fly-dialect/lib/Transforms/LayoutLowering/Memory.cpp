// SPDX-License-Identifier: Apache-2.0
//
// Pointers that are advanced, register allocations, and accesses to single elements.

#include "LayoutLowering.h"

#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/TupleArithmetic.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace fly {

//===----------------------------------------------------------------------===//
// Iterators
//===----------------------------------------------------------------------===//

/// An offset that is shared before a run-time offset is added to it stays where it is: moving it
/// behind would compute the pointer twice.
static bool keepsSharedOffset(const PointerValue &inner, Value iterator, const IntTuple &offset) {
  return offset.isDynamicLeaf() && inner.staticOffset && iterator.getDefiningOp<AddOffsetOp>() &&
         !iterator.hasOneUse();
}

/// Whether advancing `inner` by `offset` is written as this already: the first offset, or a static
/// one behind a run-time one.
static bool isFinalForm(const PointerValue &inner, const IntTuple &offset) {
  return !inner.staticOffset && (inner.dynamicOffset.isStaticInt(0) || !offset.isDynamicLeaf());
}

static Lowered lowerAddOffset(LoweringState &state, AddOffsetOp op) {
  std::optional<IntTuple> offset = state.readTuple(op.getOffset());
  if (!offset)
    return Lowered::Left;
  AlgebraContext cx(&state.arith);
  if (isa<PointerType>(op.getIter().getType())) {
    PointerValue inner = state.readPointer(op.getIter());
    if (keepsSharedOffset(inner, op.getIter(), *offset))
      inner = PointerValue{op.getIter()};
    const bool isFinal = isFinalForm(inner, *offset);
    PointerValue advanced = state.advance(cx, inner, *offset, op.getOffset());
    if (cx.failed())
      return doneUnlessFailed(op, cx);
    if (offset->isDynamicLeaf()) {
      PointerValue dynamicPart = advanced;
      dynamicPart.staticOffset = std::nullopt;
      advanced.dynamicPointer = isFinal ? op.getResult() : state.emitPointer(dynamicPart);
    }
    state.definePointer(op.getResult(), std::move(advanced));
    return isFinal ? Lowered::Left : Lowered::Done;
  }
  std::optional<IntTuple> base = state.readTuple(op.getIter());
  if (!base)
    return Lowered::Left;
  state.define(op.getResult(), FlyValue(tupleAdd(cx, *base, *offset)));
  return doneUnlessFailed(op, cx);
}

/// A load through a coordinate is that coordinate.
static Lowered lowerPtrLoad(LoweringState &state, PtrLoadOp op) {
  std::optional<FlyValue> coordinate;
  if (isa<IntTupleType>(op.getPtr().getType()))
    coordinate = state.read(op.getPtr());
  if (!coordinate)
    return Lowered::Left;
  if (getTypeOf(op.getContext(), *coordinate) != op.getType()) {
    op.emitOpError("loads ") << op.getPtr().getType() << " as " << op.getType();
    return Lowered::Failed;
  }
  state.define(op.getResult(), std::move(*coordinate));
  return Lowered::Done;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The tensor advanced to its element at `coord`, of which only the iterator matters.
static std::optional<TensorOperand> elementAt(LoweringState &state, AlgebraContext &cx,
                                              Value tensor, Value coord) {
  std::optional<TensorOperand> operand = state.readTensor(tensor);
  std::optional<IntTuple> position = state.readTuple(coord);
  if (!operand || !position)
    return std::nullopt;
  const IntTuple index = crd2idx(cx, *position, operand->value.layout);
  return state.moved(cx, *operand, evaluate::advance(cx, operand->value, index), true);
}

static Lowered lowerLoad(LoweringState &state, MemRefLoadOp op) {
  AlgebraContext cx(&state.arith);
  std::optional<TensorOperand> element = elementAt(state, cx, op.getSource(), op.getCoord());
  if (!element)
    return Lowered::Left;
  if (cx.failed())
    return doneUnlessFailed(op, cx);
  if (!element->pointer) {
    state.define(op.getResult(), FlyValue(element->value.offset));
    return Lowered::Done;
  }
  Value loaded = PtrLoadOp::create(state.builder, op.getLoc(), op.getType(),
                                   state.emitPointer(*element->pointer));
  op.getResult().replaceAllUsesWith(loaded);
  return Lowered::Done;
}

static Lowered lowerStore(LoweringState &state, MemRefStoreOp op) {
  AlgebraContext cx(&state.arith);
  std::optional<TensorOperand> element = elementAt(state, cx, op.getDst(), op.getCoord());
  if (!element)
    return Lowered::Left;
  if (!cx.failed())
    PtrStoreOp::create(state.builder, op.getLoc(), op.getValue(),
                       state.emitPointer(*element->pointer));
  return doneUnlessFailed(op, cx);
}

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

/// A register tensor of this type, whose layout is `layout`, and the value `known` if there is one.
static Lowered allocate(LoweringState &state, Operation *op, const AnyLayout &layout,
                        Value known = {}) {
  auto type = cast<fly::MemRefType>(op->getResult(0).getType());
  if (layout.isComposed()) {
    op->emitOpError("register tensors have a plain layout, got ") << layout.str();
    return Lowered::Failed;
  }
  AlgebraContext cx;
  const IntTuple size = cosize(cx, layout.plain());
  if (cx.failed())
    return doneUnlessFailed(op, cx);
  if (!size.isStaticLeaf() || size.isBasis() || size.staticValue() <= 0) {
    op->emitOpError("register tensors need a static, positive size, got ")
        << size.str() << " elements for layout " << layout.str();
    return Lowered::Failed;
  }
  OpBuilder &builder = state.builder;
  if (!known)
    known = state.constructors().layout(layout);
  auto elements = builder.getNamedAttr("allocSize", builder.getI64IntegerAttr(size.staticValue()));
  Value pointer = MakePtrOp::create(builder, op->getLoc(), type.getPointerType(), ValueRange(),
                                    builder.getDictionaryAttr(elements));
  state.define(op->getResult(0),
               TensorOperand{{type.getPointerType(), 0, layout}, PointerValue{pointer}});
  state.hasLayout(op->getResult(0), known);
  return Lowered::Done;
}

static Lowered lowerAlloca(LoweringState &state, MemRefAllocaOp op) {
  std::optional<AnyLayout> layout = state.readLayout(op.getLayout());
  return layout ? allocate(state, op, *layout) : Lowered::Left;
}

/// Fragments are what their type says.
static Lowered lowerFragment(LoweringState &state, Operation *op) {
  return allocate(state, op, *getAnyLayout(op->getResult(0).getType()));
}

Lowered lowerMemory(LoweringState &state, Operation *op) {
  return llvm::TypeSwitch<Operation *, Lowered>(op)
      .Case<AddOffsetOp>([&](AddOffsetOp add) { return lowerAddOffset(state, add); })
      .Case<PtrLoadOp>([&](PtrLoadOp load) { return lowerPtrLoad(state, load); })
      .Case<MemRefLoadOp>([&](MemRefLoadOp load) { return lowerLoad(state, load); })
      .Case<MemRefStoreOp>([&](MemRefStoreOp store) { return lowerStore(state, store); })
      .Case<MemRefAllocaOp>([&](MemRefAllocaOp alloca) { return lowerAlloca(state, alloca); })
      .Case<MakeFragmentLikeOp, MmaMakeFragmentOp>(
          [&](auto fragment) { return lowerFragment(state, fragment); })
      .Default(Lowered::NotMine);
}

} // namespace fly
