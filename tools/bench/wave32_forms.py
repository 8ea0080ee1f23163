#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forms of `gemm`'s main loop on waves of 32 lanes beside each other: share of the matrix unit, and predicted time.

    FLYDSL_GPU_ARCH=gfx1201 python tools/bench/wave32_forms.py --tile 64x64 --shape 256 1024 4096
    FLYDSL_GPU_ARCH=gfx1201 python tools/bench/wave32_forms.py --tile 64x64 --shape 256 1024 4096 --form "" 1 2 128

Without `--form` (what goes through LDS, waves along M and N, bytes of K in a step) all that the tile can have are
compared. What is chosen becomes a row of `wmma_loops` in `defaults.json`. Times are predicted
(docs/emulator/prediction.md), nothing is measured on hardware, and only a sample of the workgroups runs.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from pathlib import Path
from typing import Any

import torch
from isa.code_object import images_in
from isa.statistics import of_image

import flydsl.compiler as flyc
from flydsl.emulator import predict
from flydsl.kernels.gemm import wmma_gemm
from flydsl.kernels.gemm.config import GemmConfig
from flydsl.kernels.gemm.row_major_gemm import compile_gemm

_TYPES = {"bf16": torch.bfloat16, "int8": torch.int8, "int4": torch.int8, "fp8": torch.float8_e4m3fn}
_GRIDS = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 4))
Form = tuple[str, int, int, int]


def show(dtype: str, shape: tuple[int, int, int], tile: tuple[int, int], form: Form) -> None:
    """Print the line of a form; nothing where the tile cannot have it."""
    staged, along_m, along_n, step = form
    (m, n, k), kind = shape, _TYPES[dtype]
    held = k // 2 if dtype == "int4" else k
    row = {
        "tile": list(tile), "element_bytes": [kind.itemsize], "staged": staged, "waves": [along_m, along_n],
        "step_bytes": step,
    }  # fmt: skip
    wmma_gemm.defaults = lambda *_: [row]
    wmma_gemm._GRIDS = ()
    a, b = (torch.zeros(rows, held, dtype=torch.uint8 if kind.itemsize == 1 else kind).view(kind) for rows in (m, n))
    c, none = torch.empty(m, n, dtype=torch.bfloat16), torch.empty(0)
    scales = [torch.ones(rows) if kind.itemsize == 1 else none for rows in (m, n)]
    config = GemmConfig(*tile, 64 // kind.itemsize)
    try:
        launch = compile_gemm(
            N=n, K=held, config=config, in_dtype="int4x2" if dtype == "int4" else dtype, out_dtype="bf16"
        )
    except ValueError:
        return
    arguments: tuple[Any, ...] = (c, a, b, *scales, c[:0, 0], c[:0, 0], none, m)
    with tempfile.TemporaryDirectory() as folder:
        path = flyc.compile.only(launch, *arguments).export(Path(folder) / "kernel.so")
        found = of_image(images_in(Path(path))[0])
    best = max(found, key=lambda one: one.main_loop.matrix_cycles if one.main_loop else 0)
    assert best.main_loop is not None
    with predict(sampled=True) as session:
        launch(*arguments)
    share, seconds = best.main_loop.density, session.last.seconds
    print(
        f"| {staged or 'none'} | {along_m} x {along_n} | {step} | {share:.3f} | {seconds * 1e6:.1f} | {best.vgpr} "
        f"| {best.spills} |", flush=True,
    )  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--tile", required=True, metavar="MxN")
    parser.add_argument("--shape", required=True, nargs=3, type=int, metavar=("M", "N", "K"))
    parser.add_argument("--type", default="bf16", choices=_TYPES)
    parser.add_argument("--form", nargs=4, metavar=("LDS", "M", "N", "BYTES"))
    options = parser.parse_args()
    rows, _, columns = options.tile.partition("x")
    forms = [(staged, *grid, step) for staged, grid, step in itertools.product(("AB", ""), _GRIDS, (64, 128, 256))]
    if options.form:
        forms = [(options.form[0], *map(int, options.form[1:]))]
    print(f"| through LDS | waves | step | share | predicted, us | registers | spilled |\n|{'---|' * 7}")
    for form in forms:
        show(options.type, tuple(options.shape), (int(rows), int(columns)), form)


if __name__ == "__main__":
    main()
