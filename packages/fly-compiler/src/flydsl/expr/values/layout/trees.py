# SPDX-License-Identifier: Apache-2.0
"""Trees of integers, which the facts of int-tuples and layouts are made of (`flydsl._mlir.facts`).

A tree is a Python int, `None` (the leaf `*`), a `Dynamic` or a `BasisLeaf`, or a tuple of trees.
"""

from __future__ import annotations

from flydsl._mlir._mlir_libs._flyDialect import Basis as BasisLeaf
from flydsl._mlir._mlir_libs._flyDialect import Dynamic
from flydsl._mlir._mlir_libs._flyDialect import spell_tuple as spelled
from flydsl._mlir.facts import Tree

__all__ = [
    "BasisLeaf",
    "Dynamic",
    "Tree",
    "congruent",
    "depth_of",
    "is_static",
    "leaves_of",
    "product_of",
    "rank_of",
    "spelled",
    "weakly_congruent",
]


def is_static(facts: object) -> bool:
    """Tell whether a tree, or the record of a layout or another value, has no dynamic leaf."""
    if isinstance(facts, tuple):
        return all(is_static(item) for item in facts)
    if isinstance(facts, BasisLeaf):
        return type(facts.value) is not Dynamic
    return type(facts) is not Dynamic


def leaves_of(tree: Tree) -> list[Tree]:
    """Return the leaves, depth first."""
    return [leaf for item in tree for leaf in leaves_of(item)] if type(tree) is tuple else [tree]


def product_of(tree: Tree) -> int:
    """Return the product of the leaves of a static tree."""
    result = 1
    for leaf in leaves_of(tree):
        result *= leaf
    return result


def rank_of(tree: Tree) -> int:
    """Return the number of top-level modes; 1 for a leaf."""
    return len(tree) if type(tree) is tuple else 1


def depth_of(tree: Tree) -> int:
    """Return the nesting depth; 0 for a leaf."""
    return 1 + max(depth_of(item) for item in tree) if type(tree) is tuple else 0


def congruent(a: Tree, b: Tree) -> bool:
    """Tell whether two trees have the same nesting."""
    if type(a) is tuple and type(b) is tuple:
        return len(a) == len(b) and all(congruent(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is not tuple and type(b) is not tuple


def weakly_congruent(coordinate: Tree, shape: Tree) -> bool:
    """Tell whether the nesting of `coordinate` is a prefix of that of `shape`."""
    if type(coordinate) is not tuple:
        return True
    if type(shape) is not tuple or len(coordinate) != len(shape):
        return False
    return all(weakly_congruent(c, s) for c, s in zip(coordinate, shape, strict=True))
