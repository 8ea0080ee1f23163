# SPDX-License-Identifier: Apache-2.0
"""f16 and bf16 GEMM with split K by the names of older code: C (M, N) = A (M, K) B (N, K)^T + bias (N).

The kernel is that of `row_major_gemm`: sums are f32, A goes through LDS, B straight to registers, with `B_TO_LDS` both
through LDS (`common/mma/staged_loop.py`).

How parts of K meet depends on what there is to meet in. A launcher of `compile_hgemm_kernel` has no workspace: there a
first kernel writes the bias (or zeros) to C, and all parts add themselves by atomics on pairs of 16 bits, so that each
is rounded on its own and the last bits depend on the order of arrival. `hgemm_splitk_` has a workspace of torch's: its
parts stay f32, are added in order and rounded once. Neither needs semaphores: `semaphore` and `signal` (int32, 256 of
each) belong to implementations whose parts wait for each other, and are neither read nor written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flydsl.runtime.device import get_rocm_arch

from ..common.arch import COMPUTE_UNITS
from ..common.checks import positive_integer
from ..common.language import flyc, fx
from ..common.mma.instructions import matrix_product
from ..common.mma.mfma_epilogues import Epilogue
from ..common.mma.tile_plan import LDS_BYTES
from ..common.utils import cdiv
from .tile_gemm import build_tile_gemm
from .tile_spec import TileGemm

if TYPE_CHECKING:
    import torch

__all__ = ["compile_hgemm_kernel", "get_default_kwargs", "half_gemm", "hgemm_splitk_", "launcher_of"]

_DTYPES = {
    "bf16": "bf16", "f16": "fp16", "fp16": "fp16", "torch.bfloat16": "bf16", "torch.float16": "fp16",
}  # fmt: skip
_MOST_WAVES = 16
_MOST_PARTS = 16
_LEAST_DEPTH = 256  # elements of K that a part has by default


def half_gemm(
    what: str,
    dtype: str | torch.dtype,
    n: int,
    k: int,
    *,
    tile: tuple[int, int, int],
    stages: int,
    split_k: int,
    waves: tuple[int, int, int],
    b_to_lds: bool,
    bias: bool,
    waves_per_eu: int = 1,
) -> TileGemm:
    """The GEMM with these options, parts of K added by atomics; `waves` are along M, N and K.

    Raises ValueError, with the numbers and beginning with `what`, for those that no kernel has.
    """
    arch = get_rocm_arch().split(":")[0]
    matrix_product(arch, "bf16", 1)  # refuses other architectures
    kind = _DTYPES.get(str(dtype))
    if kind is None:
        raise ValueError(f"{what}: dtype {dtype!r} is not supported; use 'f16' or 'bf16'")
    numbers = {"n": n, "k": k, "STAGES": stages, "SPLIT_K": split_k}
    numbers |= dict(zip(("TILE_M", "TILE_N", "TILE_K"), tile, strict=True))
    numbers |= dict(zip(("BLOCK_M_WARPS", "BLOCK_N_WARPS", "BLOCK_K_WARPS"), waves, strict=True))
    for name, value in numbers.items():
        positive_integer(name, value)
    tile_m, tile_n, tile_k = tile
    count = waves[0] * waves[1] * waves[2]
    if count > _MOST_WAVES or count & (count - 1):
        raise ValueError(f"{what}: {' x '.join(map(str, waves))} warps are not 1, 2, 4, 8 or 16 waves")
    if tile_m % (16 * waves[0]) or tile_n % (16 * waves[1]):
        raise ValueError(
            f"{what}: TILE_M = {tile_m}, TILE_N = {tile_n} are no multiples of 16 for each of {waves[0]} x {waves[1]} "
            "waves"
        )
    if tile_k % 32:
        raise ValueError(f"{what}: TILE_K = {tile_k} is no multiple of 32")
    if n % tile_n:
        raise ValueError(f"{what}: n = {n} is no multiple of TILE_N = {tile_n}")
    if k % (split_k * tile_k):
        raise ValueError(f"{what}: k = {k} is no multiple of SPLIT_K * TILE_K = {split_k} * {tile_k}")
    tiles = k // (split_k * tile_k)
    if tiles < stages:
        raise ValueError(f"{what}: STAGES = {stages} needs as many tiles of TILE_K in a part of k, which has {tiles}")
    if stages < 2:
        raise ValueError(f"{what}: STAGES is 2 or more, got {stages}")
    if stages > 2 and (arch != "gfx950" or b_to_lds):
        have = "B_TO_LDS has two" if b_to_lds else f"{arch} has no loads of 16 bytes a lane to LDS, and so two"
        raise ValueError(f"{what}: STAGES = {stages}: {have}")
    if (tile_m, tile_n) == (256, 256) and (tile_k, stages, split_k) != (64, 2, 1):
        raise ValueError(f"{what}: a tile of 256 x 256 has TILE_K = 64, STAGES = 2 and SPLIT_K = 1")
    if b_to_lds and waves[2] > 1:
        raise ValueError(f"{what}: B_TO_LDS has no waves along K, got BLOCK_K_WARPS = {waves[2]}")
    if b_to_lds and 4 * (tile_m + tile_n) * tile_k > LDS_BYTES[arch]:
        raise ValueError(f"{what}: two stages of {tile_m} + {tile_n} rows of {tile_k} are more than the LDS of {arch}")
    gemm = TileGemm(
        arch=arch, N=n, K=k, in_dtype=kind, out_dtype=kind, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k,
        epilogue=Epilogue(bias=bias), shuffled=False, waves=waves[:2], k_waves=waves[2], buffers=stages,
        direct=stages > 2, split_k=split_k, staged="AB" if b_to_lds else None, atomic=split_k > 1,
        waves_per_eu=waves_per_eu,
    )  # fmt: skip
    if not b_to_lds and k * 2 // split_k % (64 * waves[2]):
        raise ValueError(f"{what}: a part of k, {k // split_k}, is no multiple of 32 for each of {waves[2]} waves")
    return gemm


def launcher_of(gemm: TileGemm, name: str, waves_per_eu: int = 0) -> Callable[..., None]:
    """The `@flyc.jit` function `(C, A, B, BIAS, m, semaphore, signal, stream)`."""
    multiply = build_tile_gemm(gemm, name)
    with_bias = gemm.epilogue.bias

    @flyc.jit
    def hgemm(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        BIAS: fx.Tensor,
        m: fx.Int32,
        semaphore: fx.Tensor,
        signal: fx.Tensor,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        extras = {"bias": BIAS} if with_bias else {}
        multiply(C, A, B, m, stream, **extras)

    if waves_per_eu:
        hgemm.compile_hints = {"waves_per_eu": waves_per_eu}
    built: Callable[..., None] = hgemm
    return built


def compile_hgemm_kernel(
    dtype: str | torch.dtype,
    n: int,
    k: int,
    TILE_M: int = 128,
    TILE_N: int = 128,
    TILE_K: int = 64,
    STAGES: int = 2,
    SPLIT_K: int = 1,
    BLOCK_M_WARPS: int = 2,
    BLOCK_N_WARPS: int = 2,
    BLOCK_K_WARPS: int = 1,
    B_TO_LDS: bool = False,
    HAS_BIAS: bool = False,
) -> Callable[..., None]:
    """Build the launcher `(C, A, B, BIAS, m, semaphore, signal, stream)`; the page's top says what it computes.

    Args:
        dtype: "f16" or "bf16", of all tensors.
        n, k: columns of C, a multiple of TILE_N, and what is summed over, of SPLIT_K * TILE_K.
        TILE_M, TILE_N: what a workgroup computes; TILE_K: of what a part of K is a multiple.
        STAGES: steps of A in LDS, at least as many as a part has of TILE_K; more than 2 on gfx950, without B_TO_LDS.
        SPLIT_K: into how many parts K is cut.
        BLOCK_M_WARPS, BLOCK_N_WARPS, BLOCK_K_WARPS: the grid of waves, 1, 2, 4, 8 or 16 of them.
        B_TO_LDS: B goes through LDS as A does, else straight to registers.
        HAS_BIAS: BIAS (n) is added; else it is not read, and may be empty.

    Raises:
        ValueError: a limit is not kept, with the numbers.
        ImportError: there is no compiler.
    """
    gemm = half_gemm(
        "compile_hgemm_kernel", dtype, n, k, tile=(TILE_M, TILE_N, TILE_K), stages=STAGES, split_k=SPLIT_K,
        waves=(BLOCK_M_WARPS, BLOCK_N_WARPS, BLOCK_K_WARPS), b_to_lds=bool(B_TO_LDS), bias=bool(HAS_BIAS),
    )  # fmt: skip
    return launcher_of(gemm, "hgemm")


def get_default_kwargs(m: int, n: int, k: int) -> dict[str, int]:
    """Options of `compile_hgemm_kernel` for a shape: large tiles where they fill the device, else parts of K.

    Raises ValueError for an n that is no multiple of 16, or a k that is none of 32.
    """
    for name, value, multiple in (("n", n, 16), ("k", k, 32)):
        positive_integer(name, value)
        if value % multiple:
            raise ValueError(f"get_default_kwargs: {name} = {value} is no multiple of {multiple}")
    units = COMPUTE_UNITS.get(get_rocm_arch().split(":")[0], 256)
    depth = 64 if k % 128 == 0 else 32
    shapes = [(16, 64), (32, 64)] if m <= 32 else [(128, 128), (64, 128), (64, 64)]
    shapes = [one for one in shapes if n % one[1] == 0 and (m > 32 or one[0] >= m)] or [(16 if m <= 16 else 32, 16)]
    full = [one for one in shapes if cdiv(m, one[0]) * (n // one[1]) >= units]
    rows, columns = full[0] if full else shapes[0 if m <= 32 else -1]
    tiles, split = cdiv(max(m, 1), rows) * (n // columns), 1
    while (
        2 * split <= _MOST_PARTS
        and 2 * split * tiles <= units
        and k % (4 * split * depth) == 0
        and k // (2 * split) >= _LEAST_DEPTH
    ):
        split *= 2
    along_m = 2 if rows >= 64 else 1
    along_n = 2 if columns >= 32 else 1
    if k // split // depth < 2:
        raise ValueError(f"get_default_kwargs: k = {k} is less than two steps of {depth}")
    return {
        "TILE_M": rows, "TILE_N": columns, "TILE_K": depth, "STAGES": 2, "SPLIT_K": split, "BLOCK_M_WARPS": along_m,
        "BLOCK_N_WARPS": along_n, "BLOCK_K_WARPS": 1,
    }  # fmt: skip


@lru_cache(maxsize=256)
def _built(arch: str, dtype: str, n: int, k: int, bias: bool, options: tuple[tuple[str, Any], ...]) -> Any:
    """The launcher `(C, A, B, BIAS, workspace, m, stream)` for all numbers of rows; `arch` only distinguishes."""
    given: dict[str, Any] = {
        "TILE_M": 128, "TILE_N": 128, "TILE_K": 64, "STAGES": 2, "SPLIT_K": 1, "BLOCK_M_WARPS": 2, "BLOCK_N_WARPS": 2,
        "BLOCK_K_WARPS": 1, "B_TO_LDS": False,
    }  # fmt: skip
    unknown = sorted(set(dict(options)) - set(given))
    if unknown:
        raise ValueError(f"hgemm_splitk_: unknown option {unknown[0]!r}; there are {', '.join(given)}")
    given |= dict(options)
    gemm = half_gemm(
        "hgemm_splitk_", dtype, n, k, tile=(given["TILE_M"], given["TILE_N"], given["TILE_K"]),
        stages=given["STAGES"], split_k=given["SPLIT_K"], b_to_lds=bool(given["B_TO_LDS"]), bias=bias,
        waves=(given["BLOCK_M_WARPS"], given["BLOCK_N_WARPS"], given["BLOCK_K_WARPS"]),
    )  # fmt: skip
    multiply = build_tile_gemm(replace(gemm, atomic=False), "hgemm_splitk")
    parts = given["SPLIT_K"]

    @flyc.jit
    def hgemm_splitk(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        BIAS: fx.Tensor,
        workspace: fx.Tensor,
        m: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        extras = {"bias": BIAS} if bias else {}
        if fx.const_expr(parts > 1):
            extras["workspace"] = workspace
        multiply(C, A, B, m, stream, **extras)

    return hgemm_splitk, parts


def hgemm_splitk_(
    c: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    bias: torch.Tensor | None = None,
    hgemm_kwargs: Mapping[str, Any] | None = None,
    stream: int | None = None,
) -> torch.Tensor:
    """Write a b^T + bias to c, and return it.

    Args:
        c: (..., N) contiguous, of the type of a.
        a: (..., K) float16 or bfloat16, contiguous; the leading dimensions are those of c.
        b: (N, K) of the same type, contiguous.
        bias: (N) of the same type, or None.
        hgemm_kwargs: options of `compile_hgemm_kernel` but HAS_BIAS; by default those of `get_default_kwargs`.
        stream: where to launch, by default torch's current stream.

    A kernel is compiled once for a type, N, K and options. A workspace for parts of K is torch's.

    Raises ValueError for a shape, type, device or option that does not fit, by name.
    """
    import torch

    if a.dtype not in (torch.float16, torch.bfloat16):
        raise ValueError(f"hgemm_splitk_: a is {a.dtype}; use float16 or bfloat16")
    if a.dim() < 1 or b.dim() != 2 or a.shape[-1] != b.shape[1]:
        raise ValueError(f"hgemm_splitk_: expected a (..., K) and b (N, K), got {tuple(a.shape)} and {tuple(b.shape)}")
    n, k = (int(one) for one in b.shape)
    m = a.numel() // k if k else 0
    wanted = [("c", c, (*a.shape[:-1], n)), ("b", b, (n, k)), ("bias", bias, (n,))]
    for name, tensor, shape in wanted:
        if tensor is None:
            continue
        if tuple(tensor.shape) != shape or tensor.dtype != a.dtype:
            got = f"{tuple(tensor.shape)} of {tensor.dtype}"
            raise ValueError(f"hgemm_splitk_: {name}: expected {shape} of {a.dtype}, got {got}")
        if tensor.device != a.device:
            raise ValueError(f"hgemm_splitk_: {name} is on {tensor.device}, a on {a.device}")
    for name, tensor in (("a", a), ("b", b), ("c", c), ("bias", bias)):
        if tensor is not None and (not tensor.is_contiguous() or tensor.data_ptr() % 16):
            raise ValueError(f"hgemm_splitk_: {name} must be contiguous and begin at a multiple of 16 bytes")
    options = dict(hgemm_kwargs or {})
    if bool(options.pop("HAS_BIAS", bias is not None)) != (bias is not None):
        raise ValueError("hgemm_splitk_: HAS_BIAS says another thing than bias")
    if not options:
        options = get_default_kwargs(m, n, k)
    arch = get_rocm_arch().split(":")[0]
    launch, parts = _built(arch, str(a.dtype), n, k, bias is not None, tuple(sorted(options.items())))
    if m == 0:
        return c
    if stream is None and a.is_cuda:
        stream = torch.cuda.current_stream(a.device).cuda_stream
    workspace = a.new_empty(parts * m * n if parts > 1 else 0, dtype=torch.float32)
    none = a.new_empty(0) if bias is None else bias
    launch(c.view(m, n), a.view(m, k), b, none, workspace, m, stream)
    return c
