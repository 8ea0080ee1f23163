# SPDX-License-Identifier: Apache-2.0
"""The names by which existing code finds the preshuffled GEMM."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from flydsl.runtime.device import get_rocm_arch

from .common.checks import positive_integer
from .common.language import flyc, fx
from .gemm.blockscale_preshuffle_gemm import build_blockscale_gemm
from .gemm.mx_gemm import build_mx_gemm, check_mx_target
from .gemm.preshuffle_gemm import build_preshuffle_gemm, compile_preshuffle_gemm

if TYPE_CHECKING:
    import torch

__all__ = [
    "compile_preshuffle_gemm",
    "compile_preshuffle_gemm_a8",
    "compile_preshuffle_gemm_w4",
    "flydsl_preshuffle_gemm_a8",
]

SCALE_MODES = ("epilogue", "blockscale")
_MX = {"fp4": "fp4", "fp6": "fp6", "a8w4": "fp8"}  # formats of A, beside weights of MXFP4


def compile_preshuffle_gemm_a8(
    *,
    M: int,
    N: int,
    K: int,
    tile_m: int,
    tile_n: int,
    tile_k: int,
    in_dtype: str = "fp8",
    lds_stage: int = 2,
    use_cshuffle_epilog: bool = False,
    out_dtype: str | None = None,
    split_k: int = 1,
    scale_mode: str = "epilogue",
    **options: Any,
) -> Callable[..., Any]:
    """Build the launcher `(C, A, B, scale_a, scale_b, M, N, stream)` of `gemm.preshuffle_gemm` without bias.

    All tensors may be flattened, the scales of 16-bit types are empty, and the output's type, "fp16" or "bf16", is that
    of C, which has to be `out_dtype` if that is given. M documents the caller's intent: the number of rows is an
    argument of the launch. With `use_cshuffle_epilog` the results go through LDS and leave in whole rows of the tile,
    16 bytes a lane; else each lane stores the 8 bytes that it has. `options` are those of `compile_preshuffle_gemm`
    but `epilogue`.

    `in_dtype="int4"` (W4A8) multiplies A of int8 with weights of int4: B is `gemm.int4_weights.pack_int4` of the
    shuffled int8 values -8 to 7, two a byte, and K < 131072. They are unpacked in registers.

    `in_dtype` "fp4", "fp6" and "a8w4" (gfx950) are `gemm.mx_gemm`: A of that format ("a8w4": fp8), B of MXFP4, E8M0
    scales of both in the order of `shuffle_scale`. They take neither `preload`, `lds_stage` = 1 nor `split_k`.

    `scale_mode="blockscale"` is the arithmetic of `gemm.blockscale_preshuffle_gemm`, for fp8: `scale_a` (K / 128, M)
    and `scale_b` (ceil(N / 128), K / 128). It takes neither `preload` nor `lds_stage` = 1.

    With `split_k` > 1 K is cut into so many parts, and the launcher is `(C, A, B, scale_a, scale_b, workspace,
    semaphores, M, N, stream)`: `workspace` has split_k M N f32, in which the parts meet; a second kernel adds them in
    order, so that nothing has to be zeroed and results are reproducible. `semaphores` (int32, one for each tile) belong
    to implementations whose parts wait for each other; they are neither read nor written.

    Raises:
        ValueError: as `compile_preshuffle_gemm`; M or a flag that is no number; an unknown scale mode.
    """
    positive_integer("M", M)
    positive_integer("split_k", split_k)
    if not isinstance(use_cshuffle_epilog, (bool, int)):
        raise ValueError(f"use_cshuffle_epilog is a bool, got {use_cshuffle_epilog!r}")
    given = sorted({"epilogue", "shuffled_store"} & set(options))
    if given:
        raise ValueError(f"compile_preshuffle_gemm_a8 takes no {given[0]}; compile_preshuffle_gemm does")
    if scale_mode not in SCALE_MODES:
        raise ValueError(f"scale_mode {scale_mode!r} is not supported; use one of {', '.join(SCALE_MODES)}")
    numbers: dict[str, Any] = {
        "N": N, "K": K, "tile_m": tile_m, "tile_n": tile_n, "tile_k": tile_k, "split_k": split_k,
        "shuffled_store": bool(use_cshuffle_epilog), **options,
    }  # fmt: skip
    build: Any = build_preshuffle_gemm
    if in_dtype in _MX:
        if scale_mode != "epilogue" or lds_stage != 2 or numbers.pop("preload", None) is not None:
            raise ValueError(f"in_dtype {in_dtype!r} has E8M0 scales, lds_stage = 2 and no preload")
        if numbers.pop("split_k") != 1:
            raise ValueError(f"split_k = {split_k}: in_dtype {in_dtype!r} is not cut along K")
        what = f"compile_preshuffle_gemm_a8(in_dtype={in_dtype!r})"
        build = partial(build_mx_gemm, what, a_format=_MX[in_dtype], b_format="fp4", error=ValueError)
    elif scale_mode == "blockscale":
        build = build_blockscale_gemm
        if in_dtype != "fp8":
            raise ValueError(f"scale_mode 'blockscale' is for in_dtype 'fp8', not for {in_dtype!r}")
        if lds_stage != 2 or numbers.pop("preload", None) is not None:
            raise ValueError("scale_mode 'blockscale' has lds_stage = 2 and no preload")
    else:
        numbers |= {"lds_stage": lds_stage, "in_dtype": in_dtype}
    outputs = ("fp16", "bf16") if out_dtype is None else (out_dtype,)
    launches = {name: build(**numbers, out_dtype=name) for name in outputs}

    def launch_of(C: Any) -> Any:
        kinds: dict[Any, str] = {fx.Float16: "fp16", fx.BFloat16: "bf16"}
        if kinds.get(C.element_type) not in launches:
            wanted = " or ".join(kind.__name__ for kind, name in kinds.items() if name in launches)
            raise TypeError(f"argument 'C': expected {wanted}, got {C.element_type.__name__}")
        return launches[kinds[C.element_type]]

    @flyc.jit
    def preshuffle_gemm_a8(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        M: fx.Int32,
        N: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        launch_of(C)(C, A, B, M, N, stream, scale_a=scale_a, scale_b=scale_b)

    @flyc.jit
    def preshuffle_gemm_a8_split(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        workspace: fx.Tensor,
        semaphores: fx.Tensor,
        M: fx.Int32,
        N: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        launch_of(C)(C, A, B, M, N, stream, scale_a=scale_a, scale_b=scale_b, workspace=workspace)

    built = preshuffle_gemm_a8 if split_k == 1 else preshuffle_gemm_a8_split
    if options.get("waves_per_eu"):
        built.compile_hints = {"waves_per_eu": options["waves_per_eu"]}
    return built


def compile_preshuffle_gemm_w4(
    *,
    M: int = 0,
    N: int = 0,
    K: int,
    tile_m: int,
    tile_n: int,
    tile_k: int,
    a_dtype: str = "fp4",
    b_dtype: str = "fp4",
    out_dtype: str = "bf16",
    lds_stage: int = 2,
    use_cshuffle_epilog: bool = False,
    waves_per_eu: int | None = None,
    use_async_copy: bool = False,
    dsrd_preload: int = 2,
    dvmem_preload: int = 2,
    xcd_swizzle: int = 0,
    epilogue: str = "none",
) -> Callable[..., None]:
    """Build the launcher `(C, A, B, scale_a, scale_b, bias, M, N, stream)` of `gemm.mx_gemm`, B of MXFP4 and shuffled.

    Args:
        M, N: 0, or what the launches will have: other columns are refused then. A kernel is compiled for each N.
        K, tile_m, tile_n, tile_k: as there; `tile_k` is 128 or a multiple of 256.
        a_dtype: "fp4" or "fp6".
        b_dtype: "fp4".
        out_dtype: "bf16" or "fp16".
        lds_stage: 2.
        epilogue: "none", "bias", "bias_relu", "bias_silu" or "bias_gelu", not with `use_cshuffle_epilog`. The bias is
            of C's type, and empty where there is none.
        dsrd_preload, dvmem_preload: reads of LDS and memory before the first product, for implementations that leave
            this to the caller; checked only: a block of A and a step of B always are ahead.

    The others are those of `compile_preshuffle_gemm_a8`.

    Raises:
        RuntimeError: the target is not gfx950.
        NotImplementedError: `a_dtype` "fp8": `compile_preshuffle_gemm_a8(in_dtype="a8w4")` has it.
        ValueError: a limit of `gemm.mx_gemm` is not kept, or an option is none of the above.
    """
    check_mx_target("compile_preshuffle_gemm_w4")
    if a_dtype == "fp8":
        raise NotImplementedError(
            "compile_preshuffle_gemm_w4 has no a_dtype 'fp8'; use compile_preshuffle_gemm_a8(in_dtype='a8w4')"
        )
    if a_dtype not in ("fp4", "fp6") or b_dtype != "fp4":
        raise ValueError(f"a_dtype is 'fp4' or 'fp6' and b_dtype 'fp4', got {a_dtype!r} and {b_dtype!r}")
    if lds_stage != 2:
        raise ValueError(f"lds_stage is 2, got {lds_stage!r}")
    if tile_k != 128 and tile_k % 256:
        raise ValueError(f"tile_k = {tile_k} is neither 128 nor a multiple of 256")
    for name, value in (("M", M), ("N", N), ("dsrd_preload", dsrd_preload), ("dvmem_preload", dvmem_preload)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"{name} is a non-negative int, got {value!r}")
    if use_cshuffle_epilog and epilogue != "none":
        raise ValueError(f"epilogue {epilogue!r} is not there with use_cshuffle_epilog: choose one")

    @lru_cache(maxsize=64)
    def gemm(columns: int) -> Any:
        return build_mx_gemm(
            "compile_preshuffle_gemm_w4", N=columns, K=K, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k,
            a_format=a_dtype, b_format=b_dtype, out_dtype=out_dtype, epilogue=epilogue,
            shuffled_store=use_cshuffle_epilog, waves_per_eu=waves_per_eu, use_async_copy=use_async_copy,
            xcd_swizzle=xcd_swizzle,
        )  # fmt: skip

    gemm(N or tile_n)  # refuses what no N makes possible
    with_bias = epilogue != "none"

    def launch(C: Any, A: Any, B: Any, bias: Any, M: Any, n: Any, stream: Any, columns: int, **scales: Any) -> None:
        extras = {"bias": bias} if with_bias else {}
        gemm(columns)(C, A, B, M, n, stream, **scales, **extras)

    @flyc.jit
    def preshuffle_gemm_w4(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        bias: fx.Tensor,
        M: fx.Int32,
        N: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        launch(C, A, B, bias, M, N, stream, built_for, scale_a=scale_a, scale_b=scale_b)

    @flyc.jit
    def preshuffle_gemm_w4_any(
        C: fx.Tensor,
        A: fx.Tensor,
        B: fx.Tensor,
        scale_a: fx.Tensor,
        scale_b: fx.Tensor,
        bias: fx.Tensor,
        M: fx.Int32,
        N: fx.Constexpr[int],
        stream: fx.Stream = fx.Stream(None),
    ) -> None:
        launch(C, A, B, bias, M, fx.Int32(N), stream, N, scale_a=scale_a, scale_b=scale_b)

    built_for = N
    built: Any = preshuffle_gemm_w4 if N else preshuffle_gemm_w4_any
    if waves_per_eu:
        built.compile_hints = {"waves_per_eu": waves_per_eu}
    launcher: Callable[..., None] = built
    return launcher


@lru_cache(maxsize=256)
def _built(arch: str, *items: tuple[str, Any]) -> Any:
    """One launcher for all numbers of rows; `arch` only distinguishes."""
    return compile_preshuffle_gemm_a8(M=1, **dict(items))


def flydsl_preshuffle_gemm_a8(
    XQ: torch.Tensor,
    WQ: torch.Tensor,
    x_scale: torch.Tensor,
    w_scale: torch.Tensor,
    Out: torch.Tensor,
    tile_m: int,
    tile_n: int,
    tile_k: int,
    use_async_copy: bool = False,
    waves_per_eu: int = 0,
    xcd_swizzle: int = 0,
    lds_stage: int = 2,
    enable_scheduler: bool = True,
    split_k: int = 1,
    *,
    scale_mode: str = "epilogue",
) -> torch.Tensor:
    """`compile_preshuffle_gemm_a8` of torch tensors: write XQ WQ^T with scales to Out, and return it.

    Args:
        XQ: (M, K) fp8 or int8.
        WQ: (N, K) of the same type, in the order of `shuffle_weight`.
        x_scale, w_scale: f32, (M) and (N); with `scale_mode="blockscale"` (K / 128, M) and (ceil(N / 128), K / 128).
        Out: (M, N) bf16 or fp16.

    The other arguments are those of `compile_preshuffle_gemm_a8`. A workspace for `split_k` > 1 is torch's.

    Raises ValueError for what does not fit, with the name and the numbers.
    """
    if XQ.dim() != 2 or WQ.dim() != 2 or XQ.shape[1] != WQ.shape[1]:
        raise ValueError(
            f"flydsl_preshuffle_gemm_a8: expected XQ (M, K), WQ (N, K), got {tuple(XQ.shape)}, {tuple(WQ.shape)}"
        )
    (M, K), N = XQ.shape, WQ.shape[0]
    options: dict[str, Any] = {
        "N": N, "K": K, "tile_m": tile_m, "tile_n": tile_n, "tile_k": tile_k, "lds_stage": lds_stage,
        "in_dtype": "int8" if str(XQ.dtype) == "torch.int8" else "fp8", "use_async_copy": bool(use_async_copy),
        "waves_per_eu": waves_per_eu or None, "xcd_swizzle": xcd_swizzle, "enable_scheduler": bool(enable_scheduler),
        "split_k": split_k, "scale_mode": scale_mode,
    }  # fmt: skip
    launch = _built(get_rocm_arch().split(":")[0], *options.items())
    stream = _stream_of(XQ)
    scales = x_scale.reshape(-1), w_scale.reshape(-1)
    if split_k == 1:
        launch(Out, XQ, WQ, *scales, M, N, stream)
    else:
        workspace = x_scale.new_empty(split_k * M * N)
        launch(Out, XQ, WQ, *scales, workspace, workspace[:0], M, N, stream)
    return Out


def _stream_of(tensor: torch.Tensor) -> Any:
    """torch's current stream; None on the emulated device, where tensors are on the CPU."""
    if not tensor.is_cuda:
        return None
    import torch

    return torch.cuda.current_stream(tensor.device).cuda_stream
