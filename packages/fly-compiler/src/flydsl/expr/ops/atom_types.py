# SPDX-License-Identifier: Apache-2.0
"""The target-neutral copy and MMA operations that atoms are made of: host objects that stand for an MLIR type."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl.trace.build import TypeClass, type_of
from flydsl.trace.context import state

from ..values.numeric.base import _class_of
from ..values.numeric.meta import NumericMeta

__all__ = [
    "AtomicOp",
    "CachePolicy",
    "CopyOp",
    "MmaOp",
    "SyncScope",
    "UniversalAtomic",
    "UniversalAtomicAdd",
    "UniversalAtomicAnd",
    "UniversalAtomicDec",
    "UniversalAtomicInc",
    "UniversalAtomicMax",
    "UniversalAtomicMin",
    "UniversalAtomicOr",
    "UniversalCopy",
    "UniversalCopy8b",
    "UniversalCopy16b",
    "UniversalCopy32b",
    "UniversalCopy64b",
    "UniversalCopy128b",
    "UniversalFMA",
]


class CachePolicy(enum.IntEnum):
    """Which caches an access goes through, as `#fly<cache_policy ...>` numbers them."""

    CacheGlobal = 0
    CacheAlways = 1


class AtomicOp(enum.Enum):
    """Read-modify-write operations."""

    Add = "add"
    Max = "max"
    Min = "min"
    And = "and"
    Or = "or"
    Inc = "inc"
    Dec = "dec"

    @property
    def number(self) -> int:
        """The dialect's number."""
        return int(fly.atomic_op(self.value))

    @classmethod
    def of(cls, op: Any) -> AtomicOp:
        """Return `op`, or the operation of that name; `ValueError` when there is none."""
        if isinstance(op, AtomicOp):
            return op
        try:
            return cls(str(op).lower())
        except ValueError:
            known = ", ".join(one.value for one in cls)
            raise ValueError(f"unknown atomic operation {op!r}; there are {known}") from None


class SyncScope:
    """Synchronisation scopes: the threads that an atomic operation is atomic for."""

    System = ""
    SingleThread = "singlethread"


class _OpMeta(type):
    """Gives the MLIR type itself where a context is current and nothing is traced: code that handles types as such."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        if state.trace is not None:
            return made
        try:
            context = ir.Context.current
        except ValueError:  # there is none
            return made
        return made if context is None else made.ir_type


class _Op(metaclass=_OpMeta):
    """An operation's host object; equal when it stands for the same type.

    Args:
        kind: the bound class of the operation's type.
        arguments: what its `get` takes; a class of the language stands for its MLIR type.
    """

    __slots__ = ("_arguments", "_kind")

    def __init__(self, kind: TypeClass, *arguments: object) -> None:
        self._kind = kind
        self._arguments = arguments

    @property
    def ir_type(self) -> ir.Type:
        """The MLIR type in the current context."""
        return type_of(self._kind, *[getattr(one, "ir_type", one) for one in self._arguments])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ir.Type):  # which an operation is in other implementations
            with other.context:
                return bool(self.ir_type == other)
        return isinstance(other, _Op) and (self._kind, self._arguments) == (other._kind, other._arguments)

    def __hash__(self) -> int:
        return hash((self._kind, self._arguments))

    def __repr__(self) -> str:
        return str(self).removeprefix("!")

    def __str__(self) -> str:
        if state.trace is not None:
            return str(self.ir_type)
        with ir.Context():
            return str(self.ir_type)


class CopyOp(_Op):
    """An operation that moves data."""

    __slots__ = ()


class MmaOp(_Op):
    """An operation that multiplies and accumulates matrices."""

    __slots__ = ()


def check_bits(name: str, bits: Any, allowed: tuple[int, ...] | None = None) -> int:
    """Return the width of a copy; `ValueError` when the operation has no such width, `TypeError` for no integer."""
    if isinstance(bits, bool) or not isinstance(bits, int):
        raise TypeError(f"{name} takes its width in bits as a Python int, got {bits!r}")
    if bits <= 0 or (allowed is not None and bits not in allowed):
        widths = "a positive number of" if allowed is None else " or ".join(map(str, allowed))
        raise ValueError(f"{name} moves {widths} bits, not {bits}")
    return bits


class UniversalCopy(CopyOp):
    """Move `bits` bits per thread between any two plain memories."""

    __slots__ = ()

    def __init__(self, bits: int) -> None:
        check_bits("UniversalCopy", bits)
        if bits & (bits - 1) and bits % 32:
            raise ValueError(f"UniversalCopy moves a power of two or a multiple of 32 bits, not {bits}")
        super().__init__(fly.UniversalCopyType, bits)


_COPIES: dict[Any, Callable[[int], CopyOp]] = {}


def register_copy_of_space(space: Any, operation: Callable[[int], CopyOp]) -> None:
    """Have memories of an address space that only a target has be moved by `operation(bits)`.

    Called where pointers of that space are made: there is no tensor of it before.
    """
    _COPIES[space] = operation


def copy_of_space(space: Any) -> Callable[[int], CopyOp]:
    """What makes the copy operation of a number of bits between memory of an address space and registers."""
    return _COPIES.get(space, UniversalCopy)


def UniversalCopy8b() -> UniversalCopy:
    """Move 8 bits per thread."""
    return UniversalCopy(8)


def UniversalCopy16b() -> UniversalCopy:
    """Move 16 bits per thread."""
    return UniversalCopy(16)


def UniversalCopy32b() -> UniversalCopy:
    """Move 32 bits per thread."""
    return UniversalCopy(32)


def UniversalCopy64b() -> UniversalCopy:
    """Move 64 bits per thread."""
    return UniversalCopy(64)


def UniversalCopy128b() -> UniversalCopy:
    """Move 128 bits per thread."""
    return UniversalCopy(128)


def refuse_unsigned(kind: AtomicOp, cls: NumericMeta, what: str) -> None:
    """Refuse integers without sign where the operation compares them as signed ones.

    Raises:
        ValueError: they are unsigned.
    """
    if cls.is_integer and not cls.signed:
        raise ValueError(
            f"{what}: {kind.value} compares signed integers, and {cls.__name__} has no sign; use "
            f"fx.atomic_{kind.value}(pointer, value)"
        )


class UniversalAtomic(CopyOp):
    """Combine a register value into memory, relaxed; the old value is not returned.

    Args:
        op: an `AtomicOp`. Floats have Add, Max and Min; integer Max and Min are signed; Inc and Dec wrap.
        dtype: the numeric class of the value.
        syncscope: an `fx.SyncScope` (or of `fx.rocdl.SyncScope`).

    Raises:
        ValueError: an operation that floats, or unsigned integers, do not have.
    """

    __slots__ = ()

    def __init__(self, op: Any, dtype: Any, syncscope: str = "") -> None:
        kind, cls = AtomicOp.of(op), _class_of(dtype)
        if kind in (AtomicOp.Max, AtomicOp.Min):
            refuse_unsigned(kind, cls, "UniversalAtomic")
        if cls.is_float and kind not in (AtomicOp.Add, AtomicOp.Max, AtomicOp.Min):
            raise ValueError(f"atomic {kind.value} is not defined for {cls.__name__}; floats have add, max and min")
        super().__init__(fly.UniversalAtomicType, kind.number, cls, syncscope)


def UniversalAtomicAdd(dtype: Any, syncscope: str = "") -> UniversalAtomic:
    """Add to memory."""
    return UniversalAtomic(AtomicOp.Add, dtype, syncscope)


def UniversalAtomicMax(dtype: Any, syncscope: str = "") -> UniversalAtomic:
    """Raise memory to the value."""
    return UniversalAtomic(AtomicOp.Max, dtype, syncscope)


def UniversalAtomicMin(dtype: Any, syncscope: str = "") -> UniversalAtomic:
    """Lower memory to the value."""
    return UniversalAtomic(AtomicOp.Min, dtype, syncscope)


def UniversalAtomicAnd(dtype: Any, syncscope: str = "") -> UniversalAtomic:
    """And bits into memory."""
    return UniversalAtomic(AtomicOp.And, dtype, syncscope)


def UniversalAtomicOr(dtype: Any, syncscope: str = "") -> UniversalAtomic:
    """Or bits into memory."""
    return UniversalAtomic(AtomicOp.Or, dtype, syncscope)


def UniversalAtomicInc(dtype: Any, syncscope: str = "") -> UniversalAtomic:
    """Increment memory, to 0 from the value."""
    return UniversalAtomic(AtomicOp.Inc, dtype, syncscope)


def UniversalAtomicDec(dtype: Any, syncscope: str = "") -> UniversalAtomic:
    """Decrement memory, to the value from 0."""
    return UniversalAtomic(AtomicOp.Dec, dtype, syncscope)


class UniversalFMA(MmaOp):
    """A 1x1x1 multiply-add of one thread in one float type."""

    __slots__ = ()

    def __init__(self, dtype: Any) -> None:
        cls: NumericMeta = _class_of(dtype)
        if not cls.is_float:
            raise TypeError(f"UniversalFMA takes a float class, got {cls.__name__}")
        super().__init__(fly.UniversalFMAType, cls)
