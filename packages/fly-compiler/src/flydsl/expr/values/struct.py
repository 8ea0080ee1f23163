# SPDX-License-Identifier: Apache-2.0
"""Structs (immutable values of named fields) and unions (overlapping storage)."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from typing import Any, ClassVar, TypeVar

from flydsl._mlir import ir
from flydsl.trace.protocol import construct_from_ir_values, extract_to_ir_values, ir_value_count

from .numeric.base import Numeric
from .numeric.meta import NumericMeta
from .storable import Align, align_of, byte_pointer, is_constexpr, size_of
from .vector import Vector

__all__ = [
    "Empty",
    "Struct",
    "Union",
    "is_composite_type",
    "is_specializable_struct_type",
    "is_struct_type",
    "struct",
    "union",
]

C = TypeVar("C", bound=type)

_RESERVED = {"replace", "peek", "poke"}


def _check_name(name: str) -> str:
    if name.startswith("_") or name in _RESERVED or not name.isidentifier():
        raise ValueError(f"'{name}' cannot be a field name: it is reserved, begins with '_' or is no identifier")
    return name


def _fields_of(cls: type) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except Exception:
        hints = dict(getattr(cls, "__annotations__", {}))
    fields = {}
    for name in getattr(cls, "__annotations__", {}):
        fields[_check_name(name)] = hints[name]
    if not fields:
        raise ValueError(f"{cls.__name__} has no annotated fields")
    for name, kind in fields.items():
        if isinstance(kind, str):
            raise TypeError(f"the type of field '{name}' of {cls.__name__}, {kind!r}, could not be resolved")
    return fields


def _layout(fields: dict[str, Any]) -> tuple[dict[str, int], int, int]:
    """Return the offset of each stored field, the size and the alignment, as C lays a struct out."""
    offsets, at, alignment = {}, 0, 1
    for name, kind in fields.items():
        if is_constexpr(kind):
            continue
        natural = align_of(kind)
        at = -(-at // natural) * natural
        offsets[name] = at
        at += size_of(kind)
        alignment = max(alignment, natural)
    return offsets, -(-at // alignment) * alignment, alignment


class _CompositeMeta(type):
    """Type of struct and union classes."""

    fields: dict[str, Any]

    def __repr__(cls) -> str:
        return cls.__name__


class StructBase(metaclass=_CompositeMeta):
    """Base of all structs: positional and keyword construction, structural equality, no assignment."""

    fields: ClassVar[dict[str, Any]] = {}
    _constants: ClassVar[dict[str, Any]] = {}
    _base: Any = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return a struct of these field values; its class is specialised by the `Constexpr` ones."""
        values = cls._bind(args, kwargs)
        constants = {name: values[name] for name, kind in cls.fields.items() if is_constexpr(kind)}
        result = object.__new__(cls._specialise(constants) if constants else cls)
        for name, value in values.items():
            object.__setattr__(result, name, value)
        return result

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        names = list(cls.fields)
        if len(args) > len(names):
            raise TypeError(f"{cls.__name__} has {len(names)} fields, got {len(args)} positional values")
        values = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in cls.fields:
                raise TypeError(f"{cls.__name__} has no field '{name}'; its fields are {', '.join(names)}")
            if name in values:
                raise TypeError(f"{cls.__name__} got two values for field '{name}'")
            values[name] = value
        missing = [name for name in names if name not in values]
        if missing:
            raise TypeError(f"{cls.__name__} lacks a value for {', '.join(repr(name) for name in missing)}")
        return {name: _coerce(cls, name, cls.fields[name], values[name]) for name in names}

    @classmethod
    def _specialise(cls, constants: dict[str, Any]) -> Any:
        if cls._constants:
            if constants == cls._constants:
                return cls
            return cls._base._specialise(constants)
        table = cls.__dict__.get("_specialised")
        if table is None:
            table = {}
            type.__setattr__(cls, "_specialised", table)
        key = tuple((name, type(value), value) for name, value in constants.items())
        known = table.get(key)
        if known is None:
            shown = ", ".join(f"{name}={value!r}" for name, value in constants.items())
            known = table[key] = _CompositeMeta(
                f"{cls.__name__}[{shown}]", (cls,), {"_constants": constants, "_base": cls, "_specialised": None}
            )
        return known

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign field '{name}' of {type(self).__name__}; use .replace({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field '{name}' of {type(self).__name__}")

    def replace(self, **changes: Any) -> Any:
        """Return a struct with some fields changed; `TypeError` for a field that is not there."""
        base = type(self)._base or type(self)
        for name in changes:
            if name not in base.fields:
                raise TypeError(f"{base.__name__} has no field '{name}'; its fields are {', '.join(base.fields)}")
        return base(**{name: changes.get(name, getattr(self, name)) for name in base.fields})

    def _items(self) -> Iterator[tuple[str, Any]]:
        return ((name, getattr(self, name)) for name in type(self).fields)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._items())})"

    def _key(self) -> tuple[Any, ...]:
        return (type(self)._base or type(self), *(_identity(value) for _, value in self._items()))

    def __eq__(self, other: Any) -> Any:
        return self._key() == other._key() if isinstance(other, StructBase) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    # -- protocols -----------------------------------------------------------------------------------------------------

    def _dynamic(self) -> list[str]:
        return [name for name, kind in type(self).fields.items() if not is_constexpr(kind)]

    def __ir_value_count__(self) -> int:
        return sum(ir_value_count(getattr(self, name)) for name in self._dynamic())

    def __extract_to_ir_values__(self) -> list[ir.Value]:
        return [value for name in self._dynamic() for value in extract_to_ir_values(getattr(self, name))]

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: Any = None) -> Any:
        rest = list(values)
        result = object.__new__(cls if exemplar is None else type(exemplar))
        for name, kind in cls.fields.items():
            if is_constexpr(kind):
                value = cls._constants[name] if exemplar is None else getattr(exemplar, name)
            elif exemplar is not None:
                part = getattr(exemplar, name)
                taken = ir_value_count(part)
                value = construct_from_ir_values(part, rest[:taken])
                del rest[:taken]
            else:
                value = _plain(kind).__construct_from_ir_values__(rest[:1])
                del rest[:1]
            object.__setattr__(result, name, value)
        return result

    def __get_ir_types__(self) -> list[ir.Type]:
        return [kind for name in self._dynamic() for kind in getattr(self, name).__get_ir_types__()]

    def __cache_signature__(self) -> Any:
        parts = (getattr(self, name) for name in self._dynamic())
        return (type(self), *(p.__cache_signature__() for p in parts))

    @classmethod
    def __coerce__(cls, value: Any) -> Any:
        """Return a struct of this class from one, or from a tuple or dict of its fields."""
        if isinstance(value, cls):
            return value
        if isinstance(value, dict):
            return cls(**value)
        if isinstance(value, tuple):
            return cls(*value)
        raise TypeError(f"expected a {cls.__name__}, got '{type(value).__name__}'")

    @classmethod
    def __dsl_size_of__(cls) -> int:
        return _layout(cls.fields)[1]

    @classmethod
    def __dsl_align_of__(cls) -> int:
        return _layout(cls.fields)[2]

    @classmethod
    def _stored_fields(cls) -> dict[str, tuple[int, Any]]:
        """Return offset and type of each field that has storage."""
        return {name: (offset, cls.fields[name]) for name, offset in _layout(cls.fields)[0].items()}

    @classmethod
    def __peek_from_ptr__(cls, ptr: Any) -> Any:
        base = byte_pointer(ptr)
        values = {name: kind.__peek_from_ptr__(base + offset) for name, (offset, kind) in cls._stored_fields().items()}
        return cls(**values, **cls._constants)

    @classmethod
    def __poke_into_ptr__(cls, ptr: Any, value: Any) -> None:
        base, value = byte_pointer(ptr), cls.__coerce__(value)
        for name, (offset, kind) in cls._stored_fields().items():
            kind.__poke_into_ptr__(base + offset, getattr(value, name))


def _identity(value: Any) -> Any:
    if isinstance(value, Numeric):
        static = value.is_static()
        return (type(value), static, value.value if static else hash(value.value))
    if isinstance(value, Vector):
        return (value.dtype, value.shape, hash(value.value))
    inner = getattr(value, "value", value)
    return (type(value), hash(inner)) if isinstance(inner, ir.Value) else value


def _plain(kind: Any) -> Any:
    return kind.inner if isinstance(kind, type) and issubclass(kind, Align) else kind


def _coerce_number(kind: Any, value: Any, where: str) -> Any:
    if type(value) is kind:
        return value
    if type(value) in (int, float, bool) or (isinstance(value, ir.Value) and not isinstance(value.type, ir.VectorType)):
        return kind(value)
    got = type(value).__name__
    raise TypeError(f"{where} takes {kind.__name__}, got {got}; convert it with fx.{kind.__name__}(...)")


def _coerce(cls: type, name: str, kind: Any, value: Any) -> Any:
    kind = _plain(kind)
    where = f"field '{name}' of {cls.__name__}"
    if is_constexpr(kind):
        want = kind.value_type
        if isinstance(value, Numeric) and value.is_static():
            value = value.value
        is_callable = getattr(want, "__name__", "") == "Callable"
        if want is not None and not (callable(value) if is_callable else type(value) is want):
            raise TypeError(f"{where} takes a Python {want.__name__}, got {value!r}")
        return value
    if isinstance(kind, NumericMeta):
        return _coerce_number(kind, value, where)
    coerce = getattr(kind, "__coerce__", None)
    if coerce is not None and not isinstance(value, kind):
        return coerce(value)
    if isinstance(kind, type) and issubclass(kind, Vector) and kind is not Vector:
        return value if isinstance(value, kind) else kind(value)
    if isinstance(kind, type) and not isinstance(value, kind):
        raise TypeError(f"{where} takes {kind.__name__}, got {type(value).__name__}")
    return value


def struct(cls: C) -> C:
    """Make a class whose annotations name field types an immutable value type of the language.

    Methods and properties are kept.

    Raises:
        ValueError: no fields, or a reserved field name.
    """
    fields = _fields_of(cls)
    namespace = {
        key: item for key, item in vars(cls).items() if key not in ("__dict__", "__weakref__", "__annotations__")
    }
    for name in fields:
        if name in namespace:
            raise ValueError(f"field '{name}' of {cls.__name__} has a default value; fields have none")
    bases = tuple(base for base in cls.__bases__ if base is not object)
    made = _CompositeMeta(cls.__name__, (*bases, StructBase), {**namespace, "fields": fields})
    return typing.cast("C", made)


class UnionBase(metaclass=_CompositeMeta):
    """Base of unions: fields that share one place. There are no union values, only storage."""

    fields: ClassVar[dict[str, Any]] = {}

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a union has no values."""
        raise TypeError(f"{cls.__name__} is a union: it has no value, only storage; allocate it and use its fields")

    @classmethod
    def __dsl_size_of__(cls) -> int:
        alignment = cls.__dsl_align_of__()
        return -(-max(size_of(kind) for kind in cls.fields.values()) // alignment) * alignment

    @classmethod
    def __dsl_align_of__(cls) -> int:
        return max(align_of(kind) for kind in cls.fields.values())

    @classmethod
    def _stored_fields(cls) -> dict[str, tuple[int, Any]]:
        return {name: (0, kind) for name, kind in cls.fields.items()}

    @classmethod
    def __peek_from_ptr__(cls, ptr: Any) -> Any:
        raise TypeError(f"{cls.__name__} is a union: read one of its fields instead")

    @classmethod
    def __poke_into_ptr__(cls, ptr: Any, value: Any) -> None:
        raise TypeError(f"{cls.__name__} is a union: write one of its fields instead")


def union(cls: C) -> C:
    """Make a class whose annotations name field types a union: the fields overlap in storage."""
    fields = _fields_of(cls)
    for name, kind in fields.items():
        if is_constexpr(kind):
            raise ValueError(f"field '{name}' of union {cls.__name__} is Constexpr, which has no storage")
    made = _CompositeMeta(cls.__name__, (UnionBase,), {"fields": fields, "__module__": cls.__module__})
    return typing.cast("C", made)


def _inline(items: Any, base: type, word: str) -> Any:
    parts = items if isinstance(items, tuple) else (items,)
    fields: dict[str, Any] = {}
    for i, part in enumerate(parts):
        if isinstance(part, slice):
            name = _check_name(str(part.start))
            if name in fields:
                raise ValueError(f"two fields are called '{name}'")
            fields[name] = part.stop
        else:
            fields[f"_{i}"] = part
    for name, kind in fields.items():
        if not isinstance(kind, type):
            raise TypeError(f"the type of field {name!r} of fx.{word}[...] is a type of the language, not {kind!r}")
    named = any(isinstance(part, slice) for part in parts)
    shown = ", ".join(f"{name!r}: {kind.__name__}" if named else kind.__name__ for name, kind in fields.items())
    key = (base, tuple(fields.items()))
    known = _inlines.get(key)
    if known is None:
        known = _inlines[key] = _CompositeMeta(f"{word}[{shown}]", (base,), {"fields": fields})
    return known


_inlines: dict[Any, Any] = {}


class Struct:
    """`fx.Struct["a": T, "b": U]`, or with anonymous fields `_0`, `_1`: `fx.Struct[T, U]`."""

    def __class_getitem__(cls, items: Any) -> Any:
        return _inline(items, StructBase, "Struct")


class Union:
    """`fx.Union["a": T, "b": U]`."""

    def __class_getitem__(cls, items: Any) -> Any:
        return _inline(items, UnionBase, "Union")


def is_composite_type(kind: Any) -> bool:
    """Tell whether `kind` is a struct or union type."""
    return isinstance(kind, type) and issubclass(kind, (StructBase, UnionBase))


def is_struct_type(kind: Any) -> bool:
    """Tell whether `kind` is a struct type."""
    return isinstance(kind, type) and issubclass(kind, StructBase)


def is_specializable_struct_type(kind: Any) -> bool:
    """Tell whether `kind` is a struct type with a compile-time field, its own or of a field."""
    return is_struct_type(kind) and any(
        is_constexpr(field) or is_specializable_struct_type(field) for field in kind.fields.values()
    )


class Empty(metaclass=_CompositeMeta):
    """A type of size zero."""

    fields: ClassVar[dict[str, Any]] = {}

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Empty)

    def __hash__(self) -> int:
        return hash(Empty)

    def __repr__(self) -> str:
        return "Empty()"

    def __extract_to_ir_values__(self) -> list[ir.Value]:
        return []

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: Any = None) -> Any:
        return cls()

    @classmethod
    def __dsl_size_of__(cls) -> int:
        return 0

    @classmethod
    def __dsl_align_of__(cls) -> int:
        return 1

    @classmethod
    def __peek_from_ptr__(cls, ptr: Any) -> Any:
        return cls()

    @classmethod
    def __poke_into_ptr__(cls, ptr: Any, value: Any) -> None:
        return None
