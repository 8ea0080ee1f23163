# SPDX-License-Identifier: Apache-2.0
"""The order of instructions as a value: which classes interleave, and in what ratio."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .waits import check_class, sched_barrier, sched_group_barrier

__all__ = ["Schedule", "interleave"]


@dataclass(frozen=True)
class Schedule:
    """Groups of instructions in the order of issue, each a class (a name that `sched_barrier` takes) and a count.

    `first + second` is one after the other, `schedule * 3` three times the same. Nothing happens until `apply`. Waits
    are no part of it: the compiler works them out from what is outstanding.

        fx.rocdl.interleave(mfma=32, ds_read=4, vmem_read=6).apply()

    Raises:
        ValueError: an unknown class, or a count below one.
    """

    groups: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        for name, count in self.groups:
            check_class(name)
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise ValueError(f"a schedule takes 1 or more instructions of class {name!r}, got {count!r}")

    def __add__(self, other: Schedule) -> Schedule:
        return Schedule(self.groups + other.groups)

    def __mul__(self, times: int) -> Schedule:
        return Schedule(self.groups * times)

    def count(self, name: str) -> int:
        """Instructions of a class."""
        return sum(count for one, count in self.groups if one == name)

    def apply(self, group_id: int = 0, *, fence: bool = True) -> None:
        """Ask for this order of the instructions before this point, back to the last fence or the block's begin.

        What the block lacks is left out, and what the schedule lacks goes where the compiler likes; so a count that is
        wrong costs speed, never correctness.

        Args:
            group_id: schedules with different numbers are independent of each other.
            fence: no instruction moves across this point, so that the next schedule starts from here.
        """
        for name, count in self.groups:
            sched_group_barrier(name, count, group_id)
        if fence:
            sched_barrier(0)


def interleave(**counts: int) -> Schedule:
    """Spread instructions evenly among those of the first class.

    `interleave(mfma=32, ds_read=4, vmem_read=4)`: four LDS reads and then four loads, each followed by four matrix
    instructions. Classes follow in the order of the arguments; those with none are left out. With more of the others
    than of the first class several of them go together.

    Raises:
        ValueError: an unknown class, a negative count, or none of the first class.
    """
    for name, count in counts.items():
        check_class(name)
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ValueError(f"interleave takes a number of instructions of class {name!r}, got {count!r}")
    if not counts or not next(iter(counts.values())):
        raise ValueError("interleave spreads instructions among those of its first argument, of which there are none")
    return Schedule(tuple(_merged(_spread(counts))))


def _spread(counts: dict[str, int]) -> Iterator[tuple[str, int]]:
    (main, total), *others = counts.items()
    queue = [name for name, count in others for _ in range(count)]
    done = 0
    for index, name in enumerate(queue):
        yield name, 1
        due = (index + 1) * total // len(queue)
        if due > done:
            yield main, due - done
            done = due
    if not queue:
        yield main, total


def _merged(groups: Iterator[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Neighbours of one class as one group."""
    last, total = "", 0
    for name, count in groups:
        if name != last and total:
            yield last, total
            total = 0
        last, total = name, total + count
    if total:
        yield last, total
