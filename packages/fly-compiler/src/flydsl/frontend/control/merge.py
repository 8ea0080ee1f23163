# SPDX-License-Identifier: Apache-2.0
"""What a variable is after run-time control flow, and the messages when it cannot be anything."""

from __future__ import annotations

from collections.abc import Sequence

from flydsl._mlir import ir
from flydsl.trace.build import build
from flydsl.trace.diagnostics import note_unbound, user_location, where_text

from .storage_locations import StorageLocation
from .tree import Leaf, Mismatch, Node, Static, Whole, match

__all__ = ["matched", "none_error", "poison", "unbind"]


def matched(
    storage: StorageLocation, reference: Node, node: Node, part: str, line: int, against: str, other_line: int
) -> list[Leaf]:
    """Return the leaves of `node`, which must fit `reference`.

    Args:
        storage: the variable.
        reference: what fixes structure and types.
        node: what a region left in the variable.
        part: the region, for messages: `then-branch`, `for-body` …
        line: where that region last binds the variable.
        against: what the reference is: `the region entry`, `the then-branch`.
        other_line: where the reference was bound, 0 when unknown.

    Raises:
        TypeError: structure or type differ; the message names variable, both types and lines.
    """
    try:
        return match(reference, node)
    except Mismatch as difference:
        name = _readable(storage.name) + difference.path
        if isinstance(difference.reference, Whole):
            raise TypeError(_changed(part, name, difference.reference, line)) from None
        expected, produced = difference.expected, difference.produced
        text = f"{part}: carried variable '{name}' does not match {against}: "
        text += f"expected dtype {expected}{_at(other_line)}, produced {produced}{_at(line)}"
        text += _advice(reference, node, expected) + where_text()
        raise TypeError(text) from None


def _changed(part: str, name: str, whole: Whole, line: int) -> str:
    kind = type(whole.value).__name__
    return (
        f"{part}: the {kind} '{name}' of Python is changed{_at(line)} in code that is decided at run time. Python does "
        "that while tracing, whichever way the kernel goes. Keep what the kernel changes in a variable, in a list or "
        "dict that keeps its keys, or in registers, fx.make_rmem_tensor(n, dtype); use const_expr for a decision that "
        "Python makes" + where_text()
    )


def _readable(name: str) -> str:
    return "return value" if name == "__fly_return_value__" else name


def _at(line: int) -> str:
    return f" (line {line})" if line else ""


def _advice(reference: Node, node: Node, expected: str) -> str:
    if isinstance(reference, Leaf) and isinstance(node, Leaf) and "(" not in expected:
        return f". Convert it: `fx.{expected}(...)` or `.to(fx.{expected})`"
    if isinstance(reference, Static) or isinstance(node, Static):
        return ". Both have to be run-time values of one type; use const_expr for a decision that Python makes"
    return ""


def none_error(part: str, names: Sequence[str]) -> TypeError:
    """Return the error for variables that are `None` before a region that assigns them."""
    listed = ", ".join(f"'{name}'" for name in names)
    return TypeError(
        f"{part}: variable {listed} is None before code that is decided at run time and assigned in it. Initialise it "
        "with a typed value, for example fx.Float32(0.0), or decide with const_expr" + where_text()
    )


def unbind(storage: StorageLocation, reason: str) -> None:
    """Remove a variable that has no value on every path, and remember why for the NameError that a read causes."""
    from .storage_locations import UNBOUND

    storage.write(UNBOUND)
    note_unbound(storage.name, reason, user_location())


def poison(types: Sequence[ir.Type]) -> list[ir.Value]:
    """Return values of the given types that nothing reads."""
    return [build("ub.poison", [], one, {"value": ir.Attribute.parse("#ub.poison")}) for one in types]
