# SPDX-License-Identifier: Apache-2.0
"""Runs single instructions: assembles a kernel that loads operands, executes them, and stores the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flydsl.emulator.device import Emulator

Words = npt.NDArray[np.uint32]

LANES = 64
_TEMPLATE = """
.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
.globl probe
.p2align 8
.type probe,@function
probe:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx4 s[8:11], s[0:1], 0x10
  v_and_b32 v0, 63, v0
  v_lshlrev_b32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
{loads}
  s_waitcnt vmcnt(0)
{before}
  s_mov_b64 exec, s[8:9]
{code}
  s_nop 4
  s_mov_b64 exec, -1
{after}
{stores}
  s_endpgm
.Lend:
.size probe, .Lend-probe
.rodata
.p2align 6
.amdhsa_kernel probe
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 512
  .amdhsa_accum_offset 256
  .amdhsa_next_free_sgpr 100
  .amdhsa_group_segment_fixed_size 65536
  .amdhsa_float_round_mode_32 {round}
  .amdhsa_ieee_mode {ieee}
  .amdhsa_float_denorm_mode_32 {denormals}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: probe
    .symbol: probe.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 65536
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 100
    .vgpr_count: 512
    .agpr_count: 256
    .max_flat_workgroup_size: 64
    .args:
      - {{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}}
      - {{.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}}
      - {{.size: 8, .offset: 16, .value_kind: by_value}}
      - {{.size: 8, .offset: 24, .value_kind: by_value}}
...
.end_amdgpu_metadata
"""


@dataclass
class Probe:
    """Assembles and runs code around some instructions on one architecture.

    Inputs are in v10, v11, ... (one row of 64 lanes each); results are read from the rows that `run` is told. s[10:11]
    hold a 64-bit mask that the caller gives, EXEC is what the caller gives.
    """

    emulator: Emulator
    compile_object: Callable[..., bytes]
    arch: str
    device: int

    def run(
        self,
        code: str | Sequence[str],
        inputs: Words,
        results: Sequence[str],
        exec_mask: int = 2**64 - 1,
        mask: int = 0,
        before: str = "",
        after: str = "",
        ieee: int = 1,
        denormals: int = 3,
        round_mode: int = 0,
    ) -> Words:
        """Execute; the result has one row for each register in `results`.

        `inputs`: rows of 64 words for v10 on. `results`: VGPRs ("v2") or SGPRs ("s20"), which are read as rows.
        """
        rows = np.atleast_2d(np.ascontiguousarray(inputs, np.uint32))
        assert rows.shape[1] == LANES
        loads = "\n".join(
            f"  global_load_dword v{10 + i}, v0, s[4:5] offset:{_offset(i)}" for i in range(min(len(rows), 15))
        )
        for i in range(15, len(rows)):
            loads += f"\n  v_add_u32 v1, {i * 256}, v0\n  global_load_dword v{10 + i}, v1, s[4:5]"
        stores = ""
        for i, name in enumerate(results):
            source = name
            if name.startswith("s"):
                stores += f"  v_mov_b32 v2, {name}\n"
                source = "v2"
            stores += f"  v_add_u32 v1, {i * 256}, v0\n  global_store_dword v1, {source}, s[6:7]\n"
        text = code if isinstance(code, str) else "\n".join(code)
        image = self.compile_object(
            _TEMPLATE.format(
                arch=self.arch,
                loads=loads,
                before=before,
                code=text,
                after=after,
                stores=stores,
                ieee=ieee,
                denormals=denormals,
                round=round_mode,
            ),
            self.arch,
            "asm",
            (),
        )
        module = self.emulator.load(image, self.device)
        try:
            out = np.zeros((len(results), LANES), np.uint32)
            module.kernel("probe")(1, 64, rows, out, np.uint64(exec_mask), np.uint64(mask))
        finally:
            module.unload()
        return out


def _offset(row: int) -> int:
    return row * 256


def specials_f32() -> Words:
    """Sixty-four floats that find mistakes: zeros, denormals, infinities, NaNs, halves, limits."""
    bits = [
        0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000,
        0x3F800000, 0xBF800000, 0x3F000000, 0xBF000000, 0x3FC00000, 0xBFC00000, 0x40200000, 0xC0200000,
        0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7FC12345, 0x7F7FFFFF,
        0x3F7FFFFF, 0x3F800001, 0x4B000000, 0xCB000000, 0x4B7FFFFF, 0x4F000000, 0xCF000000, 0x4EFFFFFF,
    ]  # fmt: skip
    rng = np.random.default_rng(5)
    rest = rng.integers(0, 2**32, LANES - len(bits), dtype=np.uint32)
    rest[(rest & 0x7F800000) == 0x7F800000] = 0x40490FDB
    return np.concatenate([np.array(bits, np.uint32), rest])


def random_words(seed: int, rows: int) -> Words:
    """Uniform words, with small integers and their complements mixed in."""
    rng = np.random.default_rng(seed)
    out = rng.integers(0, 2**32, (rows, LANES), dtype=np.uint32)
    small = rng.random((rows, LANES)) < 0.3
    out[small] = rng.integers(0, 40, int(small.sum()), dtype=np.uint32)
    negative = rng.random((rows, LANES)) < 0.15
    out[negative] = ~rng.integers(0, 40, int(negative.sum()), dtype=np.uint32)
    return out
