# SPDX-License-Identifier: Apache-2.0
"""Raw pointers, buffer resources, and loads and stores through them; the hardware checks their bounds.

The accesses are those of `flydsl.expr.buffer_ops`; here are the forms of them that kernels written on addresses use.
Resources and the offsets in them that are called uniform are the same in all lanes of a wave.
"""

from __future__ import annotations

from typing import Any

from .language import fx

__all__ = [
    "buffer_load",
    "buffer_store",
    "create_buffer_resource",
    "create_buffer_resource_from_addr",
    "create_llvm_ptr",
    "extract_base_index",
    "get_element_ptr",
    "pointer_at",
]


def _as_pointer(what: str, base: Any) -> Any:
    """The language's pointer to the bytes at a tensor, a pointer, an LLVM pointer or an integer (global) address."""
    pointer = base.iter if isinstance(base, fx.Tensor) else base
    if isinstance(pointer, fx.Pointer):
        return fx.recast_iter(fx.Int8, pointer)
    if fx.is_llvm_pointer(base):
        try:
            number = fx.llvm_pointer_to_int(base)
        except TypeError as error:
            raise TypeError(f"{what}: {error}") from None
        space = fx.AddressSpace.Global if number.dtype is fx.Int64 else fx.AddressSpace.Shared
        return fx.inttoptr(fx.PointerType.get(fx.Int8, space), number)
    number = fx.as_dsl_value(base)
    if not getattr(getattr(number, "dtype", None), "is_integer", False):
        raise TypeError(f"{what}: expected a tensor, a pointer or an integer address, got {type(base).__name__}")
    return fx.inttoptr(fx.PointerType.get(fx.Int8, fx.AddressSpace.Global), number.to(fx.Int64))


def pointer_at(
    what: str, base: Any, byte_offset: fx.Numeric | int, element: type[fx.Numeric], alignment: int | None = None
) -> fx.Pointer:
    """The language's pointer to `element` at a number of bytes from a tensor, pointer or address.

    Args:
        what: the function on whose behalf errors speak.
        base: a tensor, a pointer, an LLVM pointer, or an integer address of global memory.
        byte_offset: an integer.
        element: a numeric class.
        alignment: in bytes, a power of two of at least the element's size, which is the default.

    Raises:
        TypeError: `base` is none of these.
        ValueError: another alignment.
    """
    natural = max(1, element.width // 8)
    alignment = natural if alignment is None else alignment
    if not isinstance(alignment, int) or alignment < natural or alignment & (alignment - 1):
        raise ValueError(
            f"{what}: the alignment of {element.__name__} is a power of two of bytes, at least {natural}, "
            f"got {alignment!r}"
        )
    octets = _as_pointer(what, base)
    moved = octets if type(byte_offset) is int and byte_offset == 0 else fx.add_offset(octets, byte_offset)
    return fx.recast_iter(fx.PointerType.get(element, moved.address_space, alignment), moved)


def create_llvm_ptr(value: Any, address_space: int = 0) -> Any:
    """A tensor, a pointer or an integer address as a raw LLVM pointer.

    Args:
        value: what to point to.
        address_space: LLVM's number: 0 generic, 1 global, 3 shared, 5 private.

    Raises:
        ValueError: another address space.
    """
    return fx.llvm_pointer(value, address_space)


def extract_base_index(tensor: Any, address_space: int = 1) -> fx.Numeric:
    """The address of a tensor's first element, as an `Index`.

    Raises ValueError when the tensor is not in that address space (1 global, 3 shared).
    """
    pointer = tensor.iter if isinstance(tensor, fx.Tensor) else tensor
    found = {fx.AddressSpace.Global: 1, fx.AddressSpace.Shared: 3}.get(pointer.address_space)
    if found != address_space:
        raise ValueError(
            f"extract_base_index: the tensor is in {pointer.address_space} memory, not in address space {address_space}"
        )
    return fx.ptrtoint(pointer).to(fx.Index)


def get_element_ptr(
    base: Any,
    byte_offset: fx.Numeric | int | None = None,
    static_byte_offset: int = 0,
    elem_type: type[fx.Numeric] | None = None,
) -> Any:
    """A raw LLVM pointer moved by offsets.

    Args:
        base: a raw LLVM pointer, or what `create_llvm_ptr` takes, which is then in global memory.
        byte_offset: an integer of the language, or None.
        static_byte_offset: a Python int to add.
        elem_type: a numeric class or MLIR type in whose size both count; by default bytes.
    """
    offset = static_byte_offset if byte_offset is None else fx.as_dsl_value(byte_offset) + static_byte_offset
    return fx.llvm_pointer_add(base, offset, elem_type)


def create_buffer_resource(
    memref: Any,
    stride: int = 0,
    max_size: bool = True,
    *,
    num_records_bytes: fx.Numeric | int | None = None,
    base_byte_offset: fx.Numeric | int | None = None,
) -> Any:
    """The resource of a tensor or pointer in global memory.

    Args:
        memref: what to access; its first element is offset 0.
        stride: 0; raw accesses have no stride.
        max_size: whether the resource is unlimited; else it ends with the tensor.
        num_records_bytes: its size in bytes, instead, counted from where it begins.
        base_byte_offset: uniform; where it begins, in bytes from the tensor's first element.

    Raises:
        ValueError: a stride, or `max_size=False` for a pointer, which has no size.
    """
    if stride:
        raise ValueError(f"create_buffer_resource: raw accesses have no stride, got {stride!r}")
    is_tensor = isinstance(memref, fx.Tensor)
    if not is_tensor and not max_size and num_records_bytes is None:
        raise ValueError("create_buffer_resource: a pointer has no size; give num_records_bytes")
    create = fx.buffer_ops.create_buffer_resource
    if base_byte_offset is None:
        return create(memref, max_size, num_records_bytes)
    if num_records_bytes is None and not max_size:
        extent = fx.as_dsl_value(fx.cosize(memref.layout).to_py_value()).to(fx.Int64)
        num_records_bytes = (extent * memref.dtype.width + 7) // 8 - fx.as_dsl_value(base_byte_offset).to(fx.Int64)
    begin = pointer_at("create_buffer_resource", memref, base_byte_offset, memref.dtype)
    return create(begin, num_records_bytes=num_records_bytes)


def create_buffer_resource_from_addr(
    addr_i64: fx.Numeric | int, *, num_records_bytes: fx.Numeric | int | None = None
) -> Any:
    """The resource that begins at a 64-bit address of global memory; its elements are Float32 unless a load says.

    `num_records_bytes` is its size in bytes, by default 0xFFFFFFFF.
    """
    begin = pointer_at("create_buffer_resource_from_addr", addr_i64, 0, fx.Float32)
    return fx.buffer_ops.create_buffer_resource(begin, num_records_bytes=num_records_bytes)


def buffer_load(
    rsrc: Any,
    offset: fx.Numeric | int,
    vec_width: int = 4,
    dtype: type[fx.Numeric] | None = None,
    mask: fx.Numeric | None = None,
    cache_modifier: int = 0,
    soffset_bytes: fx.Numeric | int | None = None,
    is_scalar: bool = False,
) -> Any:
    """Load `vec_width` elements, a scalar for one; arguments and errors are those of `fx.buffer_ops.buffer_load`.

    With `is_scalar` 1 or 4 Int32 through the scalar cache: the offset is uniform and counts 32-bit words, and nobody
    writes the memory during the kernel. Raises TypeError for another type, ValueError for a mask or soffset.
    """
    if not is_scalar:
        load = fx.buffer_ops.buffer_load
        return load(rsrc, offset, vec_width, dtype, mask, cache_modifier, soffset_bytes)
    if mask is not None or soffset_bytes is not None:
        raise ValueError("buffer_load: a scalar load has neither mask nor soffset_bytes")
    if vec_width not in (1, 4):
        raise ValueError(f"buffer_load: a scalar load has 1 or 4 words, not {vec_width!r}")
    if dtype is not None and getattr(dtype, "ir_type", dtype) != fx.Int32.ir_type:
        raise TypeError(f"buffer_load: a scalar load gives Int32, not {dtype!r}; bitcast what it gives")
    return fx.buffer_ops.scalar_buffer_load(rsrc, offset, vec_width, cache_modifier)


def buffer_store(
    data: Any,
    rsrc: Any,
    offset: fx.Numeric | int,
    mask: fx.Numeric | None = None,
    cache_modifier: int = 0,
    *,
    soffset_bytes: fx.Numeric | int | None = None,
    offset_is_bytes: bool = False,
) -> None:
    """Store a scalar or vector; arguments and errors as `fx.buffer_ops.buffer_store`."""
    fx.buffer_ops.buffer_store(data, rsrc, offset, mask, cache_modifier, soffset_bytes, offset_is_bytes)
