# SPDX-License-Identifier: Apache-2.0
"""Basis elements: the strides of coordinate layouts.

``2E1E0`` is the coordinate that is 2 at path (1, 0) and 0 elsewhere. A layout whose strides are basis elements maps
to coordinates instead of to offsets; `accumulate` is the sum that its evaluation uses.
"""

from __future__ import annotations

from .errors import LayoutTypeError, fail
from .printing import text_of
from .symbolic import SymInt, is_scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .symbolic import Scalar
    from .types import IntTuple

__all__ = ["Basis", "E", "accumulate", "basis_get"]


class Basis:
    """``value`` times the unit vector at ``path`` (outermost mode first). Immutable; scale it with ``*``."""

    __slots__ = ("_path", "_value")
    _value: Scalar
    _path: tuple[int, ...]

    def __init__(self, value: Scalar | None, path: tuple[int, ...]) -> None:
        path = tuple(path)
        if not path or not all(type(p) is int and p >= 0 for p in path):
            raise LayoutTypeError(f"Basis({value!r}, {path!r}): the path is a non-empty tuple of modes >= 0")
        if value is None:
            value = 0
        if not is_scalar(value):
            raise LayoutTypeError(f"Basis({value!r}, {path!r}): the value is an int or a SymInt")
        self._value = value
        self._path = path

    @property
    def value(self) -> Scalar:
        """The coefficient."""
        return self._value

    @property
    def path(self) -> tuple[int, ...]:
        """The mode path of the unit vector."""
        return self._path

    def __mul__(self, other: Scalar) -> Basis:
        if not is_scalar(other):
            return NotImplemented
        return Basis(self._value * other, self._path)

    __rmul__ = __mul__

    def __neg__(self) -> Basis:
        return Basis(-self._value, self._path)

    def __add__(self, other: Any) -> Any:
        return accumulate(self, other)

    def __radd__(self, other: Any) -> Any:
        return accumulate(other, self)

    def as_coordinate(self) -> tuple[Any, ...]:
        """The shortest tuple that has the value at the path and 0 elsewhere."""
        inner: Any = self._value
        for p in reversed(self._path):
            inner = (0,) * p + (inner,)
        return inner  # type: ignore[no-any-return]

    def specialize(self, values: Mapping[str, int]) -> Basis:
        """The element with symbolic integers in its value replaced."""
        return Basis(self._value.specialize(values), self._path) if isinstance(self._value, SymInt) else self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Basis) and self._path == other._path and self._value == other._value

    def __hash__(self) -> int:
        return hash((self._value, self._path))

    def __reduce__(self) -> tuple[type[Basis], tuple[Scalar, tuple[int, ...]]]:
        return (Basis, (self._value, self._path))

    def __repr__(self) -> str:
        unit = f"E({', '.join(map(str, self._path))})"
        return unit if type(self._value) is int and self._value == 1 else f"{self._value!r} * {unit}"

    def _text(self, names: bool) -> str:
        return text_of(self._value, names) + "".join([f"E{p}" for p in self._path])

    def __str__(self) -> str:
        return self._text(True)


def E(*path: int) -> Basis | int:
    """The unit basis element at ``path``; ``E()`` is the integer 1."""
    return Basis(1, path) if path else 1


def basis_get(path: tuple[int, ...], t: IntTuple, operation: str = "basis_get") -> Any:
    """The sub-tree of the int-tuple ``t`` at ``path``.

    A path that ends in zeros may run past a leaf, since a leaf is its own mode 0.
    """
    at = t
    for p in path:
        if type(at) is tuple:
            if p >= len(at):
                raise fail(operation, f"the basis path {path} leaves the profile", t)
            at = at[p]
        elif p:
            raise fail(operation, f"the basis path {path} leaves the profile", t)
    return at


def accumulate(a: Any, b: Any) -> Any:
    """Sum of two indices, each an integer, a basis element or a coordinate tuple.

    Tuples add mode by mode and the longer one's surplus is kept; a static 0 (or None) is neutral.

    Raises:
        LayoutTypeError: a non-zero integer meets a basis element or is left of a tuple.
    """
    if type(a) is int and type(b) is int:
        return a + b
    if a is None or (type(a) is int and a == 0):
        return 0 if b is None else b
    if b is None or (type(b) is int and b == 0):
        return a
    if is_scalar(a) and is_scalar(b):
        return a + b
    if isinstance(a, Basis) and not is_scalar(b):
        a = a.as_coordinate()
    if isinstance(b, Basis) and not is_scalar(a):
        b = b.as_coordinate()
    if type(a) is tuple and type(b) is tuple:
        common = tuple([accumulate(x, y) for x, y in zip(a, b)])
        return common + a[len(b) :] + b[len(a) :]
    if type(a) is tuple and is_scalar(b):
        return (accumulate(a[0], b), *a[1:])
    raise fail("int_tuple_add", "an integer and a coordinate tuple cannot be added", a, b, kind=LayoutTypeError)
