# SPDX-License-Identifier: Apache-2.0
"""One test of one opcode: its assembly, its operands, and its definition in numpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .kinds import KINDS, Array, Kind, Words

LANES = 64
ARCHITECTURES = ("gfx942", "gfx950")


@dataclass
class Context:
    """What a definition may need besides its operands. Arrays have one element a lane of all blocks."""

    arch: str
    blocks: int
    exec: npt.NDArray[np.bool_]
    lane: npt.NDArray[np.int64]
    old: list[Array]  # the results' registers before, in words of shape (rows, n)
    memory: npt.NDArray[np.uint8]  # (blocks, bytes), to be updated in place
    base: npt.NDArray[np.uint64]  # (blocks,): where each block's memory lies

    @property
    def ocp(self) -> bool:
        """fp8 in the OCP encodings?"""
        return self.arch != "gfx942"


@dataclass(frozen=True)
class Operand:
    """A kind, in vector registers (one value a lane), scalar ones (one a block), or accumulation registers."""

    kind: Kind
    bank: str = "v"  # v, a, s
    low: int | None = None  # bounds of the values, for operands such as shifts and addresses
    high: int | None = None

    @staticmethod
    def parse(text: str) -> Operand:
        """ "f32", "s:u64", "a:b128", "u32<64" (values below 64)."""
        bank, _, rest = text.rpartition(":")
        name, _, bound = rest.partition("<")
        return Operand(KINDS[name], bank or "v", 0 if bound else None, int(bound) if bound else None)


@dataclass(frozen=True)
class Case:
    """An instruction (or a few around it) with a definition.

    `code` names operands {a}, {b}, ... (inputs) and {d}, {e}, ... (results). A definition takes the context and the
    decoded inputs and gives the decoded results (one array or a tuple). Results in vector registers keep their old
    value in inactive lanes, unless `whole`.
    """

    opcode: str
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    define: Callable[..., Any]
    code: str
    label: str = ""
    archs: tuple[str, ...] = ARCHITECTURES
    keep_high: bool = False  # a 16-bit result leaves the upper half as it was
    whole: bool = False
    memory: int = 0  # bytes of memory that a block has, at s[16:17]
    space: str = "global"  # or "lds", "scratch": where the instruction sees that memory
    every_lane: bool = False  # run with all lanes active
    ulp: float = 0.0  # floating-point results: the error that the architecture states
    also: tuple[str, ...] = ()  # further opcodes that this case tests
    before: tuple[Callable[[Context, list[Words]], list[Words]], ...] = ()
    after: tuple[Callable[[Context, list[Words], list[Words]], list[Words]], ...] = field(default=())

    @property
    def name(self) -> str:
        return f"{self.opcode} {self.label}".strip()

    def but(self, **changes: Any) -> Case:
        """The same with changes."""
        return replace(self, **changes)


INPUT_NAMES, OUTPUT_NAMES = "abcghijk", "def"


def case(
    opcode: str,
    inputs: str,
    outputs: str,
    define: Callable[..., Any],
    code: str | None = None,
    *,
    context: bool = False,
    **options: Any,
) -> Case:
    """A case; without `code`, all operands in order. `context`: the definition takes the context first."""
    ins = tuple(Operand.parse(text) for text in inputs.split())
    outs = tuple(Operand.parse(text) for text in outputs.split())
    if code is None:
        names = [*OUTPUT_NAMES[: len(outs)], *INPUT_NAMES[: len(ins)]]
        code = "{op} " + ", ".join(f"{{{name}}}" for name in names)

    def with_context(_: Context, *values: Any) -> Any:
        return define(*values)

    text = code.replace("{op}", opcode)
    return Case(opcode, ins, outs, define if context else with_context, text, **options)
