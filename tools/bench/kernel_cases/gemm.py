# SPDX-License-Identifier: Apache-2.0
"""GEMM with preshuffled B; with row-major B few rows, and K in parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from .model import Case, TritonKernel, largest_error, normal

# The tiles of the peer's figures, each with a problem that the emulator can do: rows, columns, inner extent.
TILES = {(16, 64, 512): (16, 128, 2048), (64, 256, 128): (64, 256, 1024), (128, 128, 128): (128, 256, 1024)}
# Problems of row-major B, and into how many parts K is cut; Triton's kernel does not cut it.
ROW_MAJOR = (((1, 128, 2048), 1), ((16, 128, 2048), 1), ((16, 128, 2048), 2), ((16, 128, 8192), 4))
DTYPES = ("fp8", "int8", "bf16", "fp16")
BLOCKS = (
    (16, 64, 128, 4),
    (64, 256, 64, 4),
    (128, 128, 64, 4),
    (64, 128, 128, 4),
)  # of Triton's candidates, with warps
_WIDE = 4096  # columns and inner extent of the peer's figures
_FP8 = {"gfx942": torch.float8_e4m3fnuz, "gfx950": torch.float8_e4m3fn}


def cases(arch: str) -> Iterator[Case]:
    """Each of the peer's tiles for each dtype."""
    for tile, problem in TILES.items():
        for dtype in DTYPES:
            yield _case(arch, tile, problem, dtype)
    for problem, split_k in ROW_MAJOR:
        yield _row_major(problem, split_k)


def _operand(arch: str, rows: int, k: int, dtype: str, seed: int) -> torch.Tensor:
    if dtype == "int8":
        return torch.randint(-20, 20, (rows, k), generator=torch.Generator().manual_seed(seed), dtype=torch.int8)
    kind = {"fp8": _FP8[arch], "bf16": torch.bfloat16, "fp16": torch.float16}[dtype]
    return normal(rows, k, dtype=torch.float32, seed=seed).to(kind)


def _case(arch: str, tile: tuple[int, int, int], problem: tuple[int, int, int], dtype: str) -> Case:
    from flydsl.kernels.common.shuffle import shuffle_weight
    from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm

    m, n, k = problem
    a, b = _operand(arch, m, k, dtype, 0), _operand(arch, n, k, dtype, 1)
    scaled = dtype in ("fp8", "int8")
    scale_a, scale_b = torch.rand(m) + 0.5, torch.rand(n) + 0.5
    out_dtype = "fp16" if dtype == "fp16" else "bf16"
    c = torch.empty(m, n, dtype=torch.float16 if dtype == "fp16" else torch.bfloat16)
    expected = a.double() @ b.double().t()
    if scaled:
        expected = expected * scale_a.double()[:, None] * scale_b.double()[None, :]
    shuffled = shuffle_weight(b.view(torch.uint8) if dtype == "fp8" else b).view(b.dtype)
    empty = torch.empty(0)
    scales = (scale_a, scale_b) if scaled else (empty, empty)
    names = dict(zip(("tile_m", "tile_n", "tile_k"), tile, strict=True))

    def build() -> Any:
        return compile_preshuffle_gemm(N=n, K=k, in_dtype=dtype, out_dtype=out_dtype, **names)

    def peer_build() -> tuple[Any, tuple[Any, ...]]:
        launch = compile_preshuffle_gemm(N=_WIDE, K=_WIDE, in_dtype=dtype, out_dtype=out_dtype, **names)
        left, right = torch.empty(tile[0], _WIDE, dtype=a.dtype), torch.empty(_WIDE, _WIDE, dtype=b.dtype)
        result = torch.empty(tile[0], _WIDE, dtype=c.dtype)
        rows = tuple(torch.empty(extent) if scaled else empty for extent in (tile[0], _WIDE))
        return launch, (result, left, right, *rows, empty, tile[0], _WIDE)

    arguments = {"a": a, "b": b, "c": c, "scale_a": scale_a, "scale_b": scale_b, "m": m, "n": n, "k": k}
    return Case(
        operation="gemm",
        dtype=dtype,
        shape=f"{m}x{n}x{k}",
        settings="tile " + "x".join(map(str, tile)),
        build=build,
        arguments=(c, a, shuffled, *scales, empty, m, n),
        outputs=(c,),
        error=lambda: largest_error(c, expected, 0.02, 2.0**-7),
        least_bytes=sum(one.numel() * one.element_size() for one in (a, b, c, *scales)),
        triton=_triton(arguments, scaled),
        peer=f"preshuffle_{dtype}_" + "x".join(map(str, tile)),
        peer_build=peer_build,
    )  # fmt: skip


def _row_major(problem: tuple[int, int, int], split_k: int) -> Case:
    from flydsl.kernels.gemm.config import GemmConfig
    from flydsl.kernels.gemm.row_major_gemm import compile_gemm

    m, n, k = problem
    a, b = (normal(rows, k, dtype=torch.float16, seed=seed) for seed, rows in enumerate((m, n)))
    c, workspace = torch.empty(m, n, dtype=torch.float16), torch.empty(split_k * m * n if split_k > 1 else 0)
    expected = a.double() @ b.double().t()
    empty = torch.empty(0)
    arguments = {"a": a, "b": b, "c": c, "scale_a": empty, "scale_b": empty, "m": m, "n": n, "k": k}
    return Case(
        operation="gemm row-major",
        dtype="fp16",
        shape=f"{m}x{n}x{k}" + (f" in {split_k} parts" if split_k > 1 else ""),
        settings="tile 16x64",
        build=lambda: compile_gemm(
            N=n, K=k, config=GemmConfig(16, 64, 256, split_k), in_dtype="fp16", out_dtype="fp16"
        ),
        arguments=(c, a, b, empty, empty, empty, empty, workspace, m),
        outputs=(c,),
        error=lambda: largest_error(c, expected, 0.02, 2.0**-7),
        least_bytes=sum(one.numel() * one.element_size() for one in (a, b, c)),
        triton=_triton(arguments, False),
    )


def _triton(arguments: dict[str, Any], scaled: bool) -> tuple[TritonKernel, ...]:
    m, n = arguments["m"], arguments["n"]
    return tuple(
        TritonKernel("gemm", arguments, {"SCALED": scaled, "BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk, "GROUP": 4},
                     (-(-m // bm) * (n // bn), 1, 1), warps)
        for bm, bn, bk, warps in BLOCKS
        if n % bn == 0 and bm <= max(16, m)
    )  # fmt: skip
