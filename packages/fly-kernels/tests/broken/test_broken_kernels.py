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


LOOP, TILE = "flydsl.kernels.common.mma.main_loop", "flydsl.kernels.gemm.tile_gemm"
READ_A = "return (at + m * 16 * loop.plan.chunks).load(fx.Int32x4)"
WRITE_A = "loop.lds[(stage + 1) % plan.buffers][loop.a_chunks[key]] = state.arriving[key]"
STORE_C = "flydsl.kernels.common.mma.mfma_epilogues: fx.rocdl.raw_ptr_buffer_store(result.bitcast(fx.Int32)"


def preshuffle_gemm() -> None:
    """Six stages of K, so that the loop and what follows it both run."""
    from flydsl.kernels.common.shuffle import shuffle_weight
    from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm

    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(rows, 768, generator=generator).bfloat16() for rows in (32, 64))
    c, none = torch.empty(32, 64, dtype=torch.bfloat16), torch.empty(0)
    build = {"N": 64, "K": 768, "tile_m": 32, "tile_n": 64, "tile_k": 128, "in_dtype": "bf16"}
    compile_preshuffle_gemm(**build)(c, a, shuffle_weight(b), none, none, none, 32, 64)


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
    Kernel(
        "preshuffle_gemm",
        preshuffle_gemm,
        (
            Break(LOOP, 'elif kind == "barrier":', 'elif kind == "no barrier":', "race", (READ_A, WRITE_A)),
            Break(LOOP, "loop.lds[0][loop.a_chunks[one]] = arrived[one]", "pass", "init", (READ_A,)),
            Break(LOOP, READ_A, READ_A.replace("m * 16", "(m + 64) * 16"), "memory"),
            Break(TILE, "first = first_row + part * M", "first = first_row + part * M + 1", "memory", (STORE_C,)),
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
