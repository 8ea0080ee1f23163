# SPDX-License-Identifier: Apache-2.0
"""RMSNorm with its configuration as arguments, and with the configuration chosen.

The search over configurations belongs to fly-autotune, which is not part of this release: `rmsnorm_autotuned` takes
the default configuration, and says so where a search is asked for.
"""

from __future__ import annotations

import functools
import os
from types import SimpleNamespace
from typing import Any

from ..common.language import flyc, fx
from .forward import block_of
from .rmsnorm_kernel import rmsnorm_launch

DEFAULT_BLOCK_THREADS = 256
_TORCH_DTYPES = {"torch.float32": "f32", "torch.float16": "f16", "torch.bfloat16": "bf16"}
_ON = ("1", "true", "yes", "on")


def __getattr__(name: str) -> Any:
    if name == "rmsnorm_direct":
        return _rmsnorm_direct()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@functools.lru_cache(maxsize=1)
def _rmsnorm_direct() -> Any:
    """Make `rmsnorm_direct`, which needs the compiler, at its first use."""

    @flyc.jit
    def rmsnorm_direct(
        Input: Any,
        Gamma: Any,
        Output: Any,
        m_in: fx.Int32,
        N: fx.Constexpr[int],
        dtype_str: fx.Constexpr[str],
        BLOCK_THREADS: fx.Constexpr[int],
        stream: fx.Stream = fx.Stream(None),
        weight_dtype_str: fx.Constexpr[str] = "",
    ) -> None:
        """Output = RMSNorm(Input) · Gamma for m_in rows of N, with workgroups of BLOCK_THREADS.

        An empty `weight_dtype_str` is the rows' dtype. Raises as `build_rmsnorm_module` and its launcher do.
        """
        launch = rmsnorm_launch(N, dtype_str, weight_dtype_str or None, block=block_of(BLOCK_THREADS))
        launch(SimpleNamespace(Input=Input, Gamma=Gamma, Output=Output), m_in, stream)

    return rmsnorm_direct


def rmsnorm_autotuned(
    input: Any,
    gamma: Any,
    output: Any,
    m_in: int,
    dtype_str: str | None = None,
    stream: Any = None,
    weight_dtype_str: str | None = None,
) -> None:
    """output = RMSNorm(input) · gamma with the default configuration.

    The dtypes are by default those of the tensors.

    Raises NotImplementedError where FLYDSL_AUTOTUNE asks for a search.
    """
    if os.environ.get("FLYDSL_AUTOTUNE", "").lower() in _ON:
        raise NotImplementedError(
            "FLYDSL_AUTOTUNE asks for a search over configurations, which needs fly-autotune; it is not part of this "
            "release. Unset the variable, or choose a configuration: rmsnorm_direct(..., BLOCK_THREADS=…)"
        )
    dtype = dtype_str or _dtype_of("input", input)
    weight = weight_dtype_str or _dtype_of("gamma", gamma)
    _rmsnorm_direct()(input, gamma, output, m_in, input.shape[-1], dtype, DEFAULT_BLOCK_THREADS, stream, weight)


def _dtype_of(name: str, tensor: Any) -> str:
    if str(tensor.dtype) not in _TORCH_DTYPES:
        raise ValueError(f"{name} is {tensor.dtype}; use one of {', '.join(_TORCH_DTYPES)}")
    return _TORCH_DTYPES[str(tensor.dtype)]
