// SPDX-License-Identifier: Apache-2.0
//
// Tensors that are advanced, taken apart into pointer and layout, and distributed over threads.

#include "fly/Algebra/Construct.h"
#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/MmaTiling.h"
#include "fly/Algebra/TupleArithmetic.h"
#include "fly/Dialect/Fly/IR/Evaluate.h"
#include "fly/Dialect/Fly/IR/TiledMma.h"

using namespace fly;

TensorValue evaluate::advance(AlgebraContext &cx, const TensorValue &tensor,
                              const IntTuple &offset) {
  TensorValue result = tensor;
  result.offset = tupleAdd(cx, tensor.offset, offset);
  if (tensor.isMemRef() && (!result.offset.isLeaf() || result.offset.isBasis()))
    cx.fail("a pointer can't be advanced by " + result.offset.str() + ", which is no integer");
  return result;
}

TensorValue evaluate::decomposition(AlgebraContext &cx, const TensorValue &tensor) {
  if (!tensor.layout.isComposed())
    return tensor;
  const Layout &outermost = tensor.layout.outermost();
  const IntTuple origin =
      mapLeaves(cx, outermost.shape(), [](const IntTuple &) { return IntTuple(0); });
  const IntTuple offset = fly::crd2idx(cx, origin, tensor.layout);
  return advance(cx, {tensor.pointer, tensor.offset, outermost}, offset);
}

//===----------------------------------------------------------------------===//
// Tiled copy
//===----------------------------------------------------------------------===//

static std::optional<TiledCopyDesc> describe(AlgebraContext &cx, TiledCopyType copy,
                                             CopyOperand side) {
  const mlir::FailureOr<Layout> reference = getValueLayout(copy.getAtom(), CopyOperand::Reference);
  const mlir::FailureOr<Layout> own = getValueLayout(copy.getAtom(), side);
  if (failed(reference) || failed(own)) {
    cx.fail("the copy atom has no thread-value layouts");
    return std::nullopt;
  }
  return TiledCopyDesc{*reference, *own, copy.getLayoutTV().getValue(), copy.getTile().getValue()};
}

TensorValue evaluate::partitionCopy(AlgebraContext &cx, TiledCopyType copy, CopyOperand side,
                                    const TensorValue &tensor, const IntTuple &thread) {
  const std::optional<TiledCopyDesc> description = describe(cx, copy, side);
  if (!description)
    return tensor;
  SlicedLayout part = fly::partitionCopy(cx, *description, tensor.layout, thread);
  return advance(cx, {tensor.pointer, tensor.offset, std::move(part.layout)}, part.offset);
}

TensorValue evaluate::retile(AlgebraContext &cx, TiledCopyType copy, const TensorValue &fragment) {
  const std::optional<TiledCopyDesc> description = describe(cx, copy, CopyOperand::Reference);
  if (!description)
    return fragment;
  if (fragment.layout.isComposed()) {
    cx.fail("a fragment has a plain layout, got " + fragment.layout.str());
    return fragment;
  }
  TensorValue result = fragment;
  result.layout = fly::retile(cx, *description, fragment.layout.plain());
  return result;
}

//===----------------------------------------------------------------------===//
// Tiled matrix multiplication
//===----------------------------------------------------------------------===//

static std::optional<TiledMmaDesc> describe(AlgebraContext &cx, TiledMmaType mma,
                                            MmaOperand operand) {
  auto atom = mlir::dyn_cast<MmaOpTypeInterface>(mma.getAtom().getMmaOp());
  if (!atom) {
    cx.fail("the matrix atom has no thread-value layouts");
    return std::nullopt;
  }
  const MmaRole role = operand == MmaOperand::A   ? MmaRole::A
                       : operand == MmaOperand::B ? MmaRole::B
                                                  : MmaRole::C;
  return TiledMmaDesc{atom.getShapeMNK(),
                      atom.getThreadLayout(),
                      atom.getThreadValueLayout(operand),
                      mma.getAtomLayout().getValue(),
                      mma.getPermutation().getValue(),
                      role};
}

TensorValue evaluate::partitionMma(AlgebraContext &cx, TiledMmaType mma, MmaOperand operand,
                                   const TensorValue &tensor, const IntTuple &thread) {
  const std::optional<TiledMmaDesc> description = describe(cx, mma, operand);
  if (!description)
    return tensor;
  SlicedLayout part = fly::partitionMma(cx, *description, tensor.layout, thread);
  return advance(cx, {tensor.pointer, tensor.offset, std::move(part.layout)}, part.offset);
}

IntTuple evaluate::partitionMmaShape(AlgebraContext &cx, TiledMmaType mma, MmaOperand operand,
                                     const IntTuple &shape) {
  const std::optional<TiledMmaDesc> description = describe(cx, mma, operand);
  return description ? fly::partitionMmaShape(cx, *description, shape) : shape;
}

Layout evaluate::mmaFragment(AlgebraContext &cx, TiledMmaType mma, MmaOperand operand,
                             const TensorValue &tensor, int32_t stages) {
  const std::optional<TiledMmaDesc> description = describe(cx, mma, operand);
  return description ? fly::mmaFragment(cx, *description, tensor.layout, stages) : Layout(1, 0);
}

Layout evaluate::mmaThreads(AlgebraContext &cx, TiledMmaType mma) {
  const std::optional<TiledMmaDesc> description = describe(cx, mma, MmaOperand::A);
  return description ? fly::mmaThreads(cx, *description) : Layout(1, 0);
}

IntTuple evaluate::mmaTile(AlgebraContext &cx, TiledMmaType mma) {
  const std::optional<TiledMmaDesc> description = describe(cx, mma, MmaOperand::A);
  return description ? fly::mmaTile(cx, *description) : IntTuple(1);
}

Layout evaluate::mmaThreadValues(AlgebraContext &cx, TiledMmaType mma, MmaOperand operand) {
  const std::optional<TiledMmaDesc> description = describe(cx, mma, operand);
  return description ? fly::mmaThreadValues(cx, *description) : Layout(1, 0);
}
