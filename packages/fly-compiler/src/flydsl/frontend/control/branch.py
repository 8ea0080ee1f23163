# SPDX-License-Identifier: Apache-2.0
"""`if` statements and conditional expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flydsl._mlir import ir

from .logic import truth
from .merge import matched, none_error, poison, unbind
from .region import Scratch, finish, terminate
from .storage_locations import StorageLocation, find_storage_locations, is_internal
from .tree import Leaf, Node, Static, capture, is_same, leaves, match, rebuild

__all__ = ["branch", "if_", "select"]

_Region = Callable[[], Any]


def if_(test: Any, then: _Region, otherwise: _Region | None, description: Any) -> None:
    """`if test: then else: otherwise`; the regions assign variables of the function around them."""
    condition = truth(test, "if")
    if condition is True:
        then()
    elif condition is False:
        if otherwise is not None:
            otherwise()
    else:
        regions = [then] if otherwise is None else [then, otherwise]
        branch(condition, then, otherwise, find_storage_locations(description, *regions))


def branch(condition: ir.Value, then: _Region, otherwise: _Region | None, storages: Sequence[StorageLocation]) -> None:
    """Build a conditional whose regions may write `storages`."""
    before = [storage.snapshot() for storage in storages]
    scratch = Scratch(2)
    with scratch.guarded():
        after: list[list[Node | None]] = []
        for region in (then, otherwise):
            with ir.InsertionPoint(scratch.block()):
                if region is not None:
                    region()
                after.append([storage.snapshot() for storage in storages])
            for storage, node in zip(storages, before, strict=True):
                storage.put_back(node)
        merged, unbound = _merge(storages, before, after[0], after[1])
        yields: list[list[ir.Value]] = []
        for side, block in enumerate(scratch.blocks):
            with ir.InsertionPoint(block):
                yields.append([value for one in merged for value in one.values(side)])
            terminate(block, "scf.yield", yields[-1])
        results = finish(scratch, "scf.if", [condition], [value.type for value in yields[0]])
    for one in merged:
        one.storage.write(rebuild(one.reference, results))
    for storage, reason in unbound:
        unbind(storage, reason)


class _Merged:
    """A variable that both branches leave with one type."""

    def __init__(
        self, storage: StorageLocation, reference: Node, sides: tuple[list[Leaf] | None, list[Leaf] | None]
    ) -> None:
        self.storage = storage
        self.reference = reference
        self.sides = sides

    def values(self, side: int) -> list[ir.Value]:
        """Return what a branch leaves; a side that does not bind the variable leaves something nobody reads."""
        found = self.sides[side]
        if found is None:
            return poison([one for leaf in leaves(self.reference) for one in leaf.types()])
        return [value for leaf in found for value in leaf.extract()]


def _merge(
    storages: Sequence[StorageLocation], before: list[Node | None], then: list[Node | None], other: list[Node | None]
) -> tuple[list[_Merged], list[tuple[StorageLocation, str]]]:
    merged: list[_Merged] = []
    unbound: list[tuple[StorageLocation, str]] = []
    none_names: list[str] = []
    for storage, entry, left, right in zip(storages, before, then, other, strict=True):
        if _unchanged(entry, left) and _unchanged(entry, right):
            continue
        then_line, else_line = (*storage.lines, 0, 0)[:2]
        if left is None or right is None:
            present = left if left is not None else right
            if present is None:
                unbound.append((storage, "it was deleted in both branches of this run-time `if`"))
            elif is_internal(storage) and entry is None:
                sides = (None if left is None else list(leaves(left)), None if right is None else list(leaves(right)))
                merged.append(_Merged(storage, present, sides))
            else:
                which, line = ("then", then_line) if right is None else ("else", else_line)
                unbound.append((storage, _one_sided(which, line)))
        elif entry is not None:
            if isinstance(entry, Static) and entry.value is None:
                none_names.append(storage.name)
                continue
            both = (
                matched(storage, entry, left, "then-branch", then_line, "the region entry", 0),
                matched(storage, entry, right, "else-branch", else_line, "the region entry", 0),
            )
            merged.append(_Merged(storage, entry, both))
        else:
            found = matched(storage, left, right, "else-branch", else_line, "the then-branch", then_line)
            merged.append(_Merged(storage, left, (match(left, left), found)))
    if none_names:
        raise none_error("if", none_names)
    return merged, unbound


def _unchanged(entry: Node | None, now: Node | None) -> bool:
    return entry is now if entry is None or now is None else is_same(entry, now)


def _one_sided(which: str, line: int) -> str:
    at = f" (line {line})" if line else ""
    return (
        f"only the {which} branch{at} of this run-time `if` gives it a value. Give it one in the other branch too, or "
        "before the `if`"
    )


def select(test: Any, then: _Region, otherwise: _Region) -> Any:
    """`then if test else otherwise`."""
    condition = truth(test, "a conditional expression")
    if condition is True:
        return then()
    if condition is False:
        return otherwise()
    scratch = Scratch(2)
    with scratch.guarded():
        nodes: list[Node] = []
        for arm in (then, otherwise):
            with ir.InsertionPoint(scratch.block()):
                nodes.append(capture(arm()))
        storage = StorageLocation("the value", (), lambda: None, lambda _: None)
        sides = (
            match(nodes[0], nodes[0]),
            matched(storage, nodes[0], nodes[1], "conditional expression", 0, "the arm before `if`", 0),
        )
        merged = _Merged(storage, nodes[0], sides)
        yields: list[list[ir.Value]] = []
        for side, block in enumerate(scratch.blocks):
            with ir.InsertionPoint(block):
                yields.append(merged.values(side))
            terminate(block, "scf.yield", yields[-1])
        results = finish(scratch, "scf.if", [condition], [value.type for value in yields[0]])
    return rebuild(nodes[0], results)
