# SPDX-License-Identifier: Apache-2.0
"""`while` loops."""

from __future__ import annotations

from collections.abc import Callable
from types import CellType
from typing import Any

from flydsl._mlir import ir
from flydsl.expr.values.numeric import Boolean
from flydsl.trace.diagnostics import compile_error

from .branch import branch
from .logic import is_dynamic, running, stopped, truth
from .loop_carried import LoopCarriedValues
from .region import Scratch, finish, terminate
from .storage_locations import StorageLocation, find_storage_locations

__all__ = ["run_time_while", "while_"]


def while_(
    test: Callable[[], Any], body: Callable[[], Any], description: Any, stop_flags: tuple[str, ...], always: bool
) -> None:
    """`while test: body`.

    Args:
        test: computes the condition anew from the variables.
        body: one iteration.
        description: what both may write (`FunctionTransformer.description`).
        stop_flags: variables that end the loop when true.
        always: make a run-time loop even when the condition is a Python value.
    """
    storages = find_storage_locations(description, test, body)
    if always or not _python_loop(test, body, storages, stop_flags):
        run_time_while(test, body, storages, stop_flags)


def run_time_while(
    test: Callable[[], Any], body: Callable[[], Any], storages: list[StorageLocation], stop_flags: tuple[str, ...] = ()
) -> None:
    """Build a loop whose condition and body may write `storages`."""
    carried_values = LoopCarriedValues(storages, "while-body")
    init = carried_values.init()
    types = [value.type for value in init]
    scratch = Scratch(2)
    try:
        with scratch.guarded():
            head, block = scratch.block(types), scratch.block(types)
            with ir.InsertionPoint(head):
                carried_values.enter(list(head.arguments))
                flags = [storage.read() for storage in storages if storage.name in stop_flags]
                condition = _condition(test, flags, storages)
                forwarded = carried_values.leave(head, 0)
                if isinstance(condition, bool):
                    if condition and not stop_flags:
                        raise compile_error("this loop never ends: its condition is always true and nothing leaves it")
                    condition = Boolean(condition).ir_value()
            terminate(head, "scf.condition", [condition, *forwarded])
            with ir.InsertionPoint(block):
                carried_values.enter(list(block.arguments))
                body()
                yields = carried_values.leave(block, 0)
            late = carried_values.late_init()
            for value in late:
                block.add_argument(value.type, value.location)
                head.add_argument(value.type, value.location)
            if late:
                _forward_late(head, len(late))
            init += late
            terminate(block, "scf.yield", yields)
            results = finish(scratch, "scf.while", init, [value.type for value in init])
    except BaseException:
        carried_values.put_back()
        raise
    carried_values.results(results)


def _forward_late(head: ir.Block, count: int) -> None:
    """Let the condition pass the block arguments that were added after it was built."""
    old = list(head.operations)[-1]
    operands = [*old.operands, *list(head.arguments)[-count:]]
    where = old.location
    old.operation.erase()
    with ir.InsertionPoint(head):
        ir.Operation.create("scf.condition", operands=operands, loc=where)


def _condition(test: Callable[[], Any], flags: list[Any], storages: list[StorageLocation]) -> bool | ir.Value:
    """Return the condition; it is not computed any more once a flag has left the loop."""
    going_on = truth(running(*flags), "while")
    if not isinstance(going_on, ir.Value):
        return going_on and truth(test(), "while")
    cell = CellType(False)

    def compute() -> None:
        cell.cell_contents = truth(test(), "while")

    def write(value: Any) -> None:
        cell.cell_contents = value

    result = StorageLocation("the condition", (), lambda: cell.cell_contents, write)
    branch(going_on, compute, None, [*storages, result])
    found = cell.cell_contents
    return truth(found, "while")


def _python_loop(
    test: Callable[[], Any], body: Callable[[], Any], storages: list[StorageLocation], stop_flags: tuple[str, ...]
) -> bool:
    """Run the loop in Python as long as its condition is a Python value.

    Returns:
        Whether the loop ended; otherwise the condition turned out to be a run-time one, and nothing of this iteration
        has happened.
    """
    by_name = {storage.name: storage for storage in storages}
    while True:
        flags = [by_name[name].read() for name in stop_flags]
        if stopped(*flags):
            return True
        if any(map(is_dynamic, flags)):
            return False
        saved = [storage.snapshot() for storage in storages]
        condition = test()
        if is_dynamic(condition):
            for storage, node in zip(storages, saved, strict=True):
                storage.put_back(node)
            return False
        if not condition:
            return True
        body()
