# SPDX-License-Identifier: Apache-2.0
"""Annotations of kernel parameters (`Constexpr`, `Stream`) and the namespace `T` of MLIR types."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias, TypeVar, Union, get_args, get_origin

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs._mlirDialectsLLVM import PointerType
from flydsl.trace.build import build, is_stream, stream_type, type_of, vector_type

from .layout.host import is_tracing
from .numeric.meta import NumericMeta, class_of_mnemonic
from .vector_alias import VectorAlias

__all__ = ["Constexpr", "Stream", "T", "Type", "Types"]

_Kind = TypeVar("_Kind")
_CONSTEXPR_KINDS = (int, bool, float, str, tuple, Callable)


class _ConstexprMeta(type):
    def __getitem__(cls, kind: Any) -> Any:
        origin = get_origin(kind)
        if origin in (Union, UnionType):  # the same as each alternative for itself: `Constexpr[int] | None`
            return functools.reduce(operator.or_, (one if one is type(None) else cls[one] for one in get_args(kind)))
        if origin is Callable or origin in _CONSTEXPR_KINDS:  # typing's, or with the types of what is in it
            kind = origin
        if kind not in _CONSTEXPR_KINDS:
            names = ", ".join(getattr(k, "__name__", str(k)) for k in _CONSTEXPR_KINDS)
            raise TypeError(f"fx.Constexpr[T] takes T of {names}; got {kind!r}")
        known = cls._made.get(kind)
        if known is None:
            known = cls._made[kind] = _ConstexprMeta(
                f"Constexpr[{getattr(kind, '__name__', kind)}]", (ConstexprMarker,), {"value_type": kind}
            )
        return known

    def __repr__(cls) -> str:
        return cls.__name__

    _made: ClassVar[dict[Any, Any]] = {}


class ConstexprMarker(metaclass=_ConstexprMeta):
    """Annotation of a parameter that is a Python value while tracing, and part of the specialisation.

    `fx.Constexpr[T]` says which: int, bool, float, str, tuple or Callable.
    """

    value_type: Any = None


if TYPE_CHECKING:
    # To a type checker a parameter of this kind is the Python value itself.
    Constexpr: TypeAlias = Annotated[_Kind, ConstexprMarker]
else:
    Constexpr = ConstexprMarker
    Constexpr.__name__ = Constexpr.__qualname__ = "Constexpr"


class Type:
    """Annotation of a parameter that takes a class, such as `fx.Float16`, while tracing."""

    def __class_getitem__(cls, kind: Any) -> Any:
        return cls


class Stream:
    """A device stream as a launch argument: `None` (the default stream), a handle, a torch stream, or traced."""

    __slots__ = ("_given",)

    def __init__(self, value: Any = None) -> None:
        self._given: Any = value._given if isinstance(value, Stream) else value

    @property
    def value(self) -> object:
        """What was given; for the parameter of a function that is traced, its address, an `!llvm.ptr`."""
        # The parameter is a token: most programs need no address, and its type would load the whole llvm dialect.
        if isinstance(self._given, ir.Value) and is_stream(self._given):
            return build("builtin.unrealized_conversion_cast", (self._given,), type_of(PointerType))
        return self._given

    def handle(self) -> int:
        """Return the handle as an integer; `ValueError` for what is no stream."""
        value = self._given
        if value is None:
            return 0
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        handle = getattr(value, "cuda_stream", None)
        if isinstance(handle, int):
            return handle
        raise ValueError(
            f"a stream is None, an integer handle or an object with .cuda_stream, not {type(value).__name__}"
        )

    def async_token(self) -> ir.Value:
        """Return a traced stream as a `gpu.launch_func` written by hand takes it: as its `!gpu.async.token`.

        Raises:
            TypeError: the stream is a host object, not the parameter of a function that is traced.
        """
        if not isinstance(self._given, ir.Value):
            raise TypeError(_NOT_TRACED)
        if is_stream(self._given):
            return self._given
        return build("builtin.unrealized_conversion_cast", (self._given,), stream_type())

    def __extract_to_ir_values__(self) -> list[ir.Value]:
        value = self.value
        if isinstance(value, ir.Value):
            return [value]
        raise TypeError(_NOT_TRACED)

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: Any = None) -> Stream:
        return cls(values[0])

    def __cache_signature__(self) -> Any:
        return Stream

    def __repr__(self) -> str:
        return f"Stream({self._given!r})"


_NOT_TRACED = "this stream is a host object; only the stream parameter of a @flyc.jit function can be traced"


_SCALARS = ("index", "i1", "i8", "i16", "i32", "i64", "i128", "f16", "bf16", "f32", "f64")
_VECTORS = {
    f"{scalar}x{lanes}": (scalar, lanes)
    for scalar, counts in {
        "i8": (2, 4, 8, 16),
        "i16": (2, 4, 8),
        "i32": (2, 4),
        "i64": (2,),
        "f16": (2, 4, 8),
        "bf16": (2, 4, 8),
        "f32": (2, 4),
    }.items()
    for lanes in counts
}


class Types:
    """MLIR types by name, in the current context: `T.f32`, `T.i8x16`, `T.vec(n, T.f16)`.

    Where no kernel is traced there is no context; there the names give the numeric classes and vector aliases, which
    stand for the types wherever the language takes one.
    """

    def __getattr__(self, name: str) -> Any:
        if name in _SCALARS:
            scalar = class_of_mnemonic(name)
            return scalar.ir_type if is_tracing() else scalar
        if name in _VECTORS:
            mnemonic, lanes = _VECTORS[name]
            return self.vec(lanes, class_of_mnemonic(mnemonic))
        raise AttributeError(f"T has no type '{name}'; it has {', '.join([*_SCALARS, *_VECTORS])} and vec(n, type)")

    def vec(self, n: int, elem_type: Any) -> Any:
        """Return the vector type of `n` elements of an MLIR type or numeric class."""
        if isinstance(elem_type, NumericMeta) and not is_tracing():
            return VectorAlias(elem_type, n)
        return vector_type(n, elem_type.ir_type if isinstance(elem_type, NumericMeta) else elem_type)

    def __dir__(self) -> list[str]:
        return [*_SCALARS, *_VECTORS, "vec"]

    def __repr__(self) -> str:
        return "fx.T"


T = Types()
