# SPDX-License-Identifier: Apache-2.0
"""`SharedAllocator`: LDS of a kernel."""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir
from flydsl.trace import context as _trace

from ..values.address_space import AddressSpace
from ..values.numeric.meta import NumericMeta
from ..values.numeric.types import Uint8
from ..values.pointer import Pointer, get_dyn_shared, make_ptr, pointer_type
from ..values.storable import Align, Array, align_of, is_constexpr, size_of
from ..values.storage import Arena, Storage
from ..values.struct import StructBase

__all__ = ["SharedAllocator"]


class SharedAllocator(Arena):
    """Allocates LDS inside a kernel; at most one per kernel.

    Static (the default): each scalar and array of what is allocated becomes an LDS symbol of its own (a union is one),
    whose size the compiler knows; the launch needs no `smem`. Dynamic: offsets from the base of dynamic LDS, whose
    total is the launch's default `smem`.

    Args:
        base_alignment: the least alignment of an allocation, in bytes.
        static: which of the two.

    Raises:
        RuntimeError: outside a kernel, or a second allocator in one; or the LDS of the target does not suffice.
    """

    def __init__(self, base_alignment: int = 16, *, static: bool = True) -> None:
        super().__init__(base_alignment)
        self._scope = _trace.kernel("fx.SharedAllocator")
        if self._scope.shared_allocator is not None:
            raise RuntimeError("this kernel already has a SharedAllocator; a kernel has at most one")
        self._scope.shared_allocator = self
        self._static = static
        self._base: Pointer | None = None

    @property
    def is_static(self) -> bool:
        """Whether allocations are LDS symbols."""
        return self._static

    @property
    def base_ptr(self) -> Pointer:
        """The base of dynamic LDS; `RuntimeError` for a static allocator, which has none."""
        if self._static:
            raise RuntimeError(
                "a static SharedAllocator has no base_ptr: each array is an LDS symbol of its own; make it with "
                "static=False for one base"
            )
        if self._base is None:
            with ir.InsertionPoint.at_block_begin(self._scope.entry):
                self._base = get_dyn_shared(Uint8)
        return self._base

    def allocate(self, target: Any, alignment: int | None = None) -> Any:
        """Return `Storage[target]`; an int is a number of bytes.

        Raises:
            ValueError: no positive number of bytes, or an alignment that is no power of two.
            TypeError: a type that cannot be stored.
            RuntimeError: the target has not that much LDS.
        """
        target = self._type(target)
        if self._static:
            self._bump(target, alignment)
            return self._symbols(target, alignment, target.__name__)
        offset, _ = self._bump(target, alignment or self.base_alignment)
        self._scope.dynamic_lds_bytes = self._used
        self._scope.check_lds()
        return Storage[target](self.base_ptr + offset)

    def _symbols(self, target: Any, alignment: int | None, name: str) -> Any:
        plain = target.inner if issubclass(target, Align) else target
        if issubclass(plain, StructBase):
            parts: dict[str, Any] = {}
            for field, kind in plain.fields.items():
                if not is_constexpr(kind):
                    parts[field] = self._symbols(kind, alignment if not parts else None, f"{name}.{field}")
            return Storage[target](parts=parts)
        if not size_of(target):
            return Storage[target](parts={})
        wanted = max(align_of(target), alignment or 1, self.base_alignment)
        size = size_of(target)
        element: Any = Uint8
        if isinstance(plain, NumericMeta):
            element = plain
        elif issubclass(plain, Array) and isinstance(plain.dtype, NumericMeta):
            element = plain.dtype
        self._scope.add_lds(name, size, wanted)
        with ir.InsertionPoint.at_block_begin(self._scope.entry):
            kind = pointer_type(element, AddressSpace.Shared, wanted)
            ptr = make_ptr(kind, (), {"allocBytes": size, "allocAlign": wanted})
        ptr._dtype = element
        return Storage[target](ptr)
