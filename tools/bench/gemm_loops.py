#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forms of the GEMM's main loop beside each other: predicted time, in one run, on the same operands.

    FLYDSL_GPU_ARCH=gfx942 python tools/bench/gemm_loops.py                  # the tiles of defaults.json
    FLYDSL_GPU_ARCH=gfx950 python tools/bench/gemm_loops.py --tiles 64x256 --rows 2048 --step 256 --waves 1 2 2

"plan" is the form that `common/mma/tile_plan.py` works out, "form" the one that is asked for. A tile belongs into
`tiled_loops` of defaults.json when no ratio of it is above 1.02; with `given` for configurations that ask for its
waves, and with `loop` for further fields of `TiledLoop` (`--loop '{"parts": 2}'`). Times are
predicted (docs/emulator/prediction.md); nothing is measured on hardware, and only a sample of the workgroups runs, so
results are not checked here (the tests do).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import torch
from isa.code_object import images_in
from isa.statistics import of_image

import flydsl.compiler as flyc
from flydsl.emulator import predict
from flydsl.kernels.common.defaults import defaults
from flydsl.kernels.common.mma.tiled_loop import TiledLoop
from flydsl.kernels.common.shuffle import shuffle_weight
from flydsl.kernels.gemm import loop_forms
from flydsl.kernels.gemm.config import GemmConfig
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm
from flydsl.kernels.gemm.row_major_gemm import compile_gemm
from flydsl.runtime.device import get_rocm_arch

_TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "int8": torch.int8}


def operand(arch: str, dtype: str, rows: int, k: int) -> torch.Tensor:
    """Random elements; their values do not change the time."""
    if dtype == "int8":
        return torch.randint(-20, 20, (rows, k), dtype=torch.int8)
    fp8 = torch.float8_e4m3fnuz if arch == "gfx942" else torch.float8_e4m3fn
    return torch.randn(rows, k).to(_TYPES.get(dtype, fp8))


def predicted(
    form: Any, tile: tuple[int, int], dtype: str, arguments: tuple[Any, ...], given: Any = None
) -> tuple[Any, Any]:
    """(prediction, statistics of the code) with the main loop that `form` chooses; `given`: waves along M, N and K."""
    n, k = arguments[7], arguments[1].shape[1]
    loop_forms._tiled_form = form
    depth = 512 // arguments[1].element_size()
    launch = compile_preshuffle_gemm(N=n, K=k, tile_m=tile[0], tile_n=tile[1], tile_k=depth, in_dtype=dtype)
    if given:
        config = GemmConfig(*tile, depth, waves=(given[0], given[1]), k_waves=given[2])
        launch = compile_gemm(N=n, K=k, config=config, in_dtype=dtype, out_dtype="bf16", shuffled=True)
        c, a, b, scale_a, scale_b, bias, m, _ = arguments
        arguments = (c, a, b, scale_a, scale_b, bias, bias, torch.empty(0), m)
    with tempfile.TemporaryDirectory() as folder:
        compiled = flyc.compile.only(launch, *arguments).export(Path(folder) / "kernel.so")
        statistics = of_image(images_in(Path(compiled))[0])[0]
    with predict(sampled=True) as session:
        launch(*arguments)
    return session.last, statistics


def compare(
    arch: str, tile: tuple[int, int], form: Any, dtype: str, shape: tuple[int, int, int], given: Any = None
) -> float:
    """Print one line; the ratio of the times. `form`: bytes of K in a step, waves along M and N, and K, more fields."""
    m, n, k = shape
    scaled = dtype in ("fp8", "int8")
    scales = (torch.ones(m), torch.ones(n)) if scaled else (torch.empty(0), torch.empty(0))
    c, bias = torch.empty(m, n, dtype=torch.bfloat16), torch.empty(0, dtype=torch.bfloat16)
    b = shuffle_weight(operand(arch, dtype, n, k))
    arguments = (c, operand(arch, dtype, m, k), b, *scales, bias, m, n)
    plan, old = predicted(lambda gemm: None, tile, dtype, arguments, given)
    asked, new = predicted(lambda gemm: form, tile, dtype, arguments, given)
    ratio = asked.seconds / plan.seconds
    print(
        f"| {arch} | {dtype} | {tile[0]} x {tile[1]} | {m} | {plan.seconds * 1e6:.1f} | {asked.seconds * 1e6:.1f} "
        f"| {ratio:.3f} | {plan.busy['matrix']:.2f} | {asked.busy['matrix']:.2f} | {old.vgpr_total} "
        f"| {new.vgpr_total} | {new.spills} |",
        flush=True,
    )
    return ratio


def main() -> int:
    """Compare, and say which tiles are never slower."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--tiles", nargs="+", metavar="MxN", help="instead of those that defaults.json lists")
    parser.add_argument("--step", type=int, default=128, help="bytes of K in a step, for --tiles")
    parser.add_argument("--waves", nargs=3, type=int, default=[1, 4, 1], help="along M, N and K, for --tiles")
    parser.add_argument("--loop", type=json.loads, default={}, help="further fields of TiledLoop, JSON, for --tiles")
    parser.add_argument("--rows", nargs="+", type=int, default=[128, 512, 2048])
    parser.add_argument("--types", nargs="+", default=["bf16", "fp8", "int8"])
    parser.add_argument("--wide", type=int, default=4096, help="columns, and inner extent")
    options = parser.parse_args()
    arch = get_rocm_arch().split(":")[0]
    listed = defaults("tiled_loops", arch)
    if options.tiles:
        tiles = [[int(m), int(n)] for m, _, n in (one.partition("x") for one in options.tiles)]
        form = {"step_bytes": options.step, "waves": options.waves, "loop": options.loop}
        listed = [{"tile": one, **form} for one in tiles]
    heads = ("target", "type", "tile", "rows", "plan, us", "form, us", "ratio")
    heads = (*heads, "matrix busy", "form", "VGPR", "form", "spilled")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    worst = 0.0
    for one in listed:
        form = one["step_bytes"], (one["waves"][0], one["waves"][1]), one["waves"][2], one.get("loop", {})
        for dtype in options.types:
            if TiledLoop.exists(arch, dtype) and dtype in one.get("types", options.types):
                for rows in options.rows:
                    shape = (rows, options.wide, options.wide)
                    given = one["waves"] if one.get("given") else None
                    worst = max(worst, compare(arch, (one["tile"][0], one["tile"][1]), form, dtype, shape, given))
    print(f"worst ratio {worst:.2f}")
    return int(worst > 1.02)


if __name__ == "__main__":
    raise SystemExit(main())
