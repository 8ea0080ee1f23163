# SPDX-License-Identifier: Apache-2.0
"""`for i in range(...)` with run-time meaning, and what it takes from `unroll=` and `unroll_full=`."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from typing import Any

from flydsl._mlir import ir
from flydsl.expr.ops.gpu import is_extent
from flydsl.expr.values.numeric import Boolean, Index, Int32, Numeric
from flydsl.trace.build import attribute, build, int_attribute
from flydsl.trace.diagnostics import where_text
from flydsl.utils import log

from .branch import branch
from .logic import is_dynamic, running, stopped, truth
from .loop_carried import LoopCarriedValues
from .region import Scratch, finish, terminate
from .storage_locations import StorageLocation, find_storage_locations

__all__ = ["counts_up", "for_range", "integer_value", "loop_bounds", "loop_hints", "python_loop", "run_time_loop"]

_Body = Callable[[Any], Any]


def for_range(
    iterator: Any,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    body: _Body,
    description: Any,
    stop_flags: tuple[str, ...],
    always: bool,
) -> None:
    """`for i in range(...): body`.

    Args:
        iterator: what `range` means where the loop stands; anything but Python's own is iterated by Python.
        arguments: positional arguments of `range`.
        keywords: `unroll` and `unroll_full`.
        body: takes the loop variable.
        description: what the body may write (`FunctionTransformer.description`).
        stop_flags: variables that end the loop when true.
        always: make a run-time loop even when all bounds are Python integers.
    """
    if iterator is not builtins.range:
        python_loop(iterator(*arguments, **keywords), body, description, stop_flags)
    elif not always and not keywords and not any(map(is_dynamic, arguments)):
        python_loop(range(*(operator.index(one) for one in arguments)), body, description, stop_flags)
    else:
        run_time_loop(arguments, keywords, body, find_storage_locations(description, body), stop_flags)


def python_loop(items: Any, body: _Body, description: Any, stop_flags: tuple[str, ...]) -> None:
    """Unroll a loop while tracing; once a run-time flag may have stopped it, the other iterations are guarded."""
    storages = (
        {storage.name: storage for storage in find_storage_locations((description[0], (), (), ()), body)}
        if stop_flags
        else {}
    )
    for item in items:
        flags = [storages[name].read() for name in stop_flags]
        if stopped(*flags):
            return
        if any(map(is_dynamic, flags)):
            condition = truth(running(*flags), "a loop that was left")
            assert isinstance(condition, ir.Value)
            branch(condition, lambda item=item: body(item), None, find_storage_locations(description, body))  # type: ignore[misc]
        else:
            body(item)


def loop_bounds(arguments: tuple[Any, ...], where: Callable[[], str]) -> tuple[Any, Any, Any]:
    """Return start, stop and step of `range(...)`.

    Raises:
        TypeError: not one to three arguments, or one that is no integer.
        ValueError: the step is a zero known while tracing.
    """
    if not 1 <= len(arguments) <= 3:
        raise TypeError(f"range() takes one to three arguments, got {len(arguments)}" + where())
    start, stop = (0, arguments[0]) if len(arguments) == 1 else arguments[:2]
    step = arguments[2] if len(arguments) == 3 else 1
    for one in (start, stop, step):
        if not is_dynamic(one) and not hasattr(type(one), "__index__"):
            raise TypeError(f"range() takes integers, got {type(one).__name__}")
    if not is_dynamic(step) and int(step) == 0:
        raise ValueError("the step of range() must not be zero" + where())
    return start, stop, step


def loop_hints(keywords: dict[str, Any]) -> dict[str, ir.Attribute] | None:
    """Return the loop metadata for the `unroll` and `unroll_full` keywords of `range`.

    Raises:
        TypeError: an unknown keyword, or a value of the wrong type.
        ValueError: `unroll` is less than 1 (other than -1), or both are given.
    """
    unknown = set(keywords) - {"unroll", "unroll_full"}
    if unknown:
        raise TypeError(f"range() got an unexpected keyword argument '{sorted(unknown)[0]}'" + where_text())
    count, full = keywords.get("unroll", -1), keywords.get("unroll_full", False)
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"unroll= takes a Python int, got {type(count).__name__}" + where_text())
    if not isinstance(full, bool):
        raise TypeError(f"unroll_full= takes a Python bool, got {type(full).__name__}" + where_text())
    if count != -1 and count < 1:
        raise ValueError(f"unroll= must be at least 1 (or -1 for no hint), got {count}" + where_text())
    if full and count != -1:
        raise ValueError("unroll= and unroll_full= exclude each other" + where_text())
    if full:
        unroll = "disable = false, full = true"
    elif count == 1:
        unroll = "disable = true"
    elif count > 1:
        unroll = f"disable = false, count = {count} : i32"
    else:
        return None
    return {"llvm.loop_annotation": attribute(f"#llvm.loop_annotation<unroll = <{unroll}>>")}


def integer_value(value: Any, what: str) -> Any:
    """Return the integer that a foreign object stands for (a numpy integer, a DSL object with one leaf).

    Raises:
        TypeError: it stands for none.
    """
    scalar = getattr(value, "__dsl_scalar__", None)
    if scalar is not None:
        return scalar()
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be an integer, got {type(value).__name__}" + where_text()) from None


def _bound(value: Any, name: str) -> ir.Value:
    """Return a loop bound as an i32 value."""
    if isinstance(value, bool) or not isinstance(value, (int, Numeric, ir.Value)):
        value = integer_value(value, f"for-loop {name}")
    if isinstance(value, int):
        if not -(2**31) <= value < 2**31:
            raise TypeError(f"for-loop {name} must be i32, got {value}" + where_text())
        return Int32(value).ir_value()
    raw = value.ir_value() if isinstance(value, Numeric) else value
    if isinstance(raw.type, ir.IndexType):
        log().warning("for-loop %s is an Index; it is converted to i32%s", name, where_text())
        return Int32(Index(raw)).ir_value()
    if raw.type != Int32.ir_type:
        raise TypeError(f"for-loop {name} must be i32, got {raw.type}" + where_text())
    return raw


def run_time_loop(
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    body: _Body,
    storages: Sequence[StorageLocation],
    stop_flags: tuple[str, ...] = (),
) -> None:
    """Build a loop whose body may write `storages`; the other arguments are those of `for_range`."""
    start, stop, step = loop_bounds(arguments, where_text)
    hints = loop_hints(keywords)
    first, last, stride = _bound(start, "start"), _bound(stop, "stop"), _bound(step, "step")
    value_of = _identity
    if not is_dynamic(step) and int(step) < 0:
        # scf.for counts upwards: count the iterations, and compute the variable from the count.
        base, down = Int32(first), int(step)
        trips = (base - Int32(last) + (-down - 1)) // -down
        first, last, stride = Int32(0).ir_value(), trips.ir_value(), Int32(1).ir_value()
        value_of = lambda count: base + count * down  # noqa: E731
    elif is_dynamic(step) and not counts_up(stride):
        # The sign is known when the kernel runs: a loop that counts down is the mirror image of one that counts up.
        sign = Int32(stride) >> 31
        value_of = lambda count: (Int32(count) ^ sign) - sign  # noqa: E731
        first, last, stride = ((Int32(one) ^ sign) - sign for one in (first, last, stride))
        first, last, stride = first.ir_value(), last.ir_value(), stride.ir_value()
    carried_values = LoopCarriedValues(storages, "for-body")
    build_loop = _leaving_loop if stop_flags else _counted_loop
    build_loop(first, last, stride, hints, lambda count: body(value_of(Int32(count))), carried_values, stop_flags)


def counts_up(value: ir.Value) -> bool:
    """Tell whether a step certainly is positive: made of the sizes of workgroups and grids, and positive constants."""
    if is_extent(value):
        return True
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False
    if owner.name == "arith.constant":
        return int(ir.IntegerAttr(owner.attributes["value"]).value) > 0
    passed = ("arith.index_cast", "arith.index_castui", "arith.trunci", "arith.extsi", "arith.extui")
    if owner.name in (*passed, "arith.muli", "arith.addi"):
        return all(counts_up(one) for one in owner.operands)
    return False


def _identity(count: Any) -> Any:
    return count


def _counted_loop(
    first: ir.Value,
    last: ir.Value,
    stride: ir.Value,
    hints: dict[str, ir.Attribute] | None,
    body: Callable[[ir.Value], Any],
    carried_values: LoopCarriedValues,
    stop_flags: tuple[str, ...],
) -> None:
    init = carried_values.init()
    scratch = Scratch(1)
    try:
        with scratch.guarded():
            block = scratch.block([first.type, *(value.type for value in init)])
            with ir.InsertionPoint(block):
                carried_values.enter(list(block.arguments)[1:])
                body(block.arguments[0])
                yields = carried_values.leave(block, 1)
            init += _add_late_arguments(block, carried_values)
            terminate(block, "scf.yield", yields)
            results = finish(scratch, "scf.for", [first, last, stride, *init], [value.type for value in init], hints)
    except BaseException:
        carried_values.put_back()
        raise
    carried_values.results(results)


def _add_late_arguments(block: ir.Block, carried_values: LoopCarriedValues) -> list[ir.Value]:
    late = carried_values.late_init()
    for value in late:
        block.add_argument(value.type, value.location)
    return late


def _leaving_loop(
    first: ir.Value,
    last: ir.Value,
    stride: ir.Value,
    hints: dict[str, ir.Attribute] | None,
    body: Callable[[ir.Value], Any],
    carried_values: LoopCarriedValues,
    stop_flags: tuple[str, ...],
) -> None:
    """A loop with `break` or `return` in it: the count is carried, and the flags are part of the condition."""
    init = [first, *carried_values.init()]
    flags = {slot.storage.name: slot.storage for slot in carried_values.slots}
    scratch = Scratch(2)
    try:
        with scratch.guarded():
            types = [value.type for value in init]
            head, block = scratch.block(types), scratch.block(types)
            with ir.InsertionPoint(block):
                carried_values.enter(list(block.arguments)[1:])
                count = block.arguments[0]
                body(count)
                yields = [(Int32(count) + Int32(stride)).ir_value(), *carried_values.leave(block, 1)]
            init += _add_late_arguments(block, carried_values)
            for value in init[len(types) :]:
                head.add_argument(value.type, value.location)
            with ir.InsertionPoint(head):
                carried_values.enter(list(head.arguments)[1 : len(types)])
                goes_on = Boolean(build("arith.cmpi", [head.arguments[0], last], Boolean.ir_type, _signed_less()))
                goes_on = goes_on & running(*(flags[name].read() for name in stop_flags))
            terminate(head, "scf.condition", [goes_on.ir_value(), *head.arguments])
            terminate(block, "scf.yield", yields)
            results = finish(scratch, "scf.while", init, [value.type for value in init], hints)
    except BaseException:
        carried_values.put_back()
        raise
    carried_values.results(results[1:])


def _signed_less() -> dict[str, ir.Attribute]:
    return {"predicate": int_attribute(2, 64)}
