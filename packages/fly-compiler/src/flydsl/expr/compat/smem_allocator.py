# SPDX-License-Identifier: Apache-2.0
"""The older way to LDS: one byte array per kernel, with offsets computed by hand.

`SmemAllocator` collects sizes while a launcher is written, gives handles, and `finalize()` emits the array inside the
gpu.module. New code uses `fx.SharedAllocator`, which needs no such ceremony.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from flydsl._mlir import ir
from flydsl.runtime.device import check_smem_capacity
from flydsl.trace import context as _trace
from flydsl.trace.build import build, build_op, build_symbol, vector_type

from ..ops.gpu import workgroup_space
from ..values.numeric import Index, Int8, NumericMeta, as_numeric
from ..values.numeric.meta import class_of_ir_type
from ..values.vector import Vector
from .lds import (
    get_index_value,
    get_mlir_type_align,
    get_mlir_type_size,
    get_op_result_or_value,
)

__all__ = [
    "SmemAllocator",
    "SmemPtr",
    "check_smem_capacity",
    "get_index_value",
    "get_mlir_type_align",
    "get_mlir_type_size",
    "get_op_result_or_value",
]

_ALIGNMENT = 1024
_GRANULE = 128


def _element(dtype: Any) -> Any:
    """Return the numeric class of a class, MLIR type, or function that gives an MLIR type."""
    if isinstance(dtype, NumericMeta):
        return dtype
    if callable(dtype) and not isinstance(dtype, ir.Type):
        dtype = dtype()
    return class_of_ir_type(dtype)


class SmemPtr:
    """A typed place in the byte array.

    Args:
        base: what `SmemAllocator.get_base()` gave.
        byte_offset: where it begins.
        elem_type: numeric class or MLIR type.
        shape: extents for `load` and `store` by several indices (row-major).
    """

    def __init__(self, base: Any, byte_offset: int, elem_type: Any, shape: Sequence[int] | None = None) -> None:
        self.base, self.byte_offset, self.elem_type = base, byte_offset, _element(elem_type)
        self.shape = tuple(shape) if shape else None
        self._view_cache = None  # kept assignable: older kernels clear it between regions, where it now has no effect

    def get(self) -> ir.Value:
        """Return the builtin memref (in LDS) of the elements."""
        elements = 1
        for extent in self.shape or (1,):
            elements *= extent
        kind = ir.MemRefType.get([elements], self.elem_type.ir_type, memory_space=workgroup_space())
        offset = as_numeric(self.byte_offset).to(Index).ir_value()
        return build("memref.view", (self.base, offset), kind)

    def _index(self, indices: Any) -> list[ir.Value]:
        items = list(indices) if isinstance(indices, (list, tuple)) else [indices]
        shape = self.shape or (1,)
        if len(items) == 1:
            linear = as_numeric(items[0])
        elif len(items) == len(shape):
            linear = as_numeric(items[0])
            for index, extent in zip(items[1:], shape[1:], strict=True):
                linear = linear * extent + index
        else:
            raise IndexError(f"{len(items)} indices for an LDS array of shape {shape}")
        return [linear.to(Index).ir_value()]

    def load(self, indices: Any = (0,)) -> Any:
        """Load one element, as a raw SSA value."""
        return build("memref.load", (self.get(), *self._index(indices)), self.elem_type.ir_type)

    def store(self, value: Any, indices: Any = (0,)) -> None:
        """Store one element, or a vector of elements from there on."""
        raw = value.ir_value() if hasattr(value, "ir_value") else as_numeric(value).to(self.elem_type).ir_value()
        if isinstance(value, Vector) or isinstance(raw.type, ir.VectorType):
            build_op("vector.store", (raw, self.get(), *self._index(indices)))
            return
        build_op("memref.store", (raw, self.get(), *self._index(indices)))

    def load_vec(self, indices: Any, count: int) -> Vector:
        """Load `count` elements as a `Vector`."""
        kind = vector_type(count, self.elem_type.ir_type)
        return Vector(build("vector.load", (self.get(), *self._index(indices)), kind), dtype=self.elem_type)


class _Handle:
    """An allocation before its base is known; called with the base it is the `SmemPtr`."""

    def __init__(self, offset: int, elem_type: Any, shape: Sequence[int]) -> None:
        self.byte_offset, self.elem_type, self.shape = offset, elem_type, tuple(shape)

    def __call__(self, base: Any) -> SmemPtr:
        return SmemPtr(base, self.byte_offset, self.elem_type, self.shape)


class SmemAllocator:
    """Collects the LDS arrays of one kernel.

    Args:
        ctx: ignored; older code passes a context here.
        arch: the architecture whose capacity is checked; by default the target's.
        global_sym_name: the symbol of the byte array.
    """

    def __init__(self, ctx: Any = None, arch: str | None = None, global_sym_name: str = "smem_storage") -> None:
        del ctx
        self.ptr = 0
        self.global_sym_name = global_sym_name
        self._arch = arch
        self._finalized_in: Any = None

    @property
    def finalized(self) -> bool:
        """Whether the array was emitted in the module being traced; each specialisation has a module of its own."""
        trace = _trace.maybe_current()
        if self._finalized_in is None:
            return False
        return trace is None or self._finalized_in() is trace

    @finalized.setter
    def finalized(self, value: bool) -> None:
        """Open a used allocator for another module, as code does that traces it anew; in its own it stays final."""
        if not value and (_trace.maybe_current() is None or not self.finalized):
            self._finalized_in = None

    @staticmethod
    def _align(ptr: int, alignment: int) -> int:
        return -(-ptr // alignment) * alignment

    def allocate(self, size_bytes: int, alignment: int = 16) -> int:
        """Reserve bytes and return their offset."""
        self._open()
        if size_bytes <= 0:
            raise ValueError(f"the number of bytes to allocate is positive, got {size_bytes}")
        offset = self._align(self.ptr, alignment)
        self.ptr = offset + size_bytes
        return offset

    def allocate_array(self, dtype: Any, n: int) -> _Handle:
        """Reserve `n` elements of a numeric class or MLIR type; the handle, called with the base, gives the pointer."""
        self._open()
        cls = _DeferredElement(dtype)
        offset = self.allocate(cls.bytes * int(n), max(16, cls.bytes))
        return _Handle(offset, dtype, (int(n),))

    def _open(self) -> None:
        if self.finalized:
            raise RuntimeError(f"SmemAllocator '{self.global_sym_name}' was finalized; allocate before finalize()")

    @property
    def size(self) -> int:
        """Bytes of the array, rounded up to 128."""
        return max(_GRANULE, self._align(self.ptr, _GRANULE))

    def _memref(self) -> ir.Type:
        return ir.MemRefType.get([self.size], Int8.ir_type, memory_space=workgroup_space())

    def finalize(self) -> None:
        """Emit the byte array at the insertion point, which is in the body of the gpu.module.

        Raises:
            RuntimeError: called twice, or the target has not that much LDS.
        """
        if self.finalized:
            raise RuntimeError(f"SmemAllocator '{self.global_sym_name}' was finalized already; call finalize() once")
        trace = _trace.maybe_current()
        check_smem_capacity(self.size, self._arch or (trace.arch.name if trace else None))
        self._finalized_in = (lambda: None) if trace is None else weakref.ref(trace)
        attributes = {
            "sym_name": ir.StringAttr.get(self.global_sym_name),
            "type": ir.TypeAttr.get(self._memref()),
            "alignment": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), _ALIGNMENT),
            "initial_value": ir.UnitAttr.get(),
        }
        build_symbol("memref.global", (), attributes)

    def get_base(self) -> ir.Value:
        """Return the byte array inside the kernel (a builtin memref in LDS)."""
        scope = _trace.kernel("SmemAllocator.get_base()")
        if scope.legacy_lds.setdefault(self.global_sym_name, self) is not self:
            raise RuntimeError(f"two SmemAllocators have the symbol '{self.global_sym_name}'; give global_sym_name=")
        return build("memref.get_global", (), self._memref(), {"name": ir.FlatSymbolRefAttr.get(self.global_sym_name)})


class _DeferredElement:
    """The size of an element type, which may be an MLIR type."""

    def __init__(self, dtype: Any) -> None:
        width = _element(dtype).width
        self.bytes = max(1, width // 8)
