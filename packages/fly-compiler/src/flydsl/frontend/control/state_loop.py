# SPDX-License-Identifier: Apache-2.0
"""`for i, state in range(a, b, c, init=[...])`: loops whose state the user passes around by hand."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from flydsl._mlir import ir
from flydsl.expr.values.numeric import Index, Int64, Numeric, as_numeric
from flydsl.trace.diagnostics import where_text
from flydsl.trace.protocol import extract_to_ir_values

from .for_loop import integer_value, loop_bounds, loop_hints
from .loop_carried import LoopCarriedValues
from .region import Scratch, finish, terminate
from .storage_locations import find_storage_locations

__all__ = ["for_state"]


def for_state(
    iterator: Any,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    body: Callable[[Any, list[Any]], Any],
    description: Any,
) -> ir.Value | list[ir.Value]:
    """Build the loop and return the final state: a list, or the single value when the state is one value.

    Args:
        iterator: what `range` means where the loop stands; it must be Python's own.
        arguments: bounds, converted to index.
        keywords: `init` (a list or tuple of values) and the unroll hints.
        body: takes the induction variable (an index SSA value) and the state (a list of SSA values), returns what the
            user yields.
        description: what the body may write.

    Raises:
        TypeError: the state changes its number or type, or `init` is no list.
    """
    if iterator is not builtins.range:
        raise TypeError("init= belongs to loops over Python's range()" + where_text())
    keywords = dict(keywords)
    state = _values(keywords.pop("init"), "init=")
    start, stop, step = (_index(one) for one in loop_bounds(arguments, where_text))
    hints = loop_hints(keywords)
    carried_values = LoopCarriedValues(find_storage_locations(description, body), "for-body", lenient=True)
    count = len(state)
    init = [*state, *carried_values.init()]
    scratch = Scratch(1)
    try:
        with scratch.guarded():
            block = scratch.block([start.type, *(value.type for value in init)])
            with ir.InsertionPoint(block):
                carried_values.enter(list(block.arguments)[1 + count :])
                yielded = _values(body(block.arguments[0], list(block.arguments)[1 : 1 + count]), "yield")
                _check(state, yielded)
                yields = [*yielded, *carried_values.leave(block, 1 + count)]
            terminate(block, "scf.yield", yields)
            results = finish(scratch, "scf.for", [start, stop, step, *init], [value.type for value in init], hints)
    except BaseException:
        carried_values.put_back()
        raise
    carried_values.results(results[count:])
    return results[0] if count == 1 else results[:count]


def _index(value: Any) -> ir.Value:
    if isinstance(value, bool) or not isinstance(value, (int, Numeric, ir.Value)):
        value = integer_value(value, "a loop bound")
    if isinstance(value, int):
        return Index(value).ir_value()
    if isinstance(value, ir.Value):
        if isinstance(value.type, ir.IndexType):
            return value
        value = as_numeric(value)
    if not type(value).is_integer:
        raise TypeError(f"a loop bound must be an integer, got {type(value).__name__}" + where_text())
    return Index(value if value.width <= 64 else Int64(value)).ir_value()


def _values(state: Any, what: str) -> list[ir.Value]:
    if not isinstance(state, (list, tuple)):
        state = [state]
    values: list[ir.Value] = []
    for position, one in enumerate(state):
        one = as_numeric(one) if isinstance(one, (bool, int, float)) else one
        try:
            values += extract_to_ir_values(one)
        except TypeError as error:
            raise TypeError(f"{what}: value {position}: {error}" + where_text()) from None
    return values


def _check(init: list[ir.Value], yielded: list[ir.Value]) -> None:
    if len(init) != len(yielded):
        raise TypeError(f"init= has {len(init)} values, but yield gives {len(yielded)}" + where_text())
    for position, (before, after) in enumerate(zip(init, yielded, strict=True)):
        if before.type != after.type:
            raise TypeError(
                f"yield: value {position} is {after.type}, but init= started it as {before.type}" + where_text()
            )
