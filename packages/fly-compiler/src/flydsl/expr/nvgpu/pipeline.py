# SPDX-License-Identifier: Apache-2.0
"""A ring of stages in shared memory between the copy engine and those who multiply."""

from __future__ import annotations

from typing import Any

from ..ops.select import select
from ..values.numeric.base import Numeric, as_numeric
from ..values.numeric.types import Int32, Uint32
from ..values.pointer import Pointer
from .mbarriers import Mbarriers, fence_mbarrier_init

__all__ = ["AsyncPipeline", "PipelineState"]


class PipelineState:
    """A place in the ring: the stage, and the parity of the phase of its barriers. Loops carry it.

    Attributes:
        stage: Int32, from 0 to `stages` - 1.
        parity: Int32, 0 or 1: how often the ring was gone round, modulo 2.
        stages: the length of the ring.
    """

    __slots__ = ("parity", "stage", "stages")

    def __init__(self, stages: int, stage: int | Numeric = 0, parity: int | Numeric = 0) -> None:
        self.stages = stages
        self.stage = as_numeric(stage).to(Int32)
        self.parity = as_numeric(parity).to(Int32)

    def next(self) -> PipelineState:
        """Return the next place."""
        up = self.stage + 1
        wraps = up == self.stages
        return PipelineState(self.stages, select(wraps, Int32(0), up), select(wraps, self.parity ^ 1, self.parity))

    def skip(self, count: int | Numeric) -> PipelineState:
        """Return the place `count` places on, 0 or more: those between are somebody else's.

        A parity tells a phase from its neighbours alone. So who comes to `AsyncPipeline.wait` here has to know that the
        place a ring before has been filled: from whom that is whose it was, by a barrier.
        """
        position = as_numeric(self.stage + count).to(Uint32)
        rounds = position // self.stages
        stage = (position - rounds * self.stages).to(Int32)
        return PipelineState(self.stages, stage, self.parity ^ (rounds & 1).to(Int32))

    @property
    def previous_stage(self) -> Numeric:
        """The stage before this one."""
        stage: Numeric = select(self.stage == 0, Int32(self.stages - 1), self.stage - 1)
        return stage

    def __extract_to_ir_values__(self) -> list[Any]:
        return [self.stage.ir_value(), self.parity.ir_value()]

    @classmethod
    def __construct_from_ir_values__(cls, values: Any, exemplar: PipelineState) -> PipelineState:
        return cls(exemplar.stages, Int32(values[0]), Int32(values[1]))


class AsyncPipeline:
    """Stages that copies fill and products empty: a full and an empty barrier for each.

    The producer, one thread, calls `acquire`, then starts copies that signal `full`; consumers call `wait`, read the
    stage, and `release` it. Each walks with a `PipelineState` of its own, from `start()`.

    Args:
        room: of `2 * stages` 8-byte elements in shared memory.
        stages: the length of the ring.
        transferred: bytes that the copies of one stage bring.
        releases: how many release a stage.
    """

    def __init__(self, room: Pointer, stages: int, transferred: int, releases: int) -> None:
        self.stages = stages
        self.transferred = transferred
        self.releases = releases
        self.full = Mbarriers(room, stages)
        self.empty = Mbarriers(room + stages, stages)

    def init(self) -> None:
        """Make the barriers; one thread, and a barrier of all behind it."""
        self.full.init(1)
        self.empty.init(self.releases)
        fence_mbarrier_init()

    def start(self) -> PipelineState:
        """Return the first place of the ring."""
        return PipelineState(self.stages)

    def acquire(self, state: PipelineState, transferred: int | Numeric | None = None) -> Pointer:
        """Wait until the stage is free, expect its bytes, and return the barrier that the copies signal.

        Args:
            state: the place in the ring.
            transferred: bytes that come this time, where not all of a stage is brought; by default `self.transferred`.
        """
        # The first time round the stages are free: of a new barrier the phase of parity 1 is over.
        self.empty.wait(state.stage, state.parity ^ 1)
        self.full.expect(state.stage, self.transferred if transferred is None else transferred)
        return self.full.at(state.stage)

    def wait(self, state: PipelineState) -> None:
        """Wait until the copies of the stage have come."""
        self.full.wait(state.stage, state.parity)

    def release(self, stage: int | Numeric) -> None:
        """Count one of `releases` of a stage."""
        self.empty.arrive(stage)

    def release_at(self, stage: int | Numeric, rank: int | Numeric) -> None:
        """Count one of `releases` of a stage of another workgroup of the cluster, whose copies came here too."""
        self.empty.arrive_at(stage, rank)
