# SPDX-License-Identifier: Apache-2.0
"""Raw op builders (`flydsl._mlir.dialects.*`) take values of the language, and those of `fly` return them.

All generated op classes build through `ir.OpView.__init__`, so it is the one place where operands and result types are
brought to what MLIR takes: a value of the language stands for its SSA value and a numeric class for its MLIR type; a
single value or type stands for a list of one, and a list of one for the value, as the operation declares it. What MLIR
takes by itself passes unchanged. The compiler itself builds by `ir.Operation.create` and does not come here.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir.dialects import _ods_common, fly

__all__ = ["install", "opened", "opened_type"]

_RAW = (ir.Value, ir.OpView, ir.Operation, ir.OpResultList)


def opened(value: Any) -> Any:
    """Return the SSA value of a value of the language; anything else as it is."""
    if value is None or isinstance(value, (*_RAW, type)):
        return value
    ir_value = getattr(value, "ir_value", None)
    return ir_value() if callable(ir_value) else value


def opened_type(kind: Any) -> Any:
    """Return the MLIR type of a numeric class or vector alias; anything else as it is."""
    return kind.ir_type if isinstance(kind, type) and hasattr(kind, "ir_type") else kind


def _as_declared(items: Any, segments: Any, open_one: Any) -> Any:
    """Return operands or result types with lists where the operation declares lists, and only there.

    Of an operation with segments, -1 marks a list, 0 what may be absent and 1 a single one; without segments the
    builder has already laid all out in one list.
    """
    if not isinstance(items, list):
        return items
    if segments is None:
        flat: list[Any] = []
        for item in items:
            flat += map(open_one, item) if isinstance(item, (list, tuple)) else [open_one(item)]
        return flat
    found: list[Any] = []
    for item, kind in zip(items, segments, strict=False):
        if kind == -1:
            if not isinstance(item, (list, tuple, ir.OpResultList)) and item is not None:
                item = [item]
            found.append(list(map(open_one, item)) if isinstance(item, (list, tuple)) else item)
        else:
            alone = item[0] if isinstance(item, (list, tuple)) and len(item) == 1 else item
            found.append(open_one(alone))
    return found


def _as_values(inner: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what the generated builders call on lists of operands, for a single value too."""

    def values(operands: Any) -> Any:
        found = inner(operands)
        return found if isinstance(found, (Sequence, Iterator)) else [found]

    return values


def _wrapping(builder: Any) -> Any:
    """Return a builder function of `fly` whose result is a tensor, layout, pointer … of the language."""
    from flydsl.trace.wrap import wrap_any

    @functools.wraps(builder)
    def build(*args: Any, **kwargs: Any) -> Any:
        result = builder(*args, **kwargs)
        of_fly = type(result) in (ir.Value, ir.OpResult) and fly.facts_of(result) is not None
        return wrap_any(result) if of_fly else result

    return build


def install(questions: Mapping[str, Callable[..., Any]]) -> None:
    """Put the conversions around the builders of op classes, and questions of the language beside those of `fly`.

    Args:
        questions: the functions of the language that `fly` then has, by name.
    """
    original = ir.OpView.__init__
    if getattr(original, "takes_values", False):
        return

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if "operands" in kwargs:  # a builder, and not the view of an operation that exists
            operands, results = args[2:4] if len(args) > 3 else (None, None)
            kwargs["operands"] = _as_declared(kwargs["operands"], operands, opened)
            kwargs["results"] = _as_declared(kwargs.get("results"), results, opened_type)
        original(self, *args, **kwargs)

    __init__.takes_values = True  # type: ignore[attr-defined]
    ir.OpView.__init__ = __init__  # type: ignore[method-assign]
    _ods_common.get_op_results_or_values = _as_values(_ods_common.get_op_results_or_values)
    for name, module in list(sys.modules.items()):  # those that imported it before
        if name.startswith("flydsl._mlir.dialects._") and hasattr(module, "_get_op_results_or_values"):
            module._get_op_results_or_values = _ods_common.get_op_results_or_values  # type: ignore[attr-defined]
    for name, item in list(vars(fly).items()):
        if inspect.isfunction(item) and item.__module__.endswith("._fly_ops_gen"):
            setattr(fly, name, _wrapping(item))
    for name in ("CopyAtomCall", "CopyAtomCallSSA", "MmaAtomCall", "MmaAtomCallSSA"):  # names in use
        setattr(fly, name, getattr(fly, name + "Op"))
    for name, function in questions.items():
        setattr(fly, name, function)
