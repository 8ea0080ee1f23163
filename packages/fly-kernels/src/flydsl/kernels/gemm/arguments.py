# SPDX-License-Identifier: Apache-2.0
"""Tensors of GEMMs: what is accepted, and the buffer resources that kernels make of them."""

from __future__ import annotations

from typing import Any

from ..common.arch import architecture
from ..common.language import fx
from ..common.mma.mfma_epilogues import Epilogue

__all__ = [
    "A_BYTES",
    "ELEMENT_BYTES",
    "check_count",
    "check_matrix",
    "expect_bytes",
    "expect_operand",
    "expect_rows",
    "row_strides",
    "tile_tensor",
    "wanted_extras",
]

# "int4x2" and "uint4x2" are two int4 a byte, of both operands, and bytes are what is counted (gfx1100, gfx1201).
ELEMENT_BYTES = {"fp8": 1, "int8": 1, "int4x2": 1, "uint4x2": 1, "fp16": 2, "bf16": 2}
# "int4" is A of int8 and B of int4, packed in pairs; only `preshuffle_gemm` has it, only `wmma_integers` "uint8".
A_BYTES = {**ELEMENT_BYTES, "int4": 1, "uint8": 1}

_RESOURCE_BYTES = 2**31 - 2**16  # that one is used for; the rest is for what a row has behind its beginning
# The elements that an operand of each type may come as; 8-bit ones often come as plain bytes.
_BYTES = ("Int8", "Uint8")
_OPERANDS = {
    "fp16": ("Float16",), "bf16": ("BFloat16",), "int8": _BYTES, "uint8": ("Uint8",), "int4": _BYTES, "int4x2": _BYTES,
    "uint4x2": _BYTES, "fp4": _BYTES, "fp6": _BYTES, "bf8": ("Float8E5M2", *_BYTES),
}  # fmt: skip


def expect_rows(name: str, tensor: fx.Tensor | fx.Pointer, *elements: Any) -> None:
    """Refuse, while tracing, what is no matrix of one of the `elements` with unit stride along its rows.

    Flattened tensors and pointers stand for contiguous matrices. Raises TypeError for other elements, and ValueError
    for another stride or more than two dimensions.
    """
    if not isinstance(tensor, (fx.Tensor, fx.Pointer)):
        raise TypeError(f"argument {name!r}: expected a tensor or a pointer, got {type(tensor).__name__}")
    got = tensor.element_type
    if got not in elements:
        wanted = " or ".join(one.__name__ for one in elements)
        raise TypeError(f"argument {name!r}: expected {wanted}, got {got.__name__}")
    if isinstance(tensor, fx.Pointer):
        return
    rank = fx.rank(tensor)
    if rank > 2:
        raise ValueError(f"argument {name!r}: expected a matrix, or all of it flattened, got {rank} dimensions")
    if rank and tensor.stride[rank - 1].unpack() != 1:
        raise ValueError(f"argument {name!r}: the elements of a row must be neighbours; copy it with .contiguous()")


def expect_operand(name: str, tensor: fx.Tensor | fx.Pointer, in_dtype: str) -> None:
    """`expect_rows` for A or B of "fp16", "bf16", "fp8" (the architecture's), "int8", "int4" (pairs), "fp4" (pairs),
    "fp6" (24 bytes of 32) or "bf8" (E5M2)."""
    names = (architecture().fp8.name, "Int8", "Uint8") if in_dtype == "fp8" else _OPERANDS[in_dtype]
    expect_rows(name, tensor, *(getattr(fx, one) for one in names))


def expect_bytes(name: str, tensor: fx.Tensor | fx.Pointer) -> None:
    """`expect_rows` for scales of E8M0, which come as bytes, or as the words that kernels read."""
    expect_rows(name, tensor, *(getattr(fx, one) for one in (*_BYTES, "Int32", "Uint32")))


def check_matrix(
    name: str,
    tensor: fx.Tensor | fx.Pointer,
    rows: fx.Numeric | int,
    columns: int,
    *,
    all_rows: bool = False,
    apart: int | None = None,
) -> None:
    """Have the launcher compare extents: `rows` or more rows of `columns`, or that many elements where flattened.

    With `all_rows` neither more. Rows that are `apart` elements from each other may be longer, and a flattened tensor
    goes to the end of the last. `rows` may be a run-time value. Pointers have no extents. A call that does not fit
    raises ValueError with the name and the numbers.
    """
    if isinstance(tensor, fx.Pointer):
        return
    extents = [tensor.shape[mode].unpack() for mode in range(fx.rank(tensor))]
    if len(extents) == 1 and apart is not None:
        check_count(name, tensor, fx.max(fx.Int64(rows) * apart - (apart - columns), fx.Int64(0)))
        return
    if len(extents) == 1:
        check_count(name, tensor, fx.Int64(rows) * columns, exact=all_rows)
        return
    got, wanted = fx.Int64(extents[0]), fx.Int64(rows)
    fits = (got == wanted) if all_rows else (got >= wanted)
    more = "" if all_rows else " or more"
    fx.host_assert(
        fits & (fx.Int64(extents[1]) == columns if apart is None else fx.Int64(extents[1]) >= columns),
        f"argument {name!r}: expected {{}}{more} rows of {columns}, got {{}} of {{}}",
        wanted, got, fx.Int64(extents[1]),
    )  # fmt: skip


def check_count(
    name: str, tensor: fx.Tensor | fx.Pointer, count: fx.Numeric | int, *, exact: bool = False, or_one: bool = False
) -> None:
    """Have the launcher compare the number of elements: `count` or more, or with `exact` just as many.

    With `or_one` one element will do.
    """
    if isinstance(tensor, fx.Pointer):
        return
    got, wanted = fx.Int64(1), fx.Int64(count)
    for mode in range(fx.rank(tensor)):
        got = got * fx.Int64(tensor.shape[mode].unpack())
    more = "" if exact else " or more"
    fits = (got == wanted) if exact else (got >= wanted)
    fx.host_assert(
        (fits | (got == 1)) if or_one else fits,
        f"argument {name!r}: expected {{}}{more} elements, got {{}}",
        wanted, got,
    )  # fmt: skip


def row_strides(tensors: dict[str, Any], contiguous: dict[str, int], rows: int) -> dict[str, Any]:
    """Elements from one row to the next (Int32), of those tensors that the compiler does not know to be contiguous.

    That is of matrices; flattened tensors and pointers are contiguous by definition. The launcher refuses matrices of
    which `rows` rows, what one buffer resource covers, do not lie within 2 GiB.
    """
    strides = {}
    for name, tensor in tensors.items():
        if isinstance(tensor, fx.Tensor) and fx.rank(tensor) == 2:
            stride = tensor.stride[0].unpack()
            if not (isinstance(stride, int) and stride == contiguous[name]):
                most = _RESOURCE_BYTES * 8 // (rows * tensor.element_type.width)
                fx.host_assert(
                    (fx.Int64(tensor.shape[0].unpack()) <= 1) | (fx.Int64(stride) <= most),
                    f"argument {name!r}: rows can be {most} elements apart, got {{}}; copy it with .contiguous()",
                    fx.Int64(stride),
                )
                strides[name] = fx.Int32(stride)
    return strides


def wanted_extras(epilogue: Epilogue, output: Any) -> dict[str, Any]:
    """The tensors besides A, B and C that an epilogue reads, by name, and the elements that they must have."""
    wanted = {"scale_a": fx.Float32, "scale_b": fx.Float32} if epilogue.scaled else {}
    if epilogue.bias:
        wanted["bias"] = output
    if epilogue.residual:
        wanted["residual"] = output
    return wanted


def tile_tensor(
    tensor: fx.Tensor | fx.Pointer,
    element: type[fx.Numeric],
    row: fx.Numeric | int,
    row_bytes: fx.Numeric | int,
    size: fx.Numeric | int,
    offset: fx.Numeric | int,
    layout: Any,
) -> fx.Tensor:
    """A buffer tensor of `element` that begins `row` rows and `offset` bytes into a tensor and ends after `size` bytes.

    What lies past its end reads as zero and is not written.
    """
    base = tensor if isinstance(tensor, fx.Pointer) else tensor.iter
    start = fx.recast_iter(fx.Uint8, base) + (fx.Int64(row) * fx.Int64(row_bytes) + fx.Int64(offset))
    start = fx.recast_iter(element, start)
    return fx.make_view(fx.rocdl.make_buffer_ptr(start, fx.Int64(size)), layout)
