# SPDX-License-Identifier: Apache-2.0
"""Tensors of kernels that count elements themselves: a place, an element type, extents and strides.

`GTensor` is global memory through a buffer resource, `STensor` is LDS, `TorchTensor` is an argument with its own
extents. They have the same methods:

    value = t[i, j]                             one element             t[i, j] = value
    vector = t.vec_load((i, j), 8)              8 neighbours            t.vec_store((i, j), vector, 8)
    tile = t.local_tile((16, 64), (bi, bj))     the tile at (16·bi, 64·bj); same memory, other origin
    t.copy_(src, (8, 32), (1, 8), thread, 8)    all elements of src, by all threads

And `_run_compiled` calls a launcher from code that keeps it.
"""

from __future__ import annotations

import copy
import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from .buffer_ops import (
    buffer_load,
    buffer_store,
    create_buffer_resource,
    create_buffer_resource_from_addr,
    pointer_at,
)
from .element_names import element_type, get_dtype_bytes, get_dtype_str, get_dtype_vec_size
from .language import flyc, fx
from .layout_utils import idx2crd

__all__ = [
    "GTensor",
    "STensor",
    "TorchTensor",
    "_run_compiled",
    "get_dtype_bytes",
    "get_dtype_str",
    "get_dtype_vec_size",
]

_KEPT = "_run_compiled_for"  # attribute of a launcher: what was compiled, by architecture


def _run_compiled(exe: Any, *args: Any) -> None:
    """Call a launcher: the first call compiles for the types of `args` and runs, later ones go to what was compiled.

    Where that takes no arguments of such types, the launcher itself is called, which compiles for them. Once compiled,
    addresses may be passed in the place of pointers. Under COMPILE_ONLY nothing runs.
    """
    from flydsl.runtime.device import get_rocm_arch

    kept = exe.__dict__.setdefault(_KEPT, {})
    arch = get_rocm_arch()
    if arch not in kept:
        compiled = flyc.compile(exe, *args)  # runs once
        if compiled is not None:
            kept[arch] = compiled
        return
    try:
        kept[arch](*args)
    except TypeError:  # nothing has run when a type is refused
        exe(*args)


class _Tensor(ABC):
    """What the kinds of tensors share; they differ in how elements at an offset are moved."""

    def __init__(self, dtype: Any, shape: Sequence[Any], stride: Sequence[Any] | None, base_offset: Any) -> None:
        self.dtype = element_type(dtype)
        self.shape = tuple(shape)
        self.stride = tuple(_row_major(self.shape) if stride is None else stride)
        self.base_offset = base_offset
        if len(self.stride) != len(self.shape):
            raise ValueError(f"{self._name}: {len(self.shape)} extents and {len(self.stride)} strides")

    @property
    def _name(self) -> str:
        return type(self).__name__

    @abstractmethod
    def _load(self, offset: Any, count: int) -> Any:
        """`count` elements from an offset on: a scalar for one, else a `Vector`."""

    @abstractmethod
    def _store(self, offset: Any, value: Any) -> None:
        """A scalar or a `Vector` of the element type."""

    def linear_offset(self, idxs: Any) -> Any:
        """The offset, in elements, of a coordinate: `base_offset` and the sum of index times stride.

        Raises IndexError for another number of indices than extents.
        """
        indices = _tuple(idxs)
        if len(indices) != len(self.shape):
            raise IndexError(f"{self._name}: {len(indices)} indices for {len(self.shape)} extents")
        offset = self.base_offset
        for index, stride in zip(indices, self.stride, strict=True):
            offset = offset + index * stride
        return offset

    def __getitem__(self, idxs: Any) -> Any:
        return self._load(self.linear_offset(idxs), 1)

    def __setitem__(self, idxs: Any, value: Any) -> None:
        self._store(self.linear_offset(idxs), self._converted(value))

    def vec_load(self, idxs: Any, n: int) -> Any:
        """`n` neighbours in memory, the first of them at `idxs`: a `Vector`, for 1 a scalar."""
        return self._load(self.linear_offset(idxs), _count(f"{self._name}.vec_load", n))

    def vec_store(self, idxs: Any, v: Any, n: int) -> None:
        """Store `n` neighbours in memory, the first of them at `idxs`, converted to the element type.

        Raises ValueError for a vector of another length.
        """
        value = self._converted(v)
        length = value.numel if isinstance(value, fx.Vector) else 1
        if length != _count(f"{self._name}.vec_store", n):
            raise ValueError(f"{self._name}.vec_store: {n} elements were announced, the value has {length}")
        self._store(self.linear_offset(idxs), value)

    def local_tile(self, tile_shape: Any, tile_idx: Any) -> Any:
        """The tile of extents `tile_shape` number `tile_idx` along each dimension, over the same memory.

        Raises IndexError for another number of extents or indices.
        """
        extents, indices = _tuple(tile_shape), _tuple(tile_idx)
        if len(extents) != len(self.shape):
            raise IndexError(f"{self._name}.local_tile: {len(extents)} extents for {len(self.shape)} dimensions")
        tile = copy.copy(self)
        tile.shape = extents
        tile.base_offset = self.linear_offset([index * extent for index, extent in zip(indices, extents, strict=True)])
        return tile

    def copy_(self, src: Any, thread_layout: Any, value_layout: Any, thread_idx: Any, vec: int = 1) -> None:
        """Copy all elements of `src`, a tensor of this page of the same static extents, converted to the element type.

        Args:
            src: where from.
            thread_layout: how the threads lie over the tensor: a plain static layout from coordinates to thread
                numbers, or extents (the last dimension fastest).
            value_layout: how the elements of one thread lie, likewise; their order is of no importance.
            thread_idx: this thread's number, below the size of `thread_layout`.
            vec: elements of one access; they are neighbours along the last dimension, in both tensors.

        The threads and their values make a tile, which is repeated over the tensor. Every load comes before the first
        store.

        Raises:
            ValueError: extents that are not static, not those of `src`, or that tiles do not fill.
        """
        threads, values = _extents(thread_layout), _extents(value_layout)
        what = f"{self._name}.copy_"
        if not all(isinstance(one, int) for one in self.shape) or self.shape != src.shape:
            raise ValueError(f"{what}: both tensors have the same static extents; got {self.shape} and {src.shape}")
        if not len(threads) == len(values) == len(self.shape):
            raise ValueError(f"{what}: {self.shape} needs layouts of {len(self.shape)} modes, got {threads}, {values}")
        if values[-1] % _count(what, vec):
            raise ValueError(f"{what}: accesses of {vec} do not fill the {values[-1]} elements of a thread")
        tile = [one * other for one, other in zip(threads, values, strict=True)]
        if any(extent % step for extent, step in zip(self.shape, tile, strict=True)):
            raise ValueError(f"{what}: tiles of {tuple(tile)} do not fill {self.shape}")
        thread = _coordinate(thread_idx, thread_layout)
        first = [index * value for index, value in zip(thread, values, strict=True)]
        steps = [*values[:-1], values[-1] // vec]
        corners = itertools.product(*(range(0, extent, step) for extent, step in zip(self.shape, tile, strict=True)))
        inside = list(itertools.product(*map(range, steps)))
        scale = [1] * (len(steps) - 1) + [vec]
        coordinates = [
            [one + start + index * size for one, start, index, size in zip(first, corner, part, scale, strict=True)]
            for corner in corners
            for part in inside
        ]
        loaded = [src.vec_load(at, vec) for at in coordinates]
        for at, value in zip(coordinates, loaded, strict=True):
            self.vec_store(at, value, vec)

    def _converted(self, value: Any) -> Any:
        typed = self.dtype(value) if isinstance(value, (bool, int, float)) else fx.as_dsl_value(value)
        return typed if typed.dtype is self.dtype else typed.to(self.dtype)


class GTensor(_Tensor):
    """Global memory, through a buffer resource: what lies outside of it is read as zero and not written.

    Args:
        memref: a tensor, a pointer or an address (Int64). A tensor's resource is unlimited, as that of the others is:
            the bounds are the caller's.
        dtype: element type, in any form that `element_names.element_type` takes.
        shape: extents, Python ints or integers of the language.
        stride: elements from one index to the next of each dimension; by default those of row-major order.
        base_offset: of the first element, in elements.
        cache_modifier: 0, or 2 for non-temporal.
        static_bytes_offset_i64: bytes to add to the base address, uniform; offsets in a resource have 32 bits, so what
            lies further than 4 GiB from the base needs it.
    """

    def __init__(
        self,
        memref: Any,
        dtype: Any,
        shape: Sequence[Any],
        stride: Sequence[Any] | None = None,
        base_offset: Any = 0,
        cache_modifier: int = 0,
        static_bytes_offset_i64: Any = None,
    ) -> None:
        super().__init__(dtype, shape, stride, base_offset)
        self.cache_modifier = cache_modifier
        if isinstance(memref, (fx.Tensor, fx.Pointer)):
            self.rsrc = create_buffer_resource(memref, base_byte_offset=static_bytes_offset_i64)
        else:
            address = memref if static_bytes_offset_i64 is None else memref + static_bytes_offset_i64
            self.rsrc = create_buffer_resource_from_addr(address)

    def _load(self, offset: Any, count: int) -> Any:
        def load(first: int, length: int) -> Any:
            return buffer_load(self.rsrc, offset + first, length, self.dtype, cache_modifier=self.cache_modifier)

        parts = [(load(first, length), length) for first, length in self._accesses(count)]
        if len(parts) == 1:
            return parts[0][0]
        return fx.Vector.from_elements(
            [part if length == 1 else part[index] for part, length in parts for index in range(length)]
        )

    def _store(self, offset: Any, value: Any) -> None:
        count = value.numel if isinstance(value, fx.Vector) else 1
        for first, length in self._accesses(count):
            part = value
            if length != count:
                part = value[first] if length == 1 else value.shuffle(value, list(range(first, first + length)))
            buffer_store(part, self.rsrc, offset + first, cache_modifier=self.cache_modifier)

    def _accesses(self, count: int) -> list[tuple[int, int]]:
        """(first element, how many) of the accesses, each a power of two of elements in at most 16 bytes."""
        most, first, accesses = get_dtype_vec_size(self.dtype), 0, []
        while first < count:
            length = 1 << min(most, count - first).bit_length() - 1
            accesses.append((first, length))
            first += length
        return accesses


class STensor(_Tensor):
    """LDS.

    Args:
        memptr: a pointer or tensor in LDS, what `.peek()` of an `fx.Array` gives, or a `SmemPtr` of `SmemAllocator`.
        dtype, shape, stride, base_offset: as those of `GTensor`.
    """

    def __init__(
        self, memptr: Any, dtype: Any, shape: Sequence[Any], stride: Sequence[Any] | None = None, base_offset: Any = 0
    ) -> None:
        super().__init__(dtype, shape, stride, base_offset)
        self._smem = memptr if hasattr(memptr, "load_vec") else None  # SmemPtr moves its elements itself
        if self._smem is None:
            start = memptr.iter if isinstance(memptr, fx.Tensor) else getattr(memptr, "ptr", memptr)
            self._start = fx.recast_iter(self.dtype, start)
        elif self._smem.elem_type is not self.dtype:
            raise ValueError(f"STensor: the SmemPtr has elements of {self._smem.elem_type.__name__}, not {dtype!r}")

    def _load(self, offset: Any, count: int) -> Any:
        if self._smem is not None:
            return self._smem.load_vec([offset], count) if count > 1 else self.dtype(self._smem.load([offset]))
        return _elements(self._start + offset, count).load() if count > 1 else (self._start + offset).load()

    def _store(self, offset: Any, value: Any) -> None:
        if self._smem is not None:
            self._smem.store(value, [offset])
        elif isinstance(value, fx.Vector):
            _elements(self._start + offset, value.numel).store(value)
        else:
            (self._start + offset).store(value)


class TorchTensor(_Tensor):
    """A tensor argument with its own element type, extents and strides, through plain loads and stores.

    Args:
        tensor: an argument of the kernel.
        base_offset: of the first element, in elements.
    """

    def __init__(self, tensor: Any, base_offset: Any = 0) -> None:
        modes = range(fx.rank(tensor))
        shape, stride = ([group[mode].unpack() for mode in modes] for group in (tensor.shape, tensor.stride))
        super().__init__(tensor.dtype, shape, stride, base_offset)
        self._tensor = tensor

    def _start(self, offset: Any) -> Any:
        return pointer_at("TorchTensor", self._tensor, fx.Int64(offset) * (self.dtype.width // 8), self.dtype)

    def _load(self, offset: Any, count: int) -> Any:
        start = self._start(offset)
        return _elements(start, count).load() if count > 1 else start.load()

    def _store(self, offset: Any, value: Any) -> None:
        start = self._start(offset)
        if isinstance(value, fx.Vector):
            _elements(start, value.numel).store(value)
        else:
            start.store(value)


def _elements(start: Any, count: int) -> Any:
    return fx.make_view(start, fx.make_layout(count, 1))


def _row_major(shape: tuple[Any, ...]) -> list[Any]:
    strides: list[Any] = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return strides


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _count(what: str, n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f"{what}: the number of elements of an access is a positive int, got {n!r}")
    return n


def _extents(layout: Any) -> tuple[int, ...]:
    """The extents of a layout, or of what stands for one."""
    shape = layout.shape.to_py_value() if hasattr(layout, "shape") else layout
    extents = _tuple(shape)
    if not all(type(extent) is int and extent > 0 for extent in extents):
        raise ValueError(f"copy_: a layout of threads or values has static extents of plain modes, got {shape!r}")
    return extents


def _coordinate(index: Any, layout: Any) -> tuple[Any, ...]:
    if hasattr(layout, "shape"):
        return _tuple(idx2crd(index, layout))
    coordinate = []
    for number, extent in enumerate(extents := _extents(layout)):
        below = math.prod(extents[number + 1 :])
        coordinate.append(index // below % extent if number else index // below)
    return tuple(coordinate)
