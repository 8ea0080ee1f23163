# SPDX-License-Identifier: Apache-2.0
"""Peers on NVIDIA GPUs that do not come with torch: QuACK, whose kernels are CuTe DSL, and FlashAttention-4.

They are measured where they can be imported. Where they cannot, each is named once, with the error, and the results
say so too. `python3 -m pip install quack-kernels flash-attn-4` brings both, and CuTe DSL. They may be the libraries of
`cuda_flash_ahead.py` and `cuda_quack_ahead.py` instead, of which FLYDSL_BENCH_FLASH and FLYDSL_BENCH_QUACK name the
folders.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cuda_ahead
import cuda_flash_ahead
import cuda_quack_ahead

MODULES = {"QuACK": "quack", "FlashAttention-4": "flash_attn.cute.interface"}
_FLASH, _QUACK = os.environ.get("FLYDSL_BENCH_FLASH"), os.environ.get("FLYDSL_BENCH_QUACK")
_AHEAD = {"FlashAttention-4": _FLASH, "QuACK": _QUACK}
_PACKAGES = {"QuACK": "quack-kernels", "FlashAttention-4": "flash-attn-4", "CuTe DSL": "nvidia-cutlass-dsl-libs-base"}


@functools.cache
def found() -> dict[str, str]:
    """What each peer is: its version, or `absent` and why.

    From here on nothing is imported out of this folder.
    """
    cuda_ahead.leave_this_folder()
    said, imported = {}, False
    for name, module in MODULES.items():
        try:
            if folder := _AHEAD[name]:
                said[name] = cuda_ahead.version(Path(folder))
                if name == "QuACK":
                    said["CuTe DSL"] = cuda_quack_ahead.cute_dsl(Path(folder))
                continue
            importlib.import_module(module)
        except Exception as error:  # a peer that cannot be imported is said so, and the others are timed
            said[name] = f"absent: {type(error).__name__}: {str(error)[:300]}"
            print(f"{name}: {said[name]}", flush=True)
            continue
        said[name], imported = _version(_PACKAGES[name]), True
    if imported:
        said["CuTe DSL"] = _version(_PACKAGES["CuTe DSL"])
    return said


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "of an unknown version"


def has(name: str) -> bool:
    """Whether a peer of MODULES is here."""
    return not found()[name].startswith("absent")


def rows(operation: str, x: Any, w: Any, b: Any, y: Any, eps: float) -> Callable[[], Any]:
    """A call of QuACK's softmax, rmsnorm or layernorm, as it configures them itself, into y."""
    if _QUACK:
        return cuda_quack_ahead.rows(Path(_QUACK), operation, x, w, b, y, eps)
    from quack.rmsnorm import _rmsnorm_fwd
    from quack.softmax import _softmax_fwd

    if operation == "softmax":
        return lambda: _softmax_fwd(x, y)
    if operation == "rmsnorm":
        return lambda: _rmsnorm_fwd(x, w, y, eps=eps)
    return lambda: _rmsnorm_fwd(x, w, y, b, eps=eps, is_layernorm=True)


def product(given: Any) -> Any:
    """QuACK's product C = A B^T, tuned over its configurations at the first call of a shape."""
    if _QUACK:
        return _product_ahead()(given)
    from quack.gemm_interface import gemm

    return gemm(given.a, given.b.t(), out=given.c, tuned=True)


@functools.cache
def _product_ahead() -> Callable[[Any], Any]:
    assert _QUACK is not None
    return cuda_quack_ahead.product(Path(_QUACK))


def attention(head_dim: int, causal: bool) -> Callable[[Any], Any]:
    """FlashAttention-4's forward pass for this GPU, with the LSE."""
    if _FLASH:
        return cuda_flash_ahead.attention(Path(_FLASH), head_dim, causal)
    from flash_attn.cute.interface import _flash_attn_fwd

    def run(given: Any) -> Any:
        return _flash_attn_fwd(
            given.q, given.k, given.v, causal=causal, return_lse=True, out=given.out, lse=given.lse
        )  # fmt: skip

    return run
