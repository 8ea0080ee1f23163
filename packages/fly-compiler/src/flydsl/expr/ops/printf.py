# SPDX-License-Identifier: Apache-2.0
"""What a program says while it runs: `fx.printf`, `fx.device_assert` and `fx.host_assert`.

All become `fly.print`; the compiler turns it into writes to a buffer that the launch passes, or in host functions into
calls of the runtime, which prints.
"""

from __future__ import annotations

import linecache
from typing import Any

from flydsl._mlir import ir
from flydsl.trace.build import build_symbol
from flydsl.trace.context import kernel, location, state, user_frame, where
from flydsl.trace.protocol import extract_to_ir_values

from ..values.layout.objects import IntTuple
from ..values.numeric.base import Numeric, as_numeric
from ..values.numeric.types import Float32, Index, Int32, Uint64
from ..values.tensor import Tensor
from ..values.vector import Vector

__all__ = ["UNSIGNED", "device_assert", "host_assert", "printf"]

UNSIGNED = "\x01"
"""In the text of a `fly.print`, before the placeholder of an unsigned integer, which its type does not say."""

ASSERTION = "fly.assertion"
"""The attribute of a `fly.print` that is the text of a failed assertion; passes hand it on to what they make of it."""


def printf(*args: Any, format_str: str | None = None) -> None:
    """Print when the program runs: `printf(format, *values)` or `printf(*values)`.

    The placeholder of a format is `{}`; other text is literal. Numbers, strings and types that are known while tracing
    are put into the text; SSA values are printed at run time, vectors as a list, int-tuples as tuples, and a newline is
    added.

    Args:
        *args: the format and the values, or values alone.
        format_str: the format, where it is not the first argument.

    Raises:
        ValueError: a value that is more than one SSA value, or placeholders and values that differ in number.
    """
    if format_str:
        args = (format_str, *args)
    if args and isinstance(args[0], str):
        text, values = args[0], args[1:]
    else:
        text, values = " ".join(["{}"] * len(args)), args
    _emit(*_format("printf", text, values))


def device_assert(condition: Any, message: str = "", *args: Any) -> None:
    """Check a condition when the kernel runs; where it fails, the call of the kernel raises `RuntimeError`.

    The error has the message, the line, and the block and thread of the first failure. The wave that fails ends.

    Args:
        condition: a scalar; one that is known while tracing is checked then.
        message: what to say; `{}` is filled in with `args`, as by `printf`.
        *args: the values of the message.

    Raises:
        AssertionError: the condition is known while tracing, and false.
        RuntimeError: outside a kernel.
    """
    kernel("fx.device_assert")
    _assert("device_assert", AssertionError, condition, message, args)


def host_assert(condition: Any, message: str = "", *args: Any) -> None:
    """Check a condition of a call's arguments in a host function; where it fails, the call raises `ValueError`.

    The check is native code, of a few instructions where the condition holds. Nothing that stands behind it is
    launched; put checks before the launches.

        fx.host_assert(n % 64 == 0, "argument 'n': expected a multiple of 64, got {}", n)

    Args:
        condition: a scalar; one that is known while tracing is checked then.
        message: what to say; `{}` is filled in with `args`, as by `printf`.
        *args: the values of the message.

    Raises:
        ValueError: the condition is known while tracing, and false.
        RuntimeError: in a kernel, where `device_assert` checks.
    """
    if state.trace is not None and state.trace.kernel is not None:
        raise RuntimeError("fx.host_assert is for host functions; in a kernel, use fx.device_assert")
    _assert("host_assert", ValueError, condition, message or f"the condition at {where()} is false", args)


def _assert(what: str, error: type[Exception], condition: Any, message: str, args: tuple[Any, ...]) -> None:
    truth = as_numeric(condition).__dsl_bool__()
    text, operands = _format(what, message, args)
    if truth.is_static():
        if not truth.value:
            raise error(f"{what} at {where()}: {text or 'the condition is false'}")
        return
    from flydsl._mlir.dialects import scf

    frame = user_frame()
    if frame is not None and state.trace is not None:
        state.trace.quoted.append(linecache.getline(*frame).strip())
    failed = scf.IfOp((~truth).ir_value(), has_else=False, loc=location())
    with ir.InsertionPoint(failed.then_block):
        _emit(text, operands, {ASSERTION: ir.UnitAttr.get()})
        scf.YieldOp([], loc=location())


def _emit(text: str, operands: list[ir.Value], attributes: dict[str, ir.Attribute] | None = None) -> None:
    # The text becomes a symbol of the module.
    build_symbol("fly.print", (), {"format": ir.StringAttr.get(text), **(attributes or {})}, operands)


def _format(what: str, text: str, values: tuple[Any, ...]) -> tuple[str, list[ir.Value]]:
    """Put what is known into the text; return it and the SSA values of the placeholders that are left."""
    pieces = text.split("{}")
    if len(pieces) - 1 != len(values):
        raise ValueError(f"{what}: {text!r} has {len(pieces) - 1} placeholders for {len(values)} values")
    result: str = pieces[0]
    operands: list[ir.Value] = []
    for value, after in zip(values, pieces[1:], strict=True):
        result += _text(what, value, operands) + after
    return result, operands


def _text(what: str, value: Any, operands: list[ir.Value]) -> str:
    """Return the text of one value, and collect what has to be filled in at run time."""
    if isinstance(value, IntTuple):
        value = value.to_py_value()
    if isinstance(value, tuple):
        return "(" + ", ".join(_text(what, one, operands) for one in value) + ")"
    shown = _static_text(value)
    if shown is not None:
        return shown
    if isinstance(value, Tensor):
        raise TypeError(
            f"{what} prints numbers, vectors and int-tuples, and a tensor is memory: print t[i] or t.load()"
        )
    found = _operands(what, value)
    operands += found
    unsigned = isinstance(value, (Numeric, Vector)) and value.dtype.is_integer and not value.dtype.signed
    place = UNSIGNED + "{}" if unsigned and value.dtype.width >= 32 else "{}"
    return "[" + ", ".join([place] * len(found)) + "]" if isinstance(value, Vector) else place


def _static_text(value: Any) -> str | None:
    if isinstance(value, Numeric):
        return str(value.value) if value.is_static() else None
    if value is None or isinstance(value, (bool, int, float, str)):
        return str(value)
    return value.__name__ if isinstance(value, type) else None


def _operands(what: str, value: Any) -> list[ir.Value]:
    if isinstance(value, Vector):
        return [_plain(lane) for lane in value]
    if isinstance(value, Numeric):
        return [_plain(value)]
    values = extract_to_ir_values(value)
    if len(values) != 1:
        raise ValueError(f"{what}: a '{type(value).__name__}' is {len(values)} values; print its parts")
    return list(values)


def _plain(value: Numeric) -> ir.Value:
    """Return a scalar in a format that printing knows: narrow floats and unsigned integers are widened."""
    cls = value.dtype
    converted: Any = value
    if cls.is_float and cls.width < 16:
        converted = value.to(Float32)
    elif not cls.is_float and not cls.signed and cls is not Index:  # printing extends a narrow integer with its sign
        converted = value.to(Int32 if cls.width < 32 else Uint64)
    result: ir.Value = converted.ir_value()
    return result
