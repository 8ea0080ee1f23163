# SPDX-License-Identifier: Apache-2.0
"""How many waves of a kernel fit on a SIMD; those of a workgroup processor of RDNA share its LDS."""

from __future__ import annotations

from flydsl.runtime.chips import CHIPS

from .code_object import KernelCode
from .instruction import is_rdna

_VECTOR_REGISTERS, _VECTOR_GRANULE = 512, 8
_SCALAR_REGISTERS, _SCALAR_GRANULE = 800, 16
_RDNA_REGISTERS, _RDNA_GRANULE = 1536, 24
_GFX1250_REGISTERS, _GFX1250_GRANULE = 1024, 16  # LLVM's


def _rounded(value: int, granule: int) -> int:
    return max(granule, -(-value // granule) * granule)


def waves_per_simd(kernel: KernelCode) -> float:
    """Waves on a SIMD, as registers and LDS allow and whole workgroups fill them."""
    chip, rdna = CHIPS[kernel.arch], is_rdna(kernel.arch)
    if rdna:
        newer = kernel.arch == "gfx1250"
        registers = _GFX1250_REGISTERS if newer else _RDNA_REGISTERS
        granule = _GFX1250_GRANULE if newer else _RDNA_GRANULE
        waves = min(chip.waves, registers // _rounded(kernel.vgpr_allocated, granule))
    else:
        waves = min(chip.waves, _cdna_waves(kernel))
    in_group = -(-kernel.threads // chip.wave)
    groups = waves * chip.simds // in_group
    if kernel.lds_bytes:
        assert chip.lds_granule is not None
        twice = rdna and kernel.arch != "gfx1250"  # a workgroup processor has it twice
        whole = 2 * chip.lds_bytes if twice else chip.lds_bytes
        groups = min(groups, whole // _rounded(kernel.lds_bytes, chip.lds_granule))
    if in_group > 1:
        groups = min(groups, chip.workgroups)
    return min(float(waves), groups * in_group / chip.simds)


def _cdna_waves(kernel: KernelCode) -> int:
    by_vector = _VECTOR_REGISTERS // _rounded(kernel.vgpr_allocated, _VECTOR_GRANULE)
    by_scalar = _SCALAR_REGISTERS // _rounded(kernel.sgpr, _SCALAR_GRANULE)
    return min(by_vector, by_scalar)
