# SPDX-License-Identifier: Apache-2.0
"""The checks of what a row kernel is given: (M, N) matrices, weights of a row, one number for each row.

All are to be called in a host function. What is known while tracing is refused then, the rest when the function is
called, before the launch. A pointer (`flyc.from_c_void_p`) stands for contiguous memory and is checked for its type
only. Each raises TypeError for another element type and for what is neither tensor nor pointer, and ValueError, with
the argument's name and the numbers, for the rest.
"""

from __future__ import annotations

from typing import Any

from .arch import architecture
from .contiguous import expect_contiguous
from .language import fx
from .row_plan import aligned_vector

__all__ = ["expect", "expect_aligned", "expect_columns", "expect_count", "expect_extents", "expect_row", "expect_rows"]


def expect(name: str, tensor: fx.Tensor | fx.Pointer, element: type[fx.Numeric], rank: int) -> None:
    """Refuse another element type, and a tensor of another rank."""
    if not isinstance(tensor, (fx.Tensor, fx.Pointer)):
        raise TypeError(f"argument {name!r}: expected a tensor or a pointer, got {type(tensor).__name__}")
    if tensor.element_type is not element:
        raise TypeError(f"argument {name!r}: expected {element.__name__}, got {tensor.element_type.__name__}")
    if isinstance(tensor, fx.Tensor) and fx.rank(tensor) != rank:
        raise ValueError(f"argument {name!r}: expected rank {rank}, got rank {fx.rank(tensor)}")


def expect_count(name: str, value: fx.Numeric | int) -> None:
    """Refuse a negative number of rows or elements."""
    fx.host_assert(value >= 0, f"argument '{name}': expected a number that is not negative, got {{}}", value)


def expect_rows(
    name: str,
    tensor: fx.Tensor | fx.Pointer,
    element: type[fx.Numeric],
    columns: int,
    rows: fx.Numeric | int,
    *,
    written: bool = False,
) -> None:
    """Refuse what is no matrix of `rows` or more rows of `columns` elements that are neighbours.

    All of a contiguous matrix may come flattened, as one dimension. Rows of what is `written` must not overlap.
    """
    expect_aligned(name, tensor, aligned_vector(columns, element.width))
    if isinstance(tensor, fx.Tensor) and fx.rank(tensor) == 1:
        expect_contiguous(name, tensor, element, fx.Int64(rows) * columns)
        return
    expect(name, tensor, element, rank=2)
    if isinstance(tensor, fx.Tensor):
        _expect_extent(name, tensor.shape[1].unpack(), columns, "columns")
        _expect_at_least(name, tensor.shape[0].unpack(), rows, "rows")
        if columns > 1:
            _expect_neighbours(name, tensor.stride[1].unpack(), "the elements of a row", "the last dimension")
        if written:
            apart = fx.Int64(tensor.stride[0].unpack())
            fx.host_assert(
                (fx.Int64(rows) <= 1) | (apart >= columns),
                f"argument '{name}': rows overlap, {{}} elements apart where they have {{}}; it is written to",
                apart,
                fx.Int64(columns),
            )


def expect_aligned(name: str, tensor: fx.Tensor | fx.Pointer, elements: int) -> None:
    """Refuse a tensor that does not begin at a multiple of so many elements, or whose rows do not, where that matters.

    NVIDIA's GPUs read a vector at a multiple of its size; AMD's anywhere.
    """
    if not architecture().nvidia or elements == 1 or not isinstance(tensor, fx.Tensor):
        return
    size = elements * tensor.element_type.width // 8
    address = fx.Int64(fx.ptrtoint(fx.get_iter(tensor)))
    said = (
        f"argument '{name}': must begin at a multiple of {size} bytes, but its address is {{}}; copy it with .clone()"
    )
    fx.host_assert(address % size == 0, said, address)
    for mode in range(fx.rank(tensor) - 1):
        stride, extent = (fx.Int64(part[mode].unpack()) for part in (tensor.stride, tensor.shape))
        fx.host_assert(
            (stride % elements == 0) | (extent <= 1),
            f"argument '{name}': rows must be a multiple of {elements} elements apart, but the stride of dimension "
            f"{mode} is {{}}; copy it with .contiguous()",
            stride,
        )


def expect_columns(name: str, tensor: fx.Tensor | fx.Pointer, element: type[fx.Numeric], count: int) -> None:
    """Refuse what is no vector of exactly `count` elements that are neighbours: a weight, or sums of columns."""
    expect(name, tensor, element, rank=1)
    expect_aligned(name, tensor, aligned_vector(count, element.width))
    if isinstance(tensor, fx.Tensor):
        _expect_extent(name, tensor.shape[0].unpack(), count, "elements")
        _expect_neighbours(name, tensor.stride[0].unpack(), "the elements", "its dimension")


def expect_row(name: str, tensor: fx.Tensor | fx.Pointer, element: type[fx.Numeric], count: fx.Numeric | int) -> None:
    """Refuse what is no vector of `count` or more elements that are neighbours: one number for each row."""
    expect(name, tensor, element, rank=1)
    if isinstance(tensor, fx.Tensor):
        _expect_at_least(name, tensor.shape[0].unpack(), count, "elements")
        _expect_neighbours(name, tensor.stride[0].unpack(), "the elements", "its dimension")


def expect_extents(name: str, tensor: fx.Tensor, inner: tuple[int, ...], count: fx.Numeric | int) -> None:
    """Refuse a tensor whose extents are not `count` or more, and then exactly `inner`."""
    _expect_at_least(name, tensor.shape[0].unpack(), count, "along dimension 0")
    for mode, wanted in enumerate(inner, 1):
        _expect_extent(name, tensor.shape[mode].unpack(), wanted, f"along dimension {mode}")


def _expect_extent(name: str, found: Any, wanted: int, what: str) -> None:
    if not isinstance(found, int):
        fx.host_assert(found == wanted, f"argument '{name}': expected {{}} {what}, got {{}}", wanted, found)
    elif found != wanted:
        raise ValueError(f"argument {name!r}: expected {wanted} {what}, got {found}")


def _expect_at_least(name: str, found: Any, wanted: Any, what: str) -> None:
    found, wanted = fx.Int64(found), fx.Int64(wanted)
    fx.host_assert(found >= wanted, f"argument '{name}': expected {{}} or more {what}, got {{}}", wanted, found)


def _expect_neighbours(name: str, stride: Any, what: str, where: str) -> None:
    if stride != 1:
        raise ValueError(
            f"argument {name!r}: {what} must be neighbours (unit stride in {where}); copy it with .contiguous()"
        )
