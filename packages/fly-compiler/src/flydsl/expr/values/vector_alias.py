# SPDX-License-Identifier: Apache-2.0
"""Names for vector types: `fx.Float32x4`, `fx.VectorAlias(dtype, lanes)`, `fx.Vector[dtype, lanes]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl._mlir import ir

from . import above
from .numeric.base import _class_of
from .numeric.meta import NumericMeta
from .vector import Vector, _make, _VectorMeta
from .vector_factory import full
from .vector_shape import count, flatten, normal_shape

__all__ = ["VectorAlias"]

_aliases: dict[tuple[Any, Any], Any] = {}


def VectorAlias(dtype: Any, lanes: Any) -> Any:
    """Return the class of vectors of `lanes` (a count or a shape) elements of `dtype`.

    Calling it with a number or scalar splats, with a list builds from elements, with a vector of that type wraps.
    """
    cls = _class_of(dtype)
    shape = normal_shape(lanes)
    known = _aliases.get((cls, shape))
    if known is None:
        name = cls.__name__ + "x" + ("x".join(map(str, flatten(shape))))
        known = _aliases[cls, shape] = _AliasMeta(
            name, (Vector,), {"__slots__": (), "_alias_dtype": cls, "_alias_shape": shape, "__module__": __name__}
        )
    return known


class _AliasMeta(_VectorMeta):
    """Type of the aliases `Float32x4` and so on; calling one gives a plain `Vector`."""

    _alias_dtype: NumericMeta
    _alias_shape: tuple[Any, ...]

    def __call__(cls, value: Any, shape: Any = None, dtype: Any = None) -> Any:
        own = cls._alias_shape
        if shape is not None and normal_shape(shape) != own:
            raise ValueError(f"{cls.__name__} has the shape {own}, not {shape}")
        if dtype is not None and _class_of(dtype) is not cls._alias_dtype:
            raise ValueError(f"{cls.__name__} has elements of {cls._alias_dtype.__name__}, not {dtype!r}")
        dtype, shape = cls._alias_dtype, own
        if isinstance(value, (list, tuple)):
            if len(value) != count(shape):
                raise ValueError(f"{cls.__name__} takes {count(shape)} elements, got {len(value)}")
            return Vector.from_elements(value, dtype).reshape(shape)
        if isinstance(value, Vector):
            return Vector(value, shape, dtype)
        if isinstance(value, ir.Value) and isinstance(value.type, ir.VectorType):
            return Vector(value, shape, dtype)
        return full(shape, value, dtype)

    def __repr__(cls) -> str:
        return cls.__name__

    @property
    def ir_type(cls) -> ir.Type:
        """The MLIR vector type."""
        return Vector.make_type(cls._alias_shape, cls._alias_dtype)

    @property
    def dtype(cls) -> NumericMeta:
        """The numeric class of the lanes."""
        return cls._alias_dtype

    @property
    def width(cls) -> int:
        """Bits of the whole vector."""
        return cls._alias_dtype.width * count(cls._alias_shape)

    def __instancecheck__(cls, instance: Any) -> bool:
        return (
            isinstance(instance, Vector) and instance.dtype is cls._alias_dtype and instance.shape == cls._alias_shape
        )

    def __dsl_size_of__(cls) -> int:
        if cls.width % 8:
            raise TypeError(f"{cls.__name__} has {cls.width} bits; only whole bytes can be stored")
        return cls.width // 8

    def __dsl_align_of__(cls) -> int:
        return max(1, cls._alias_dtype.width // 8)

    def __peek_from_ptr__(cls, ptr: Any) -> Any:
        return ptr.load(cls)

    def __poke_into_ptr__(cls, ptr: Any, value: Any) -> None:
        ptr.store(cls(value))

    def __construct_from_ir_values__(cls, values: Sequence[ir.Value], exemplar: Any = None) -> Vector:
        return _make(values[0], cls._alias_shape, cls._alias_dtype)


above.attach(VectorAlias=VectorAlias)
