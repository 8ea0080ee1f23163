// SPDX-License-Identifier: Apache-2.0
//
// fly.copy becomes one atom call for each position of the modes behind mode 0, which holds what one
// call moves. fly.copy_atom_call is such a call already.

#include "AtomRuns.h"
#include "LayoutLowering.h"

#include "fly/Algebra/Coordinates.h"
#include "fly/Algebra/Modes.h"
#include "fly/Algebra/TupleArithmetic.h"

using namespace mlir;

namespace fly {

namespace {

/// More calls than this in place of one copy are an error.
constexpr int64_t kMaxCalls = 1 << 14;

class CopyExpansion {
public:
  CopyExpansion(LoweringState &state, CopyOp op, Value atom)
      : state(state), op(op), atom(atom), cx(&state.arith) {}

  Lowered run(const TensorOperand &src, const TensorOperand &dst,
              std::optional<TensorOperand> pred) {
    if (pred && pred->rank() + 1 == src.rank())
      pred = withLayout(*pred, prependBroadcast(pred->value.layout));
    if (!countCalls(src, dst, pred))
      return Lowered::Left;
    if (!cx.failed() && calls > kMaxCalls)
      cx.fail("takes " + Twine(calls) + " atom calls, more than " + Twine(kMaxCalls));
    if (!cx.failed())
      expand(src, dst, pred);
    return doneUnlessFailed(op, cx);
  }

private:
  /// Mode 0 of a predicate with one value per atom call: all of the call's values share it.
  AnyLayout prependBroadcast(const AnyLayout &layout) {
    return mapOutermost(layout,
                        [&](const Layout &plain) { return prependMode(cx, plain, Layout(1, 0)); });
  }

  /// The extent of all modes of rank > 1 behind mode 0; nothing when it is dynamic.
  std::optional<int64_t> positions(const TensorOperand &tensor) {
    const Layout &layout = tensor.value.layout.outermost();
    AlgebraContext sizes;
    const Layout rest = takeModes(sizes, layout, 1, -1);
    const IntTuple size = layoutSize(sizes, rest);
    if (sizes.failed())
      cx.fail(sizes.message());
    if (!sizes.failed() && size.isStaticLeaf() && size.staticValue() < 0)
      cx.fail("extents must not be negative, got " + layout.str());
    if (sizes.failed() || cx.failed() || !size.isStaticLeaf())
      return std::nullopt;
    return size.staticValue();
  }

  /// Checks that the shapes fit and counts the calls at the outermost level. False when the number
  /// is not static.
  bool countCalls(const TensorOperand &src, const TensorOperand &dst,
                  const std::optional<TensorOperand> &pred) {
    if (src.rank() != dst.rank()) {
      cx.fail("source " + src.value.layout.str() + " and destination " + dst.value.layout.str() +
              " must have the same rank");
      return true;
    }
    if (pred && pred->rank() != src.rank()) {
      cx.fail("predicate " + pred->value.layout.str() + " must have the rank of source " +
              src.value.layout.str() + ", or one less");
      return true;
    }
    if (src.rank() == 1)
      return true;
    const std::optional<int64_t> count = positions(src);
    if (!count)
      return cx.failed();
    calls = *count;
    return true;
  }

  void expand(const TensorOperand &src, const TensorOperand &dst,
              const std::optional<TensorOperand> &pred) {
    if (cx.failed())
      return;
    if (src.rank() != dst.rank()) {
      cx.fail("source " + src.value.layout.str() + " and destination " + dst.value.layout.str() +
              " must have the same modes");
      return;
    }
    if (isOneCall(src)) {
      requireAtom(src, dst);
      auto decompose = [&](const TensorOperand &tensor) { return state.decomposed(cx, tensor); };
      call(decompose(src), decompose(dst), pred ? std::optional(decompose(*pred)) : pred);
      return;
    }
    if (src.rank() == 1) {
      expand(unwrap(src), unwrap(dst), pred ? std::optional(unwrap(*pred)) : pred);
      return;
    }
    if (pred && pred->rank() + 1 == src.rank()) {
      // Also of a nested mode: one value per call.
      expand(src, dst, withLayout(*pred, prependBroadcast(pred->value.layout)));
      return;
    }
    if (pred && pred->rank() != src.rank()) {
      cx.fail("predicate " + pred->value.layout.str() + " must have the rank of source " +
              src.value.layout.str() + ", or one less");
      return;
    }
    const std::optional<int64_t> count = positions(src), dstCount = positions(dst);
    if (!count || !dstCount || *count != *dstCount) {
      cx.fail("source " + src.value.layout.str() + " and destination " + dst.value.layout.str() +
              " must have the same number of atoms");
      return;
    }
    if (*count > kMaxCalls) {
      cx.fail("takes " + Twine(*count) + " atom calls, more than " + Twine(kMaxCalls));
      return;
    }
    const TensorOperand srcRest = groupRest(src), dstRest = groupRest(dst);
    const std::optional<TensorOperand> predRest = pred ? std::optional(groupRest(*pred)) : pred;
    for (int32_t i = 0; i != *count && !cx.failed(); ++i) {
      const TensorOperand srcPart = at(srcRest, i);
      const TensorOperand dstPart = at(dstRest, i);
      expand(srcPart, dstPart, predRest ? std::optional(at(*predRest, i)) : predRest);
    }
  }

  /// Whether a tensor has just one leaf with more than one element, or none, in front of modes of
  /// one element.
  bool isOneCall(const TensorOperand &tensor) {
    IntTuple shape = tensor.value.layout.outermost().shape();
    while (shape.isTuple()) {
      for (const IntTuple &mode : shape.modes().drop_front())
        if (!tupleProduct(cx, mode).isStaticInt(1))
          return false;
      shape = IntTuple(shape.mode(0));
    }
    return true;
  }

  /// Fails unless what is left of both tensors for one call is what the atom moves for one thread:
  /// elements side by side, as many as the atom moves.
  void requireAtom(const TensorOperand &src, const TensorOperand &dst) {
    auto copy = dyn_cast<CopyOpTypeInterface>(cast<CopyAtomType>(atom.getType()).getCopyOp());
    if (!copy)
      return;
    // What is wrong in registers, where all has been chosen for this copy, is said first.
    const bool sourceFirst = isInRegisters(src) || !isInRegisters(dst);
    if (sourceFirst)
      requireSide(src, dst, "source", copy, copy.getSourceBitLayout());
    requireSide(dst, src, "destination", copy, copy.getDestinationBitLayout());
    if (!sourceFirst)
      requireSide(src, dst, "source", copy, copy.getSourceBitLayout());
  }

  static bool isInRegisters(const TensorOperand &tensor) {
    return tensor.value.isMemRef() && tensor.value.pointer.isInSpace(AddressSpace::Register);
  }

  void requireSide(const TensorOperand &tensor, const TensorOperand &other, StringRef name,
                   CopyOpTypeInterface copy, const Layout &bitLayout) {
    if (cx.failed() || !tensor.value.isMemRef() || !tensor.value.layout.outermost().isStatic())
      return;
    int64_t extent = 1;
    for (const Layout &leaf : flatten(cx, tensor.value.layout.outermost())) {
      if (leaf.shape().isStaticInt(1))
        continue;
      extent = leaf.shape().staticValue();
      if (!leaf.stride().isStaticInt(1)) {
        cx.fail(name + " layout " + leaf.str() + " is not contiguous within one atom call");
        return;
      }
    }
    AlgebraContext sizes;
    const IntTuple moved = layoutSize(sizes, getMode(sizes, bitLayout, {1}));
    const IntTuple lanes = layoutSize(sizes, copy.getThreadLayout());
    if (sizes.failed() || !moved.isStaticLeaf())
      return;
    const int64_t bits = moved.staticValue();
    const int64_t elementBits = getElementBitWidth(tensor.value.pointer.getElementType());
    // Lanes that cooperate, and loads that go to LDS by themselves, have an order of their own.
    const bool toLDS =
        !isa<UniversalCopyType>(copy) && !isInRegisters(tensor) && !isInRegisters(other);
    const bool perLane = lanes.isStaticInt(1) && !(toLDS && name == "destination");
    // One element may stand for where an access begins, if something else says how far it goes.
    const bool isAddress = extent == 1 && bits > elementBits && !isInRegisters(tensor) &&
                           (isInRegisters(other) || toLDS || elementBits < 8);
    if ((perLane || isInRegisters(tensor)) && bits != extent * elementBits && !isAddress) {
      cx.fail(name + " layout " + tensor.value.layout.str() + " holds " +
              Twine(extent * elementBits) + " bits for one atom call, which moves " + Twine(bits) +
              ": mode 0 is what one call moves, the modes behind it are repetitions");
      return;
    }
    const int64_t run = perLane && isAddress ? bits / elementBits : extent;
    if (std::optional<std::string> torn = tornApart(tensor.value.layout, run, elementBits))
      cx.fail(name + " " + *torn);
  }

  static TensorOperand withLayout(const TensorOperand &tensor, AnyLayout layout) {
    TensorOperand result = tensor;
    result.value.layout = std::move(layout);
    result.original = {};
    return result;
  }

  TensorOperand groupRest(const TensorOperand &tensor) {
    return withLayout(tensor, mapOutermost(tensor.value.layout, [&](const Layout &layout) {
                        return groupModes(cx, layout, 1, -1);
                      }));
  }

  /// The part at column-major position `i` of mode 1. What a call takes of it is emitted at once:
  /// each operand is sliced, then those with a composed layout are decomposed.
  TensorOperand at(const TensorOperand &tensor, int32_t i) {
    const IntTuple coord = IntTuple::tuple({IntTuple::none(), IntTuple(i)});
    TensorOperand part = state.sliced(cx, tensor, coord);
    if (cx.failed() || !isOneCall(part))
      return part;
    if (part.value.layout.isComposed())
      state.emitLayout(AnyLayout(part.value.layout.outermost()));
    else
      state.emitTensor(part);
    return part;
  }

  TensorOperand unwrap(const TensorOperand &tensor) {
    if (tensor.value.layout.outermost().shape().isLeaf())
      return tensor;
    return withLayout(tensor, mapOutermost(tensor.value.layout, [&](const Layout &layout) {
                        return getMode(cx, layout, {0});
                      }));
  }

  void call(const TensorOperand &src, const TensorOperand &dst,
            const std::optional<TensorOperand> &pred) {
    if (cx.failed())
      return;
    Value source = state.emitTensor(src);
    Value destination = state.emitTensor(dst);
    Value predicate = pred ? state.emitTensor(*pred) : Value();
    CopyAtomCallOp::create(state.builder, state.loc(), atom, source, destination, predicate);
  }

  LoweringState &state;
  CopyOp op;
  Value atom;
  AlgebraContext cx;
  int64_t calls = 1;
};

bool isWholeTileCopy(Value atom) {
  auto copy = dyn_cast<CopyOpTypeInterface>(cast<CopyAtomType>(atom.getType()).getCopyOp());
  return copy && copy.isWholeTileCopy();
}

/// A call that the program makes itself has the inner maps of its operands' layouts applied, like
/// one that a copy is expanded to.
Lowered lowerCall(LoweringState &state, CopyAtomCallOp call) {
  Value operands[] = {call.getSrc(), call.getDst()};
  auto isComposed = [](Value operand) {
    auto type = dyn_cast<fly::MemRefType>(operand.getType());
    return type && type.getLayout().isComposed();
  };
  if (!llvm::any_of(operands, isComposed) || isWholeTileCopy(call.getAtom()))
    return Lowered::NotMine;
  AlgebraContext cx(&state.arith);
  std::optional<TensorOperand> tensors[2];
  for (auto [operand, tensor] : llvm::zip_equal(operands, tensors)) {
    if (isComposed(operand) && !(tensor = state.readTensor(operand)))
      return Lowered::Left;
  }
  for (auto [operand, tensor, name] :
       llvm::zip_equal(operands, tensors, ArrayRef<StringRef>{"source", "destination"})) {
    if (!tensor)
      continue;
    const AnyLayout &layout = tensor->value.layout;
    if (const IntTuple extent = layoutSize(cx, layout.outermost()); extent.isStaticLeaf())
      if (auto torn = tornApart(layout, extent.staticValue(),
                                getElementBitWidth(tensor->value.pointer.getElementType())))
        cx.fail(name + " " + *torn);
    const TensorOperand plain = state.decomposed(cx, *tensor);
    if (cx.failed())
      break;
    operand = state.emitTensor(plain);
  }
  if (!cx.failed())
    CopyAtomCallOp::create(state.builder, state.loc(), call.getAtom(), operands[0], operands[1],
                           call.getPred());
  return doneUnlessFailed(call, cx);
}

} // namespace

Lowered lowerCopy(LoweringState &state, Operation *op) {
  if (auto call = dyn_cast<CopyAtomCallOp>(op))
    return lowerCall(state, call);
  auto copy = dyn_cast<CopyOp>(op);
  if (!copy)
    return Lowered::NotMine;
  Value atom = getAtom(state, copy.getAtom());
  if (isWholeTileCopy(atom)) {
    CopyAtomCallOp::create(state.builder, state.loc(), atom, copy.getSrc(), copy.getDst(),
                           copy.getPred());
    return Lowered::Done;
  }
  std::optional<TensorOperand> src = state.readTensor(copy.getSrc());
  std::optional<TensorOperand> dst = state.readTensor(copy.getDst());
  std::optional<TensorOperand> pred;
  if (copy.getPred())
    pred = state.readTensor(copy.getPred());
  if (!src || !dst || (copy.getPred() && !pred))
    return Lowered::Left;
  return CopyExpansion(state, copy, atom).run(*src, *dst, pred);
}

} // namespace fly
