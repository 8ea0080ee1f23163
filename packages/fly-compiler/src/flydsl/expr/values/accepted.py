# SPDX-License-Identifier: Apache-2.0
"""What functions of the language take beside its own values, by name: for annotations, under `TYPE_CHECKING`.

The names exist for type checkers only, so that nothing is imported for them while a program runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import SupportsIndex, TypeAlias

    import flydsl.layout as host
    from flydsl._mlir import ir

    from .layout.objects import Basis, FlyValue, IntTuple
    from .numeric.base import Numeric
    from .numeric.meta import NumericMeta
    from .storage import Storage
    from .struct import StructBase
    from .vector import ReductionOp

    class HasScalar(Protocol):
        """A value that stands for one scalar, such as an int-tuple of one leaf."""

        def __dsl_scalar__(self) -> Any: ...

    class HasIRValue(Protocol):
        """A value of the language that is one SSA value."""

        def ir_value(self) -> ir.Value:
            """Return the SSA value."""
            ...

    TypeLike: TypeAlias = NumericMeta | ir.Type
    """The type of an element: a numeric class, or a scalar type of MLIR."""

    IntLike: TypeAlias = Numeric | HasScalar | ir.Value | SupportsIndex
    """An integer: of Python, of the language, or a raw SSA value."""

    StaticInt: TypeAlias = Numeric | int
    """An integer that is known while tracing."""

    ScalarLike: TypeAlias = IntLike | float
    """A number: of Python, of the language, or a raw SSA value."""

    ValueLike: TypeAlias = HasIRValue | ir.Value | float
    """A scalar, a vector, or another value that is one SSA value."""

    IntTupleLike: TypeAlias = IntTuple | Basis | IntLike | None | Sequence["IntTupleLike"]
    """A nested tuple of integers; `None` where a coordinate keeps a mode."""

    LayoutLike: TypeAlias = FlyValue | host.Layout | host.ComposedLayout
    """A layout, or a tensor, whose layout counts; or a layout of `flydsl.layout`."""

    TilerLike: TypeAlias = LayoutLike | IntTupleLike
    """A layout, a tile, or a tuple of extents and layouts."""

    Combine: TypeAlias = ReductionOp | str | Callable[[Any, Any], Any]
    """How two values become one: an operation, its name, or a function."""

    CollectiveStorage: TypeAlias = Storage | StructBase
    """What an allocator gave for the `SharedStorage` of a collective."""
