# SPDX-License-Identifier: Apache-2.0
"""Coordinates to indices and back, on bare (shape, stride) pairs.

A coordinate leaf that faces a shape tuple is a linear coordinate: it is split column-major (leftmost mode fastest),
and the last mode takes the whole remaining quotient, so indices past the end follow the last stride. Divisions
truncate toward zero, as in the dialect.
"""

from __future__ import annotations

from .basis import accumulate
from .errors import LayoutTypeError, fail
from .int_tuple import flatten, prefix_product, product
from .printing import Verbatim, text_of
from .symbolic import SymInt, div_leaf, is_scalar, mod_leaf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["crd2crd", "evaluate", "idx2crd_shape", "split_index"]


def evaluate(crd: Any, shape: Any, stride: Any) -> Any:
    """The index of ``crd``; None counts as 0.

    Raises:
        LayoutError: a coordinate tuple faces a shape of another rank.
    """
    if type(crd) is int:
        if type(shape) is not tuple:
            return crd * stride
        if crd < 0:
            return _split(crd, shape, stride)
        return linear(crd, flatten(shape), flatten(stride))
    if type(crd) is tuple:
        if type(shape) is not tuple or len(shape) != len(crd):
            raise fail("crd2idx", "the coordinate does not fit the shape", crd, _pair(shape, stride))
        index = dot(crd, shape, stride)
        if index is not None:
            return index
        total: Any = 0
        for c, s, d in zip(crd, shape, stride):
            term = c * d if type(c) is int and type(s) is int else evaluate(c, s, d)
            total = total + term if type(term) is int and type(total) is int else accumulate(total, term)
        return total
    if crd is None:
        return 0
    if isinstance(crd, SymInt):
        return crd * stride if type(shape) is not tuple else _split(crd, shape, stride)
    if not hasattr(type(crd), "__index__"):
        raise fail("crd2idx", f"{crd!r} is no coordinate", crd, _pair(shape, stride), kind=LayoutTypeError)
    return evaluate(crd.__index__(), shape, stride)


def linear(crd: int, shape: tuple[Any, ...], stride: tuple[Any, ...]) -> Any:
    """Index of the linear coordinate ``crd >= 0`` of a flat layout."""
    rest = crd
    total = 0
    for s, d in zip(shape, stride):
        if type(s) is not int or type(d) is not int or s <= 0:
            return _split(crd, shape, stride)
        if rest < s:
            return total + rest * d
        total += rest % s * d
        rest //= s
    # What is left follows the last mode's stride.
    return total + rest * s * d


def dot(crd: tuple[Any, ...], shape: tuple[Any, ...], stride: tuple[Any, ...]) -> int | None:
    """Index of a coordinate tuple, if coordinate and strides are all ints; else None."""
    if len(crd) != len(shape):
        return None
    total = 0
    for c, s, d in zip(crd, shape, stride):
        if type(c) is int:
            if type(d) is int:
                total += c * d
                continue
            if c < 0 or type(s) is not tuple:
                return None
            index = linear(c, flatten(s), flatten(d))
            if type(index) is not int:
                return None
            total += index
        elif type(c) is tuple and type(s) is tuple:
            inner = dot(c, s, d)
            if inner is None:
                return None
            total += inner
        else:
            return None
    return total


def _split(crd: Any, shape: Any, stride: Any) -> Any:
    """The same with truncating divisions and symbolic operands."""
    if type(shape) is not tuple:
        return crd * stride
    total: Any = 0
    last = len(shape) - 1
    for i, s in enumerate(shape):
        if i == last:
            term = _split(crd, s, stride[i])
        else:
            n = product(s)
            if type(n) is int and n == 0:
                raise fail("crd2idx", f"mode {i} has extent 0, so it has no coordinates", crd, _pair(shape, stride))
            term = _split(mod_leaf(crd, n), s, stride[i])
            crd = div_leaf(crd, n)
        total = accumulate(total, term)
    return total


def _pair(shape: Any, stride: Any) -> Any:
    return Verbatim(f"{text_of(shape)}:{text_of(stride)}")


def idx2crd_shape(index: Any, shape: Any, stride: Any) -> Any:
    """``(index div stride) mod extent`` for every leaf; extent 1 gives 0. An index tuple is distributed mode-wise.

    Raises:
        LayoutError: a mode of stride 0 and another extent than 1 has no coordinate of its own; or the ranks differ.
    """
    if type(index) is tuple:
        if type(shape) is not tuple or len(index) != len(shape):
            raise fail("idx2crd", "the index does not fit the shape", index, _pair(shape, stride))
        return tuple([idx2crd_shape(i, s, d) for i, s, d in zip(index, shape, stride)])
    if type(shape) is tuple:
        out = []
        for s, d in zip(shape, stride):
            if type(s) is int and type(d) is int and type(index) is int and index >= 0 and d > 0 and s > 0:
                out.append(index // d % s)
            else:
                out.append(idx2crd_shape(index, s, d))
        return tuple(out)
    if type(shape) is int and shape == 1:
        return 0
    if type(index) is int and type(shape) is int and type(stride) is int and index >= 0 and stride > 0 and shape > 0:
        return (index // stride) % shape
    if not is_scalar(stride):
        raise fail("idx2crd", "the stride is no integer", index, _pair(shape, stride), kind=LayoutTypeError)
    if not is_scalar(index):
        raise fail("idx2crd", "the index is no integer", index, _pair(shape, stride), kind=LayoutTypeError)
    if (type(stride) is int and stride == 0) or (type(shape) is int and shape == 0):
        raise fail("idx2crd", "extent or stride is 0, so there is no coordinate", index, _pair(shape, stride))
    return mod_leaf(div_leaf(index, stride), shape)


def flat_coord(index: Any, shape: Any, stride: Any) -> Any:
    """`idx2crd_shape` with every mode of the shape made one linear coordinate."""
    coord = idx2crd_shape(index, shape, stride)
    if type(shape) is not tuple:
        return coord
    return tuple([evaluate(c, s, prefix_product(s)) for c, s in zip(coord, shape)])


def linear_coord(index: Any, shape: Any, stride: Any) -> Any:
    """`idx2crd_shape` as one linear coordinate of the whole shape."""
    return evaluate(idx2crd_shape(index, shape, stride), shape, prefix_product(shape))


def split_index(index: Any, shape: Any) -> Any:
    """The natural coordinate of a linear coordinate (column-major); the last mode is unbounded, as in `evaluate`."""
    if type(shape) is not tuple:
        return index
    out = []
    for s in shape[:-1]:
        n = product(s)
        out.append(split_index(mod_leaf(index, n), s))
        index = div_leaf(index, n)
    out.append(split_index(index, shape[-1]))
    return tuple(out)


def crd2crd(crd: Any, dst_shape: Any, src_shape: Any = None) -> Any:
    """The coordinate in ``dst_shape`` with the linear coordinate that ``crd`` has in ``src_shape``.

    ``src_shape`` is needed only where a coordinate tuple faces a leaf of ``dst_shape``.
    """
    if type(crd) is tuple:
        if type(dst_shape) is tuple:
            if len(crd) != len(dst_shape):
                raise fail("crd2crd", "the coordinate's rank is not that of the shape", crd, dst_shape)
            if src_shape is None:
                return tuple([crd2crd(c, s) for c, s in zip(crd, dst_shape)])
            index = evaluate(crd, src_shape, prefix_product(src_shape))
            return idx2crd_shape(index, dst_shape, prefix_product(dst_shape))
        if src_shape is None:
            raise fail("crd2crd", "a coordinate tuple facing a leaf needs src_shape", crd, dst_shape)
        return evaluate(crd, src_shape, prefix_product(src_shape))
    if type(dst_shape) is tuple:
        return idx2crd_shape(crd, dst_shape, prefix_product(dst_shape))
    if type(crd) is int and type(dst_shape) is int and not 0 <= crd < dst_shape:
        raise fail("crd2crd", f"coordinate {crd} is outside the extent {dst_shape}", crd, dst_shape)
    return crd
