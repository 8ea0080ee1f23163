# SPDX-License-Identifier: Apache-2.0
"""`Storage[T]`: a typed view of memory; and `Arena`, the base of bump allocators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from .numeric.base import Numeric
from .numeric.types import Uint8
from .pointer import Pointer
from .storable import Align, Array, align_of, byte_pointer, is_constexpr, size_of
from .struct import Empty, is_struct_type

__all__ = ["Arena", "Storage"]


class _StorageMeta(type):
    _made: ClassVar[dict[Any, Any]] = {}

    def __getitem__(cls, target: Any) -> Any:
        known = cls._made.get(target)
        if known is None:
            size_of(target)
            known = cls._made[target] = _StorageMeta(f"Storage[{target.__name__}]", (Storage,), {"target": target})
        return known

    def __repr__(cls) -> str:
        return cls.__name__


class Storage(metaclass=_StorageMeta):
    """`fx.Storage[T]`: memory that holds a T.

    `.peek()` reads the value (for an array: gives its handle), `.poke(value)` writes it, and for structs and unions
    `.name` is the storage of a field.
    """

    target: Any = None

    def __init__(self, ptr: Pointer | None = None, *, parts: dict[str, Any] | None = None) -> None:
        self._ptr, self._parts = ptr, parts

    @property
    def ptr(self) -> Pointer:
        """The address; `RuntimeError` for a composite whose fields were allocated one by one."""
        if self._ptr is None:
            raise RuntimeError(
                f"{type(self).__name__} has no single address: its fields are LDS symbols of their own; use a field, "
                "or fx.SharedAllocator(static=False)"
            )
        return self._ptr

    def _composite(self) -> Any:
        target = type(self).target
        return target.inner if isinstance(target, type) and issubclass(target, Align) else target

    def peek(self) -> Any:
        """Return the value; an array is not loaded, its handle is returned."""
        target = self._composite()
        if self._parts is not None:
            constants = getattr(target, "_constants", {})
            return target(**{name: part.peek() for name, part in self._parts.items()}, **constants)
        return target.__peek_from_ptr__(self._ptr)

    def poke(self, value: Any) -> None:
        """Write the value."""
        target = self._composite()
        if self._parts is None:
            target.__poke_into_ptr__(self._ptr, value)
            return
        value = target.__coerce__(value)
        for name, part in self._parts.items():
            part.poke(getattr(value, name))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        target = self._composite()
        fields = getattr(target, "fields", None)
        if fields is None or name not in fields:
            have = f"its fields are {', '.join(fields)}" if fields else "it is no struct or union"
            raise AttributeError(f"{type(self).__name__} has no field '{name}'; {have}")
        if is_constexpr(fields[name]):
            raise AttributeError(f"field '{name}' of {target.__name__} is known while tracing and has no storage")
        if self._parts is not None:
            return self._parts[name]
        offset, kind = target._stored_fields()[name]
        return Storage[kind](byte_pointer(self.ptr) + offset)

    def __repr__(self) -> str:
        return type(self).__name__

    def __extract_to_ir_values__(self) -> list[Any]:
        if self._parts is None:
            return [self.ptr.value]
        return [value for part in self._parts.values() for value in part.__extract_to_ir_values__()]

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: Any = None) -> Any:
        rest = list(values)
        return _rebuild(cls, rest, exemplar)

    @classmethod
    def __dsl_size_of__(cls) -> int:
        return size_of(cls.target)

    @classmethod
    def __dsl_align_of__(cls) -> int:
        return align_of(cls.target)

    @classmethod
    def __peek_from_ptr__(cls, ptr: Any) -> Any:
        return cls(ptr)

    @classmethod
    def __poke_into_ptr__(cls, ptr: Any, value: Any) -> None:
        raise TypeError(f"a {cls.__name__} field is memory, not a value; use .peek() and .poke()")


def storage_of_handles(value: Any) -> Any:
    """Return the storage that a struct was read from, whose fields are handles: arrays, storage and structs of these.

    Raises:
        TypeError: a field is a number or vector, which was loaded: where from is not known any more.
    """
    if isinstance(value, Array):
        return Storage[type(value)](value.ptr)
    if isinstance(value, Storage):
        return value
    if isinstance(value, Empty):
        return Storage[Empty](parts={})
    if not is_struct_type(type(value)):
        raise TypeError(f"a {type(value).__name__} was loaded, and has no storage; pass the storage without .peek()")
    fields = {name: kind for name, kind in type(value).fields.items() if not is_constexpr(kind)}
    return Storage[type(value)](parts={name: storage_of_handles(getattr(value, name)) for name in fields})


def _rebuild(cls: Any, rest: list[Any], exemplar: Any) -> Any:
    if exemplar is None or exemplar._parts is None:
        dtype = getattr(getattr(exemplar, "_ptr", None), "_dtype", None)
        return cls(Pointer(rest.pop(0), dtype))
    return cls(parts={name: _rebuild(type(part), rest, part) for name, part in exemplar._parts.items()})


class Arena(ABC):
    """A bump allocator: hands out `Storage` at increasing offsets."""

    def __init__(self, base_alignment: int = 16) -> None:
        if type(base_alignment) is not int or base_alignment <= 0 or base_alignment & (base_alignment - 1):
            raise ValueError(f"base_alignment is a power of two, got {base_alignment!r}")
        self.base_alignment = base_alignment
        self._used = 0

    @property
    def allocated_bytes(self) -> int:
        """Bytes handed out so far, padding included."""
        return self._used

    @staticmethod
    def _type(target: Any) -> Any:
        if isinstance(target, Numeric) and target.is_static():
            target = int(target)
        if isinstance(target, int) and not isinstance(target, bool):
            if target <= 0:
                raise ValueError(f"the number of bytes to allocate is positive, got {target}")
            return Array[Uint8, target]
        size_of(target)
        return target

    def _bump(self, target: Any, alignment: int | None) -> tuple[int, int]:
        """Return offset and alignment for a `target` and move on."""
        natural = align_of(target)
        if alignment is not None and (type(alignment) is not int or alignment <= 0 or alignment & (alignment - 1)):
            raise ValueError(f"an alignment is a power of two, got {alignment!r}")
        wanted = max(natural, alignment or 1)
        offset = -(-self._used // wanted) * wanted
        self._used = offset + size_of(target)
        return offset, wanted

    @abstractmethod
    def allocate(self, target: Any, alignment: int | None = None) -> Any:
        """Return storage for a type, or for a number of bytes."""
