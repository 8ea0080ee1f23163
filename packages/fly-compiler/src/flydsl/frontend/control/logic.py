# SPDX-License-Identifier: Apache-2.0
"""Truth: conditions, `and`, `or`, `not`, comparison chains, and the flags that stand for jumps."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from flydsl._mlir import ir
from flydsl.expr.values.numeric import Boolean, Numeric
from flydsl.expr.values.tensor import Tensor
from flydsl.trace.diagnostics import compile_error

__all__ = ["and_", "compare", "is_dynamic", "not_", "or_", "running", "stopped", "truth"]

_Lazy = Callable[[], Any]


def is_dynamic(value: Any) -> bool:
    """Tell whether the truth of `value` is known only when the kernel runs."""
    if isinstance(value, Numeric):
        return not value.is_static()
    return isinstance(value, ir.Value) or hasattr(type(value), "__dsl_vector__") or hasattr(type(value), "__dsl_bool__")


def truth(value: Any, construct: str) -> bool | ir.Value:
    """Return a condition as a Python bool, or as the 1-bit SSA value of a run-time one.

    Raises:
        DSLCompileError: a run-time value that is not one bit wide; it is not compared with zero by itself.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, Numeric):
        if value.is_static():
            return bool(value)
        condition = value.ir_value()
    elif isinstance(value, ir.Value):
        condition = value
    elif hasattr(type(value), "__dsl_vector__"):
        condition = None
    elif hasattr(type(value), "__dsl_bool__"):
        return truth(value.__dsl_bool__(), construct)
    elif isinstance(value, Tensor):
        raise _no_condition(construct)
    else:
        return bool(value)
    if condition is None or condition.type != Boolean.ir_type:
        got = type(value).__name__ if condition is None or isinstance(value, Numeric) else str(condition.type)
        hint = "reduce it to one Boolean" if condition is None else "compare it, for example `x != 0`"
        raise compile_error(f"{construct} needs a Boolean condition, got {got}: {hint}")
    return condition


def _no_condition(construct: str) -> Exception:
    return compile_error(
        f"{construct} needs a Boolean condition, got a tensor: compare what is in it, for example `t[0] != 0`; whether "
        "there is one is `t is not None`"
    )


def and_(first: Any, *others: _Lazy) -> Any:
    """`a and b`: Python's short circuit until a run-time operand appears; from then on both sides are evaluated."""
    value = first
    for operand in others:
        if is_dynamic(value):
            value = _combine(value, operand(), "__dsl_and__")
        elif not value:
            return value
        else:
            value = operand()
    return value


def or_(first: Any, *others: _Lazy) -> Any:
    """`a or b`, as `and_`."""
    value = first
    for operand in others:
        if is_dynamic(value):
            value = _combine(value, operand(), "__dsl_or__")
        elif value:
            return value
        else:
            value = operand()
    return value


def _combine(left: Any, right: Any, method: str) -> Any:
    if isinstance(left, ir.Value) and not hasattr(left, method):
        left = Boolean(left)
    if hasattr(type(left), method):
        return getattr(left, method)(right)
    word = "and" if method == "__dsl_and__" else "or"
    raise compile_error(f"`{word}` has no meaning for a run-time {type(left).__name__}; use & and | lane by lane")


def not_(value: Any) -> Any:
    """`not a`."""
    if isinstance(value, Tensor):
        raise _no_condition("not")
    if not is_dynamic(value):
        return not value
    if isinstance(value, ir.Value) and not hasattr(value, "__dsl_not__"):
        value = Boolean(value)
    if hasattr(type(value), "__dsl_not__"):
        return value.__dsl_not__()
    raise compile_error(f"`not` has no meaning for a run-time {type(value).__name__}; use ~ lane by lane")


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
}


def compare(words: tuple[str, ...], left: Any, *others: _Lazy) -> Any:
    """`a < b < c`: pairs joined as by `and`, each operand evaluated at most once."""
    result: Any = True
    for word, operand in zip(words, others, strict=True):
        if not is_dynamic(result) and not result:
            return result
        right = operand()
        if word in ("is", "is not"):
            _check_identity(word, left, right)
        pair = _member(word, left, right) if word in ("in", "not in") else _COMPARISONS[word](left, right)
        result = _combine(result, pair, "__dsl_and__") if is_dynamic(result) else pair
        left = right
    return result


def _check_identity(word: str, left: Any, right: Any) -> None:
    """Refuse `x is True` and `x is 5` of a run-time `x`, which no value is."""
    for value, other in ((left, right), (right, left)):
        if isinstance(other, (bool, int, float, str)) and is_dynamic(value):
            sign = "==" if word == "is" else "!="
            raise compile_error(
                f"`{word}` compares objects of Python, and a run-time {type(value).__name__} is never the object "
                f"{other!r}: write `x {sign} {other!r}`"
                + (", or the condition alone" if isinstance(other, bool) else "")
            )


def _member(word: str, item: Any, container: Any) -> bool:
    elements = container if isinstance(container, (list, tuple, set, frozenset)) else ()
    if is_dynamic(item) or is_dynamic(container) or any(is_dynamic(one) for one in elements):
        raise compile_error(
            f"cannot evaluate dynamic values as Python bool during tracing: `{word}` is decided by Python. Write the "
            "comparisons out: `(x == a) | (x == b)`"
        )
    found = item in container
    return found if word == "in" else not found


def running(*flags: Any) -> Any:
    """Tell whether none of the jump flags is set."""
    dynamic = None
    for flag in flags:
        if is_dynamic(flag):
            dynamic = flag if dynamic is None else _combine(dynamic, flag, "__dsl_or__")
        elif flag:
            return False
    return True if dynamic is None else not_(dynamic)


def stopped(*flags: Any) -> bool:
    """Tell whether one of the jump flags is set for certain."""
    return any(bool(flag) for flag in flags if not is_dynamic(flag))
