# SPDX-License-Identifier: Apache-2.0
"""The loop-carried values: block arguments inside, results outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flydsl._mlir import ir

from .merge import matched, none_error, poison, unbind
from .storage_locations import StorageLocation, is_internal
from .tree import Leaf, Mismatch, Node, Static, is_same, leaves, match, rebuild

__all__ = ["LoopCarriedValues"]


@dataclass(eq=False, repr=False)
class _Slot:
    """A storage location that is bound before the loop."""

    storage: StorageLocation
    entry: Node
    inside: Node | None = None
    """Its state when the body begins, made from block arguments."""
    end: list[Leaf] = field(default_factory=list)
    """What the body leaves, in the order of the entry's leaves."""
    changed: bool = False
    """Some region left another value than it found. Otherwise the location keeps its value, a Python number for one."""


class LoopCarriedValues:
    """The loop-carried values of one loop, from those before it to those after it.

    The order of use: `init` (values for the operation), `enter` a block's arguments, trace, `leave` (what to yield),
    and after building the operation `results`.

    Args:
        storages: what the body may write.
        part: the construct, for messages: `for-body`, `while-body`.
        lenient: a variable whose type changes is a temporary of the body when the body does not read what it was before
            (loops with `init=`, which carry what they carry by name).
    """

    def __init__(self, storages: Sequence[StorageLocation], part: str, *, lenient: bool = False) -> None:
        self.part = part
        self.lenient = lenient
        self.slots: list[_Slot] = []
        self.new: list[StorageLocation] = []
        self.before = [(storage, storage.snapshot()) for storage in storages]
        for storage, entry in self.before:
            if entry is None:
                self.new.append(storage)
            else:
                self.slots.append(_Slot(storage, entry))
        self._late: list[tuple[StorageLocation, Node]] = []
        self._dropped: list[StorageLocation] = []

    def init(self) -> list[ir.Value]:
        """Return the values before the loop, emitting constants at the current insertion point."""
        return [value for slot in self.slots for leaf in leaves(slot.entry) for value in leaf.extract()]

    def enter(self, arguments: Sequence[ir.Value]) -> None:
        """Give the variables the values of block arguments."""
        rest = list(arguments)
        for slot in self.slots:
            slot.storage.write(rebuild(slot.entry, rest))
            slot.inside = slot.storage.snapshot()

    def put_back(self) -> None:
        """Return all variables to what they were before the loop."""
        for storage, entry in self.before:
            storage.put_back(entry)

    def leave(self, block: ir.Block, first_argument: int) -> list[ir.Value]:
        """Return what the body leaves in the variables, as values for the terminator of `block`.

        Args:
            block: the body; the insertion point is at its end.
            first_argument: index of the first carried block argument.

        Raises:
            TypeError: a variable does not keep its type, or was `None` before.
        """
        yields: list[ir.Value] = []
        none_names: list[str] = []
        position = first_argument
        for slot in self.slots:
            assert slot.inside is not None
            count = sum(len(leaf.types()) for leaf in leaves(slot.inside))
            arguments = [block.arguments[position + offset] for offset in range(count)]
            position += count
            now = slot.storage.snapshot()
            slot.changed = slot.changed or now is None or not is_same(slot.inside, now)
            if now is None:
                self._dropped.append(slot.storage)
                yields += arguments
                continue
            if isinstance(slot.entry, Static) and slot.entry.value is None and not is_same(slot.entry, now):
                if not self.lenient:
                    none_names.append(slot.storage.name)
                self._dropped.append(slot.storage)
                continue
            try:
                slot.end = match(slot.entry, now)
            except Mismatch:
                if self.lenient and not any(list(argument.uses) for argument in arguments):
                    self._dropped.append(slot.storage)
                    yields += arguments
                    continue
                line = slot.storage.lines[0] if slot.storage.lines else 0
                matched(slot.storage, slot.entry, now, self.part, line, "the region entry", 0)
            yields += [value for leaf in slot.end for value in leaf.extract()]
        if none_names:
            raise none_error(self.part, none_names)
        for storage in self.new:
            found = storage.snapshot()
            if found is not None and is_internal(storage) and any(True for _ in leaves(found)):
                self._late.append((storage, found))
                yields += [value for leaf in leaves(found) for value in leaf.extract()]
        return yields

    def late_init(self) -> list[ir.Value]:
        """Return initial values for variables of the rewriter that only the body binds; nothing reads them.

        The block needs one more argument for each: `leave` put their final values behind the others.
        """
        return poison([one for _, node in self._late for leaf in leaves(node) for one in leaf.types()])

    def results(self, values: Sequence[ir.Value]) -> None:
        """Give the variables their values after the loop; names that only the body binds have none."""
        self.put_back()
        rest = list(values)
        for slot in self.slots:
            value = rebuild(slot.entry, rest)
            if slot.changed and slot.storage not in self._dropped:
                slot.storage.write(value)
            else:
                slot.storage.put_back(slot.entry)
        for storage, node in self._late:
            storage.write(rebuild(node, rest))
        late = [storage for storage, _ in self._late]
        for storage in [*self._dropped, *(one for one in self.new if one not in late)]:
            unbind(storage, self._reason(storage))

    def _reason(self, storage: StorageLocation) -> str:
        if self.lenient:
            return (
                "it is assigned inside this loop, and a loop with init= gives back what `yield` names. Add it to init= "
                "and yield, or give it a value of the same type before the loop"
            )
        return "it gets its value only inside this run-time loop, which may not run at all. Give it one before the loop"
