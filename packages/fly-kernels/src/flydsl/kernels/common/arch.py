# SPDX-License-Identifier: Apache-2.0
"""What kernels need to know about an architecture, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from flydsl.runtime.architecture import is_nvidia
from flydsl.runtime.chips import CHIPS, Chip
from flydsl.runtime.device import get_rocm_arch


@dataclass(frozen=True)
class Float8:
    """An 8-bit float with 3 bits of mantissa: its `name` in the language and in torch, and its largest number."""

    name: str
    torch_name: str
    largest: float


_FLOAT8 = {
    "fnuz": Float8("Float8E4M3FNUZ", "float8_e4m3fnuz", 240.0),
    "ocp": Float8("Float8E4M3FN", "float8_e4m3fn", 448.0),
}
# The chips of a family, the first five letters of the name, take the same.
_FAMILIES = {chip.name[:5]: chip.fp8 for chip in CHIPS.values()}


def float8_of(arch: str) -> Float8:
    """The 8-bit float with 3 bits of mantissa that a chip's instructions take.

    Raises RuntimeError for a chip without one.
    """
    kind = _FAMILIES.get(arch[:5])
    if not kind:
        raise RuntimeError(f"{arch} has no instructions for 8-bit floats; use int8")
    return _FLOAT8[kind]


@dataclass(frozen=True)
class Architecture:
    """`compute_units` of the largest part; lanes of a `wave`; whether one instruction converts f32 to bf16; the banks
    of LDS, each 4 bytes wide.
    """

    name: str
    compute_units: int
    wave: int
    converts_bf16: bool
    lds_banks: int

    @property
    def nvidia(self) -> bool:
        """Whether it is one of NVIDIA's: a vector is read and written at a multiple of its size, or not at all."""
        return is_nvidia(self.name)

    @property
    def fp8(self) -> Float8:
        """The 8-bit float with 3 bits of mantissa that the target's instructions take; RuntimeError without one."""
        return float8_of(self.name)


MATRIX_CHIPS = ("gfx942", "gfx950")
"""The chips with waves of 64 lanes, that all matrix products are written for."""

WMMA_CHIPS = ("gfx1100", "gfx1201")
"""The chips with waves of 32 lanes that GEMMs and attention are written for."""

WRITTEN_FOR = (*MATRIX_CHIPS, *WMMA_CHIPS, "gfx1250", "sm_90a")
"""The chips that row kernels, quantisation, rope, elementwise kernels and reductions are written for."""

COMPUTE_UNITS = {name: CHIPS[name].compute_units or 0 for name in (*MATRIX_CHIPS, *WMMA_CHIPS)}
LDS_BYTES = {name: CHIPS[name].lds_bytes for name in MATRIX_CHIPS}
NUM_XCDS = 8
"""Dies of MI300X and MI355X, to which workgroups are dealt out in turn, each with an L2 of its own."""

_CONVERT_BF16 = ("gfx950", "gfx1250", "sm_90a")


def _architecture(chip: Chip) -> Architecture:
    return Architecture(chip.name, chip.compute_units or 0, chip.wave, chip.name in _CONVERT_BF16, chip.lds_banks)


_KNOWN = {name: _architecture(CHIPS[name]) for name in WRITTEN_FOR}

MULTIPROCESSORS = _KNOWN["sm_90a"].compute_units
"""Of the H100 SXM, for what Hopper's persistent kernels are launched with by default."""


def architecture() -> Architecture:
    """The target's entry.

    Raises RuntimeError, with those that there are, for another target.
    """
    name = get_rocm_arch().split(":")[0]
    if name not in _KNOWN:
        raise RuntimeError(f"the kernels of fly-kernels are written for {', '.join(_KNOWN)}; the target is {name}")
    return _KNOWN[name]
