#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The steps of docs/kernels/how-the-gemm-is-made.md, one after the other: emulated counters and predicted time.

    FLYDSL_GPU_ARCH=gfx942 python tools/bench/gemm_steps.py            # a table in Markdown
    FLYDSL_GPU_ARCH=gfx950 python tools/bench/gemm_steps.py --size 2048

Each row is one program of packages/fly-kernels/examples on matrices of the same size; the last row is the library's
kernel. Counters are exact, of a launch of one workgroup; times are predicted (docs/emulator/prediction.md).
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import flydsl.compiler as flyc
from flydsl.emulator import predict
from flydsl.emulator.device import Emulator
from flydsl.kernels.common.shuffle import shuffle_weight
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm
from flydsl.runtime.device import get_rocm_arch

EXAMPLES = Path(__file__).resolve().parents[2] / "packages" / "fly-kernels" / "examples"


def programs() -> list[tuple[str, Any]]:
    """(file name, module) of each step."""
    sys.path.insert(0, str(EXAMPLES))
    found = []
    for path in sorted(EXAMPLES.glob("1[0-9]_gemm_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found.append((path.name, module))
    return found


def row(name: str, count: Callable[[], Any], time: Callable[[], Any]) -> None:
    """Print what one program takes: `count` launches one workgroup, `time` all of them."""
    emulator = Emulator()
    emulator.set_profiling(True)
    count()
    total = emulator.profile()["total"]
    emulator.set_profiling(False)
    with predict(sampled=True) as session:
        time()
    told = session.last
    print(
        f"| {name} | {total['bytes_loaded'] // 1024} | {total['lds_conflict_cycles']} | {told.busy['matrix']:.2f} "
        f"| {told.seconds * 1e6:.1f} |",
        flush=True,
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--size", type=int, default=2048, help="M, N and K")
    options = parser.parse_args()
    size = options.size
    print(f"{get_rocm_arch()}, f16, M = N = K = {size}\n")
    heads = ("program", "KiB loaded by a workgroup", "LDS conflict cycles of it", "matrix busy", "predicted us")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    a, b = torch.randn(size, size).half(), torch.randn(size, size).half()
    for name, module in programs():
        kind = torch.float16 if "epilogue" in name else torch.float32

        def launch(rows: int, columns: int, kind: Any = kind, gemm: Any = module.gemm) -> None:
            c = torch.empty(rows, columns, dtype=kind)
            gemm(*(flyc.from_dlpack(one, assumed_align=16) for one in (a[:rows], b[:columns], c)))

        row(name, lambda launch=launch: launch(128, 128), lambda launch=launch: launch(size, size))
    shuffled, none = shuffle_weight(b), torch.empty(0)

    def library(rows: int, columns: int) -> None:
        kernel = compile_preshuffle_gemm(
            N=columns, K=size, tile_m=128, tile_n=128, tile_k=64, in_dtype="fp16", out_dtype="fp16"
        )
        c, bias = torch.empty(rows, columns, dtype=torch.float16), torch.empty(0, dtype=torch.float16)
        kernel(c, a[:rows], shuffled[:columns], none, none, bias, rows, columns)

    row("the library", lambda: library(128, 128), lambda: library(size, size))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
