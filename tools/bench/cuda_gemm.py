#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Matrix products on an NVIDIA Hopper GPU: right against float64, and timed beside cuBLAS and Triton in turns.

    tools/dev bench cuda_gemm pack build/cuda/gemm       # anywhere: the artifacts (PTX) of all configurations
    python3 cuda_gemm.py check build/cuda/gemm           # on the GPU: awkward shapes against float64, poisoned outputs
    python3 cuda_gemm.py run build/cuda/gemm results.json  # on the GPU: times

The machine with the GPU needs torch for CUDA, Triton and fly-runtime, and no compiler of ours. A time is that of a CUDA
graph of products over operands that together are several times the L2, by events; the contenders take turns, and each
figure is the median of the rounds, with the least and the most. Operands are normal random numbers.
cuBLAS is torch's: `torch.mm`, `torch._scaled_mm` with scales of 1. Triton's kernel reads through tensor descriptors and
is tuned over tiles, stages and warps at each point.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROUNDS = 7
_SECONDS_OF_A_SAMPLE = 10e-3
_RESIDENT = 256 << 20
INPUTS = ("bf16", "fp16", "fp8")
TIMED = (
    ("bf16", 4096, 4096, 4096), ("bf16", 8192, 8192, 8192), ("bf16", 8192, 4096, 14336), ("bf16", 8192, 28672, 4096),
    ("fp8", 4096, 4096, 4096), ("fp8", 8192, 8192, 8192),
)  # fmt: skip
# M, N, K; K and N in multiples of 16 bytes of their rows.
CHECKED = (
    (128, 256, 64), (1, 16, 16), (7, 8, 2048), (64, 512, 128), (200, 264, 80), (129, 520, 4112), (1000, 1008, 1008),
    (513, 2056, 272), (2048, 2048, 512), (4224, 4352, 96), (8192, 136, 192),
)  # fmt: skip
# (tile_n, stages, store_n) by the name of an artifact.
CONFIGURATIONS = {"256x4": (256, 4, 128), "128x6": (128, 6, 128), "192x4": (192, 4, 64)}


def _name(dtype: str, configuration: str) -> str:
    return f"gemm-{dtype}-{configuration}"


def pack(folder: Path) -> int:
    """Compile every configuration for the target (sm_90a unless the environment names another) into a folder."""
    os.environ.setdefault("FLYDSL_GPU_ARCH", "sm_90a")
    import torch

    import flydsl.compiler as flyc
    from flydsl.kernels.gemm.hopper_gemm import HopperConfig, compile_hopper_gemm

    types = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp8": torch.float8_e4m3fn}
    folder.mkdir(parents=True, exist_ok=True)
    for configuration, (tile_n, stages, store_n) in CONFIGURATIONS.items():
        for dtype in INPUTS:
            out = "fp16" if dtype == "fp16" else "bf16"
            config = HopperConfig(tile_n=tile_n, stages=stages, store_n=store_n)
            launch = compile_hopper_gemm(in_dtype=dtype, out_dtype=out, config=config)
            a, b = (torch.empty((rows, 256), dtype=types[dtype]) for rows in (384, 512))
            c = torch.empty((384, 512), dtype=types[out])
            flyc.compile.only(launch, c, a, b, None).export(folder / f"{_name(dtype, configuration)}.so")
    print(f"{len(CONFIGURATIONS) * len(INPUTS)} artifacts")
    return 0


class Operands:
    """Random operands of a product on the GPU, a poisoned result, and what float64 says."""

    def __init__(self, dtype: str, m: int, n: int, k: int, seed: int = 0) -> None:
        import torch

        generator = torch.Generator("cuda").manual_seed(seed + m + 3 * n + 5 * k)
        kind = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp8": torch.float8_e4m3fn}[dtype]
        self.a, self.b = (torch.randn(r, k, generator=generator, device="cuda").to(kind) for r in (m, n))
        out = torch.float16 if dtype == "fp16" else torch.bfloat16
        # Rows behind the last one, which must stay as they are.
        self.room = torch.full((m + 3, n), float("nan"), device="cuda", dtype=out)
        self.c = self.room[:m]
        self.one = torch.ones((), device="cuda")

    def worst(self) -> float:
        """The largest error in units of what is allowed: half a unit of the last place of C, and a rounding a sum.

        Sums are f32, one rounding for each of K. Products of 8-bit floats the matrix unit adds with about 14 bits: of
        them 2^-13 of the sum of their amounts is allowed.
        """
        import torch

        most = 0.0
        b = self.b.double()
        for first in range(0, self.a.shape[0], 1024):
            a = self.a[first : first + 1024].double()
            expected = a @ b.t()
            ulp = 2.0**-11 if self.c.dtype == torch.float16 else 2.0**-8
            rounding = 2.0**-13 if self.a.dtype == torch.float8_e4m3fn else a.shape[1] * 2.0**-24
            allowed = ulp * expected.abs() + (a.abs() @ b.abs().t()) * rounding + 2.0**-25
            error = (self.c[first : first + 1024].double() - expected).abs() / allowed
            most = max(most, float("inf") if error.isnan().any() else error.max().item())
        return most if bool(self.room[self.c.shape[0] :].isnan().all()) else float("inf")

    def of_cublas(self) -> Any:
        """torch's own product."""
        import torch

        if self.a.dtype == torch.float8_e4m3fn:
            return torch._scaled_mm(
                self.a, self.b.t(), scale_a=self.one, scale_b=self.one, out_dtype=self.c.dtype, use_fast_accum=True
            )
        return torch.mm(self.a, self.b.t(), out=self.c)


def _stream() -> int:
    import torch

    return int(torch.cuda.current_stream().cuda_stream)


def _ours(folder: Path, dtype: str, configuration: str) -> Callable[[Operands], Any]:
    from flydsl import runtime

    artifact = runtime.load_artifact(folder / f"{_name(dtype, configuration)}.so")
    return lambda given: artifact(given.c, given.a, given.b, _stream())


def check(folder: Path, most: int) -> int:
    """Every artifact at awkward shapes; prints what is wrong."""
    import torch

    wrong = count = 0
    for configuration in CONFIGURATIONS:
        for dtype in INPUTS:
            run = _ours(folder, dtype, configuration)
            for m, n, k in CHECKED[:most]:
                given = Operands(dtype, m, n, k)
                run(given)
                torch.cuda.synchronize()
                worst = given.worst()
                count += 1
                if not worst <= 1.0:
                    wrong += 1
                    print(f"WRONG {configuration} {dtype} {m}x{n}x{k}: {worst:.3g} of what is allowed")
    print(f"products against float64: {count} results, {wrong} wrong")
    return 1 if wrong else 0


def _triton() -> Callable[[Operands], Any]:
    import torch
    import triton
    import triton.language as tl

    configurations = [
        triton.Config({"BM": bm, "BN": bn, "BK": bk, "GROUP": 8}, num_stages=stages, num_warps=warps)
        for bm, bn, bk, warps, stages in (
            (128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (128, 128, 64, 4, 4), (128, 128, 64, 8, 4),
            (128, 256, 128, 8, 3), (256, 128, 64, 8, 3), (256, 128, 128, 8, 3), (128, 128, 128, 4, 4),
        )
    ]  # fmt: skip

    @triton.autotune(configs=configurations, key=["m", "n", "k"])
    @triton.jit
    def product(
        a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
    ):  # fmt: skip
        a_desc = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
        b_desc = tl.make_tensor_descriptor(b, [n, k], [k, 1], [BN, BK])
        c_desc = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
        tile = tl.program_id(0)
        tiles_m, tiles_n = tl.cdiv(m, BM), tl.cdiv(n, BN)
        wide = GROUP * tiles_n
        first = tile // wide * GROUP
        height = min(tiles_m - first, GROUP)
        row, column = (first + tile % wide % height) * BM, tile % wide // height * BN
        sums = tl.zeros((BM, BN), tl.float32)
        for step in range(tl.cdiv(k, BK)):
            sums = tl.dot(a_desc.load([row, step * BK]), b_desc.load([column, step * BK]).T, sums)
        c_desc.store([row, column], sums.to(c.dtype.element_ty))

    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))

    def run(given: Operands) -> Any:
        (m, k), n = given.a.shape, given.b.shape[0]
        product[lambda meta: (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)](
            given.a, given.b, given.c, m, n, k
        )

    return run


def _graph(run: Callable[[Operands], Any], sets: list[Operands], count: int) -> Any:
    import torch

    for given in sets:
        run(given)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for turn in range(count):
            run(sets[turn % len(sets)])
    graph.replay()
    torch.cuda.synchronize()
    return graph


def run(folder: Path, results: Path) -> int:
    """Times of every contender at every point, and how far the results of each are from those of cuBLAS."""
    import torch

    rows: list[dict[str, Any]] = []
    triton_product = _triton()
    for dtype, m, n, k in TIMED:
        flops = 2.0 * m * n * k
        size = 1 if dtype == "fp8" else 2
        count = max(2, -(-_RESIDENT // ((m + n) * k * size + 2 * m * n)))
        sets = [Operands(dtype, m, n, k, seed) for seed in range(count)]
        contenders: dict[str, Callable[[Operands], Any]] = {
            f"ours {name}": _ours(folder, dtype, name) for name in CONFIGURATIONS
        }
        contenders["cuBLAS"] = lambda given: given.of_cublas()
        contenders["Triton"] = triton_product
        launches = max(2, int(_SECONDS_OF_A_SAMPLE * 600e12 / flops))
        graphs, worst = {}, {}
        for name, contender in contenders.items():
            try:
                sets[0].c.fill_(float("nan"))
                made = contender(sets[0])
                torch.cuda.synchronize()
                if made is not None and name == "cuBLAS" and made.data_ptr() != sets[0].c.data_ptr():
                    sets[0].c.copy_(made)
                worst[name] = sets[0].worst() if m <= 4096 else None
                graphs[name] = _graph(contender, sets, launches)
            except Exception as error:  # a contender that cannot is said so, and the others are timed
                print(f"{name}: {type(error).__name__}: {str(error)[:300]}")
        times: dict[str, list[float]] = {name: [] for name in graphs}
        for _ in range(ROUNDS):
            for name, graph in graphs.items():
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
                graph.replay()
                end.record()
                torch.cuda.synchronize()
                times[name].append(begin.elapsed_time(end) * 1e-3 / launches)
        for name, seconds in times.items():
            rates = sorted(flops / one / 1e12 for one in seconds)
            row = {
                "dtype": dtype, "m": m, "n": n, "k": k, "contender": name, "tflops": statistics.median(rates),
                "least": rates[0], "most": rates[-1], "worst": worst[name],
            }  # fmt: skip
            rows.append(row)
            print(
                f"{dtype:5} {m}x{n}x{k} {name:14} {row['tflops']:7.1f} TFLOP/s ({rates[0]:.1f} to {rates[-1]:.1f})"
                f"  error {worst[name]}"
            )
        del graphs, sets
        torch.cuda.empty_cache()
    device = torch.cuda.get_device_properties(0)
    results.write_text(
        json.dumps(
            {"device": device.name, "torch": torch.__version__, "cuda": torch.version.cuda, "rows": rows}, indent=1
        )
    )
    return 0


def main() -> int:
    """Run one of the commands that the top of the file lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("pack", "check", "run"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name == "check":
            command.add_argument("--most", type=int, default=len(CHECKED), help="shapes of each artifact")
        if name == "run":
            command.add_argument("results", type=Path)
    options = parser.parse_args()
    if options.command == "pack":
        return pack(options.folder)
    if options.command == "check":
        return check(options.folder, options.most)
    return run(options.folder, options.results)


if __name__ == "__main__":
    sys.exit(main())
