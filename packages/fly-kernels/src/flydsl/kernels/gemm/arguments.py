# SPDX-License-Identifier: Apache-2.0
"""Tensors of GEMMs: what is accepted, and the buffer resources that kernels make of them."""

from __future__ import annotations

from typing import Any

from ..common.language import fx
from ..common.mma.mfma_epilogues import Epilogue

__all__ = ["expect_rows", "resource", "wanted_extras"]


def expect_rows(name: str, tensor: Any, element: Any = None, *, bits: int = 0) -> None:
    """Refuse, while tracing, what is no row-major tensor of `element`, or of elements of `bits` bits.

    Flattened tensors and pointers are accepted: kernels count the elements themselves. Raises TypeError for other
    elements, and ValueError for a matrix whose rows have no unit stride.
    """
    if not isinstance(tensor, (fx.Tensor, fx.Pointer)):
        raise TypeError(f"argument {name!r}: expected a tensor or a pointer, got {type(tensor).__name__}")
    got = tensor.element_type
    if element is not None and got is not element:
        raise TypeError(f"argument {name!r}: expected {element.__name__}, got {got.__name__}")
    if bits and got.width != bits:
        raise TypeError(f"argument {name!r}: expected elements of {bits} bits, got {got.__name__}")
    if isinstance(tensor, fx.Tensor) and fx.rank(tensor) > 1 and tensor.stride[fx.rank(tensor) - 1].unpack() != 1:
        raise ValueError(f"argument {name!r}: the elements of a row must be neighbours; copy it with .contiguous()")


def wanted_extras(epilogue: Epilogue, output: Any) -> dict[str, Any]:
    """The tensors besides A, B and C that an epilogue reads, by name, and the elements that they must have."""
    wanted = {"scale_a": fx.Float32, "scale_b": fx.Float32} if epilogue.scaled else {}
    if epilogue.bias:
        wanted["bias"] = output
    if epilogue.residual:
        wanted["residual"] = output
    return wanted


def resource(tensor: Any, row: Any, row_bytes: Any, size: Any, offset: Any = 0) -> Any:
    """A buffer resource that begins `row` rows and `offset` bytes into a tensor and ends after `size` bytes.

    What lies past its end reads as zero and is not written.
    """
    base = tensor if isinstance(tensor, fx.Pointer) else tensor.iter
    start = fx.recast_iter(fx.Uint8, base) + (fx.Int64(row) * fx.Int64(row_bytes) + fx.Int64(offset))
    return fx.rocdl.get_buffer_rsrc(fx.rocdl.make_buffer_ptr(start, fx.Int64(size)))
