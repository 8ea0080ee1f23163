// SPDX-License-Identifier: Apache-2.0
//
// fly.gemm becomes one atom call for each (m, n, k).

#include "GemmTraversal.h"
#include "LayoutLowering.h"

#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/Modes.h"

using namespace mlir;

namespace fly {

namespace {

/// More calls than this in place of one op are an error.
constexpr int64_t kMaxCalls = 1 << 14;

using Group = SmallVector<TensorOperand, 2>;

class GemmExpansion {
public:
  GemmExpansion(LoweringState &state, GemmOp op) : state(state), op(op), cx(&state.arith) {}

  Lowered run() {
    std::optional<TensorOperand> dRead = state.readTensor(op.getD());
    std::optional<TensorOperand> cRead = state.readTensor(op.getC());
    std::optional<Group> aRead = readGroup(op.getA()), bRead = readGroup(op.getB());
    if (!dRead || !cRead || !aRead || !bRead)
      return Lowered::Left;
    d = std::move(*dRead);
    c = std::move(*cRead);
    a = std::move(*aRead);
    b = std::move(*bRead);
    atom = getAtom(state, op.getAtom());
    if (isSingleFragment()) {
      call(*d, a, b, *c);
      return doneUnlessFailed(op, cx);
    }
    const std::optional<IndexMNK> counts = readCounts();
    if (!counts)
      return cx.failed() ? doneUnlessFailed(op, cx) : Lowered::Left;
    const std::optional<SmallVector<IndexMNK>> visits = readTraversal(*counts);
    if (!visits)
      return cx.failed() ? doneUnlessFailed(op, cx) : Lowered::Left;
    expand(*visits, *counts);
    return doneUnlessFailed(op, cx);
  }

private:
  std::optional<Group> readGroup(ValueRange values) {
    Group group;
    for (Value value : values) {
      std::optional<TensorOperand> tensor = state.readTensor(value);
      if (!tensor)
        return std::nullopt;
      group.push_back(std::move(*tensor));
    }
    return group;
  }

  bool isSingleFragment() const {
    auto isRank1 = [](const TensorOperand &tensor) { return tensor.rank() == 1; };
    return isRank1(*d) && isRank1(*c) && llvm::all_of(a, isRank1) && llvm::all_of(b, isRank1);
  }

  /// The extent of a mode; 1 for one that the tensor does not have.
  IntTuple extent(const TensorOperand &tensor, unsigned mode) {
    if (mode >= tensor.rank())
      return 1;
    const Layout &layout = tensor.value.layout.outermost();
    return layoutSize(cx, getMode(cx, layout, {static_cast<int32_t>(mode)}));
  }

  void requireRank(const TensorOperand &tensor, StringRef name, bool mayLackK) {
    if (tensor.rank() != 3 && !(mayLackK && tensor.rank() == 2))
      cx.fail("operand " + name + " must have the modes " +
              (mayLackK ? "(values, rows[, k])" : "(values, m, n)") + ", got " +
              tensor.value.layout.str());
  }

  void requireExtent(const TensorOperand &tensor, StringRef name, unsigned mode,
                     const IntTuple &expected) {
    const IntTuple actual = extent(tensor, mode);
    if (!cx.failed() && actual != expected)
      cx.fail("mode " + Twine(mode) + " of operand " + name + " has extent " + actual.str() +
              ", expected " + expected.str());
  }

  /// The numbers of atoms; nothing when one is dynamic, or after an error.
  std::optional<IndexMNK> readCounts() {
    requireRank(*d, "d", false);
    requireRank(*c, "c", false);
    for (const TensorOperand &tensor : a)
      requireRank(tensor, "a", true);
    for (const TensorOperand &tensor : b)
      requireRank(tensor, "b", true);
    if (cx.failed())
      return std::nullopt;
    const IntTuple m = extent(*d, 1), n = extent(*d, 2), k = extent(a.front(), 2);
    if (cx.failed() || !m.isStaticLeaf() || !n.isStaticLeaf() || !k.isStaticLeaf())
      return std::nullopt;
    requireExtent(*c, "c", 1, m);
    requireExtent(*c, "c", 2, n);
    for (const TensorOperand &tensor : a) {
      requireExtent(tensor, "a", 1, m);
      requireExtent(tensor, "a", 2, k);
    }
    for (const TensorOperand &tensor : b) {
      requireExtent(tensor, "b", 1, n);
      requireExtent(tensor, "b", 2, k);
    }
    const int64_t calls = int64_t(m.staticValue()) * n.staticValue() * k.staticValue();
    if (!cx.failed() && (calls < 0 || calls > kMaxCalls))
      cx.fail("takes " + Twine(calls) + " atom calls, more than " + Twine(kMaxCalls));
    if (cx.failed())
      return std::nullopt;
    return IndexMNK{m.staticValue(), n.staticValue(), k.staticValue()};
  }

  std::optional<SmallVector<IndexMNK>> readTraversal(IndexMNK counts) {
    if (!op.getTraversalLayout())
      return traverse(op.getTraversalOrder().value_or(GemmTraversalOrder::NMK), counts);
    const std::optional<AnyLayout> layout = state.readLayout(op.getTraversalLayout());
    if (!layout)
      return std::nullopt;
    SmallVector<IndexMNK> visits = traverse(cx, layout->plain(), counts);
    return cx.failed() ? std::nullopt : std::optional(std::move(visits));
  }

  void expand(ArrayRef<IndexMNK> visits, IndexMNK counts) {
    llvm::SmallVector<bool> started(size_t(counts[0]) * counts[1], false);
    for (const auto &[m, n, k] : visits) {
      if (cx.failed())
        return;
      bool &accumulating = started[size_t(m) * counts[1] + n];
      const TensorOperand result = at(*d, m, n);
      const TensorOperand accumulator = accumulating ? result : at(*c, m, n);
      accumulating = true;
      call(result, groupAt(a, m, k), groupAt(b, n, k), accumulator);
    }
  }

  Group groupAt(const Group &group, int32_t row, int32_t k) {
    Group result;
    for (const TensorOperand &tensor : group)
      result.push_back(at(tensor, row, k));
    return result;
  }

  /// The fragment at position (i, j) of modes 1 and 2, of which the second may be missing.
  TensorOperand at(const TensorOperand &tensor, int32_t i, int32_t j) {
    SmallVector<IntTuple, 3> coord = {IntTuple::none(), i};
    if (tensor.rank() == 3)
      coord.push_back(j);
    return state.sliced(cx, tensor, IntTuple::tuple(coord));
  }

  void call(const TensorOperand &result, const Group &aGroup, const Group &bGroup,
            const TensorOperand &accumulator) {
    if (cx.failed())
      return;
    auto emitAll = [&](const Group &group) {
      SmallVector<Value> values;
      for (const TensorOperand &tensor : group)
        values.push_back(state.emitTensor(tensor));
      return values;
    };
    const SmallVector<Value> aValues = emitAll(aGroup), bValues = emitAll(bGroup);
    Value cValue = state.emitTensor(accumulator);
    Value dValue = state.emitTensor(result);
    MmaAtomCallOp::create(state.builder, state.loc(), atom, dValue, aValues, bValues, cValue);
  }

  LoweringState &state;
  GemmOp op;
  AlgebraContext cx;
  Value atom;
  std::optional<TensorOperand> d, c;
  Group a, b;
};

} // namespace

Lowered lowerGemm(LoweringState &state, Operation *op) {
  auto gemm = dyn_cast<GemmOp>(op);
  return gemm ? GemmExpansion(state, gemm).run() : Lowered::NotMine;
}

} // namespace fly
