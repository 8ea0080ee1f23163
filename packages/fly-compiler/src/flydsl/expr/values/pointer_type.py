# SPDX-License-Identifier: Apache-2.0
"""`fx.Pointer[dtype, space, alignment]`: the type of a pointer that can be stored, as a field or an array element."""

from __future__ import annotations

from typing import Any

from . import above
from .address_space import AddressSpace, space_text
from .numeric.base import _class_of
from .numeric.types import Int32, Int64
from .pointer import Pointer, _PointerMeta, inttoptr, pointer_type, ptrtoint

__all__ = ["typed_pointer"]

_made: dict[Any, Any] = {}


def typed_pointer(dtype: Any, space: Any = AddressSpace.Global, alignment: int | None = None) -> Any:
    """Return the class of pointers to `dtype` in `space` with at least `alignment` bytes.

    Raises:
        TypeError: an address space whose pointers have no integer form.
        ValueError: an alignment that is no power of two, or less than the element's.
    """
    cls = _class_of(dtype)
    natural = max(1, cls.width // 8)
    alignment = natural if alignment is None else alignment
    if type(alignment) is not int or alignment < natural or alignment & (alignment - 1):
        raise ValueError(f"the alignment of a pointer to {cls.__name__} is a power of two of at least {natural}")
    text = space_text(space)
    if text not in ("global", "shared"):
        raise TypeError(f"only pointers to global and shared memory can be stored, not to {text}")
    key = (cls, text, alignment)
    known = _made.get(key)
    if known is None:
        shown = "" if alignment == natural else f", {alignment}"
        name = f"Pointer[{cls.__name__}, {text}{shown}]"
        namespace = {"__slots__": (), "_element": cls, "_space": text, "_alignment": alignment}
        known = _made[key] = _TypedMeta(name, (Pointer,), namespace)
    return known


class _TypedMeta(_PointerMeta):
    """Type of the storable pointer classes; calling one checks a pointer and gives it back."""

    _element: Any
    _space: str
    _alignment: int

    def __call__(cls, value: Any) -> Any:
        if not isinstance(value, Pointer):
            raise TypeError(f"{cls.__name__} takes a pointer, not {type(value).__name__}")
        facts = value.facts
        if value.dtype is not cls._element:
            raise TypeError(f"{cls.__name__} takes a pointer to {cls._element.__name__}, not to {value.dtype.__name__}")
        if facts.space != cls._space:
            raise TypeError(f"{cls.__name__} takes a pointer to {cls._space} memory, not to {facts.space}")
        if facts.swizzle is not None:
            raise TypeError(f"{cls.__name__} takes a pointer without swizzle; this one has {facts.swizzle}")
        if facts.alignment % cls._alignment:
            raise TypeError(
                f"{cls.__name__} needs {cls._alignment} bytes of alignment; the pointer has {facts.alignment}"
            )
        return value

    def __instancecheck__(cls, instance: Any) -> bool:
        try:
            return isinstance(instance, Pointer) and cls(instance) is instance
        except TypeError:
            return False

    @property
    def ir_type(cls) -> Any:
        """The MLIR type."""
        return pointer_type(cls._element, cls._space, cls._alignment)

    @property
    def _integer(cls) -> Any:
        return Int64 if cls._space == "global" else Int32

    def __dsl_size_of__(cls) -> int:
        return 8 if cls._space == "global" else 4

    def __dsl_align_of__(cls) -> int:
        return cls.__dsl_size_of__()

    def __peek_from_ptr__(cls, ptr: Any) -> Pointer:
        return inttoptr(cls.ir_type, cls._integer.__peek_from_ptr__(ptr))

    def __poke_into_ptr__(cls, ptr: Any, value: Any) -> None:
        cls._integer.__poke_into_ptr__(ptr, ptrtoint(cls(value)))

    def __construct_from_ir_values__(cls, values: Any, exemplar: Any = None) -> Pointer:
        return Pointer(values[0], cls._element)


above.attach(typed_pointer=typed_pointer)
