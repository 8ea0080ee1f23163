# SPDX-License-Identifier: Apache-2.0
"""GEMM with preshuffled B, synchronous and not; with row-major B few rows, K in parts, and the peer's entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch

from .model import Case, TritonKernel, float8, largest_error, normal

if TYPE_CHECKING:
    from flydsl.kernels.gemm.config import GemmConfig

# The tiles of the peer's figures, each with a problem that the emulator can do: rows, columns, inner extent.
TILES = {(16, 64, 512): (16, 128, 2048), (64, 256, 128): (64, 256, 1024), (128, 128, 128): (128, 256, 1024)}
# Problems of row-major B, and into how many parts K is cut; Triton's kernel does not cut it.
ROW_MAJOR = (((1, 128, 2048), 1), ((16, 128, 2048), 1), ((16, 128, 2048), 2), ((16, 128, 8192), 4))
WIDE_TILE, WIDE_PROBLEM = (128, 256, 128), (128, 256, 1024)
# The peer's GEMMs of 16-bit tensors: its entry, the problem here and there, and the tile with split_k and waves.
A16W16 = (
    ("256x256x64_hti", "bf16", (256, 256, 512), (256, 4096, 4096), (256, 256, 64, 1, (2, 4))),
    ("32x64x64_splitk16", "bf16", (32, 384, 7168), (32, 384, 7168), (32, 64, 64, 16)),
    ("128x128x64_s4", "fp16", (128, 128, 512), (128, 4096, 4096), (128, 128, 64)),
)
DTYPES = ("fp8", "int8", "bf16", "fp16")
BLOCKS = (
    (16, 64, 128, 4),
    (64, 256, 64, 4),
    (128, 128, 64, 4),
    (64, 128, 128, 4),
)  # of Triton's candidates, with warps
MX_BLOCKS = ((128, 128, 256, 4), (128, 128, 128, 4), (256, 256, 256, 8), (128, 256, 256, 8))
SCALED_BLOCKS = ((16, 128, 4), (64, 128, 4), (128, 128, 4), (128, 128, 8), (128, 256, 8))  # M, N, warps
_WIDE = 4096  # columns and inner extent of the peer's figures


def cases(arch: str) -> Iterator[Case]:
    """Each of the peer's tiles for each dtype. Triton's candidates run beside the synchronous ones only."""
    from flydsl.kernels.gemm.config import GemmConfig

    for tile, problem in TILES.items():
        for dtype in DTYPES:
            yield _case(arch, tile, problem, dtype)
    yield _case(arch, WIDE_TILE, WIDE_PROBLEM, "fp8", triton=False)
    for problem, split_k in ROW_MAJOR:
        yield _row_major(problem, GemmConfig(16, 64, 256, split_k))
    if arch != "gfx950":
        return
    for tile, problem in TILES.items():
        for dtype in DTYPES:
            yield _case(arch, tile, problem, dtype, "_async", triton=False, use_async_copy=True)
    for dtype in ("fp8", "int8"):
        options = {"use_async_copy": True, "waves_per_eu": 2}
        yield _case(arch, WIDE_TILE, WIDE_PROBLEM, dtype, "_async_wpe2", triton=False, **options)
    for entry, dtype, problem, wide, numbers in A16W16:
        yield _row_major(problem, GemmConfig(*numbers), dtype, f"a16w16_{dtype}_{entry}", wide)
    for waves in (4, 8):
        yield _rowwise(arch, waves)


def triton_of_mx(m: int, n: int, k: int, formats: tuple[str, str] = ("e2m1", "e2m1")) -> tuple[TritonKernel, ...]:
    """Triton's candidates for a product of MX operands of these formats, with scales in the order of rows."""
    a, b = (
        torch.zeros(rows, k // 2 if of == "e2m1" else k, dtype=torch.uint8)
        for rows, of in zip((m, n), formats, strict=True)
    )
    scales = [torch.full((rows, k // 32), 127, dtype=torch.uint8) for rows in (m, n)]
    c = torch.zeros(m, n, dtype=torch.bfloat16)
    arguments = {"a": a, "b": b, "c": c, "scale_a": scales[0], "scale_b": scales[1], "m": m, "n": n, "k": k}
    constants = {"A_FORMAT": formats[0], "B_FORMAT": formats[1], "GROUP": 4}
    return tuple(
        TritonKernel("gemm_mx", arguments, {**constants, "BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk},
                     (-(-m // bm) * (n // bn), 1, 1), warps)
        for bm, bn, bk, warps in MX_BLOCKS
        if n % bn == 0
    )  # fmt: skip


def triton_of_blocks(arch: str, m: int, n: int, k: int) -> tuple[TritonKernel, ...]:
    """Triton's candidates for a product of fp8 with scales of 128 of K (and of 128 rows of B)."""
    kind = float8(arch)[0]
    a, b = (torch.zeros(rows, k, dtype=torch.uint8).view(kind) for rows in (m, n))
    scales = torch.ones(k // 128, m), torch.ones(-(-n // 128), k // 128)
    c = torch.zeros(m, n, dtype=torch.bfloat16)
    arguments = {"a": a, "b": b, "c": c, "scale_a": scales[0], "scale_b": scales[1], "m": m, "n": n, "k": k}
    return tuple(
        TritonKernel("gemm_blocks", arguments, {"BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": 128, "GROUP": 4},
                     (-(-m // bm) * (n // bn), 1, 1), warps)
        for bm, bn, warps in SCALED_BLOCKS
        if n % bn == 0 and bm <= max(16, m)
    )  # fmt: skip


def _operand(arch: str, rows: int, k: int, dtype: str, seed: int) -> torch.Tensor:
    if dtype == "int8":
        return torch.randint(-20, 20, (rows, k), generator=torch.Generator().manual_seed(seed), dtype=torch.int8)
    kind = float8(arch)[0] if dtype == "fp8" else {"bf16": torch.bfloat16, "fp16": torch.float16}[dtype]
    return normal(rows, k, dtype=torch.float32, seed=seed).to(kind)


def _case(
    arch: str,
    tile: tuple[int, int, int],
    problem: tuple[int, int, int],
    dtype: str,
    variant: str = "",
    *,
    triton: bool = True,
    **options: Any,
) -> Case:
    """One with preshuffled B; `variant` ends the name of the peer's entry, for its `options`."""
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
    names: dict[str, Any] = {**dict(zip(("tile_m", "tile_n", "tile_k"), tile, strict=True)), **options}

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
        operation="gemm async" if options.get("use_async_copy") else "gemm",
        dtype=dtype,
        shape=f"{m}x{n}x{k}",
        settings="tile " + "x".join(map(str, tile)),
        build=build,
        arguments=(c, a, shuffled, *scales, empty, m, n),
        outputs=(c,),
        error=lambda: largest_error(c, expected, 0.02, 2.0**-7),
        least_bytes=sum(one.numel() * one.element_size() for one in (a, b, c, *scales)),
        triton=_triton(arguments, scaled) if triton else (),
        peer=f"preshuffle_{dtype}_" + "x".join(map(str, tile)) + variant,
        peer_build=peer_build,
    )  # fmt: skip


def _row_major(
    problem: Sequence[int], config: GemmConfig, dtype: str = "fp16", peer: str | None = None, wide: Sequence[int] = ()
) -> Case:
    """One with row-major B; `wide` is the problem of the peer's entry."""
    from flydsl.kernels.gemm.row_major_gemm import compile_gemm

    kind = {"fp16": torch.float16, "bf16": torch.bfloat16}[dtype]
    empty = torch.empty(0, dtype=kind)

    def tensors(m: int, n: int, k: int) -> tuple[torch.Tensor, ...]:
        workspace = torch.empty(config.split_k * m * n if config.split_k > 1 else 0)
        return (
            torch.empty(m, n, dtype=kind),
            *(normal(*one, dtype=kind, seed=i) for i, one in enumerate(((m, k), (n, k)))),
            workspace,
        )

    def build(n: int, k: int) -> Any:
        return compile_gemm(N=n, K=k, config=config, in_dtype=dtype, out_dtype=dtype)

    def peer_build() -> tuple[Any, tuple[Any, ...]]:
        m, n, k = wide
        c, a, b, workspace = tensors(m, n, k)
        return build(n, k), (c, a, b, empty, empty, empty, empty, workspace, m)

    m, n, k = problem
    c, a, b, workspace = tensors(m, n, k)
    expected = a.double() @ b.double().t()
    arguments = {"a": a, "b": b, "c": c, "scale_a": empty, "scale_b": empty, "m": m, "n": n, "k": k}
    return Case(
        operation="gemm row-major",
        dtype=dtype,
        shape=f"{m}x{n}x{k}" + (f" in {config.split_k} parts" if config.split_k > 1 else ""),
        settings=f"tile {config.tile_m}x{config.tile_n}",
        build=lambda: build(n, k),
        arguments=(c, a, b, empty, empty, empty, empty, workspace, m),
        outputs=(c,),
        error=lambda: largest_error(c, expected, 0.02, 2.0**-7),
        least_bytes=sum(one.numel() * one.element_size() for one in (a, b, c)),
        triton=() if peer else _triton(arguments, False),
        peer=peer,
        peer_build=peer_build if peer else None,
    )


def _rowwise(arch: str, waves: int) -> Case:
    """The fp8 GEMM with a scale for each row, by the names that the peer's entries have."""
    from flydsl.kernels.gemm.fp8_gemm_4wave import compile_fp8_gemm_4w
    from flydsl.kernels.gemm.fp8_gemm_8wave import compile_fp8_gemm_8w

    m, n, k = 256, 256, 512
    compiler = compile_fp8_gemm_4w if waves == 4 else compile_fp8_gemm_8w
    a, b = _operand(arch, m, k, "fp8", 0), _operand(arch, n, k, "fp8", 1)
    c, scale_a, scale_b = torch.empty(m, n, dtype=torch.bfloat16), torch.rand(m) + 0.5, torch.rand(n) + 0.5
    expected = (a.double() @ b.double().t()) * scale_a.double()[:, None] * scale_b.double()

    def peer_build() -> tuple[Any, tuple[Any, ...]]:
        left, right = torch.empty(m, _WIDE, dtype=a.dtype), torch.empty(_WIDE, _WIDE, dtype=b.dtype)
        result = torch.empty(m, _WIDE, dtype=torch.bfloat16)
        return compiler(K=_WIDE), (left, right, result, torch.empty(m), torch.empty(_WIDE), m, _WIDE)

    return Case(
        operation="gemm row-wise",
        dtype="fp8",
        shape=f"{m}x{n}x{k} as of {waves} waves",
        settings="tile 256x256",
        build=lambda: compiler(K=k),
        arguments=(a, b, c, scale_a, scale_b, m, n),
        outputs=(c,),
        error=lambda: largest_error(c, expected, 0.02, 2.0**-7),
        least_bytes=sum(one.numel() * one.element_size() for one in (a, b, c, scale_a, scale_b)),
        peer=f"fp8_gemm_{waves}wave",
        peer_build=peer_build,
    )


def _triton(arguments: dict[str, Any], scaled: bool) -> tuple[TritonKernel, ...]:
    m, n = arguments["m"], arguments["n"]
    return tuple(
        TritonKernel("gemm", arguments, {"SCALED": scaled, "BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk, "GROUP": 4},
                     (-(-m // bm) * (n // bn), 1, 1), warps)
        for bm, bn, bk, warps in BLOCKS
        if n % bn == 0 and bm <= max(16, m)
    )  # fmt: skip
