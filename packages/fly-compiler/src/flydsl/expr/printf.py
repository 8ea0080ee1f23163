# SPDX-License-Identifier: Apache-2.0
"""`fx.printf`: printing when the kernel runs."""

from __future__ import annotations

from typing import Any

from flydsl._mlir import ir

from ._build import build_symbol
from ._protocol import extract_to_ir_values
from .numeric.base import Numeric

__all__ = ["printf"]


def printf(*args: Any) -> None:
    """Print when the program runs: `printf(format, *values)` or `printf(*values)`.

    The placeholder of a format is `{}`; other text is literal. Numbers, strings and types that are known while tracing
    are put into the text; SSA values are printed at run time. A newline is added.

    Raises:
        ValueError: a value that is more than one SSA value, or placeholders and values that differ in number.
    """
    if args and isinstance(args[0], str):
        text, values = args[0], list(args[1:])
        pieces = text.split("{}")
        if len(pieces) - 1 != len(values):
            raise ValueError(f"printf: {text!r} has {len(pieces) - 1} placeholders for {len(values)} values")
    else:
        values = list(args)
        pieces = ["", *[" "] * (len(values) - 1), ""] if values else [""]
    result, operands = pieces[0], []
    for value, after in zip(values, pieces[1:], strict=True):
        shown = _static_text(value)
        if shown is None:
            operands.append(_operand(value))
            shown = "{}"
        result += shown + after
    build_symbol("fly.print", (), {"format": ir.StringAttr.get(result)}, operands)  # its text becomes a symbol


def _static_text(value: Any) -> str | None:
    if isinstance(value, Numeric):
        return str(value.value) if value.is_static() else None
    if value is None or isinstance(value, (bool, int, float, str)):
        return str(value)
    return value.__name__ if isinstance(value, type) else None


def _operand(value: Any) -> ir.Value:
    values = extract_to_ir_values(value)
    if len(values) != 1:
        raise ValueError(f"printf: a '{type(value).__name__}' is {len(values)} values; print its parts")
    return values[0]
