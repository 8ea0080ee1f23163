# SPDX-License-Identifier: Apache-2.0
"""How many waves of a kernel fit on a SIMD; those of a workgroup processor of RDNA share its LDS."""

from __future__ import annotations

from flydsl.runtime.chips import CHIPS

from .code_object import KernelCode
from .instruction import is_rdna

_VECTOR_REGISTERS, _VECTOR_GRANULE = 512, 8
_SCALAR_REGISTERS, _SCALAR_GRANULE = 800, 16
_RDNA_REGISTERS, _RDNA_GRANULE = 1536, 24


def _rounded(value: int, granule: int) -> int:
    return max(granule, -(-value // granule) * granule)


def waves_per_simd(kernel: KernelCode) -> float:
    """Waves on a SIMD, as registers and LDS allow and whole workgroups fill them."""
    chip, rdna = CHIPS[kernel.arch], is_rdna(kernel.arch)
    if rdna:
        waves = min(chip.waves, _RDNA_REGISTERS // _rounded(kernel.vgpr_allocated, _RDNA_GRANULE))
    else:
        waves = min(chip.waves, _cdna_waves(kernel))
    in_group = -(-kernel.threads // chip.wave)
    groups = waves * chip.simds // in_group
    if kernel.lds_bytes:
        assert chip.lds_granule is not None
        whole = 2 * chip.lds_bytes if rdna else chip.lds_bytes  # a workgroup processor has it twice
        groups = min(groups, whole // _rounded(kernel.lds_bytes, chip.lds_granule))
    if in_group > 1:
        groups = min(groups, chip.workgroups)
    return min(float(waves), groups * in_group / chip.simds)


def _cdna_waves(kernel: KernelCode) -> int:
    by_vector = _VECTOR_REGISTERS // _rounded(kernel.vgpr_allocated, _VECTOR_GRANULE)
    by_scalar = _SCALAR_REGISTERS // _rounded(kernel.sgpr, _SCALAR_GRANULE)
    return min(by_vector, by_scalar)
