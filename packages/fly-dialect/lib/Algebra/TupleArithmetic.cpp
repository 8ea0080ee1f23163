// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/TupleArithmetic.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace fly;

using Modes = llvm::SmallVector<IntTuple, 4>;
using LeafFunction = IntTuple (*)(AlgebraContext &, const IntTuple &, const IntTuple &);

llvm::SmallVector<IntTuple, 8> fly::flatten(const IntTuple &tuple) {
  llvm::SmallVector<IntTuple, 8> leaves;
  leaves.reserve(tuple.leafCount());
  forEachLeaf(tuple, [&](const IntTuple &leaf) { leaves.push_back(leaf); });
  return leaves;
}

//===----------------------------------------------------------------------===//
// Mode by mode
//===----------------------------------------------------------------------===//

static IntTuple modeWise(AlgebraContext &cx, const IntTuple &a, const IntTuple &b, LeafFunction fn);

/// Combines the common modes of two lists and keeps the surplus ones of both.
static IntTuple combineModes(AlgebraContext &cx, llvm::ArrayRef<IntTuple> a,
                             llvm::ArrayRef<IntTuple> b, LeafFunction fn) {
  const size_t common = std::min(a.size(), b.size());
  Modes modes;
  for (size_t i = 0; i != common && !cx.failed(); ++i)
    modes.push_back(modeWise(cx, a[i], b[i], fn));
  llvm::append_range(modes, a.drop_front(common));
  llvm::append_range(modes, b.drop_front(common));
  return makeTuple(cx, modes);
}

static IntTuple modeWise(AlgebraContext &cx, const IntTuple &a, const IntTuple &b,
                         LeafFunction fn) {
  if (a.isLeaf() && b.isLeaf())
    return fn(cx, a, b);
  if (a.isLeaf()) {
    if (fn == leafAdd && a.isStaticInt(0))
      return b;
    cx.fail("integer " + a.str() + " on the left of tuple " + b.str());
    return 0;
  }
  return combineModes(cx, a.modes(), b.modes(), fn);
}

/// Whether `tuple`, or an operand nested in it, needs a basis element to be expanded in a sum.
static IntTuple addWithBases(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  if (a.isLeaf() && b.isLeaf() && !a.isBasis() && !b.isBasis())
    return leafAdd(cx, a, b);
  if (a.isLeaf() && a.isStaticInt(0))
    return b;
  if (b.isLeaf() && b.isStaticInt(0) && a.isLeaf())
    return a;
  if (a.isBasis() || b.isBasis()) {
    const IntTuple &other = a.isBasis() ? b : a;
    if (other.isLeaf() && !other.isBasis()) {
      cx.fail("basis element " + (a.isBasis() ? a : b).str() + " and integer " + other.str() +
              " have no sum");
      return 0;
    }
    return addWithBases(cx, expandBasis(cx, a), expandBasis(cx, b));
  }
  if (a.isLeaf())
    return modeWise(cx, a, b, leafAdd);
  return combineModes(cx, a.modes(), b.modes(), addWithBases);
}

IntTuple fly::expandBasis(AlgebraContext &cx, const IntTuple &tuple) {
  if (!tuple.isBasis())
    return tuple;
  const BasisPath path = tuple.path();
  IntTuple result = tuple.withPath({});
  for (unsigned level = path.size(); level-- != 0;) {
    Modes modes(path[level], IntTuple(0));
    modes.push_back(result);
    result = makeTuple(cx, modes);
  }
  return result;
}

IntTuple fly::tupleAdd(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  OperationScope scope(cx, "int_tuple_add", a, b);
  return addWithBases(cx, a, b);
}

IntTuple fly::tupleSub(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  OperationScope scope(cx, "int_tuple_sub", a, b);
  return modeWise(cx, a, b, leafSub);
}

IntTuple fly::tupleMul(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  OperationScope scope(cx, "int_tuple_mul", a, b);
  return modeWise(cx, a, b, leafMul);
}

IntTuple fly::tupleDiv(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  OperationScope scope(cx, "int_tuple_div", a, b);
  return modeWise(cx, a, b, leafDiv);
}

IntTuple fly::tupleMod(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  OperationScope scope(cx, "int_tuple_mod", a, b);
  return modeWise(cx, a, b, leafMod);
}

//===----------------------------------------------------------------------===//
// Division of shapes
//===----------------------------------------------------------------------===//

static IntTuple divideShape(AlgebraContext &cx, const IntTuple &a, const IntTuple &b,
                            LeafFunction fn) {
  if (cx.failed())
    return 0;
  if (a.isLeaf())
    return fn(cx, a, tupleProduct(cx, b));
  Modes modes;
  if (b.isLeaf()) {
    IntTuple rest = b;
    for (const auto &[index, mode] : llvm::enumerate(a.modes())) {
      modes.push_back(divideShape(cx, mode, rest, fn));
      if (index + 1 != a.rank())
        rest = fn(cx, rest, tupleProduct(cx, mode));
    }
    return makeTuple(cx, modes);
  }
  const size_t common = std::min(a.rank(), b.rank());
  for (size_t i = 0; i != common; ++i)
    modes.push_back(divideShape(cx, a.mode(i), b.mode(i), fn));
  llvm::append_range(modes, a.modes().drop_front(common));
  return makeTuple(cx, modes);
}

IntTuple fly::tupleCeilDiv(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  OperationScope scope(cx, "ceil_div", a, b);
  return divideShape(cx, a, b, leafCeilDiv);
}

IntTuple fly::tupleShapeDiv(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  OperationScope scope(cx, "shape_div", a, b);
  return divideShape(cx, a, b, leafShapeDiv);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

IntTuple fly::tupleProduct(AlgebraContext &cx, const IntTuple &tuple) {
  if (tuple.isLeaf())
    return tuple.isNone() ? IntTuple(0) : tuple;
  IntTuple product = 1;
  for (const IntTuple &mode : tuple.modes())
    product = leafMul(cx, product, tupleProduct(cx, mode));
  return product;
}

IntTuple fly::tupleProductEach(AlgebraContext &cx, const IntTuple &tuple) {
  OperationScope scope(cx, "int_tuple_product_each", tuple);
  if (tuple.isLeaf())
    return tupleProduct(cx, tuple);
  Modes modes;
  for (const IntTuple &mode : tuple.modes())
    modes.push_back(tupleProduct(cx, mode));
  return makeTuple(cx, modes);
}

static IntTuple productLike(AlgebraContext &cx, const IntTuple &tuple, const IntTuple &guide) {
  if (guide.isLeaf())
    return tupleProduct(cx, tuple);
  if (tuple.isLeaf() || tuple.rank() < guide.rank()) {
    cx.fail(tuple.str() + " has fewer modes than its guide " + guide.str());
    return 0;
  }
  Modes modes;
  for (const auto &[mode, guideMode] : llvm::zip(tuple.modes(), guide.modes()))
    modes.push_back(productLike(cx, mode, guideMode));
  return makeTuple(cx, modes);
}

IntTuple fly::tupleProductLike(AlgebraContext &cx, const IntTuple &tuple, const IntTuple &guide) {
  OperationScope scope(cx, "int_tuple_product_like", tuple, guide);
  return productLike(cx, tuple, guide);
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Whether the static leaves alone show that `a` is not less than `b`, so that no run-time test
/// needs to be emitted.
static bool knownNotLess(const IntTuple &a, const IntTuple &b) {
  if (a.isLeaf() && b.isLeaf())
    return a.isStaticLeaf() && b.isStaticLeaf() && a.staticValue() >= b.staticValue();
  if (a.isLeaf())
    return knownNotLess(a, b.mode(0));
  if (a.rank() > b.rank() || (b.isLeaf() && a.rank() > 1))
    return true;
  return llvm::any_of(llvm::zip(a.modes(), b.modes()), [](const auto &pair) {
    return knownNotLess(std::get<0>(pair), std::get<1>(pair));
  });
}

static Truth lessLeaves(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  if (a.isLeaf() && b.isLeaf())
    return leafLess(cx, a, b);
  if (a.isLeaf())
    return lessLeaves(cx, a, b.mode(0));
  Truth result = Truth::always(true);
  for (const auto &[left, right] : llvm::zip(a.modes(), b.modes()))
    result = truthAnd(cx, result, lessLeaves(cx, left, right));
  return result;
}

Truth fly::elemLess(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  OperationScope scope(cx, "elem_less", a, b);
  if (a.hasBasis() || b.hasBasis()) {
    cx.fail("basis elements have no order");
    return Truth::always(false);
  }
  return knownNotLess(a, b) ? Truth::always(false) : lessLeaves(cx, a, b);
}

static bool knownDifferent(const IntTuple &a, const IntTuple &b) {
  if (a.isLeaf() != b.isLeaf() || a.rank() != b.rank())
    return true;
  if (a.isLeaf())
    return a.path() != b.path() || a.isNone() != b.isNone() ||
           (a.isStaticLeaf() && b.isStaticLeaf() && a.staticValue() != b.staticValue());
  return llvm::any_of(llvm::zip(a.modes(), b.modes()), [](const auto &pair) {
    return knownDifferent(std::get<0>(pair), std::get<1>(pair));
  });
}

static Truth equalLeaves(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  if (a.isLeaf())
    return leafEqual(cx, a, b);
  Truth result = Truth::always(true);
  for (const auto &[left, right] : llvm::zip(a.modes(), b.modes()))
    result = truthAnd(cx, result, equalLeaves(cx, left, right));
  return result;
}

Truth fly::tupleEqual(AlgebraContext &cx, const IntTuple &a, const IntTuple &b) {
  OperationScope scope(cx, "equal", a, b);
  return knownDifferent(a, b) ? Truth::always(false) : equalLeaves(cx, a, b);
}
