# SPDX-License-Identifier: Apache-2.0
"""The product on NVIDIA Hopper with its configuration chosen by measuring.

The search is fly-autotune's (extra `autotune`); without it there is what `default_hopper_config` says.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..common.asked_tuner import asked_tuner
from ..gemm.dispatch import check_operands, multiply
from .hopper_gemm import hopper_gemm_arguments, hopper_gemm_tuner

if TYPE_CHECKING:
    import torch

__all__ = ["hopper_gemm_autotuned"]


def hopper_gemm_autotuned(
    a: torch.Tensor,
    b: torch.Tensor,
    out: torch.Tensor,
    *,
    scale_a: torch.Tensor | None = None,
    scale_b: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    residual: torch.Tensor | None = None,
    activation: str = "none",
    stream: torch.cuda.Stream | int | None = None,
) -> torch.Tensor:
    """`gemm.dispatch.multiply` on sm_90a with the default configuration, unless something better is known.

    `FLYDSL_AUTOTUNE=1` measures some of those that the shape can have (`flydsl.kernels.tuning`), and what it finds is
    used from then on; offline artifacts (`FLYDSL_AUTOTUNE_CONFIG_DIR`) have the name "hopper_gemm". Returns `out`.

    Raises ImportError where one of these variables asks for fly-autotune and it is not installed, and as `multiply`
    does.
    """
    given: dict[str, Any] = {"scale_a": scale_a, "scale_b": scale_b, "bias": bias, "residual": residual}
    m, n, k = check_operands(a, b, out=out, out_dtype=out.dtype, activation=activation, **given)
    tuner = asked_tuner(_tuner(), "multiply(..., config=HopperConfig(…))")
    if tuner is None or not m or not n or not k:
        return multiply(a, b, out, activation=activation, stream=stream, **given)
    tuner(*hopper_gemm_arguments([{"a": a, "b": b, "out": out, **given}], activation), stream=stream)
    return out


@functools.lru_cache(maxsize=1)
def _tuner() -> Any:
    """The product under the tuner, or None where fly-autotune is not installed."""
    try:
        return hopper_gemm_tuner(default=True)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("flydsl"):
            return None
        raise
