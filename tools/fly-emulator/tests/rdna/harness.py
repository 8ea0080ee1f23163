# SPDX-License-Identifier: Apache-2.0
"""Runs a few instructions of gfx1100, gfx1201 or gfx1250 on one wave: inputs in v10 and up, results from v40 and up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from flydsl.emulator.device import Module

Words = npt.NDArray[np.uint32]
DEVICES = ("gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")  # the other tests have the first two
WAVES = [("gfx1100", 32), ("gfx1100", 64), ("gfx1201", 32), ("gfx1201", 64)]
ALL_WAVES = [*WAVES, ("gfx1250", 32)]

TEMPLATE = """
.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
.globl f
.p2align 8
.type f,@function
f:
  s_load_b128 s[4:7], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  {scalar_wait}
{loads}
  {vector_wait}
{code}
  {all_lanes}
{stores}
  s_endpgm
.Lend:
.size f, .Lend-f
.rodata
.p2align 6
.amdhsa_kernel f
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size 4096
  .amdhsa_next_free_vgpr {vgprs}
{directives}  .amdhsa_next_free_sgpr 96
  .amdhsa_wavefront_size32 {wave32}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {{.name: f, .symbol: f.kd, .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 4096,
     .private_segment_fixed_size: 0, .wavefront_size: {lanes}, .sgpr_count: 96, .vgpr_count: {vgprs},{metadata}
     .max_flat_workgroup_size: 1024,
     .args: [{{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}},
             {{.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}}]}}
...
.end_amdgpu_metadata
"""


class Runner:
    """Assembles and runs; made by the fixture ``run``."""

    def __init__(self, build: Callable[..., Module]) -> None:
        self._build = build

    def __call__(
        self,
        code: str,
        arch: str,
        lanes: int,
        inputs: Words | None = None,
        results: int = 1,
        threads: int = 0,
        *,
        groups: int = 1,
        vgprs: int = 128,
        directives: str = "",
        metadata: str = "",
    ) -> Words:
        """The words of v40 and up of all lanes after `code`, of shape (results, threads), of the last workgroup.

        `directives` and `metadata` are lines of the kernel's descriptor and keys of its metadata.
        """
        threads = threads or lanes
        given = np.zeros((1, threads), np.uint32) if inputs is None else np.ascontiguousarray(inputs, np.uint32)
        new = arch != "gfx1100"
        row = 4 * threads
        text = TEMPLATE.format(
            arch=arch,
            lanes=lanes,
            vgprs=vgprs,
            directives=directives,
            metadata=metadata,
            wave32=int(lanes == 32),
            scalar_wait="s_wait_kmcnt 0x0" if new else "s_waitcnt lgkmcnt(0)",
            vector_wait="s_wait_loadcnt 0x0" if new else "s_waitcnt vmcnt(0)",
            all_lanes="s_mov_b32 exec_lo, -1" if lanes == 32 else "s_mov_b64 exec, -1",
            loads="".join(_access("load", f"v{10 + i}", row * i) for i in range(len(given))),
            stores="".join(_access("store", f"v{40 + i}", row * i) for i in range(results)),
            code="\n".join("  " + line.strip() for line in code.strip().splitlines()),
        )
        features = "+real-true16" if lanes == 32 else "+real-true16,-wavefrontsize32,+wavefrontsize64"
        module = self._build(text, arch, "asm", (f"-mattr={features}",))
        out = np.zeros((results, threads), np.uint32)
        module.kernel("f")(groups, threads, given, out)
        return out


def _access(verb: str, register: str, offset: int) -> str:
    base = "s[4:5]" if verb == "load" else "s[6:7]"
    operands = f"{register}, v2, {base}" if verb == "load" else f"v2, {register}, {base}"
    return f"  v_add_nc_u32 v2, {offset}, v1\n  global_{verb}_b32 {operands}\n"
