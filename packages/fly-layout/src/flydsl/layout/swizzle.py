# SPDX-License-Identifier: Apache-2.0
"""Swizzles: exclusive-or permutations of indices and of coordinates."""

from __future__ import annotations

from .basis import Basis
from .errors import LayoutError, LayoutTypeError, fail
from .symbolic import SymInt, apply, swizzle_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CoordSwizzle", "Swizzle"]


class Swizzle:
    """``S<bits,base,shift>``: ``x -> x ^ ((x & (((1 << bits) - 1) << (base + shift))) >> shift)``.

    ``bits`` bits that start at ``base + shift`` are xored onto those that start at ``base``. With
    ``shift >= bits`` it is its own inverse; with ``bits = 0`` it is the identity. A negative shift xors lower bits
    onto higher ones (``base + shift`` must not be negative).
    """

    __slots__ = ("_base", "_bits", "_shift", "_source")
    _bits: int
    _base: int
    _shift: int
    _source: int

    def __init__(self, bits: int, base: int, shift: int) -> None:
        if not (type(bits) is int and type(base) is int and type(shift) is int):
            raise LayoutTypeError(f"Swizzle({bits!r}, {base!r}, {shift!r}): the parameters are integers")
        self._bits = bits
        self._base = base
        self._shift = shift
        self._source = swizzle_source(bits, base, shift)

    @property
    def bits(self) -> int:
        """Number of xored bits."""
        return self._bits

    mask = bits

    @property
    def base(self) -> int:
        """Lowest target bit; the bits below are kept."""
        return self._base

    @property
    def shift(self) -> int:
        """Distance from the target bits up to the source bits."""
        return self._shift

    def __call__(self, x: Any) -> Any:
        """The swizzled index.

        Raises:
            LayoutTypeError: ``x`` is a coordinate tuple; a swizzle acts on one index.
        """
        if type(x) is int:
            shift = self._shift
            return x ^ ((x & self._source) >> shift if shift >= 0 else (x & self._source) << -shift)
        if isinstance(x, SymInt):
            return apply("swizzle", x, self._bits, self._base, self._shift) if self._bits else x
        if x is None:
            return 0
        if type(x) is not tuple and not isinstance(x, Basis) and hasattr(type(x), "__index__"):
            return self(x.__index__())
        raise fail("crd2idx", "a swizzle takes one index, not a coordinate", x, self, kind=LayoutTypeError)

    def size(self) -> int:
        """Indices from one period of the pattern to the next: a power of two."""
        return 1 << (self._bits + self._base + abs(self._shift)) if self._bits else 1

    cosize = size

    @property
    def is_involution(self) -> bool:
        """True when applying it twice gives the index back."""
        return self._bits == 0 or abs(self._shift) >= self._bits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Swizzle) and (self._bits, self._base, self._shift) == (
            other._bits,
            other._base,
            other._shift,
        )

    def __hash__(self) -> int:
        return hash((self._bits, self._base, self._shift))

    def __reduce__(self) -> tuple[type[Swizzle], tuple[int, int, int]]:
        return (Swizzle, (self._bits, self._base, self._shift))

    def __repr__(self) -> str:
        return f"Swizzle({self._bits}, {self._base}, {self._shift})"

    def _text(self, names: bool) -> str:
        return f"S<{self._bits},{self._base},{self._shift}>"

    def __str__(self) -> str:
        return self._text(True)


class CoordSwizzle:
    """``CS<bits,row_base,[row_path],col_base,[col_path]>``: xors bits of one coordinate leaf onto another.

    The leaf at ``col_path`` becomes ``col ^ (((row >> row_base) & ((1 << bits) - 1)) << col_base)``; the others stay.
    An empty path is the value itself.
    """

    __slots__ = ("_bits", "_col_base", "_col_path", "_row_base", "_row_path")

    def __init__(
        self, bits: int, row_base: int, row_path: tuple[int, ...], col_base: int, col_path: tuple[int, ...]
    ) -> None:
        if bits < 0 or row_base < 0 or col_base < 0:
            raise LayoutError(f"CoordSwizzle({bits}, {row_base}, .., {col_base}, ..): no parameter may be negative")
        self._bits = bits
        self._row_base = row_base
        self._row_path = tuple(row_path)
        self._col_base = col_base
        self._col_path = tuple(col_path)

    @property
    def bits(self) -> int:
        """Number of xored bits."""
        return self._bits

    mask = bits

    @property
    def row_base(self) -> int:
        """Lowest bit taken from the row leaf."""
        return self._row_base

    @property
    def row_path(self) -> tuple[int, ...]:
        """Mode path of the leaf that is read."""
        return self._row_path

    @property
    def col_base(self) -> int:
        """Lowest bit changed in the column leaf."""
        return self._col_base

    @property
    def col_path(self) -> tuple[int, ...]:
        """Mode path of the leaf that is changed."""
        return self._col_path

    def __call__(self, coord: Any) -> Any:
        """The swizzled coordinate.

        Raises:
            LayoutError: a path does not lead to a leaf of ``coord``.
        """
        if not self._bits:
            return coord
        row = self._leaf(coord, self._row_path)
        col = self._leaf(coord, self._col_path)
        mask = (1 << self._bits) - 1
        if type(row) is int and type(col) is int:
            changed: Any = col ^ (((row >> self._row_base) & mask) << self._col_base)
        else:
            changed = apply("coord_swizzle", col, row, self._bits, self._row_base, self._col_base)
        return _replace(coord, self._col_path, changed)

    def _leaf(self, coord: Any, path: tuple[int, ...]) -> Any:
        at = coord
        for p in path:
            if type(at) is not tuple or p >= len(at):
                raise fail("crd2idx", f"the coordinate has no leaf at {list(path)}", coord, self)
            at = at[p]
        if type(at) is tuple or isinstance(at, Basis):
            raise fail("crd2idx", f"the coordinate has no integer leaf at {list(path)}", coord, self)
        return 0 if at is None else at

    def _key(self) -> tuple[Any, ...]:
        return (self._bits, self._row_base, self._row_path, self._col_base, self._col_path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoordSwizzle) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[type[CoordSwizzle], tuple[Any, ...]]:
        return (CoordSwizzle, self._key())

    def __repr__(self) -> str:
        return f"CoordSwizzle{self._key()!r}"

    def _text(self, names: bool) -> str:
        row, col = ", ".join(map(str, self._row_path)), ", ".join(map(str, self._col_path))
        return f"CS<{self._bits},{self._row_base},[{row}],{self._col_base},[{col}]>"

    def __str__(self) -> str:
        return self._text(True)


def _replace(t: Any, path: tuple[int, ...], value: Any) -> Any:
    if not path:
        return value
    return (*t[: path[0]], _replace(t[path[0]], path[1:], value), *t[path[0] + 1 :])
