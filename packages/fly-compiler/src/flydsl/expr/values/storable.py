# SPDX-License-Identifier: Apache-2.0
"""Sizes and alignments in memory, and the types `Align` and `Array`.

A storable type has the classmethods `__dsl_size_of__`, `__dsl_align_of__`, `__peek_from_ptr__(ptr)` and
`__poke_into_ptr__(ptr, value)`; sizes, alignments and offsets are in bytes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from .numeric.base import Numeric, as_numeric
from .numeric.meta import NumericMeta
from .pointer import Pointer, recast_iter
from .subscript import refuse_boolean
from .typing import ConstexprMarker

__all__ = ["Align", "Array"]


def is_constexpr(kind: Any) -> bool:
    """Tell whether a field type is `Constexpr[...]`, which takes no storage."""
    return isinstance(kind, type) and issubclass(kind, ConstexprMarker)


def _storable(kind: Any) -> Any:
    if not hasattr(kind, "__dsl_size_of__"):
        name = getattr(kind, "__name__", repr(kind))
        raise TypeError(
            f"'{name}' cannot be stored in memory; storable are numbers of at least 8 bits, fx.Array, "
            "fx.struct, fx.union and vectors of whole bytes"
        )
    return kind


def size_of(kind: Any) -> int:
    """Return the bytes of a storable type; `TypeError` for one that is not."""
    return int(_storable(kind).__dsl_size_of__())


def align_of(kind: Any) -> int:
    """Return the alignment of a storable type in bytes."""
    return int(_storable(kind).__dsl_align_of__())


def byte_pointer(ptr: Pointer) -> Pointer:
    """Return a pointer as one to bytes, for offsets."""
    from .numeric.types import Uint8

    return ptr if ptr.dtype.width == 8 and not ptr.dtype.is_float else recast_iter(Uint8, ptr)


class _AlignMeta(type):
    def __getitem__(cls, key: Any) -> Any:
        if not isinstance(key, tuple) or len(key) != 2:
            raise TypeError("write fx.Align[T, n]")
        kind, alignment = key
        natural = align_of(kind)
        if type(alignment) is not int or alignment < natural or alignment & (alignment - 1):
            raise ValueError(
                f"fx.Align takes a power of two that is at least the natural alignment, {natural}; got {alignment!r}"
            )
        return _AlignMeta(f"Align[{kind.__name__}, {alignment}]", (Align,), {"inner": kind, "alignment": alignment})


class Align(metaclass=_AlignMeta):
    """`fx.Align[T, n]`: T with at least `n` bytes of alignment; the size does not change."""

    inner: Any = None
    alignment: int = 1

    @classmethod
    def __dsl_size_of__(cls) -> int:
        return size_of(cls.inner)

    @classmethod
    def __dsl_align_of__(cls) -> int:
        return cls.alignment

    @classmethod
    def __peek_from_ptr__(cls, ptr: Any) -> Any:
        return cls.inner.__peek_from_ptr__(ptr)

    @classmethod
    def __poke_into_ptr__(cls, ptr: Any, value: Any) -> None:
        cls.inner.__poke_into_ptr__(ptr, value)


class _ArrayMeta(type):
    _made: ClassVar[dict[Any, Any]] = {}

    def __getitem__(cls, key: Any) -> Any:
        if not isinstance(key, tuple) or len(key) not in (2, 3):
            raise TypeError("write fx.Array[dtype, n] or fx.Array[dtype, n, alignment]")
        if isinstance(key[1], (list, tuple)):
            raise TypeError(
                f"fx.Array has one number of elements, got {key[1]!r}: write the product, and look at it through "
                ".view(fx.make_layout(shape, stride))"
            )
        exactly = (key, type(key[1]))  # 2.0 and True are equal to numbers, and are none
        known = cls._made.get(exactly)
        if known is None:
            known = cls._made[exactly] = _make_array(*key)
        return known

    def __repr__(cls) -> str:
        return cls.__name__


def _make_array(dtype: Any, n: Any, alignment: Any = None) -> Any:
    length = int(n) if isinstance(n, Numeric) and n.is_static() else n
    if isinstance(length, bool) or not isinstance(length, int) or length <= 0:
        raise TypeError(f"fx.Array has a positive number of elements known while tracing, got {n!r}")
    narrow = isinstance(dtype, NumericMeta) and dtype.width < 8
    if narrow and dtype.width == 1:
        size, natural = length, 1  # a byte each, so that every element has an address
    elif narrow:
        bits = dtype.width * length
        if bits % 8:
            raise ValueError(f"{length} x {dtype.__name__} are {bits} bits; an array has whole bytes")
        size, natural = bits // 8, 1
    else:
        size, natural = size_of(dtype) * length, align_of(dtype)
    if alignment is None:
        alignment = natural
    elif type(alignment) is not int or alignment < natural or alignment & (alignment - 1):
        raise ValueError(f"the alignment of an array is a power of two of at least {natural}, got {alignment!r}")
    name = f"Array[{dtype.__name__}, {length}" + (f", {alignment}]" if alignment != natural else "]")
    return _ArrayMeta(name, (Array,), {"dtype": dtype, "length": length, "size": size, "alignment": alignment})


class Array(metaclass=_ArrayMeta):
    """`fx.Array[dtype, n(, alignment)]`: a type of `n` elements; an instance is a handle to one in memory.

    `a[i]` loads, `a[i] = v` stores, `a.view(layout)` is the tensor, `a.ptr` the pointer.
    """

    dtype: Any = None
    length: int = 0
    size: int = 0
    alignment: int = 1

    def __init__(self, ptr: Pointer) -> None:
        if type(self) is Array:
            raise TypeError("fx.Array is a family of types; write fx.Array[dtype, n]")
        self.ptr = recast_iter(self.dtype, ptr) if isinstance(self.dtype, NumericMeta) else byte_pointer(ptr)

    def __len__(self) -> int:
        return self.length

    def _at(self, index: Any) -> Pointer:
        refuse_boolean(index, type(self).__name__)
        if isinstance(index, (tuple, list, slice)):
            raise TypeError(
                f"{type(self).__name__} has one axis, and is indexed with one integer, got {index!r}; for more take "
                ".view(fx.make_layout(shape, stride))"
            )
        if isinstance(index, Numeric) and index.is_static():
            index = int(index)
        if type(index) is int:
            if not -self.length <= index < self.length:
                raise IndexError(f"index {index} is out of range for {type(self).__name__}")
            index %= self.length
        else:
            index = as_numeric(index)
        step = 1 if isinstance(self.dtype, NumericMeta) else size_of(self.dtype)
        element: Pointer = self.ptr + (index if step == 1 else index * step)
        return element

    def __getitem__(self, index: Any) -> Any:
        return self.dtype.__peek_from_ptr__(self._at(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.dtype.__poke_into_ptr__(self._at(index), value)

    def view(self, layout: Any) -> Any:
        """Return the tensor over the elements; only for numeric elements (`TypeError`)."""
        if not isinstance(self.dtype, NumericMeta):
            raise TypeError(f"{type(self).__name__} has composite elements; only arrays of numbers have a tensor view")
        return self.ptr.view(layout)

    def __extract_to_ir_values__(self) -> list[Any]:
        return [self.ptr.value]

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: Any = None) -> Any:
        result = object.__new__(cls)
        result.ptr = Pointer(values[0], getattr(getattr(exemplar, "ptr", None), "_dtype", None))
        return result

    @classmethod
    def __dsl_size_of__(cls) -> int:
        return cls.size

    @classmethod
    def __dsl_align_of__(cls) -> int:
        return cls.alignment

    @classmethod
    def __peek_from_ptr__(cls, ptr: Any) -> Any:
        return cls(ptr)

    @classmethod
    def __poke_into_ptr__(cls, ptr: Any, value: Any) -> None:
        raise TypeError(f"{cls.__name__} is written element by element: a[i] = v, or through a.view(layout)")
