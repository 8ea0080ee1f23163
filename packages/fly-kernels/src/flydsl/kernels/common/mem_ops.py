# SPDX-License-Identifier: Apache-2.0
"""Loads, stores and atomics at addresses, by `flydsl.expr`'s pointers.

Where an address is taken, it is a tensor, a pointer, a raw LLVM pointer, or an integer (of global memory); offsets are
integers. Nothing checks bounds.
"""

from __future__ import annotations

from typing import Any

from .buffer_ops import get_element_ptr, pointer_at
from .language import fx

__all__ = ["atomic_add", "buffer_atomic_add", "get_llvm_ptr", "global_load", "global_store"]


def get_llvm_ptr(ptr: Any, offset: fx.Numeric | int, dtype_bytes: int) -> Any:
    """The raw LLVM pointer `offset` elements of `dtype_bytes` bytes past an address."""
    return get_element_ptr(ptr.llvm_ptr if isinstance(ptr, fx.Pointer) else ptr, offset * dtype_bytes)


def global_load(
    ptr: Any,
    byte_offset: fx.Numeric | int,
    dtype: type[fx.Numeric],
    vec_width: int = 1,
    *,
    alignment: int | None = None,
) -> Any:
    """Load a scalar, or a `Vector` of `vec_width` > 1 elements, at an address.

    Args:
        ptr: the address.
        byte_offset: to add to it, in bytes.
        dtype: a numeric class.
        vec_width: how many elements.
        alignment: of the sum, in bytes, at least that of one element; by default what all elements take together when
            that is a power of two, else what one takes.

    Raises ValueError for another width or alignment; load bytes and bitcast them where elements are not aligned.
    """
    if isinstance(vec_width, bool) or not isinstance(vec_width, int) or vec_width < 1:
        raise ValueError(f"global_load: vec_width is a positive int, got {vec_width!r}")
    pointer = pointer_at("global_load", ptr, byte_offset, dtype, _alignment(dtype, vec_width, alignment))
    return pointer.load(dtype if vec_width == 1 else fx.VectorAlias(dtype, vec_width))


def global_store(ptr: Any, byte_offset: fx.Numeric | int, value: Any, *, alignment: int | None = None) -> None:
    """Store a scalar or vector of the language at an address; arguments as those of `global_load`.

    Raises TypeError for a Python number, which says nothing of its size.
    """
    value = _typed("global_store", value)
    count = value.numel if isinstance(value, fx.Vector) else 1
    pointer_at("global_store", ptr, byte_offset, value.dtype, _alignment(value.dtype, count, alignment)).store(value)


def atomic_add(
    dst: Any,
    offset: fx.Numeric | int,
    value: Any,
    *,
    dtype_bytes: int = 4,
    syncscope: str | None = "agent",
    ordering: Any = None,
    alignment: int | None = None,
) -> Any:
    """Add to memory, as integers or floats as `value` is, and return what was there.

    Args:
        dst: the address.
        offset: to add to it, in units of `dtype_bytes` bytes.
        value: a scalar of the language, or a vector of two 16-bit floats.
        dtype_bytes: see `offset`.
        syncscope: LLVM's name of the threads among which the order holds; None for all of the system.
        ordering: an `fx.AtomicOrdering`, by default Monotonic.
        alignment: of the sum, in bytes; at least what the value takes, which is the default.

    Raises:
        TypeError: a Python number, or a type that memory cannot add.
        ValueError: an alignment with which the hardware has no atomics.
    """
    value = _typed("atomic_add", value)
    natural = value.dtype.width // 8 * (value.numel if isinstance(value, fx.Vector) else 1)
    if alignment is not None and alignment % natural:
        raise ValueError(f"atomic_add: an atomic on {natural} bytes needs that alignment, got {alignment!r}")
    pointer = pointer_at("atomic_add", dst, offset * dtype_bytes, value.dtype, alignment or natural)
    order = fx.AtomicOrdering.Monotonic if ordering is None else ordering
    return fx.atomic_add(pointer, value, syncscope=syncscope, ordering=order)


def buffer_atomic_add(
    vdata: Any, rsrc: Any, offset: fx.Numeric | int, soffset: fx.Numeric | int = 0, aux: int = 0
) -> None:
    """Add to memory through a buffer resource; outside its bounds nothing is written.

    Args:
        vdata: Int32, Uint32, Int64, Uint64, Float32, Float64, or a vector of two 16-bit floats.
        rsrc: a resource.
        offset: in bytes.
        soffset: a uniform offset in bytes to add.
        aux: the cache policy.

    Raises:
        TypeError: another type.
    """
    value = _typed("buffer_atomic_add", vdata)
    element, pair = value.dtype, isinstance(value, fx.Vector)
    is_pair = pair and value.numel == 2 and element.is_float and element.width == 16
    if not is_pair and (pair or element.width not in (32, 64)):
        shown = f"{value.numel} x {element.__name__}" if pair else element.__name__
        raise TypeError(
            f"buffer_atomic_add: the hardware adds integers and floats of 32 and 64 bits and pairs of 16-bit floats, "
            f"not {shown}"
        )
    if element.is_float:
        fx.rocdl.raw_ptr_buffer_atomic_fadd(value, rsrc, offset, soffset, aux)
        return
    operands = [fx.as_dsl_value(one).to(fx.Int32).ir_value() for one in (offset, soffset, aux)]
    name = f"llvm.amdgcn.raw.ptr.buffer.atomic.add.i{element.width}"
    fx.rocdl.call_intrinsic(name, [value.ir_value(), fx.as_ir_value(rsrc), *operands], element.ir_type)


def _alignment(element: Any, count: int, alignment: int | None) -> int | None:
    size = element.width * count // 8
    return size if alignment is None and size and size & (size - 1) == 0 else alignment


def _typed(what: str, value: Any) -> Any:
    if isinstance(value, (bool, int, float)):
        raise TypeError(f"{what}: {value!r} has no size; say which, for example fx.Float32({value!r})")
    return fx.as_dsl_value(value)
