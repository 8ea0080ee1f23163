# SPDX-License-Identifier: Apache-2.0
"""How many waves of a kernel fit on a SIMD of gfx942 and gfx950."""

from __future__ import annotations

from flydsl.runtime.chips import CHIPS

from .code_object import KernelCode

_VECTOR_REGISTERS, _VECTOR_GRANULE = 512, 8
_SCALAR_REGISTERS, _SCALAR_GRANULE = 800, 16


def _rounded(value: int, granule: int) -> int:
    return max(granule, -(-value // granule) * granule)


def waves_per_simd(kernel: KernelCode) -> float:
    """Waves on a SIMD, as registers and LDS allow and whole workgroups fill them."""
    chip = CHIPS[kernel.arch]
    by_vector = _VECTOR_REGISTERS // _rounded(kernel.vgpr_allocated, _VECTOR_GRANULE)
    by_scalar = _SCALAR_REGISTERS // _rounded(kernel.sgpr, _SCALAR_GRANULE)
    waves = min(chip.waves, by_vector, by_scalar)
    in_group = -(-kernel.threads // 64)
    groups = waves * chip.simds // in_group
    if kernel.lds_bytes:
        assert chip.lds_granule is not None
        groups = min(groups, chip.lds_bytes // _rounded(kernel.lds_bytes, chip.lds_granule))
    if in_group > 1:
        groups = min(groups, chip.workgroups)
    return min(float(waves), groups * in_group / chip.simds)
