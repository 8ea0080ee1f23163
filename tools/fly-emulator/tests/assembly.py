# SPDX-License-Identifier: Apache-2.0
"""Kernels in assembly: what stands around the instructions that a test is about."""

from __future__ import annotations

import numpy as np

_TEMPLATE = """
.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
.globl f
.p2align 8
.type f,@function
f:
{code}
  s_endpgm
.Lend:
.size f, .Lend-f
.rodata
.p2align 6
.amdhsa_kernel f
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_private_segment_fixed_size {scratch}
  .amdhsa_next_free_vgpr {vgprs}
  .amdhsa_accum_offset {accum}
  .amdhsa_next_free_sgpr 32
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {{.name: f, .symbol: f.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: {lds},
     .private_segment_fixed_size: {scratch}, .wavefront_size: 64, .sgpr_count: 32, .vgpr_count: {vgprs},
     .max_flat_workgroup_size: 1024,
     .args: [{{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}},
             {{.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}}]}}
...
.end_amdgpu_metadata
"""


def kernel_f(code: str, arch: str, *, lds: int = 0, vgprs: int = 64, accum: int = 64, scratch: int = 0) -> str:
    """The source of a kernel ``f(in, out)``: its arguments are s[0:1], the workgroup's id s2, the thread's v0."""
    return _TEMPLATE.format(code=code, arch=arch, lds=lds, vgprs=vgprs, accum=accum, scratch=scratch)


def aligned_words(count: int) -> np.ndarray:
    """Zeroed 32-bit words that begin at a multiple of 256 bytes, so that transactions can be counted by hand."""
    space = np.zeros(count + 64, np.uint32)
    return space[-space.ctypes.data % 256 // 4 :][:count]
