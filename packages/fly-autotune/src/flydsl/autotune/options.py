# SPDX-License-Identifier: Apache-2.0
"""From the options of a configuration to the arguments and the compile hints of its calls."""

from __future__ import annotations

from typing import Any

from flydsl.runtime.architecture import is_nvidia, processor
from flydsl.runtime.chips import UNIFIED_REGISTERS
from flydsl.runtime.device import get_rocm_arch

from .config import Config
from .parameters import Parameters

__all__ = ["call_options", "waves_for"]

# Of the unified file, divided among at most 8 waves in blocks of 8 (AMD's CDNA3 ISA document, section 3.6.4).
_REGISTERS, _BLOCK, _MOST_WAVES = 512, 8, 8


def waves_for(maxnreg: int, arch: str) -> int:
    """The fewest waves of a SIMD that leave each at most `maxnreg` vector registers; at most 8, which leave 64.

    Raises:
        ValueError: the division of the registers of the architecture is not known.
    """
    if processor(arch) not in UNIFIED_REGISTERS:
        instead = f"value_attrs={{'nvvm.maxnreg': {maxnreg}}} of a launch" if is_nvidia(arch) else "waves_per_eu"
        raise ValueError(f"maxnreg={maxnreg} has no meaning on {arch}: bound the registers with {instead}")
    for waves in range(1, _MOST_WAVES):
        if _REGISTERS // waves // _BLOCK * _BLOCK <= maxnreg:
            return waves
    return _MOST_WAVES


def call_options(config: Config, parameters: Parameters) -> tuple[dict[str, Any], dict[str, Any]]:
    """The keyword arguments of a configuration, and its compile hints.

    `num_warps` is an argument where the function takes one, else a hint. `maxnreg` becomes `waves_per_eu`; where both
    are given the one that asks for more waves counts.

    Raises:
        ValueError: as `waves_for`.
    """
    arguments, hints = config.all_kwargs(), config.compiler_opts()
    if config.num_warps is not None and not parameters.accepts("num_warps"):
        hints["num_warps"] = arguments.pop("num_warps")
    maxnreg = hints.pop("maxnreg", None)
    if maxnreg is not None:
        waves = waves_for(maxnreg, get_rocm_arch())
        given = hints.get("waves_per_eu")
        if given is None or (isinstance(given, int) and given < waves):
            hints["waves_per_eu"] = waves
    return arguments, hints
