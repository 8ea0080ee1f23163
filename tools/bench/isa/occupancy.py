# SPDX-License-Identifier: Apache-2.0
"""How many waves of a kernel fit on a SIMD of gfx942 and gfx950."""

from __future__ import annotations

from .code_object import KernelCode

_MOST_WAVES, _SIMDS = 8, 4
_VECTOR_REGISTERS, _VECTOR_GRANULE = 512, 8
_SCALAR_REGISTERS, _SCALAR_GRANULE = 800, 16
_LDS = {"gfx942": (64 * 1024, 512), "gfx950": (160 * 1024, 1280)}  # bytes of a compute unit, granule
_MOST_GROUPS = 32  # of several waves, on a compute unit


def _rounded(value: int, granule: int) -> int:
    return max(granule, -(-value // granule) * granule)


def waves_per_simd(kernel: KernelCode) -> float:
    """Waves on a SIMD, as registers and LDS allow and whole workgroups fill them."""
    by_vector = _VECTOR_REGISTERS // _rounded(kernel.vgpr_allocated, _VECTOR_GRANULE)
    by_scalar = _SCALAR_REGISTERS // _rounded(kernel.sgpr, _SCALAR_GRANULE)
    waves = min(_MOST_WAVES, by_vector, by_scalar)
    in_group = -(-kernel.threads // 64)
    groups = waves * _SIMDS // in_group
    if kernel.lds_bytes:
        size, granule = _LDS[kernel.arch]
        groups = min(groups, size // _rounded(kernel.lds_bytes, granule))
    if in_group > 1:
        groups = min(groups, _MOST_GROUPS)
    return min(float(waves), groups * in_group / _SIMDS)
