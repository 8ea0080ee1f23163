# SPDX-License-Identifier: Apache-2.0
"""The operators, and the methods with names of MLIR ops, that scalars, vectors and raw SSA values have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flydsl.trace.fastmath import FastMath

from .. import above
from .operators import (
    ADD,
    AND,
    EQ,
    FLOORDIV,
    GE,
    GT,
    LE,
    LT,
    MOD,
    MUL,
    NE,
    OR,
    POW,
    SHL,
    SHR,
    SUB,
    TRUEDIV,
    XOR,
)

__all__ = ["Operators", "attach_math", "with_operators"]

_functions_of_math: list[str] = []


def attach_math(names: Sequence[str]) -> None:
    """Say which functions `fx.math` has, for messages."""
    _functions_of_math.extend(names)


_ELSEWHERE = {
    "where": "use condition.select(a, b), or `a if condition else b`",
    "clip": "use fx.clampf(x, low, high), or fx.max and fx.min",
    "clamp": "use fx.clampf(x, low, high), or fx.max and fx.min",
    "sum": "add the values, reduce a vector with .reduce('add'), or among threads with fx.coop",
    "max": "use fx.max(a, b), or .reduce('max') of a vector",
    "min": "use fx.min(a, b), or .reduce('min') of a vector",
    "relu": "use fx.max(x, 0.0)",
    "sigmoid": "use 1.0 / (1.0 + fx.exp(-x))",
}


def _on_the_host(called: str, name: str) -> str:
    """Return what to say when a function of another library meets a value of the kernel."""
    own = {"absolute": "absf", "maximum": "maximumf", "minimum": "minimumf", "power": "powf", "rint": "roundeven"}
    name = own.get(name, name)
    if name in _ELSEWHERE:
        hint = _ELSEWHERE[name]
        return f"{called} computes on the host, and this value only exists when the kernel runs; {hint}"
    hint = f"use fx.{name}" if name in _functions_of_math else "use operators and the functions of fx.math"
    return f"{called} computes on the host, and this value only exists when the kernel runs; {hint}"


def _comparable(result: Any, value: Any, other: Any) -> Any:
    """Return the result of `==` or `!=`. Python would take the identity of objects where there is none.

    Raises:
        TypeError: a run-time value is compared with something that is no value.
    """
    if result is NotImplemented and not hasattr(type(other), "__extract_to_ir_values__") and _is_dynamic(value):
        raise TypeError(
            f"a run-time value cannot be compared with '{type(other).__name__}': {other!r}; compare it with a number "
            "or another value of the language"
        )
    return result


def _is_dynamic(value: Any) -> bool:
    return not hasattr(value, "is_static") or not value.is_static()


class Operators:
    """Binary operators, in terms of `_apply(op, left, right)`; `NotImplemented` leaves it to the other operand."""

    __slots__ = ()

    _apply: Callable[..., Any]

    def __add__(self, other: Any) -> Any:
        return self._apply(ADD, self, other)

    def __radd__(self, other: Any) -> Any:
        return self._apply(ADD, other, self)

    def __sub__(self, other: Any) -> Any:
        return self._apply(SUB, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._apply(SUB, other, self)

    def __mul__(self, other: Any) -> Any:
        return self._apply(MUL, self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._apply(MUL, other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._apply(TRUEDIV, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._apply(TRUEDIV, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._apply(FLOORDIV, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._apply(FLOORDIV, other, self)

    def __mod__(self, other: Any) -> Any:
        return self._apply(MOD, self, other)

    def __rmod__(self, other: Any) -> Any:
        return self._apply(MOD, other, self)

    def __pow__(self, other: Any) -> Any:
        return self._apply(POW, self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._apply(POW, other, self)

    def __lshift__(self, other: Any) -> Any:
        return self._apply(SHL, self, other)

    def __rlshift__(self, other: Any) -> Any:
        return self._apply(SHL, other, self)

    def __rshift__(self, other: Any) -> Any:
        return self._apply(SHR, self, other)

    def __rrshift__(self, other: Any) -> Any:
        return self._apply(SHR, other, self)

    def __and__(self, other: Any) -> Any:
        return self._apply(AND, self, other)

    def __rand__(self, other: Any) -> Any:
        return self._apply(AND, other, self)

    def __or__(self, other: Any) -> Any:
        return self._apply(OR, self, other)

    def __ror__(self, other: Any) -> Any:
        return self._apply(OR, other, self)

    def __xor__(self, other: Any) -> Any:
        return self._apply(XOR, self, other)

    def __rxor__(self, other: Any) -> Any:
        return self._apply(XOR, other, self)

    def __lt__(self, other: Any) -> Any:
        return self._apply(LT, self, other)

    def __le__(self, other: Any) -> Any:
        return self._apply(LE, self, other)

    def __gt__(self, other: Any) -> Any:
        return self._apply(GT, self, other)

    def __ge__(self, other: Any) -> Any:
        return self._apply(GE, self, other)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __eq__(self, other: Any) -> Any:
        return False if other is None else _comparable(self._apply(EQ, self, other), self, other)

    def __ne__(self, other: Any) -> Any:
        return True if other is None else _comparable(self._apply(NE, self, other), self, other)

    def __pos__(self) -> Any:
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        if hasattr(self, "__dsl_vector__"):
            raise TypeError(
                "the lanes of a vector do not change: build another one, fx.Vector.from_elements([...]), or keep the "
                "values in registers that do, fx.make_rmem_tensor(n, dtype)"
            )
        raise TypeError("a number has no elements that could be assigned; a tensor was meant?")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        number = next((one for one in inputs if hasattr(one, "dtype") and not getattr(one, "shape", (1,))), None)
        if number is not None:
            raise TypeError(
                f"numpy.{ufunc.__name__} computes on the host, and this value only exists when the kernel runs; use "
                f"operators with a number of Python, {'float' if number.dtype.kind == 'f' else 'int'}(x) instead of "
                f"numpy.{number.dtype}"
            )
        raise TypeError(_on_the_host(f"numpy.{ufunc.__name__}", ufunc.__name__))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise TypeError(_on_the_host(f"numpy.{function.__name__}", function.__name__))

    def addf(self, other: Any, *, fastmath: FastMath = None) -> Any:
        """Return the sum of floats, with explicit fast-math flags."""
        return self._apply(ADD, self, other, fastmath)

    def maximumf(self, other: Any, *, fastmath: FastMath = None) -> Any:
        """Return the larger of two floats; NaN if either is NaN."""
        return above.maximumf(self, other, fastmath=fastmath)

    def minimumf(self, other: Any, *, fastmath: FastMath = None) -> Any:
        """Return the smaller of two floats; NaN if either is NaN."""
        return above.minimumf(self, other, fastmath=fastmath)

    def exp2(self, *, fastmath: FastMath = None) -> Any:
        """Return 2 to the power of this float."""
        return above.exp2(self, fastmath=fastmath)

    def rsqrt(self, *, fastmath: FastMath = None) -> Any:
        """Return the reciprocal square root of this float."""
        return above.rsqrt(self, fastmath=fastmath)

    def shrui(self, amount: Any) -> Any:
        """Return this integer shifted right with zeros from the left, whatever its signedness."""
        return above.shrui(self, amount)

    def shuffle_xor(self, offset: Any, width: Any) -> Any:
        """Return the value of the GPU lane whose number differs from this lane's by the bits of `offset`."""
        return above.shuffle_xor(self, offset, width)


def _torch_function(cls: Any, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    name = getattr(function, "__name__", str(function))
    raise TypeError(_on_the_host(f"torch.{name}", name))


Operators.__torch_function__ = classmethod(_torch_function)  # type: ignore[attr-defined]


def with_operators(cls: Any) -> Any:
    """Give a class the methods of `Operators` where it cannot have a second base: the classes of MLIR's bindings."""
    for name, method in vars(Operators).items():
        if callable(method):
            setattr(cls, name, method)
    cls.__torch_function__ = classmethod(_torch_function)
    return cls
