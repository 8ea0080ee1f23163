# SPDX-License-Identifier: Apache-2.0
"""Sums of rows, with the threads per row and the elements per load chosen by the autotuner.

Run it:  ARCH=gfx950 python 01_autotuned_sum.py

One wave or several sum one row. Long rows keep many threads busy; for short ones most of them would idle, and the waves
would wait for each other for nothing. So the choice depends on the length of the rows, which is the tuner's key.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

# The line that each example prints is written once, beside the language's own examples.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "fly-compiler" / "examples"))
from _harness import main, report

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.autotune import Config, autotune

CONFIGS = [Config(threads=threads, width=width) for threads in (64, 256) for width in (1, 4)]


def those_that_fit(configs: list[Config], arguments: dict[str, Any]) -> list[Config]:
    """Loads of `width` elements need rows that are a multiple of it."""
    return [one for one in configs if arguments["columns"] % one.kwargs["width"] == 0]


@flyc.kernel
def row_sum_kernel(
    x: fx.Tensor, sums: fx.Tensor, columns: fx.Constexpr[int], threads: fx.Constexpr[int], width: fx.Constexpr[int]
):
    row, thread = fx.block_idx.x, fx.thread_idx.x
    elements = fx.slice(x, (row, None))
    pieces = fx.logical_divide(elements, fx.make_layout(width, 1))
    atom = fx.make_copy_atom(fx.UniversalCopy(32 * width), fx.Float32)
    register = fx.make_rmem_tensor(width, fx.Float32)
    total = fx.Float32(0.0)
    for first in range(0, columns // width, threads):
        if first + thread < columns // width:
            fx.copy_atom_call(atom, fx.slice(pieces, (None, first + thread)), register)
            total = total + fx.memref_load_vec(register).reduce(fx.ReductionOp.ADD)
    reduce = fx.coop.BlockReduce[fx.Float32, threads]
    total = reduce(total, fx.ReductionOp.ADD, storage=fx.SharedAllocator().allocate(reduce.SharedStorage))
    if thread == 0:
        sums[row] = total


@autotune(CONFIGS, key=["columns"], prune_configs_by=those_that_fit)
@flyc.jit
def row_sums(
    x: fx.Tensor,
    sums: fx.Tensor,
    rows: fx.Int32,
    columns: fx.Constexpr[int],
    threads: fx.Constexpr[int],
    width: fx.Constexpr[int],
):
    """sums[i] = Σ x[i, :]."""
    row_sum_kernel(x, sums, columns, threads, width).launch(grid=(rows,), block=(threads,))


CASES = [(5, 64), (3, 1000), (2, 16384), (4, 8191)]


def run_case(case: tuple[int, int]) -> dict[str, Any]:
    """Tune for one length of rows, and compare with torch in float64. What was chosen is shown, and not kept."""
    rows, columns = case
    x = torch.randn(rows, columns, generator=torch.Generator().manual_seed(columns))
    sums = torch.full((rows,), float("nan"))
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.environ["FLYDSL_AUTOTUNE_CACHE_DIR"] = folder
        row_sums(x, sums, rows, columns)
        chosen = row_sums.resolve_config(x, sums, rows, columns).kwargs
    # The partial sums of the threads are short; what is left is about one rounding of a sum of magnitudes.
    tolerance = 2.0**-24 * x.double().abs().sum(1).max().item()
    name = f"row sum, {chosen['threads']} threads x {chosen['width']}"
    return report(name, f"{rows}x{columns}", sums, x.double().sum(1), tolerance)


if __name__ == "__main__":
    main(CASES, run_case)
