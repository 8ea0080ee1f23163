# SPDX-License-Identifier: Apache-2.0
"""Software pipelines: a loop whose body works on several steps at once, loading some while it computes another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flydsl._mlir import ir
from flydsl.trace.build import build_op

from ..values.layout.host import is_tracing
from ..values.numeric.base import as_numeric
from ..values.numeric.types import Int32

__all__ = ["Pipeline", "PipelineStep"]


@dataclass(frozen=True)
class PipelineStep:
    """What the body of a `Pipeline` is given: the step that it finishes, and those that it begins.

    Attributes:
        pipeline: whose step it is.
        number: of the step, an int, or in the run-time loop an Int32. It is negative while the pipeline fills.
        phase: the number modulo `pipeline.unroll`.
        steady: all steps that the body may ask for are there.
    """

    pipeline: Pipeline
    number: Any
    phase: int
    steady: bool

    def has(self, ahead: int) -> bool:
        """Whether the step `ahead` of this one is one of the loop's; known while tracing.

        Raises:
            ValueError: `ahead` is negative, or farther than the pipeline reaches.
        """
        if not 0 <= ahead <= self.pipeline.ahead:
            raise ValueError(f"a body of a pipeline {self.pipeline.ahead} steps ahead asks for the step {ahead} ahead")
        return self.steady or 0 <= self.number + ahead < self.pipeline.steps

    def index(self, ahead: int = 0) -> Any:
        """The number of the step `ahead` of this one."""
        return self.number + ahead if ahead else self.number

    def buffer(self, ahead: int, buffers: int) -> int:
        """Which of `buffers` buffers, taken in turn, the step `ahead` of this one has; known while tracing.

        Raises:
            ValueError: the pipeline's `unroll` is no multiple of `buffers`, so that it is not known.
        """
        if self.pipeline.unroll % buffers:
            raise ValueError(f"{buffers} buffers in turn need a pipeline with unroll={buffers} or a multiple of it")
        return (self.phase + ahead) % buffers


@dataclass(frozen=True)
class Pipeline:
    """A loop over `steps` steps in which each turn finishes a step and begins others, up to `ahead` steps later.

    The body is written once. What it does for the step `n` ahead stands behind `if step.has(n)`: while the pipeline
    fills, the step itself is not there yet (`has(0)` is false), and at the end the later ones are not there any more.
    Between them lies one run-time loop, with `unroll` steps in its body; so with as many buffers every address of a
    buffer is known.

        def body(step):
            if step.has(1):
                fx.copy(load, source[None, None, step.index(1)], fragments[step.buffer(1, 2)])
            if step.has(0):
                fx.gemm(mma, sums, fragments[step.buffer(0, 2)], ...)

        fx.Pipeline(steps=k // TILE_K, ahead=1, unroll=2).run(body)

    What one step leaves to a later one lies in register tensors or in LDS; Python variables do not carry values from
    one turn of the loop to the next. Waits are the compiler's, but those for copies that go past the registers.

    Attributes:
        steps: how many.
        ahead: how many steps the farthest load is ahead of what is finished; 0 is a loop without overlap.
        unroll: steps in the body of the run-time loop.

    Raises:
        ValueError: a number that is no int, or out of its range.
    """

    steps: int
    ahead: int = 1
    unroll: int = 1

    def __post_init__(self) -> None:
        for name, least in (("steps", 1), ("ahead", 0), ("unroll", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"Pipeline: {name} is an int of {least} or more, got {value!r}")

    @property
    def looped(self) -> int:
        """Steps of the run-time loop: a multiple of `unroll`, of those that are followed by `ahead` others."""
        return max(0, self.steps - self.ahead) // self.unroll * self.unroll

    def run(self, body: Callable[[PipelineStep], None], looped: Any = None) -> None:
        """Trace the pipeline: the steps that fill it, the loop, and those that are left.

        Outside a trace the body is called for each step, those of the loop too.

        Args:
            body: called with each step.
            looped: `self.looped` as a run-time value. A loop whose length the compiler knows it may unroll.
        """
        looping = self.looped if is_tracing() else 0
        for number in range(-self.ahead, 0):
            body(PipelineStep(self, number, number % self.unroll, False))
        if looping:
            stop = looping if looped is None else looped
            start, stop, step = (as_numeric(one).to(Int32).ir_value() for one in (0, stop, self.unroll))
            loop = build_op("scf.for", [start, stop, step], regions=1)
            block = loop.regions[0].blocks.append(start.type)
            with ir.InsertionPoint(block):
                first = Int32(block.arguments[0])
                for phase in range(self.unroll):
                    body(PipelineStep(self, first + phase if phase else first, phase, True))
                build_op("scf.yield", ())
        for number in range(looping, self.steps):
            body(PipelineStep(self, number, number % self.unroll, False))
