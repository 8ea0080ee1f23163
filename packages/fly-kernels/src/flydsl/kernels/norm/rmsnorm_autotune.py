# SPDX-License-Identifier: Apache-2.0
"""RMSNorm with its configuration as arguments, and with the configuration chosen.

The search over configurations is fly-autotune's (extra `autotune`); without it there is the default configuration.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..common.asked_tuner import asked_tuner
from ..common.language import flyc, fx
from .forward import block_of
from .rmsnorm_kernel import rmsnorm_launch

if TYPE_CHECKING:
    import torch

DEFAULT_BLOCK_THREADS = 256
_TORCH_DTYPES = {"torch.float32": "f32", "torch.float16": "f16", "torch.bfloat16": "bf16"}
LEAST_TUNED_N = 2048
"""Rows of more elements than these have a configuration to search."""
SEARCHED = {128: (0, 1, 2), 256: (0, 1), 512: (0, 2)}
"""Threads of a workgroup, and `waves_per_eu` for each: 0 asks for nothing."""


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
    input: torch.Tensor,
    gamma: torch.Tensor,
    output: torch.Tensor,
    m_in: int,
    dtype_str: str | None = None,
    stream: torch.cuda.Stream | int | None = None,
    weight_dtype_str: str | None = None,
) -> None:
    """output = RMSNorm(input) · gamma with workgroups of 256 threads, unless something better is known.

    For rows of more than 2048 elements, `FLYDSL_AUTOTUNE=1` measures workgroups of 128, 256 and 512 threads under
    several bounds of registers, and what it finds is used from then on, in later processes too; offline artifacts
    (`FLYDSL_AUTOTUNE_CONFIG_DIR`) have the name "rmsnorm". Shorter rows share workgroups, whose size is not free.
    The dtypes are by default those of the tensors.

    Raises ImportError where one of these variables asks for fly-autotune and it is not installed, and as
    `rmsnorm_direct` does.
    """
    dtype = dtype_str or _dtype_of("input", input)
    weight = weight_dtype_str or _dtype_of("gamma", gamma)
    N = input.shape[-1]
    tuned = asked_tuner(_tuner(), "rmsnorm_direct(..., BLOCK_THREADS=…)") if N > LEAST_TUNED_N else None
    if tuned is None:
        _rmsnorm_direct()(input, gamma, output, m_in, N, dtype, DEFAULT_BLOCK_THREADS, stream, weight)
    else:
        tuned(input, gamma, output, m_in, N, dtype, stream=stream, weight_dtype_str=weight)


@functools.lru_cache(maxsize=1)
def _tuner() -> Any:
    """`rmsnorm_direct` under the tuner, or None where fly-autotune is not installed."""
    try:
        from flydsl.autotune import Config, autotune
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("flydsl"):
            return None
        raise

    configs = [
        Config(BLOCK_THREADS=threads, waves_per_eu=waves or None)
        for threads, bounds in SEARCHED.items()
        for waves in bounds
    ]
    default = Config(BLOCK_THREADS=DEFAULT_BLOCK_THREADS)
    return autotune(
        configs,
        key=["m_in", "N", "dtype_str", "weight_dtype_str"],
        default=lambda *args, **kwargs: default,
        artifact_name="rmsnorm",
    )(_rmsnorm_direct())


def _dtype_of(name: str, tensor: Any) -> str:
    if str(tensor.dtype) not in _TORCH_DTYPES:
        raise ValueError(f"{name} is {tensor.dtype}; use one of {', '.join(_TORCH_DTYPES)}")
    return _TORCH_DTYPES[str(tensor.dtype)]
