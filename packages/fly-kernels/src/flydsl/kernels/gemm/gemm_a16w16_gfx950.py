# SPDX-License-Identifier: Apache-2.0
"""f16 and bf16 GEMM with split K, by the names that its users know: out = A B + bias of torch tensors.

The kernel is that of `row_major_gemm`; despite the name it runs on gfx942 as well. Differences from other
implementations of this interface: K parts meet in a workspace and are added in order, so that results are reproducible
and no semaphores are needed; only A goes through LDS, B to registers, a stage ahead. `stages` is how many LDS buffers
of A are filled ahead, more than two by loads that go directly to LDS (gfx950). Loads and LDS reads always lie between
the products of the phase before them, so `use_half_tile_interleaved` asks for what there is and is checked only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flydsl.runtime.device import get_rocm_arch

from ..common.mma.tile_plan import LDS_BYTES, plan_tile
from .config import GemmConfig
from .dispatch import multiply

if TYPE_CHECKING:
    import torch

__all__ = [
    "GemmA16W16Param",
    "gemm_a16w16",
    "gemm_a16w16_gfx950",
    "make_gemm_a16w16_gfx950_kernel_name",
    "make_gemm_a16w16_gfx950_param",
    "make_gemm_a16w16_param_and_validate",
]

DTYPE_IDS = {"f32": 1, "bf16": 2, "fp16": 3}
_DTYPES = {number: name for name, number in DTYPE_IDS.items()}
_MOST_WAVES = 16
_STORAGES = {"n": "row-major", "t": "column-major"}


@dataclass(frozen=True)
class GemmA16W16Param:
    """How the product is cut up; see `GemmConfig`, and `DTYPE_IDS` for the types."""

    dtype: int = 2
    out_dtype: int = 2
    block_m: int = 256
    block_n: int = 256
    block_k: int = 64
    stages: int = 2
    split_k: int = 1
    m_waves: int = 2
    n_waves: int = 4
    k_waves: int = 1
    group_m: int = 0
    use_half_tile_interleaved: bool = False

    @property
    def config(self) -> GemmConfig:
        """The same for the kernel."""
        return GemmConfig(
            self.block_m, self.block_n, self.block_k, self.split_k, (self.m_waves, self.n_waves), self.k_waves,
            lds_stage=self.stages, use_async_copy=self.stages > 2, group_m=self.group_m,
        )  # fmt: skip


def make_gemm_a16w16_gfx950_param(**numbers: Any) -> GemmA16W16Param:
    """Check and keep the numbers; those left out have the defaults of `GemmA16W16Param`.

    Raises ValueError for an unknown name, numbers that do not divide each other, more than 16 waves, fewer than two
    stages, or more than two on an architecture without the loads for them, types without a kernel, and tiles that do
    not fit LDS.
    """
    unknown = sorted(set(numbers) - set(GemmA16W16Param.__dataclass_fields__))
    if unknown:
        known = ", ".join(GemmA16W16Param.__dataclass_fields__)
        raise ValueError(f"gemm_a16w16 has no parameter {', '.join(map(repr, unknown))}; it has {known}")
    param = GemmA16W16Param(**numbers)
    if param.dtype not in (2, 3) or param.out_dtype not in (param.dtype, 1):
        raise ValueError(
            f"dtype is 2 (bf16) or 3 (fp16) and out_dtype the same or 1 (f32), got {param.dtype} and {param.out_dtype}"
        )
    if param.m_waves * param.n_waves * param.k_waves > _MOST_WAVES:
        raise ValueError(
            f"m_waves * n_waves * k_waves = {param.m_waves} * {param.n_waves} * {param.k_waves} is more than 16 waves"
        )
    if isinstance(param.stages, bool) or not isinstance(param.stages, int) or param.stages < 2:
        raise ValueError(f"stages must be at least 2, got {param.stages!r}")
    arch = get_rocm_arch().split(":")[0]
    if arch not in LDS_BYTES:
        raise ValueError(f"gemm_a16w16 is written for {' and '.join(LDS_BYTES)}, not for {arch}")
    if param.stages > 2 and arch != "gfx950":
        raise ValueError(
            f"stages = {param.stages}: more than 2 need the loads of 16 bytes a lane to LDS of gfx950, not of {arch}"
        )
    name, config = _DTYPES[param.dtype], param.config
    config.check(arch, name, 16, param.block_k * param.split_k * param.k_waves, shuffled=False)
    plan_tile(
        arch, name, 2, K=param.block_k * param.k_waves, tile_m=param.block_m, tile_n=param.block_n,
        buffers=param.stages, waves=(param.m_waves, param.n_waves), shuffled=False,
        k_waves=param.k_waves, direct=config.use_async_copy,
    ).check()  # fmt: skip
    return param


def _check_depth(param: GemmA16W16Param, k: int) -> None:
    """ValueError when K has not the tiles that the parameters need."""
    tiles, rest = divmod(k, param.split_k * param.block_k)
    if rest:
        return  # `GemmConfig.check` says so
    if param.use_half_tile_interleaved and tiles % 2:
        raise ValueError(
            f"use_half_tile_interleaved needs an even number of tiles along K: K / split_k = {k // param.split_k} are "
            f"{tiles} of block_k = {param.block_k}"
        )
    if tiles < param.stages - 1:
        raise ValueError(
            f"stages = {param.stages} needs {param.stages - 1} tiles along K or more: K / split_k = "
            f"{k // param.split_k} are {tiles} of block_k = {param.block_k}"
        )


def make_gemm_a16w16_param_and_validate(m: int, n: int, k: int, kwargs: Mapping[str, Any]) -> GemmA16W16Param | None:
    """The parameters for a shape, or None when the kernel does not take it with them."""
    try:
        param = make_gemm_a16w16_gfx950_param(**kwargs)
        _check_depth(param, k)
        param.config.check(get_rocm_arch().split(":")[0], _DTYPES[param.dtype], n, k, shuffled=False)
    except (TypeError, ValueError):
        return None
    return param if m >= 1 else None


def make_gemm_a16w16_gfx950_kernel_name(param: GemmA16W16Param) -> str:
    """A name with all that distinguishes the kernel of `param`."""
    tile = f"{param.block_m}x{param.block_n}x{param.block_k}"
    waves = f"{param.m_waves}x{param.n_waves}x{param.k_waves}"
    types = f"{_DTYPES[param.dtype]}_{_DTYPES[param.out_dtype]}"
    return f"gemm_a16w16_{types}_{tile}_s{param.stages}_split{param.split_k}_w{waves}_g{param.group_m}"


def gemm_a16w16(
    a: torch.Tensor,
    b: torch.Tensor,
    out: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    user_kwargs: Mapping[str, Any] | None = None,
    stream: Any = None,
    layout: str = "nt",
    out_dtype: Any = None,
) -> torch.Tensor:
    """Return A B + bias.

    Args:
        a: (M, K), f16 or bf16.
        b: (K, N), of the same type.
        out: (M, N) contiguous, of that type or f32; made when left out.
        bias: (N), of the type of `out`.
        user_kwargs: fields of `GemmA16W16Param` but the types; by default `default_config` decides.
        stream: where to launch.
        layout: storage of A and of B, "n" row-major, "t" column-major. With "nt" K lies in one piece in both, which is
            what the kernel reads; an operand stored otherwise is copied first, one more read and write of it.
        out_dtype: type of `out` when it is made; by default that of `a`.

    Raises ValueError for a storage that is not as `layout` says, for a shape, type or alignment without a kernel, and
    for parameters that do not fit, with the reason.
    """
    import torch

    if layout not in ("nn", "nt", "tn", "tt"):
        raise ValueError(f"layout is 'nn', 'nt', 'tn' or 'tt' (n: row-major, t: column-major), got {layout!r}")
    if a.dtype not in (torch.float16, torch.bfloat16):
        raise ValueError(f"gemm_a16w16 takes float16 and bfloat16, not {a.dtype}")
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0]:
        raise ValueError(f"gemm_a16w16: expected a (M, K) and b (K, N), got {tuple(a.shape)} and {tuple(b.shape)}")
    if out is None:
        out = a.new_empty((a.shape[0], b.shape[1]), dtype=out_dtype or a.dtype)
    elif out_dtype is not None and out.dtype != out_dtype:
        raise ValueError(f"gemm_a16w16: out is {out.dtype}, out_dtype {out_dtype}")
    if out.dtype not in (a.dtype, torch.float32):
        raise ValueError(f"gemm_a16w16: out is of the type of a or float32, not {out.dtype}")
    config = None
    if user_kwargs:
        ids = {torch.float32: 1, torch.bfloat16: 2, torch.float16: 3}
        numbers = {"dtype": ids[a.dtype], "out_dtype": ids[out.dtype], **user_kwargs}
        param = make_gemm_a16w16_gfx950_param(**numbers)
        _check_depth(param, a.shape[1])
        config = param.config
    for name, tensor, storage in (("a", a, layout[0]), ("b", b, layout[1])):
        strides = tensor.stride()
        along = 1 if storage == "n" else 0
        if tensor.shape[along] > 1 and strides[along] != 1:
            kind = _STORAGES[storage]
            raise ValueError(f"gemm_a16w16: layout {layout!r} says that {name} is {kind}; its strides are {strides}")
    left = a if layout[0] == "n" else a.contiguous()
    right = b.t() if layout[1] == "t" else b.t().contiguous()
    return multiply(left, right, out, bias=bias, config=config, stream=stream)


def gemm_a16w16_gfx950(
    out: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    bias: torch.Tensor | None,
    semaphore: Any,
    signal: Any,
    split_k: int,
    param: GemmA16W16Param,
    stream: Any = None,
) -> None:
    """out = A B + bias with given parameters, in the layout "nt": a (M, K), and b (K, N) with its columns in one piece.

    `semaphore` and `signal` belong to implementations whose K parts meet by atomics; they are neither read nor written.

    Raises ValueError when `split_k` is not that of `param`, else as `gemm_a16w16`.
    """
    del semaphore, signal
    if split_k != param.split_k:
        raise ValueError(f"gemm_a16w16: split_k = {split_k}, but the parameters say {param.split_k}")
    numbers = {name: getattr(param, name) for name in GemmA16W16Param.__dataclass_fields__}
    gemm_a16w16(a, b, out, bias, numbers, stream)
