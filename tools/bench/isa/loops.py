# SPDX-License-Identifier: Apache-2.0
"""Natural loops of a kernel, from its branches.

A loop is what belongs to a backward edge whose target dominates its source: all blocks that reach the source without
passing the target. Loops with one head are one loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .code_object import Instruction

_NO_FALL_THROUGH = ("s_branch", "s_endpgm", "s_setpc")


@dataclass(frozen=True)
class Loop:
    """Numbers of the instructions of a loop, in order, and whether no other loop is inside."""

    instructions: tuple[int, ...]
    innermost: bool


def find_loops(code: Sequence[Instruction]) -> list[Loop]:
    """The loops by the place of their heads."""
    starts = _block_starts(code)
    ends = [*starts[1:], len(code)]
    number = {start: block for block, start in enumerate(starts)}
    following: list[list[int]] = []
    for block, end in enumerate(ends):
        last = code[end - 1]
        next_blocks = [] if last.target is None else [number[last.target]]
        if not last.mnemonic.startswith(_NO_FALL_THROUGH) and block + 1 < len(starts):
            next_blocks.append(block + 1)
        following.append(next_blocks)
    dominators = _dominators(following)
    bodies: dict[int, set[int]] = {}
    for block, next_blocks in enumerate(following):
        for head in next_blocks:
            if block in dominators and head in dominators[block]:
                bodies.setdefault(head, {head}).update(_reaching(block, head, following))
    return [
        Loop(
            tuple(place for block in sorted(body) for place in range(starts[block], ends[block])),
            not any(other < body for other in bodies.values()),
        )
        for _, body in sorted(bodies.items())
    ]


def _block_starts(code: Sequence[Instruction]) -> list[int]:
    starts = {0}
    for place, one in enumerate(code):
        if one.target is not None:
            starts.add(one.target)
        if one.target is not None or one.mnemonic.startswith(("s_branch", "s_cbranch", "s_endpgm", "s_setpc")):
            starts.add(place + 1)
    return sorted(start for start in starts if start < len(code))


def _dominators(following: Sequence[Sequence[int]]) -> dict[int, set[int]]:
    """Block -> the blocks on every way to it, for blocks that can be reached."""
    order: list[int] = []
    waiting, seen = [0], {0}
    while waiting:
        block = waiting.pop()
        order.append(block)
        new = [one for one in following[block] if one not in seen]
        seen.update(new)
        waiting.extend(new)
    before = _predecessors(following)
    everything = set(order)
    found = {block: {0} if block == 0 else set(everything) for block in order}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            common = set.intersection(*(found[one] for one in before[block] if one in found)) | {block}
            if common != found[block]:
                found[block], changed = common, True
    return found


def _predecessors(following: Sequence[Sequence[int]]) -> list[list[int]]:
    before: list[list[int]] = [[] for _ in following]
    for block, next_blocks in enumerate(following):
        for one in next_blocks:
            before[one].append(block)
    return before


def _reaching(block: int, head: int, following: Sequence[Sequence[int]]) -> set[int]:
    """The blocks that reach `block` without passing `head`."""
    before = _predecessors(following)
    found, waiting = {head}, [block]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(before[one])
    return found
