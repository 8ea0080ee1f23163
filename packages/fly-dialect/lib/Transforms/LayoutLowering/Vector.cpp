// SPDX-License-Identifier: Apache-2.0
//
// memref.load_vec and memref.store_vec: one vector access for each run of contiguous elements.

#include "LayoutLowering.h"

#include "fly/Algebra/Compose.h"
#include "fly/Algebra/Leaf.h"
#include "fly/Algebra/Modes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace fly {

namespace {

/// More accesses than this in place of one op are an error.
constexpr int64_t kMaxAccesses = 1 << 14;

/// How the elements of a plain layout with static extents are reached: in chunks of `width`
/// elements that lie side by side, one per position of the other leaves.
struct AccessPlan {
  int64_t width = 1;
  bool contiguous = false;
  /// Elements in front of the contiguous leaf, in column-major order, and behind it.
  int64_t before = 1;
  int64_t behind = 1;
  /// The other leaves, in order.
  SmallVector<Layout, 8> others;

  int64_t chunks() const { return before * behind; }
  /// Whether one vector access reaches everything.
  bool isWhole() const { return contiguous && others.empty(); }
  int64_t elements() const { return width * chunks(); }
  /// Chunks one after another are in column-major order only if nothing varies faster than they do.
  bool needsTranspose() const { return width > 1 && before > 1; }
};

/// The leaf of stride 1, or of one element, with the largest extent, or none.
std::optional<size_t> contiguousLeaf(ArrayRef<Layout> leaves) {
  std::optional<size_t> best;
  for (const auto &[index, leaf] : llvm::enumerate(leaves))
    if ((leaf.stride().isStaticInt(1) || leaf.shape().isStaticInt(1)) &&
        (!best || leaf.shape().staticValue() > leaves[*best].shape().staticValue()))
      best = index;
  return best;
}

AccessPlan planAccess(ArrayRef<Layout> leaves) {
  AccessPlan plan;
  const std::optional<size_t> contiguous = contiguousLeaf(leaves);
  plan.contiguous = contiguous.has_value();
  for (const auto &[index, leaf] : llvm::enumerate(leaves)) {
    const int64_t extent = leaf.shape().staticValue();
    if (contiguous == index) {
      plan.width = extent;
      continue;
    }
    plan.others.push_back(leaf);
    (!contiguous || index < *contiguous ? plan.before : plan.behind) *= extent;
  }
  return plan;
}

/// The offset of the column-major position `index` of `leaves`.
IntTuple offsetOf(AlgebraContext &cx, ArrayRef<Layout> leaves, int64_t index) {
  IntTuple offset = 0;
  for (const Layout &leaf : leaves) {
    const int64_t extent = leaf.shape().staticValue();
    const IntTuple step = leafMul(cx, static_cast<int32_t>(index % extent), leaf.stride());
    offset = leafAdd(cx, offset, step);
    index /= extent;
  }
  return offset;
}

/// Builds the accesses of one op.
class VectorAccess {
public:
  VectorAccess(LoweringState &state, Operation *op, TensorOperand tensor)
      : state(state), op(op), tensor(std::move(tensor)), cx(&state.arith) {}

  Lowered load(VectorType type) {
    if (!plan(type))
      return Lowered::Failed;
    Value result;
    if (!tensor.pointer)
      result = coordinates(type);
    else if (access.isWhole())
      result = loadChunk(type, 0);
    else
      result = loadChunks(type);
    if (cx.failed())
      return doneUnlessFailed(op, cx);
    op->getResult(0).replaceAllUsesWith(result);
    return Lowered::Done;
  }

  Lowered store(Value vector) {
    auto type = cast<VectorType>(vector.getType());
    if (!plan(type))
      return Lowered::Failed;
    if (access.needsTranspose())
      vector = transposed(vector, access.width, access.before);
    for (int64_t index = 0; index != access.chunks() && !cx.failed(); ++index) {
      Value pointer = pointerAt(index);
      Value chunk = vector;
      if (access.width == 1 && !access.isWhole())
        chunk = vector::ExtractOp::create(builder(), state.loc(), vector, index);
      else if (access.chunks() != 1)
        chunk = vector::ExtractStridedSliceOp::create(
            builder(), state.loc(), vector, index * access.width, access.width, int64_t(1));
      PtrStoreOp::create(builder(), state.loc(), chunk, pointer);
    }
    return doneUnlessFailed(op, cx);
  }

private:
  OpBuilder &builder() { return state.builder; }

  /// Fails, with a report, where the vector and the tensor don't fit.
  bool plan(VectorType type) {
    if (tensor.value.layout.isComposed()) {
      op->emitOpError("needs a plain layout, got ") << tensor.value.layout.str();
      return false;
    }
    SmallVector<Layout, 8> leaves = flatten(cx, tensor.value.layout.plain());
    for (const Layout &leaf : leaves)
      if (!leaf.shape().isStaticLeaf() || leaf.shape().staticValue() <= 0)
        cx.fail("extents must be static and positive, got " + tensor.value.layout.str());
    // Modes that continue one another are one run: the sums of a matrix instruction are (4,4):(1,4)
    // and one vector.
    if (!cx.failed() && tensor.pointer)
      leaves = flatten(cx, coalesce(cx, tensor.value.layout.plain()));
    if (!cx.failed())
      access = planAccess(leaves);
    // Coordinates are computed one by one.
    if (!cx.failed() && !tensor.pointer)
      access = AccessPlan{1, false, layoutElements(leaves), 1, leaves};
    if (!cx.failed() && (type.getRank() != 1 || type.getNumElements() != access.elements()))
      cx.fail("the vector must have the " + Twine(access.elements()) + " elements of " +
              tensor.value.layout.str());
    if (!cx.failed() && access.chunks() > kMaxAccesses)
      cx.fail("takes " + Twine(access.chunks()) + " accesses, more than " + Twine(kMaxAccesses));
    if (!cx.failed())
      return true;
    op->emitOpError(cx.message());
    return false;
  }

  static int64_t layoutElements(ArrayRef<Layout> leaves) {
    int64_t elements = 1;
    for (const Layout &leaf : leaves)
      elements *= leaf.shape().staticValue();
    return elements;
  }

  Value pointerAt(int64_t chunk) {
    // What is reached by one access is reached without an offset.
    if (access.isWhole())
      return state.emitPointer(*tensor.pointer);
    const IntTuple offset = offsetOf(cx, access.others, chunk);
    return state.emitPointer(state.advance(cx, *tensor.pointer, offset));
  }

  Value loadChunk(Type type, int64_t chunk) {
    return PtrLoadOp::create(builder(), state.loc(), type, pointerAt(chunk));
  }

  Value zeros(VectorType type) {
    return arith::ConstantOp::create(builder(), state.loc(), builder().getZeroAttr(type));
  }

  Value loadChunks(VectorType type) {
    const Type element = type.getElementType();
    const Type chunkType =
        access.width == 1 ? element : Type(VectorType::get({access.width}, element));
    Value result = zeros(type);
    for (int64_t index = 0; index != access.chunks() && !cx.failed(); ++index) {
      Value chunk = loadChunk(chunkType, index);
      if (access.width == 1)
        result = vector::InsertOp::create(builder(), state.loc(), chunk, result, index);
      else
        result = vector::InsertStridedSliceOp::create(builder(), state.loc(), chunk, result,
                                                      index * access.width, int64_t(1));
    }
    if (access.needsTranspose())
      result = transposed(result, access.before, access.width);
    return result;
  }

  /// `vector`, which is blocks of `rows` by `columns` one after another, with each transposed: a
  /// shuffle for each block, which LLVM still tells apart. (vector.transpose is taken apart into
  /// elements.)
  Value transposed(Value vector, int64_t rows, int64_t columns) {
    SmallVector<int64_t> order;
    for (int64_t column = 0; column != columns; ++column)
      for (int64_t row = 0; row != rows; ++row)
        order.push_back(row * columns + column);
    const int64_t size = rows * columns;
    const Location loc = state.loc();
    if (access.behind == 1)
      return vector::ShuffleOp::create(builder(), loc, vector, vector, order);
    Value result = zeros(cast<VectorType>(vector.getType()));
    for (int64_t start = 0; start != access.behind * size; start += size) {
      Value block =
          vector::ExtractStridedSliceOp::create(builder(), loc, vector, start, size, int64_t(1));
      block = vector::ShuffleOp::create(builder(), loc, block, block, order);
      result =
          vector::InsertStridedSliceOp::create(builder(), loc, block, result, start, int64_t(1));
    }
    return result;
  }

  Value coordinates(VectorType type) {
    const unsigned width = type.getElementTypeBitWidth();
    Value result = zeros(type);
    for (int64_t index = 0; index != access.chunks(); ++index) {
      const IntTuple coordinate =
          leafAdd(cx, tensor.value.offset, offsetOf(cx, access.others, index));
      if (cx.failed())
        return result;
      result = vector::InsertOp::create(builder(), state.loc(), state.emitLeaf(coordinate, width),
                                        result, index);
    }
    return result;
  }

  LoweringState &state;
  Operation *op;
  TensorOperand tensor;
  AlgebraContext cx;
  AccessPlan access;
};

} // namespace

Lowered lowerVectorAccess(LoweringState &state, Operation *op) {
  if (auto load = dyn_cast<MemRefLoadVecOp>(op)) {
    std::optional<TensorOperand> tensor = state.readTensor(load.getSource());
    return tensor ? VectorAccess(state, op, std::move(*tensor))
                        .load(cast<VectorType>(load.getResult().getType()))
                  : Lowered::Left;
  }
  if (auto store = dyn_cast<MemRefStoreVecOp>(op)) {
    std::optional<TensorOperand> tensor = state.readTensor(store.getDst());
    return tensor ? VectorAccess(state, op, std::move(*tensor)).store(store.getVector())
                  : Lowered::Left;
  }
  return Lowered::NotMine;
}

} // namespace fly
