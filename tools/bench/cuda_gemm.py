#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Matrix products on an NVIDIA Hopper GPU: right against float64, and timed in turns beside cuBLAS and other peers.

    tools/dev bench cuda_gemm pack build/cuda/gemm       # anywhere: the artifacts (PTX) of all configurations
    python3 cuda_gemm.py check build/cuda/gemm           # on the GPU: awkward shapes against float64, poisoned outputs
    python3 cuda_gemm.py run build/cuda/gemm results.json  # on the GPU: times
    tools/dev bench cuda_gemm page gemm.json attention.json  # anywhere: docs/benchmarks/hopper-products.md

The machine with the GPU needs torch for CUDA, Triton and fly-runtime, and no compiler of ours. A time is that of a CUDA
graph of products over operands that together are several times the L2, by events; the contenders take turns, and each
figure is the median of the rounds, with the least and the most. Operands are normal random numbers.
cuBLAS is torch's: `torch.mm`, `torch._scaled_mm` with scales of 1. Triton's kernel reads through tensor descriptors and
is tuned over tiles, stages and warps at each point. CuTe DSL is QuACK's product, tuned over its own configurations; it
is timed for bf16 and many rows where QuACK is installed (`cuda_peers.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cuda_peers
from cuda_timing import (
    SECONDS_OF_A_SAMPLE,
    check_apart,
    graphs_of,
    in_processes,
    rates,
    stream,
    where,
    write_results,
)

_DEFAULTS = "defaults.json"  # beside the artifacts, the name of the configuration that each timed point has by default
_RESIDENT = 2 << 30  # bytes of operands that take turns: of 256 MiB some stay in the L2
_MOST_LAUNCHES = 300
_DECODE = 64  # rows, up to which the time is that of reading B
LARGE = 4096  # rows, from which CuTe DSL is timed, which is tuned for a minute
INPUTS = ("bf16", "fp16", "fp8")
TIMED = (
    ("bf16", 4096, 4096, 4096), ("bf16", 8192, 8192, 8192), ("bf16", 8192, 4096, 14336), ("bf16", 8192, 28672, 4096),
    ("fp8", 4096, 4096, 4096), ("fp8", 8192, 8192, 8192),
    ("bf16", 16, 4096, 4096), ("bf16", 16, 28672, 4096), ("bf16", 16, 8192, 28672), ("bf16", 64, 28672, 8192),
    ("fp8", 16, 28672, 8192), ("bf16", 16, 1024, 16384), ("bf16", 64, 2048, 16384), ("bf16", 64, 4096, 4096),
    ("bf16", 64, 8192, 8192), ("bf16", 32, 11008, 4096), ("bf16", 16, 14336, 4096), ("bf16", 16, 5120, 5120),
    ("fp8", 64, 14336, 4096), ("fp8", 64, 4096, 14336), ("bf16", 128, 1024, 16384), ("bf16", 256, 4096, 4096),
    ("bf16", 512, 4096, 4096), ("bf16", 640, 5120, 5120), ("bf16", 1280, 4096, 4096), ("bf16", 2048, 2048, 2048),
    ("bf16", 4096, 11008, 4096), ("bf16", 3072, 3072, 3072), ("fp8", 640, 5120, 5120), ("fp8", 2048, 5120, 5120),
    # Rows that no tile has.
    ("bf16", 1, 8192, 8192), ("bf16", 20, 4096, 4096), ("bf16", 33, 4096, 14336), ("bf16", 40, 8192, 8192),
    ("bf16", 48, 28672, 4096), ("bf16", 100, 28672, 4096), ("bf16", 192, 4096, 14336), ("bf16", 1000, 14336, 4096),
)  # fmt: skip
# M, N, K; K and N in multiples of 16 bytes of their rows.
CHECKED = (
    (128, 256, 64), (1, 16, 16), (4224, 4352, 96), (200, 264, 80), (129, 520, 4112), (1000, 1008, 1008), (7, 8, 2048),
    (64, 512, 128), (513, 2056, 272), (2048, 2048, 512), (8192, 136, 192),
    (21, 1024, 4096), (37, 264, 2064), (100, 520, 4112), (193, 264, 528),
)  # fmt: skip
# What HopperConfig takes, by the name of an artifact.
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "192x5p": {"tile_n": 192, "stages": 5, "store_n": 32, "store_buffers": 1, "pingpong": True},
    "160x5p": {"tile_n": 160, "stages": 5, "store_n": 32, "pingpong": True},
    "128x6p": {"tile_n": 128, "stages": 6, "store_n": 64, "store_buffers": 1, "pingpong": True},
    "112x7p": {"tile_n": 112, "stages": 7, "store_n": 16, "pingpong": True},
    "96x7p": {"tile_n": 96, "stages": 7, "store_n": 32, "store_buffers": 1, "pingpong": True},
    "112x7pr112": {"tile_n": 112, "stages": 7, "rows": 112, "store_n": 16, "pingpong": True},
    "256x4": {},
    "128x6": {"tile_n": 128, "stages": 6},
    "64x8": {"tile_n": 64, "stages": 8},
    "80x6k4": {"tile_n": 80, "stages": 6, "store_buffers": 1, "splits": 4},
    "48x8k4": {"tile_n": 48, "stages": 8, "store_buffers": 1, "splits": 4},
    "64x6r80k2": {"tile_n": 64, "stages": 6, "rows": 80, "splits": 2},
    "224x5r16": {"tile_n": 224, "stages": 5, "rows": 16, "store_buffers": 1},
    "112x4b2r16": {"tile_n": 112, "stages": 4, "rows": 16, "store_buffers": 1, "boxes": 2},
    "112x4b2r48": {"tile_n": 112, "stages": 4, "rows": 48, "store_buffers": 1, "boxes": 2},
    "112x4b2r64": {"tile_n": 112, "stages": 4, "rows": 64, "store_buffers": 1, "boxes": 2},
    "96x5b2r32": {"tile_n": 96, "stages": 5, "rows": 32, "store_buffers": 1, "boxes": 2},
    "64x6b2r16": {"tile_n": 64, "stages": 6, "rows": 16, "boxes": 2},
    "64x6b2r40": {"tile_n": 64, "stages": 6, "rows": 40, "boxes": 2},
    "64x6b2r64": {"tile_n": 64, "stages": 6, "rows": 64, "boxes": 2},
    "64x12r16k4": {"tile_n": 64, "stages": 12, "rows": 16, "splits": 4},
    "64x12r24k4": {"tile_n": 64, "stages": 12, "rows": 24, "splits": 4},
    "48x15r16": {"tile_n": 48, "stages": 15, "rows": 16, "store_buffers": 1},
    "32x8b2r16": {"tile_n": 32, "stages": 8, "rows": 16, "store_buffers": 1, "boxes": 2},
    "32x8b2r24": {"tile_n": 32, "stages": 8, "rows": 24, "store_buffers": 1, "boxes": 2},
    "32x8b2r40": {"tile_n": 32, "stages": 8, "rows": 40, "store_buffers": 1, "boxes": 2},
    "32x8b2r64": {"tile_n": 32, "stages": 8, "rows": 64, "store_buffers": 1, "boxes": 2},
    "32x8b2r64k2": {"tile_n": 32, "stages": 8, "rows": 64, "splits": 2, "store_buffers": 1, "boxes": 2},
}
# Operands, results and epilogues of further artifacts, that are checked: words of `Epilogue`, and the configuration
# where it is not the default.
FINISHED = (
    ("fp8", "bf16", "scaled"), ("fp8", "f32", "scaled_bias"), ("int8", "bf16", "scaled_bias_relu"),
    ("int8", "f32", "scaled"), ("bf16", "bf16", "bias_gelu"), ("fp16", "fp16", "bias_silu"), ("bf16", "f32", "none"),
    ("bf16", "bf16", "residual"), ("fp8", "bf16", "scaled_bias_silu_residual", "160x5p"),
    ("fp8", "bf16", "scaled", "192x5p"), ("bf16", "bf16", "bias_gelu_residual", "96x7p"),
    ("fp16", "fp16", "bias_residual", "128x6"),
)  # fmt: skip


def _name(dtype: str, configuration: str) -> str:
    return f"gemm-{dtype}-{configuration}"


def _finished_name(*parts: str) -> str:
    return "-".join(("gemm", *parts))


def pack(folder: Path) -> int:
    """Compile every configuration for the target (sm_90a unless the environment names another) into a folder."""
    os.environ.setdefault("FLYDSL_GPU_ARCH", "sm_90a")
    folder.mkdir(parents=True, exist_ok=True)
    some = [(name, folder / f"{name}.so") for name in names()]
    in_processes(_compile, some)
    (folder / _DEFAULTS).write_text(json.dumps({_point(*one): default_name(*one) for one in TIMED}, indent=1))
    print(f"{len(some)} artifacts")
    return 0


def _point(dtype: str, m: int, n: int, k: int) -> str:
    return f"{dtype} {m} {n} {k}"


def default_name(dtype: str, m: int, n: int, k: int) -> str:
    """The default configuration for a shape, by its name.

    Raises KeyError where CONFIGURATIONS has it not.
    """
    from flydsl.kernels.gemm.hopper_config import HopperConfig, default_hopper_config

    wanted = default_hopper_config(m, n, k_bytes=k * bytes_of(dtype))
    for name, values in CONFIGURATIONS.items():
        if HopperConfig(**values) == wanted:
            return name
    raise KeyError(f"CONFIGURATIONS has no name for {wanted}, the default for {_point(dtype, m, n, k)}")


def _compile(what: tuple[str, Path]) -> None:
    """Compile an artifact, which its name describes."""
    import torch

    from flydsl.kernels.common.mma.mfma_epilogues import Epilogue
    from flydsl.kernels.gemm.hopper_config import HopperConfig
    from flydsl.kernels.gemm.hopper_gemm import compile_hopper_gemm

    types = {
        "bf16": torch.bfloat16, "fp16": torch.float16, "fp8": torch.float8_e4m3fn, "int8": torch.int8,
        "f32": torch.float32,
    }  # fmt: skip
    name, path = what
    _, dtype, *rest = name.split("-")
    if len(rest) == 1:
        return compile_plain(dtype, HopperConfig(**CONFIGURATIONS[rest[0]]), path)
    extras: list[Any] = []
    out, words = rest[:2]
    epilogue = Epilogue("scaled" in words, "bias" in words, _activation(words), "residual" in words)
    config = HopperConfig(**CONFIGURATIONS[rest[2]]) if len(rest) == 3 else None
    launch = compile_hopper_gemm(in_dtype=dtype, out_dtype=out, config=config, epilogue=epilogue)
    if words != "none":
        extras = [torch.empty(384), torch.empty(512), torch.empty(512, dtype=types[out])]
    if epilogue.residual:
        extras.append(torch.empty((384, 512), dtype=types[out]))
    _export(launch, types[dtype], types[out], extras, path)
    return None


def compile_plain(dtype: str, config: Any, path: Path) -> None:
    """Compile the artifact of a product without an epilogue, in a `HopperConfig`; 8-bit floats give bfloat16."""
    import torch

    from flydsl.kernels.gemm.hopper_gemm import compile_hopper_gemm

    out = "fp16" if dtype == "fp16" else "bf16"
    launch = compile_hopper_gemm(in_dtype=dtype, out_dtype=out, config=config)
    types = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp8": torch.float8_e4m3fn}
    _export(launch, types[dtype], types[out], [], path)


def _export(launch: Any, operand: Any, output: Any, extras: list[Any], path: Path) -> None:
    import torch

    import flydsl.compiler as flyc

    a, b = (torch.empty((rows, 256), dtype=operand) for rows in (384, 512))
    flyc.compile.only(launch, torch.empty((384, 512), dtype=output), a, b, *extras, None).export(path)


def _activation(words: str) -> str:
    return next((word for word in words.split("_") if word in ("relu", "silu", "gelu")), "none")


class Operands:
    """Random operands of a product on the GPU, a poisoned result, and what float64 says."""

    def __init__(
        self, dtype: str, m: int, n: int, k: int, seed: int = 0, out: str | None = None, words: str = "none"
    ) -> None:
        import torch

        generator = torch.Generator("cuda").manual_seed(seed + m + 3 * n + 5 * k)
        kinds = {
            "bf16": torch.bfloat16, "fp16": torch.float16, "fp8": torch.float8_e4m3fn, "f32": torch.float32,
        }  # fmt: skip
        self.words = words

        def some(*shape: int) -> Any:
            if dtype == "int8":
                return torch.randint(-128, 128, shape, generator=generator, device="cuda", dtype=torch.int8)
            return torch.randn(*shape, generator=generator, device="cuda").to(kinds[dtype])

        self.a, self.b = some(m, k), some(n, k)
        kind = kinds[out or ("fp16" if dtype == "fp16" else "bf16")]
        # Rows behind the last one, which must stay as they are.
        self.room = torch.full((m + 3, n), float("nan"), device="cuda", dtype=kind)
        self.c = self.room[:m]
        self.one = torch.ones((), device="cuda")
        self.ones = torch.ones(max(m, n), device="cuda")
        self.extras: list[Any] = []
        if words != "none":
            scales = [torch.rand(length, generator=generator, device="cuda") + 0.01 for length in (m, n)]
            self.extras = [*scales, torch.randn(n, generator=generator, device="cuda").to(kind)]
        if "residual" in words:
            self.extras.append(torch.randn(m, n, generator=generator, device="cuda").to(kind))

    def worst(self, say: bool = False) -> float:
        """The largest error in units of what is allowed: half a unit of the last place of C, and a rounding a sum.

        Sums are f32, one rounding for each of K. Products of 8-bit floats the matrix unit adds with about 14 bits, 32
        at a time, and it cuts off: of them 2^-11 of the sum of their amounts is allowed, and for K beyond 1024 more, as
        the square root of K. Activations amplify what goes in by at most 1.2 and are within 2^-20 of their value.
        """
        import torch

        most = 0.0
        b = self.b.double()
        k = b.shape[1]
        ulp = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}.get(self.c.dtype, 2.0**-24)
        rounding = {
            torch.float8_e4m3fn: 2.0**-11 * max(1.0, (k / 1024) ** 0.5), torch.int8: 2.0**-23,
        }.get(self.a.dtype, k * 2.0**-24)  # fmt: skip
        for first in range(0, self.a.shape[0], 1024):
            a = self.a[first : first + 1024].double()
            expected, amount = a @ b.t(), a.abs() @ b.abs().t()
            allowed = amount * rounding
            if "scaled" in self.words:
                scales = self.extras[0][first : first + 1024, None].double() * self.extras[1].double()
                expected, allowed = expected * scales, allowed * scales + expected.abs() * scales * 2.0**-22
            if "bias" in self.words:
                expected = expected + self.extras[2].double()
                allowed = allowed + expected.abs() * 2.0**-23
            activation = _activation(self.words)
            if activation != "none":
                functions = {
                    "relu": torch.relu, "silu": torch.nn.functional.silu,
                    "gelu": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
                }  # fmt: skip
                expected = functions[activation](expected)
                allowed = allowed * 1.2 + expected.abs() * 2.0**-20
            if "residual" in self.words:
                expected = expected + self.extras[3][first : first + 1024].double()
                allowed = allowed + expected.abs() * 2.0**-23
            allowed = allowed + ulp * expected.abs() + 2.0**-25
            result = self.c[first : first + 1024].double()
            error = (result - expected).abs() / allowed
            if say and not (error <= 1.0).all():
                print(f"rows from {first}: {where(error, 1.0, result, expected)}")
                say = False
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


def bytes_of(dtype: str) -> int:
    """Of an element of the operands."""
    return 1 if dtype == "fp8" else 2


def operands(dtype: str, m: int, n: int, k: int) -> list[Operands]:
    """Sets of operands of a product that together are several times the L2."""
    count = max(2, -(-_RESIDENT // ((m + n) * k * bytes_of(dtype) + 2 * m * n)))
    return [Operands(dtype, m, n, k, seed) for seed in range(count)]


def ours(folder: Path, dtype: str, configuration: str) -> Callable[[Operands], Any]:
    """Our product of a configuration, by its name, for operands of a type."""
    return _ours(folder, _name(dtype, configuration))


def _ours(folder: Path, name: str) -> Callable[[Operands], Any]:
    from flydsl import runtime

    artifact = runtime.load_artifact(folder / f"{name}.so")
    return lambda given: artifact(given.c, given.a, given.b, *given.extras, stream())


def names() -> list[str]:
    """Those of all artifacts."""
    plain = [_name(dtype, configuration) for configuration in CONFIGURATIONS for dtype in INPUTS]
    return [*plain, *(_finished_name(*one) for one in FINISHED)]


def check(folder: Path, only: str | None, most: int) -> int:
    """Every artifact at awkward shapes, each in a process of its own; prints what is wrong."""
    if only is None:
        packed = [name for name in names() if (folder / f"{name}.so").exists()]
        return check_apart(Path(__file__), [str(folder), "--most", str(most)], packed)
    import torch

    _, dtype, *rest = only.split("-")
    out, words = rest[:2] if len(rest) > 1 else (None, "none")
    run = _ours(folder, only)
    wrong = 0
    rows = CONFIGURATIONS.get(rest[0], {}).get("rows", 1 << 20)
    for m, n, k in [shape for shape in CHECKED[:most] if shape[0] <= rows]:
        print(f"{only} {m}x{n}x{k}: ", end="", flush=True)
        given = Operands(dtype, m, n, k, out=out, words=words)
        run(given)
        torch.cuda.synchronize()
        worst = given.worst(say=True)
        wrong += not worst <= 1.0
        print(f"{worst:.3g} of what is allowed{'' if worst <= 1.0 else ' WRONG'}", flush=True)
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
            (64, 64, 128, 4, 4), (64, 128, 128, 4, 4),
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


def _with_scales(folder: Path) -> Callable[[Operands], Any]:
    """Our product of e4m3 with scales of rows and columns, all 1."""
    from flydsl import runtime

    artifact = runtime.load_artifact(folder / f"{_finished_name('fp8', 'bf16', 'scaled')}.so")

    def call(given: Operands) -> Any:
        (m, n), ones = given.c.shape, given.ones
        return artifact(given.c, given.a, given.b, ones[:m], ones[:n], given.c[0], stream())

    return call


def _copy_of(given: Operands) -> Callable[[Operands], Any]:
    """A copy of B: reads and writes as many bytes as B has."""
    import torch

    there = torch.empty_like(given.b)
    return lambda given: there.copy_(given.b)


def run(folder: Path, results: Path, least: int = 0, defaults: bool = False) -> int:
    """Times of every contender at every point of `least` rows, and how far their results are from those of cuBLAS.

    With `defaults` no other configuration than that of the point runs.
    """
    import torch

    rows: list[dict[str, Any]] = []
    triton_product = _triton()
    usual = json.loads((folder / _DEFAULTS).read_text())
    # Those that CuTe DSL is tuned for come last.
    points = sorted((one for one in TIMED if one[1] >= least), key=lambda one: one[1] >= LARGE and one[0] != "fp8")
    for dtype, m, n, k in points:
        default = usual[_point(dtype, m, n, k)]
        flops = 2.0 * m * n * k
        size = bytes_of(dtype)
        sets = operands(dtype, m, n, k)
        contenders: dict[str, Callable[[Operands], Any]] = {
            f"ours {name}": ours(folder, dtype, name)
            for name, values in CONFIGURATIONS.items()
            if m <= values.get("rows", m)
            and (folder / f"{_name(dtype, name)}.so").exists()
            and (name == default or not defaults)
        }
        if f"ours {default}" not in contenders:
            raise FileNotFoundError(f"{folder} has no {_name(dtype, default)}, the default of {_point(dtype, m, n, k)}")
        if m >= LARGE and dtype == "fp8":
            contenders["ours, scales of rows"] = _with_scales(folder)
        contenders["cuBLAS"] = lambda given: given.of_cublas()
        contenders["Triton"] = triton_product
        if m >= LARGE and dtype != "fp8" and cuda_peers.has("QuACK"):
            contenders["CuTe DSL"] = cuda_peers.product
        copies = {"copy of B": _copy_of(sets[0])} if m <= _DECODE else {}
        launches = min(_MOST_LAUNCHES, max(2, int(SECONDS_OF_A_SAMPLE * 600e12 / flops)))
        worst, equal = {}, {}
        wanted = sets[0].of_cublas().clone()
        for name, contender in list(contenders.items()):
            sets[0].c.fill_(float("nan"))
            try:
                made = contender(sets[0])
                torch.cuda.synchronize()
            except Exception as error:  # a contender that cannot is said so, and the others are timed
                print(f"{name}: {type(error).__name__}: {str(error)[:300]}")
                del contenders[name]
                continue
            if made is not None and name == "cuBLAS" and made.data_ptr() != sets[0].c.data_ptr():
                sets[0].c.copy_(made)
            worst[name] = sets[0].worst() if m <= 4096 else None
            equal[name] = (sets[0].c == wanted).double().mean().item()
        graphs = graphs_of(contenders | copies, sets, launches)
        for name, (median, least, highest) in rates(graphs, launches, flops).items():
            row = {
                "dtype": dtype, "m": m, "n": n, "k": k, "contender": name, "tflops": median, "least": least,
                "most": highest, "worst": worst.get(name), "equal": equal.get(name),
                "default": name == f"ours {default}",
            }  # fmt: skip
            rows.append(row)
            print(
                f"{dtype:5} {m}x{n}x{k} {name:14} {median:7.1f} TFLOP/s ({least:.1f} to {highest:.1f})"
                f"  {(n * k + m * k) * size / flops * median:.2f} TB/s of operands"
                f"  error {worst.get(name)}  equal to cuBLAS {equal.get(name, 0):.6f}",
                flush=True,
            )
        del graphs, sets
        torch.cuda.empty_cache()
        write_results(results, sorted(rows, key=lambda row: TIMED.index((row["dtype"], row["m"], row["n"], row["k"]))))
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
            command.add_argument("--only", help="one artifact, in this process")
        if name == "run":
            command.add_argument("results", type=Path)
            command.add_argument("--least", type=int, default=0, help="rows of the products that are timed")
            command.add_argument("--defaults", action="store_true", help="only each point's default configuration")
    made = commands.add_parser("page")
    made.add_argument("products", type=Path)
    made.add_argument("attention", type=Path, help="of cuda_attention.py")
    made.add_argument("--power", type=Path, help="of cuda_power.py")
    made.add_argument("--name", default="hopper-products.md", help="of the page, one for each kind of GPU")
    made.add_argument("--checked", nargs=3, default=("", "", ""), help="what the checks and the suites said")
    options = parser.parse_args()
    if options.command == "page":
        from cuda_report.products import page

        folder = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
        return page(options.products, options.attention, folder / options.name, options.checked, options.power)
    if options.command == "pack":
        return pack(options.folder)
    if options.command == "check":
        return check(options.folder, options.only, options.most)
    return run(options.folder, options.results, options.least, options.defaults)


if __name__ == "__main__":
    sys.exit(main())
