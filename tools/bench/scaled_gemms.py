#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GEMMs with scales of parts of K beside the fp8 GEMM with a scale for each row: predicted time, in one run.

    FLYDSL_GPU_ARCH=gfx950 python tools/bench/scaled_gemms.py --shape 2048 4096 4096
    FLYDSL_GPU_ARCH=gfx942 python tools/bench/scaled_gemms.py --shape 16 4096 7168 --tile 16 64

Operands are zeros, scales 1. Times are predicted (docs/emulator/prediction.md) from a sample of the workgroups; nothing
is measured on hardware, and results are not checked here (the tests do).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import torch
from isa.code_object import images_in
from isa.statistics import of_image

import flydsl.compiler as flyc
from flydsl.emulator import predict
from flydsl.kernels.preshuffle_gemm import compile_preshuffle_gemm_a8
from flydsl.runtime.device import get_rocm_arch


def launcher(kind: str, arch: str, shape: tuple[int, int, int], tile: tuple[int, int]) -> tuple[Any, tuple[Any, ...]]:
    """The launcher of a kind of scales, and its arguments."""
    m, n, k = shape
    fp8 = torch.float8_e4m3fnuz if arch == "gfx942" else torch.float8_e4m3fn
    options: dict[str, Any] = {"in_dtype": kind, "tile_k": 256}
    a, b = torch.zeros(m, k, dtype=torch.uint8), torch.zeros(n, k // 2, dtype=torch.uint8)
    up = -(-k // 256) * 8
    scales = [torch.full((-(-rows // 32) * 32, up), 127, dtype=torch.uint8) for rows in (m, n)]
    if kind in ("rows", "blockscale"):
        a, b = a.view(fp8), torch.zeros(n, k, dtype=fp8)
        options = {"in_dtype": "fp8", "scale_mode": "epilogue" if kind == "rows" else kind, "tile_k": 256}
        scales = [torch.ones(m), torch.ones(n)]
        if kind == "blockscale":
            scales = [torch.ones(k // 128 * m), torch.ones(-(-n // 128) * (k // 128))]
    elif kind == "fp4":
        a = torch.zeros(m, k // 2, dtype=torch.uint8)
    launch = compile_preshuffle_gemm_a8(M=m, N=n, K=k, tile_m=tile[0], tile_n=tile[1], out_dtype="bf16", **options)
    return launch, (torch.empty(m, n, dtype=torch.bfloat16), a, b, *scales, m, n)


def main() -> None:
    """Print a line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", type=int, nargs=3, default=(2048, 4096, 4096), metavar=("M", "N", "K"))
    parser.add_argument("--tile", type=int, nargs=2, default=(128, 128), metavar=("M", "N"))
    arguments = parser.parse_args()
    arch = get_rocm_arch().split(":")[0]
    first = None
    for kind in ("rows", "blockscale", "fp4", "fp6", "a8w4")[: 5 if arch == "gfx950" else 2]:
        launch, given = launcher(kind, arch, tuple(arguments.shape), tuple(arguments.tile))
        with tempfile.TemporaryDirectory() as folder:
            artifact = flyc.compile.only(launch, *given).export(Path(folder) / "kernel.so")
            statistics = of_image(images_in(Path(artifact))[0])[0]
        with predict(sampled=True) as session:
            launch(*given)
        time = session.last.seconds * 1e6
        first = time if first is None else first
        print(
            f"{arch} {kind:10} {time:8.1f} us predicted, {time / first:.2f} of rows; matrix unit "
            f"{session.last.busy['matrix']:.2f} busy; {statistics.vgpr_total} registers, {statistics.spills} spilled",
            flush=True,
        )


if __name__ == "__main__":
    main()
