# SPDX-License-Identifier: Apache-2.0
"""RMSNorm with its configuration as arguments, and with the configuration chosen.

The search over configurations belongs to fly-autotune, which is not part of this release: `rmsnorm_autotuned` takes
the default configuration, and says so where a search is asked for.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from .rmsnorm_kernel import build_rmsnorm_module

DEFAULT_BLOCK_THREADS = 256
_TORCH_DTYPES = {"torch.float32": "f32", "torch.float16": "f16", "torch.bfloat16": "bf16"}
_ON = ("1", "true", "yes", "on")


@functools.lru_cache(maxsize=64)
def _kernel(N: int, dtype_str: str, block_threads: int, weight_dtype_str: str) -> Any:
    return build_rmsnorm_module(
        N, dtype_str, BLOCK_THREADS=block_threads, weight_dtype_str=weight_dtype_str or dtype_str
    )


def rmsnorm_direct(
    Input: Any,
    Gamma: Any,
    Output: Any,
    m_in: int,
    N: int,
    dtype_str: str,
    BLOCK_THREADS: int,
    stream: Any = None,
    weight_dtype_str: str = "",
) -> None:
    """Output = RMSNorm(Input) · Gamma for m_in rows of N, with workgroups of BLOCK_THREADS.

    An empty `weight_dtype_str` is the rows' dtype. Raises as `build_rmsnorm_module` and its launcher do.
    """
    _kernel(N, dtype_str, BLOCK_THREADS, weight_dtype_str)(Input, Gamma, Output, m_in, stream)


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
    rmsnorm_direct(input, gamma, output, m_in, input.shape[-1], dtype, DEFAULT_BLOCK_THREADS, stream, weight)


def _dtype_of(name: str, tensor: Any) -> str:
    if str(tensor.dtype) not in _TORCH_DTYPES:
        raise ValueError(f"{name} is {tensor.dtype}; use one of {', '.join(_TORCH_DTYPES)}")
    return _TORCH_DTYPES[str(tensor.dtype)]
