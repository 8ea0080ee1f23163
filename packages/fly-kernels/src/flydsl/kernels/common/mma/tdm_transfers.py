# SPDX-License-Identifier: Apache-2.0
"""How the operands of a step come to LDS on gfx1250: boxes of the tensor data mover, and lines asked for into L2.

The operands are dealt out to the waves, so that a wave brings one of them, or a part of one, by a single descriptor a
step; it brings several only where there are fewer waves than operands. Which one it is, is chosen by scalars before the
loop. A descriptor goes along with the loop: from step to step two addresses change, in place, and no bound, for K ends
with a step. Written anew each time it would take five times as many scalar instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..black_box import black_box_in_loop
from ..language import fx
from ..utils import cdiv
from ..views import start_of

__all__ = ["Box", "Lines", "MovedOperand", "Transfers"]

_LINE_BYTES = 128  # of L2
_MOST_OFFSET = 2**31 - 1  # of a thread, beside a scalar address


@dataclass(frozen=True)
class Box:
    """What one transfer brings of an operand: `outer` pieces of `inner` units, one step of K.

    Attributes:
        outer, inner: extents, units of the innermost dimension.
        size: bytes of a unit.
        down: rows of the operand that an outer piece has.
        pad: units behind each piece in LDS.
        shape, stride: of the layout (rows, K) in LDS.
    """

    outer: int
    inner: int
    size: int
    down: int
    pad: int
    shape: tuple[Any, Any]
    stride: tuple[Any, Any]

    @property
    def units(self) -> int:
        """Of a step in LDS."""
        return self.outer * (self.inner + self.pad)

    @property
    def lds_bytes(self) -> int:
        """Of a step in LDS."""
        return self.units * self.size

    @property
    def step_bytes(self) -> int:
        """From a step to the next, in memory."""
        return self.inner * self.size

    def layout(self, buffers: int) -> fx.Layout:
        """(row, K, buffer) in LDS."""
        return fx.make_layout((*self.shape, buffers), (*self.stride, self.units))

    def shared_by(self, waves: int) -> bool:
        """Whether so many waves can bring equal parts of it."""
        warps, blocks = fx.rocdl.tdm_ops.compute_warp_distribution((self.outer, self.inner), waves)
        return all(
            count * one == all_ for count, one, all_ in zip(warps, blocks, (self.outer, self.inner), strict=True)
        )


@dataclass(frozen=True)
class MovedOperand:
    """An operand, or its scales, in memory: pieces (`Box`) one below the other, each contiguous.

    Attributes:
        pointer: its first unit.
        first_row: of the tile, in rows of the operand.
        rows: that there are, counted from the operand's first.
        apart: units from one piece to the next.
    """

    pointer: Any
    first_row: Any
    rows: Any
    apart: Any

    def start(self, element: Any, box: Box, first_step: fx.Numeric | int) -> fx.Pointer:
        """The first unit of a step, in the operand's first piece."""
        start: fx.Pointer = fx.recast_iter(element, start_of(self.pointer)) + fx.Int32(first_step) * box.inner
        return start


class Transfers:
    """A wave's transfers of a step; each `ask` is for the step behind the one before.

    Args:
        boxes, operands: what there is to bring.
        elements: the language's types of their units.
        starts: their first buffers in LDS; the others follow each other.
        masks: the workgroups that want the same, for each of them.
        buffers: of LDS.
        waves: of the workgroup, a power of two.
        specialized: one wave brings all of an operand, instead of several a part of it.
        first_step: of K.
    """

    def __init__(
        self,
        boxes: Sequence[Box],
        operands: Sequence[MovedOperand],
        elements: Sequence[Any],
        starts: Sequence[fx.Pointer],
        masks: Sequence[Any],
        *,
        buffers: int,
        waves: int,
        specialized: bool,
        first_step: fx.Numeric | int,
    ) -> None:
        together, wave = min(waves, len(boxes)), fx.rocdl.wave_id()
        mine, part, parts = wave % together, wave // together, waves // together
        self._buffers = buffers
        self._held: list[tuple[Any, Any, Any, Any, Any]] = []
        for first in range(0, len(boxes), together):
            groups = []
            for which in range(first, first + together):
                box, operand = boxes[which], operands[which]
                shared = not specialized and box.shared_by(parts)
                enabled = fx.Int32(1) if shared else (part == 0).select(fx.Int32(1), fx.Int32(0))
                descriptor = fx.rocdl.tdm_ops.make_tensor_descriptor_2d(
                    operand.start(elements[which], box, first_step), starts[which],
                    (operand.first_row // box.down, 0), (cdiv(operand.rows, box.down), box.inner), (operand.apart, 1),
                    (box.outer, box.inner), elem_bytes=box.size, pad_interval=box.inner if box.pad else 0,
                    pad_amount=box.pad, num_warps=parts if shared else 1, pred=enabled, workgroup_mask=masks[which],
                    wave=part,
                )  # fmt: skip
                groups.append([fx.Vector(descriptor.dgroup0), fx.Vector(descriptor.dgroup1)])
            words, rest = (
                fx.Vector.from_elements(
                    [_chosen(mine, [one[group][word] for one in groups]) for word in range(count)], fx.Int32
                )
                for group, count in ((0, 4), (1, 8))
            )
            moving = fx.make_rmem_tensor(4, fx.Int32)
            moving.store(words)
            dealt = boxes[first : first + together]
            onward = _chosen(mine, [fx.Int32(one.step_bytes) for one in dealt])
            up = _chosen(mine, [fx.Int32(one.lds_bytes) for one in dealt])
            back = _chosen(mine, [fx.Int32((1 - buffers) * one.lds_bytes) for one in dealt])
            self._held.append((moving, rest, fx.Int64(onward), up, back))

    @property
    def count(self) -> int:
        """Transfers of a wave in a step."""
        return len(self._held)

    def ask(self, buffer: int) -> None:
        """Ask for the next step, which goes to `buffer`."""
        mover = fx.rocdl.tdm_ops
        for moving, rest, onward, up, back in self._held:
            words = moving.load()
            mover.tensor_load_2d(mover.TDMDescriptor2D(words.ir_value(), rest.ir_value()))
            pair = fx.Vector.from_elements([words[2], words[3]], fx.Int32).bitcast(fx.Int64)
            address = fx.Vector.from_elements([pair[0] + onward], fx.Int64).bitcast(fx.Int32)
            place = words[1] + (up if buffer + 1 < self._buffers else back)
            moving.store(fx.Vector.from_elements([words[0], place, address[0], address[1]], fx.Int32))


class Lines:
    """The lines of operands that a thread asks for into L2; each `ask` is for the step behind the one before.

    Args:
        boxes, operands, elements: as of `Transfers`.
        thread, threads: this one's index in the workgroup, and how many there are.
        first_step: of K.
    """

    def __init__(
        self,
        boxes: Sequence[Box],
        operands: Sequence[MovedOperand],
        elements: Sequence[Any],
        *,
        thread: fx.Int32,
        threads: int,
        first_step: fx.Numeric | int,
    ) -> None:
        # A scalar that goes along with the loop, and what differs between threads beside it, which does not change: the
        # instruction adds them up.
        self._held: list[tuple[Any, int, list[Any]]] = []
        for box, operand, element in zip(boxes, operands, elements, strict=True):
            first_piece, pieces = operand.first_row // box.down, cdiv(operand.rows, box.down)
            of_piece, apart = cdiv(box.step_bytes, _LINE_BYTES), fx.Int64(operand.apart)
            start = operand.start(element, box, first_step) + fx.Int64(first_piece) * apart
            base = fx.make_rmem_tensor(1, fx.Int64)
            base.fill(fx.ptrtoint(start))
            offsets = []
            for first in range(0, of_piece * box.outer, threads):
                line = (thread + first) % (of_piece * box.outer)  # the last threads may ask again, which costs nothing
                piece = fx.max(fx.min(line // of_piece, pieces - 1 - first_piece), 0)
                place = fx.Int64(piece) * (apart * box.size) + line % of_piece * _LINE_BYTES
                # No offset is larger; a line that is farther away is not asked for, but one before it.
                offsets.append(fx.make_rmem_tensor(1, fx.Int32))
                offsets[-1].fill(fx.min(place, fx.Int64(_MOST_OFFSET)).to(fx.Int32))
            self._held.append((base, box.step_bytes, offsets))

    def ask(self) -> None:
        """Ask for the lines of the next step."""
        for held, onward, offsets in self._held:
            base = held.load()[0]
            for offset in offsets:
                # Widened before the loop the instruction would not take it.
                offset.fill(black_box_in_loop(offset.load()[0]))
                line = base + offset.load()[0].to(fx.Uint32).to(fx.Int64)
                fx.rocdl.tdm_ops.l2_prefetch_tile(line, (0, 0), (1, 1), (1, 1), 1, thread_id=0, block_threads=1)
            held.fill(base + onward)


def _chosen(number: Any, values: Sequence[Any]) -> Any:
    """values[number], of as many as `number` can be."""
    found = values[-1]
    for at in reversed(range(len(values) - 1)):
        found = (number == at).select(values[at], found)
    return found
