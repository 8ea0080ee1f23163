# SPDX-License-Identifier: Apache-2.0
"""Kernels broken on purpose: the sanitizers say so, at the right line.

One row of `KERNELS` for each kernel: how to launch it (the import is inside, so that it gets the broken module), and
the ways to break it: a part of one line of its source, what takes its place, the sanitizer that has to speak, and
lines that it may name instead of the broken one (see `flydsl.emulator.mutation.Break`). Besides, every s_barrier and
s_waitcnt of the compiled kernel is left out in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

mutation = pytest.importorskip("flydsl.emulator.mutation", reason="the emulator is needed")
Break = mutation.Break

ROWS, REDUCE = "flydsl.kernels.common.rows", "flydsl.kernels.common.reduce"

# Where rows are read and written: what an index that is off by one, or a value that was never loaded, runs into.
MOVES = (
    "flydsl.kernels.common.rows: fx.copy_atom_call(self._atom(step), self._part(step), fragment)",
    "flydsl.kernels.common.rows: fx.copy_atom_call(self._atom(step), fragment, self._part(step))",
)


@dataclass(frozen=True)
class Kernel:
    """A kernel, and the ways to break it."""

    name: str
    launch: Callable[[], Any]
    breaks: tuple[Any, ...]
    barriers: bool = True  # does leaving a barrier out show? (kernels of one wave have none)


def softmax() -> None:
    """Rows that a workgroup of several waves holds in registers."""
    from flydsl.kernels.softmax_kernel import build_softmax_module

    x = torch.randn(3, 16384, generator=torch.Generator().manual_seed(0))
    build_softmax_module(16384, "f32")(x, torch.empty_like(x), 3)


KERNELS = [
    Kernel(
        "softmax",
        softmax,
        (
            Break(REDUCE, "    fx.barrier()", "    pass", "race", ("result = slot[0]", "slot[wave] = value")),
            Break(REDUCE, "    if lane == 0:", "    if (lane == 0) & (wave != 1):", "init", ("result = slot[0]",)),
            Break(
                ROWS, "group = self._at.lane + step.first", "group = self._at.lane + step.first + 1", "memory", MOVES
            ),
        ),
    ),
]


@pytest.mark.parametrize(
    ("kernel", "one"),
    [pytest.param(kernel, one, id=f"{kernel.name}-{one}") for kernel in KERNELS for one in kernel.breaks],
)
def test_broken_source(kernel: Kernel, one: Any, tmp_path: Path) -> None:
    mutation.check_break(one, kernel.launch, tmp_path)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_dropped_waits_and_barriers(kernel: Kernel, tmp_path: Path) -> None:
    from flydsl.emulator import SavedLaunch, save_launches

    with save_launches(tmp_path):
        kernel.launch()
    for path in sorted(tmp_path.glob("*.flylaunch")):
        saved = SavedLaunch.load(path)
        for mnemonic, sanitizer in (("s_waitcnt", "wait"), ("s_barrier", "race")):
            dropped = mutation.drop_each(saved, mnemonic)
            caught = [one for one in dropped if any(report.sanitizer == sanitizer for report in one.reports)]
            if mnemonic == "s_waitcnt" or (kernel.barriers and dropped):
                assert caught, f"{saved.kernel}: none of {len(dropped)} missing {mnemonic} was noticed"
            for one in caught:
                for report in one.reports:
                    # LLVM gives a few scalar instructions no line; the other instruction then has one.
                    assert report.source or report.other_source, f"dropped {one.text}: no line in\n{report}"
