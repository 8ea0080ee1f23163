# SPDX-License-Identifier: Apache-2.0
"""What kernels need to know about an architecture, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from flydsl.runtime.chips import CHIPS
from flydsl.runtime.device import get_rocm_arch


@dataclass(frozen=True)
class Architecture:
    """`compute_units` of the largest part; the fp8 type that matrix and conversion instructions take, and its largest
    number; whether one instruction converts f32 to bf16; the banks of LDS, each 4 bytes wide.
    """

    name: str
    compute_units: int
    fp8: str  # the language's name of the 8-bit float with 3 bits of mantissa
    fp8_max: float
    converts_bf16: bool
    lds_banks: int


WRITTEN_FOR = ("gfx942", "gfx950")
"""The chips that the kernels of this package are written for."""

COMPUTE_UNITS = {name: CHIPS[name].compute_units or 0 for name in WRITTEN_FOR}
LDS_BYTES = {name: CHIPS[name].lds_bytes for name in WRITTEN_FOR}

_FP8 = {"fnuz": ("Float8E4M3FNUZ", 240.0), "ocp": ("Float8E4M3FN", 448.0)}
_CONVERT_BF16 = ("gfx950",)
_KNOWN = {
    name: Architecture(name, COMPUTE_UNITS[name], *_FP8[CHIPS[name].fp8], name in _CONVERT_BF16, CHIPS[name].lds_banks)
    for name in WRITTEN_FOR
}


def architecture() -> Architecture:
    """The target's entry.

    Raises RuntimeError, with those that there are, for another target.
    """
    name = get_rocm_arch().split(":")[0]
    if name not in _KNOWN:
        raise RuntimeError(f"the kernels of fly-kernels are written for {', '.join(_KNOWN)}; the target is {name}")
    return _KNOWN[name]
