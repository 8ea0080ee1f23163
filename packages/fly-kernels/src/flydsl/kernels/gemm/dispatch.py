# SPDX-License-Identifier: Apache-2.0
"""From torch tensors to a launch: checks with names, the configuration, the workspace, and one compilation a shape."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flydsl.runtime.device import get_rocm_arch

from ..common.arch import COMPUTE_UNITS, WMMA_CHIPS, float8_of
from ..common.mma.mfma_epilogues import ACTIVATIONS, Epilogue
from .arguments import ELEMENT_BYTES
from .config import GemmConfig, default_config
from .hopper_config import HopperConfig, default_hopper_config
from .hopper_gemm import compile_hopper_gemm
from .row_major_gemm import compile_gemm

if TYPE_CHECKING:
    import torch

__all__ = ["PACKED", "check_operands", "dtype_name", "multiply"]

_NAMES = {
    "torch.float16": "fp16",
    "torch.bfloat16": "bf16",
    "torch.float32": "f32",
    "torch.int8": "int8",
    "torch.float8_e4m3fnuz": "fp8",
    "torch.float8_e4m3fn": "fp8",
}


PACKED = {"int4": "int4x2", "uint4": "uint4x2"}
"""The core's names of types of which a byte holds two; torch has none for them."""


def dtype_name(dtype: torch.dtype) -> str:
    """The name that builders give to a torch type; ValueError for one that no GEMM takes."""
    name = _NAMES.get(str(dtype))
    if name is None:
        raise ValueError(f"gemm: {dtype} is not supported; use one of {', '.join(_NAMES)}")
    return name


def _operand_name(a: torch.Tensor, in_dtype: str | None) -> str:
    """The core's name of the operands' type: of a tensor's own, or of what its bytes hold.

    Raises ValueError for what no GEMM takes.
    """
    if in_dtype is None:
        return dtype_name(a.dtype)
    if in_dtype not in PACKED:
        raise ValueError(f"gemm: in_dtype {in_dtype!r} is not supported; use one of {', '.join(PACKED)}, or none")
    if str(a.dtype) not in ("torch.int8", "torch.uint8"):
        raise ValueError(f"gemm: {in_dtype} come two a byte, as int8 or uint8, not as {a.dtype}")
    return PACKED[in_dtype]


def check_operands(
    a: torch.Tensor,
    b: torch.Tensor,
    *,
    scale_a: torch.Tensor | None = None,
    scale_b: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    residual: torch.Tensor | None = None,
    out: torch.Tensor | None = None,
    out_dtype: Any,
    activation: str = "none",
    in_dtype: str | None = None,
) -> tuple[int, int, int]:
    """(M, N, K) of C = act(A B^T * scales + bias) + residual; K counts what tensors hold, bytes of two of `in_dtype`.

    Raises ValueError, by the name of the argument, for a shape, type or device that does not fit the others.
    """
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[1]:
        raise ValueError(f"gemm: expected a (M, K) and b (N, K), got {tuple(a.shape)} and {tuple(b.shape)}")
    if a.dtype != b.dtype:
        raise ValueError(f"gemm: a and b must have one type, got {a.dtype} and {b.dtype}")
    name = _operand_name(a, in_dtype)
    if name == "f32":
        raise ValueError("gemm: f32 operands have no kernel; use f16, bf16, fp8 or int8")
    if activation not in ACTIVATIONS:
        raise ValueError(f"gemm: activation {activation!r} is not supported; use one of {', '.join(ACTIVATIONS)}")
    (m, k), n = a.shape, b.shape[0]
    scaled = ELEMENT_BYTES[name] == 1
    if scaled and (scale_a is None or scale_b is None):
        raise ValueError(f"gemm: {in_dtype or a.dtype} needs scale_a and scale_b")
    if not scaled and (scale_a is not None or scale_b is not None):
        raise ValueError(f"gemm: scales are for 8-bit types and int4, not for {a.dtype}")
    wanted: list[tuple[str, torch.Tensor | None, tuple[int, ...], str]] = [
        ("scale_a", scale_a, (m,), "torch.float32"),
        ("scale_b", scale_b, (n,), "torch.float32"),
        ("bias", bias, (n,), str(out_dtype)),
        ("residual", residual, (m, n), str(out_dtype)),
        ("out", out, (m, n), str(out_dtype)),
    ]
    for what, tensor, shape, kind in wanted:
        if tensor is None:
            continue
        for_all = what.startswith("scale") and tensor.numel() == 1
        if (tuple(tensor.shape) != shape and not for_all) or str(tensor.dtype) != kind:
            got = f"{tuple(tensor.shape)} of {tensor.dtype}"
            or_one = ", or one number" if what.startswith("scale") else ""
            raise ValueError(f"gemm: {what}: expected {shape} of {kind}{or_one}, got {got}")
        if not tensor.is_contiguous():
            raise ValueError(f"gemm: {what} must be contiguous")
    for what, tensor in [("b", b), *((one[0], one[1]) for one in wanted)]:
        if tensor is not None and tensor.device != a.device:
            raise ValueError(f"gemm: {what} is on {tensor.device}, a on {a.device}")
    return int(m), int(n), int(k)


def multiply(
    a: torch.Tensor,
    b: torch.Tensor,
    out: torch.Tensor,
    *,
    scale_a: torch.Tensor | None = None,
    scale_b: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    residual: torch.Tensor | None = None,
    activation: str = "none",
    shuffled: bool = False,
    in_dtype: str | None = None,
    config: GemmConfig | HopperConfig | None = None,
    stream: Any = None,
) -> torch.Tensor:
    """Write C = act(A B^T * scales + bias) + residual to `out` and return it.

    A (M, K) and B (N, K) of one type, with unit stride along K and rows that begin at multiples of 16 bytes; scales are
    (M) and (N), or one number for all; `shuffled` says that B is in the order of `shuffle_weight`. With `in_dtype`
    "int4" or "uint4" they are bytes of two (`pack_int4_pairs`), as many as K / 2, and the target is gfx1100 or gfx1201.
    The first call for a shape class compiles. On sm_90a rows of `out` begin at multiples of 16 bytes too, there are no
    shuffled weights, and a `config` is a `HopperConfig`, elsewhere a `GemmConfig`.

    Raises ValueError for operands that do not fit each other or that no kernel takes, with the reason.
    """
    m, n, k = check_operands(
        a, b, scale_a=scale_a, scale_b=scale_b, bias=bias, residual=residual, out=out, out_dtype=out.dtype,
        activation=activation, in_dtype=in_dtype,
    )  # fmt: skip
    arch = get_rocm_arch().split(":")[0]
    hopper = arch == "sm_90a"
    if in_dtype is not None and arch not in WMMA_CHIPS:
        raise ValueError(
            f"gemm: {arch} has no instruction that multiplies two {in_dtype}, {' and '.join(WMMA_CHIPS)} have; unpack "
            "them to int8"
        )
    kind = _operand_name(a, in_dtype)
    if kind == "fp8" and (arch in COMPUTE_UNITS or hopper) and str(a.dtype) != f"torch.{float8_of(arch).torch_name}":
        raise ValueError(f"gemm: {arch} computes with torch.{float8_of(arch).torch_name}, not with {a.dtype}")
    if k == 0:
        raise ValueError("gemm: K is 0: there is nothing to multiply")
    if not hopper and k * a.element_size() % 64:
        count = f"{2 * k} {in_dtype}" if in_dtype else f"{k} {kind}"
        raise ValueError(f"K = {count} are {k * a.element_size()} bytes, no multiple of 64: pad K with zeros")
    for what, tensor in (("a", a), ("b", b)):
        rows_at = tensor.stride(0) * tensor.element_size()
        if tensor.shape[1] > 1 and tensor.stride(1) != 1:
            raise ValueError(f"gemm: {what} must have unit stride along K; pass {what}.contiguous()")
        if (tensor.shape[0] > 1 and (rows_at % 16 or tensor.stride(0) < k)) or tensor.data_ptr() % 16:
            raise ValueError(f"gemm: rows of {what} must begin at multiples of 16 bytes; pass {what}.contiguous()")
    if shuffled and not b.is_contiguous():
        raise ValueError("gemm: shuffled weights must be contiguous")
    wanted = HopperConfig if hopper else GemmConfig
    if config is not None and not isinstance(config, wanted):
        raise ValueError(f"gemm: config is a {wanted.__name__} on {arch}, got a {type(config).__name__}")
    if hopper:
        if shuffled:
            raise ValueError("gemm: shuffled is not supported on sm_90a")
        if n * out.element_size() % 16:
            raise ValueError(
                f"gemm: {n} columns of {out.dtype} are {n * out.element_size()} bytes, and on sm_90a rows of the "
                "result begin at multiples of 16: pad b"
            )
    if m == 0 or n == 0:
        return out
    epilogue = Epilogue(ELEMENT_BYTES[kind] == 1, bias is not None, activation, residual is not None)
    scale_a, scale_b = (None if one is None else one.reshape(-1) for one in (scale_a, scale_b))
    if hopper:
        out_dtype = dtype_name(out.dtype)
        k_bytes = k * a.element_size()
        usual = default_hopper_config(m, n, k_bytes=k_bytes, epilogue=epilogue, out_dtype=out_dtype)
        product = _on_hopper(kind, out_dtype, epilogue, config if isinstance(config, HopperConfig) else usual)
        read = [out if one is None else one for one in (scale_a, scale_b, bias)]
        if residual is not None:
            read.append(residual)
        product(out, a, b, *(read if epilogue.scaled or epilogue.bias or epilogue.residual else ()), stream)
        return out
    config = config if isinstance(config, GemmConfig) else default_config(arch, kind, m, n, k)
    kernel = _compiled(arch, n, k, config, kind, dtype_name(out.dtype), epilogue, shuffled)
    scale_a, scale_b = (
        one if one is None or one.numel() == count else one.expand(count).contiguous()
        for one, count in ((scale_a, m), (scale_b, n))
    )
    none = out.new_empty(0)
    workspace = a.new_empty(config.split_k * m * n if config.split_k > 1 else 0, dtype=_float32())
    extras = [none if one is None else one for one in (scale_a, scale_b, bias, residual)]
    arguments = (out, a, b, *extras, workspace, m)
    kernel(*arguments) if stream is None else kernel(*arguments, stream)
    return out


@lru_cache(maxsize=256)
def _compiled(
    arch: str,
    n: int,
    k: int,
    config: GemmConfig,
    in_dtype: str,
    out_dtype: str,
    epilogue: Epilogue,
    shuffled: bool,
) -> Any:
    """One launcher for all numbers of rows; `arch` only distinguishes."""
    return compile_gemm(
        N=n, K=k, config=config, in_dtype=in_dtype, out_dtype=out_dtype, epilogue=epilogue, shuffled=shuffled,
    )  # fmt: skip


@lru_cache(maxsize=64)
def _on_hopper(in_dtype: str, out_dtype: str, epilogue: Epilogue, config: HopperConfig) -> Any:
    """One launcher for all shapes that are cut up in one way."""
    return compile_hopper_gemm(in_dtype=in_dtype, out_dtype=out_dtype, epilogue=epilogue, config=config)


def _float32() -> Any:
    import torch

    return torch.float32
