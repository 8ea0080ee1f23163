# SPDX-License-Identifier: Apache-2.0
"""Layouts as linear maps over F2, the form that Triton's "linear layouts" have.

A function of power-of-two size is linear over F2 when the image of an index is the exclusive-or of the images of its
bits. Those images, the *bases*, are the columns of a bit matrix; composition is a matrix product and inversion is
Gaussian elimination. A plain layout is linear exactly when all its extents are powers of two and the images of the
bits of its coordinate have no set bit in common (then sums have no carry and are exclusive-ors).
"""

from __future__ import annotations

from .algebra.coalesce import coalesce
from .composed import ComposedLayout
from .errors import LayoutError, fail
from .int_tuple import flatten
from .layout import Layout, make
from .swizzle import Swizzle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .types import AnyLayout

__all__ = ["LinearLayout", "from_bases", "is_linear", "to_linear"]


class LinearLayout:
    """``x -> offset ^ (xor of the bases of the set bits of x)``. Immutable and hashable.

    Args:
        bases: the image of each bit of the index, lowest bit first.
        shape: the powers of two that the index splits into, column-major; by default one mode.
        out_bits: bits of the result; by default as many as the bases need.
        offset: the image of 0, 0 for a linear map.

    Raises:
        LayoutError: a base or the offset is negative or needs more bits, or the shape does not have that many bits.
    """

    __slots__ = ("_bases", "_offset", "_out_bits", "_shape")
    _bases: tuple[int, ...]
    _shape: tuple[int, ...]
    _out_bits: int
    _offset: int

    def __init__(
        self, bases: Sequence[int], shape: Sequence[int] | None = None, out_bits: int | None = None, offset: int = 0
    ) -> None:
        self._bases = tuple(bases)
        needed = max([b.bit_length() for b in (*self._bases, offset)], default=0)
        self._out_bits = needed if out_bits is None else out_bits
        self._shape = tuple(shape) if shape is not None else (1 << len(self._bases),)
        self._offset = offset
        if any(b < 0 for b in self._bases) or offset < 0 or needed > self._out_bits:
            raise LayoutError(f"LinearLayout({list(bases)}): bases and offset are numbers of {self._out_bits} bits")
        bits = 0
        for s in self._shape:
            if s < 1 or s & (s - 1):
                raise LayoutError(f"LinearLayout({list(bases)}): extent {s} is no power of two")
            bits += s.bit_length() - 1
        if bits != len(self._bases):
            raise LayoutError(
                f"LinearLayout({list(bases)}): shape {self._shape} has {bits} bits, not {len(self._bases)}"
            )

    @property
    def bases(self) -> tuple[int, ...]:
        """Images of the bits of the index, lowest first."""
        return self._bases

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the domain."""
        return self._shape

    @property
    def out_bits(self) -> int:
        """Bits of a result."""
        return self._out_bits

    @property
    def offset(self) -> int:
        """Image of 0."""
        return self._offset

    def size(self) -> int:
        """Number of indices."""
        return 1 << len(self._bases)

    def __call__(self, *coord: int) -> int:
        """The image of an index, or of one coordinate per extent."""
        index = coord[0]
        if len(coord) > 1:
            if len(coord) != len(self._shape):
                raise LayoutError(f"{self}{coord}: expected {len(self._shape)} coordinates")
            index = Layout(self._shape)(*coord)
        result = self._offset
        for base in self._bases:
            if index & 1:
                result ^= base
            index >>= 1
        return result

    # -- linear algebra ----------------------------------------------------------------------------------------------
    def matrix(self) -> list[list[int]]:
        """The bit matrix: row i is bit i of the result, column j the image of bit j."""
        return [[(base >> i) & 1 for base in self._bases] for i in range(self._out_bits)]

    def rank(self) -> int:
        """Rank of the matrix."""
        pivots: dict[int, int] = {}
        for base in self._bases:
            _reduce_into(pivots, base)
        return len(pivots)

    @property
    def is_injective(self) -> bool:
        """True when no two indices have one image."""
        return self.rank() == len(self._bases)

    @property
    def is_surjective(self) -> bool:
        """True when every number of `out_bits` bits is an image."""
        return self.rank() == self._out_bits

    def compose(self, other: LinearLayout) -> LinearLayout:
        """``self`` after ``other``.

        Raises:
            LayoutError: ``other`` has more result bits than ``self`` has index bits.
        """
        if other._out_bits > len(self._bases):
            raise LayoutError(f"compose({self}, {other}): {other._out_bits} result bits, {len(self._bases)} index bits")
        bases = [self(b) ^ self._offset for b in other._bases]
        return LinearLayout(bases, other._shape, self._out_bits, self(other._offset))

    __matmul__ = compose

    def inverse(self) -> LinearLayout:
        """The map back from images to indices.

        Raises:
            LayoutError: it is no bijection.
        """
        n = len(self._bases)
        if n != self._out_bits or self.rank() != n:
            raise LayoutError(f"inverse({self}): rank {self.rank()} of a {self._out_bits} x {n} matrix, no bijection")
        # Gauss-Jordan on (image, index) pairs: afterwards the image of pair i is the single bit i.
        rows = [(base, 1 << j) for j, base in enumerate(self._bases)]
        for bit in range(n):
            pivot = next(i for i in range(bit, n) if rows[i][0] >> bit & 1)
            rows[bit], rows[pivot] = rows[pivot], rows[bit]
            for i in range(n):
                if i != bit and rows[i][0] >> bit & 1:
                    rows[i] = (rows[i][0] ^ rows[bit][0], rows[i][1] ^ rows[bit][1])
        result = LinearLayout([index for _, index in rows], out_bits=n)
        return LinearLayout(result._bases, None, n, result(self._offset))

    # -- layouts -------------------------------------------------------------------------------------------------
    def to_layout(self) -> Layout:
        """The plain layout of this map, one mode per extent.

        Raises:
            LayoutError: bases share bits (then see `to_swizzled`), or the offset is not 0.
        """
        if self._offset:
            raise LayoutError(f"to_layout({self}): the image of 0 is {self._offset}")
        clash = _common_bits(self._bases)
        if clash:
            i, j = clash
            raise LayoutError(
                f"to_layout({self}): the images of bits {i} and {j}, {self._bases[i]} and {self._bases[j]}, "
                "share set bits, so sums are no exclusive-ors"
            )
        modes = []
        at = 0
        for extent in self._shape:
            bits = extent.bit_length() - 1
            images = self._bases[at : at + bits]
            at += bits
            modes.append(coalesce(make((2,) * bits, images, True)) if bits else make(1, 0, True))
        if len(modes) == 1:
            only: Layout = modes[0]
            return only
        return make(tuple([m._shape for m in modes]), tuple([m._stride for m in modes]), True)

    def to_swizzled(self) -> Layout | ComposedLayout:
        """The layout of this map, behind a swizzle if it needs one.

        Raises:
            LayoutError: no single swizzle makes the bases share no bits.
        """
        if not _common_bits(self._bases) and not self._offset:
            return self.to_layout()
        for bits in range(1, self._out_bits // 2 + 1):
            for shift in range(bits, self._out_bits):
                for base in range(self._out_bits - shift - bits + 1):
                    swizzle = Swizzle(bits, base, shift)
                    undone = LinearLayout([swizzle(b) for b in self._bases], self._shape, self._out_bits)
                    if not _common_bits(undone._bases):
                        return self._behind(swizzle, undone)
        raise LayoutError(f"to_swizzled({self}): no swizzle S and layout L with S o L give these bases")

    def _behind(self, swizzle: Swizzle, undone: LinearLayout) -> ComposedLayout:
        offset = swizzle(self._offset)
        if any(offset & b for b in undone._bases):
            raise LayoutError(f"to_swizzled({self}): the image of 0 shares bits with the bases")
        return ComposedLayout(swizzle, offset, undone.to_layout())

    # -- identity ------------------------------------------------------------------------------------------------
    def _key(self) -> tuple[Any, ...]:
        return (self._bases, self._shape, self._out_bits, self._offset)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearLayout) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[type[LinearLayout], tuple[Any, ...]]:
        return (LinearLayout, self._key())

    def __repr__(self) -> str:
        return f"LinearLayout({list(self._bases)}, {self._shape}, {self._out_bits}, {self._offset})"


def _reduce_into(pivots: dict[int, int], vector: int) -> None:
    while vector:
        top = vector.bit_length()
        if top not in pivots:
            pivots[top] = vector
            return
        vector ^= pivots[top]


def _common_bits(bases: Sequence[int]) -> tuple[int, int] | None:
    """Two bases that share a set bit."""
    owner: dict[int, int] = {}
    for j, base in enumerate(bases):
        bit = 0
        while base >> bit:
            if base >> bit & 1:
                if bit in owner:
                    return owner[bit], j
                owner[bit] = j
            bit += 1
    return None


def to_linear(layout: AnyLayout) -> LinearLayout:
    """A layout as a linear map of its linear coordinate, with the extents of its modes as shape.

    The exact condition for a plain layout: every extent is a power of two, no stride is negative, and the images of
    the coordinate's bits share no set bit. A swizzle is always linear; an offset has to share no bit with the images
    behind it, and makes the map affine.

    Raises:
        LayoutError: the condition does not hold; the message says where.
    """
    if isinstance(layout, ComposedLayout):
        return _composed_to_linear(layout)
    if not isinstance(layout, Layout):
        raise fail("to_linear", "the operand is no layout", layout)
    bases: list[int] = []
    for s, d in zip(flatten(layout.shape), flatten(layout.stride)):
        if type(s) is not int or type(d) is not int:
            raise fail("to_linear", f"the mode {s}:{d} is not static", layout)
        if s < 1 or s & (s - 1):
            raise fail("to_linear", f"extent {s} is no power of two", layout)
        if d < 0 and s > 1:
            raise fail("to_linear", f"stride {d} is negative", layout)
        bases += [d << k for k in range(s.bit_length() - 1)]
    clash = _common_bits(bases)
    if clash:
        i, j = clash
        raise fail("to_linear", f"images of two coordinate bits, {bases[i]} and {bases[j]}, share set bits", layout)
    shape = layout.shape if type(layout.shape) is tuple else (layout.shape,)
    return LinearLayout(bases, [_product(s) for s in shape])


def _composed_to_linear(layout: ComposedLayout) -> LinearLayout:
    outer = to_linear(layout.outer)
    offset = layout.offset
    if type(offset) is not int or offset < 0 or any(offset & b for b in (*outer.bases, outer.offset)):
        raise fail("to_linear", f"adding the offset {offset} is no exclusive-or", layout)
    if isinstance(layout.inner, Swizzle):
        s = layout.inner
        bases = [s(b) for b in outer.bases]
        return LinearLayout(bases, outer.shape, offset=s(offset ^ outer.offset))
    inner = to_linear(layout.inner)
    width = max(outer.out_bits, offset.bit_length())
    if width > len(inner.bases):
        raise fail("to_linear", "the outer layout reaches past the end of the inner one", layout)
    moved = LinearLayout(outer.bases, outer.shape, width, offset ^ outer.offset)
    return inner.compose(moved)


def _product(s: Any) -> int:
    n = 1
    for x in flatten(s):
        n *= x
    return n


def is_linear(layout: AnyLayout) -> bool:
    """True when `to_linear` gives a linear map (with image 0 of 0)."""
    try:
        return to_linear(layout).offset == 0
    except LayoutError:
        return False


def from_bases(bases: Mapping[str, Sequence[Sequence[int]]], out_shape: Sequence[int]) -> LinearLayout:
    """A map given as Triton prints it: for each input dimension the coordinates that its bits map to.

    Args:
        bases: for instance ``{"register": [[0, 1]], "lane": [[1, 0], [2, 0]], "warp": []}``; the order of the
            dimensions becomes the order of the modes. Put the lanes first for a thread-value layout.
        out_shape: extents of the result's dimensions, powers of two; results are column-major indices in it.

    Raises:
        LayoutError: an extent is no power of two, or a coordinate has another rank or lies outside.
    """
    for s in out_shape:
        if s < 1 or s & (s - 1):
            raise LayoutError(f"from_bases(..., {list(out_shape)}): extent {s} is no power of two")
    target = Layout(tuple(out_shape))
    images: list[int] = []
    shape: list[int] = []
    for name, vectors in bases.items():
        for v in vectors:
            if len(v) != len(out_shape) or not all(0 <= x < s for x, s in zip(v, out_shape)):
                raise LayoutError(f"from_bases({name!r}: {list(v)}): no coordinate in {list(out_shape)}")
            images.append(target(tuple(v)))
        shape.append(1 << len(vectors))
    return LinearLayout(images, shape, (target.size() - 1).bit_length())
