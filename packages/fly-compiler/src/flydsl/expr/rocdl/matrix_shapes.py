# SPDX-License-Identifier: Apache-2.0
"""Which shapes the matrix operations have, as the dialect knows them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from flydsl._mlir._mlir_libs import _flyROCDLDialect as fly_rocdl

from ..values.numeric.meta import NumericMeta, class_of_mnemonic

__all__ = ["MatrixShape", "class_names", "extents_text", "matrix_shapes"]


class MatrixShape(NamedTuple):
    """A shape of an operation, and the types that it has the shape for.

    Attributes:
        m, n, k: extents of the product.
        elements: the MLIR types that A and B may have, each any of them.
        accumulator: the MLIR type of C and D.
        blocks: the products that one call computes; 0 where no atom has their fragments.
        index_sets: the sets of indices that a register of a sparse operation holds.
    """

    m: int
    n: int
    k: int
    elements: tuple[str, ...]
    accumulator: str
    blocks: int
    index_sets: int

    @property
    def extents(self) -> tuple[int, int, int]:
        """The extents m, n and k."""
        return self[:3]

    @property
    def acc_class(self) -> NumericMeta:
        """The numeric class of C and D."""
        return class_of_mnemonic(self.accumulator)


@cache
def _all(operation: str) -> tuple[MatrixShape, ...]:
    return tuple(
        MatrixShape(m, n, k, tuple(elements), accumulator, blocks, index_sets)
        for m, n, k, elements, accumulator, blocks, index_sets in fly_rocdl.matrix_shapes(operation)
    )


def matrix_shapes(operation: str, *elements: str) -> list[MatrixShape]:
    """Return the shapes of an operation, on whatever chip.

    Args:
        operation: the mnemonic of its type (`cdna3.mfma`).
        elements: MLIR types that A or B have; only shapes for all of them are returned.
    """
    return [shape for shape in _all(operation) if set(elements) <= set(shape.elements)]


def extents_text(shapes: Iterable[MatrixShape], separator: str = ", ") -> str:
    """Return the extents of shapes for a message, each once."""
    return separator.join(dict.fromkeys("x".join(map(str, shape.extents)) for shape in shapes))


def class_names(elements: Iterable[str], separator: str = ", ") -> str:
    """Return the numeric classes of MLIR types for a message, each once."""
    return separator.join(dict.fromkeys(class_of_mnemonic(one).__name__ for one in elements))
