// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic, products and comparisons of integer tuples.

#ifndef FLY_ALGEBRA_TUPLEARITHMETIC_H
#define FLY_ALGEBRA_TUPLEARITHMETIC_H

#include "fly/Algebra/Leaf.h"

namespace fly {

// Mode by mode: surplus modes of either operand are kept, and a leaf on the right meets the first
// mode of a tuple on the left.

/// A basis element is expanded to the shortest tuple that has its value at its path and 0
/// elsewhere, unless the other operand is a static 0, which leaves anything as it is.
IntTuple tupleAdd(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
IntTuple tupleSub(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
IntTuple tupleMul(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
IntTuple tupleDiv(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
IntTuple tupleMod(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);

// Leaf by tuple divides by the product of the tuple; tuple by leaf consumes the divisor from the
// leading modes on; tuple by tuple goes mode by mode and keeps the dividend's surplus modes.

IntTuple tupleCeilDiv(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
IntTuple tupleShapeDiv(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);

/// The product of all leaves.
IntTuple tupleProduct(AlgebraContext &cx, const IntTuple &tuple);
/// The product of each top-level mode; a leaf stays a leaf.
IntTuple tupleProductEach(AlgebraContext &cx, const IntTuple &tuple);
/// The products of the parts of `tuple` that correspond to the leaves of `guide`; modes beyond the
/// guide's are dropped.
IntTuple tupleProductLike(AlgebraContext &cx, const IntTuple &tuple, const IntTuple &guide);

/// Whether each leaf of `a` is less than its partner in `b`. False where `a` has more modes;
/// surplus modes of `b` are ignored; a leaf is compared with the first mode of a tuple.
Truth elemLess(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);
/// Equality of profile and leaves.
Truth tupleEqual(AlgebraContext &cx, const IntTuple &a, const IntTuple &b);

/// The shortest tuple with the value of this basis element at its path and 0 elsewhere. Any other
/// tuple is returned as it is.
IntTuple expandBasis(AlgebraContext &cx, const IntTuple &tuple);

/// `fn` applied to each leaf, in depth-first order.
template <typename Fn> IntTuple mapLeaves(AlgebraContext &cx, const IntTuple &tuple, const Fn &fn) {
  if (tuple.isLeaf())
    return fn(tuple);
  llvm::SmallVector<IntTuple, 4> modes;
  for (const IntTuple &mode : tuple.modes())
    modes.push_back(mapLeaves(cx, mode, fn));
  return makeTuple(cx, modes);
}

/// The leaves, depth first.
llvm::SmallVector<IntTuple, 8> flatten(const IntTuple &tuple);

} // namespace fly

#endif // FLY_ALGEBRA_TUPLEARITHMETIC_H
