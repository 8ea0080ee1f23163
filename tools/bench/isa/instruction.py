# SPDX-License-Identifier: Apache-2.0
"""What kind of work one instruction is, and for how long it holds the issue slot of its wave.

The model is that of one wave alone on its SIMD, nothing overlapping. On CDNA an instruction takes 4 cycles (64 lanes,
16 at a time), a transcendental or a 32-bit integer multiplication 16, `s_nop N` 4 (N + 1), a matrix instruction 4
cycles for each of its passes. On RDNA a wave of 32 lanes takes a quarter of that, and a WMMA the cycles of AMD's
published rates; on gfx1250, of which nothing is published, those of LLVM's scheduling model. Waits and barriers count
their issue, not the time that they wait.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_RDNA = ("gfx11", "gfx12")
_SLOW = re.compile(
    r"v_(exp|log|rcp|rsq|sqrt|sin|cos|prng)_|v_(mul_lo_[ui]32|mul_hi_[ui]32|mad_u64_u32|mad_i64_i32)(_|$)",
)
_TRANSCENDENTAL = re.compile(r"v_(exp|log|rcp|rsq|sqrt|sin|cos|prng)_")
_WIDTH = (
    ("dwordx4", 16), ("dwordx3", 12), ("dwordx2", 8), ("dword", 4), ("xyzw", 16), ("xyz", 12), ("xy", 8),
    ("format_x", 4), ("b128", 16), ("b96", 12), ("b64", 8), ("b32", 4), ("b16", 2), ("b8", 1), ("ubyte", 1),
    ("sbyte", 1), ("byte", 1), ("ushort", 2), ("sshort", 2), ("short", 2), ("u16", 2), ("i16", 2), ("u8", 1), ("i8", 1),
)  # fmt: skip
_SCALAR_MEMORY = ("s_load", "s_buffer_load", "s_store", "s_buffer_store", "s_scratch", "s_atomic", "s_dcache",
                  "s_memtime", "s_memrealtime")  # fmt: skip
_NO_WORK = ("s_nop", "s_delay_alu", "s_clause", "s_sleep", "s_setprio", "s_sethalt", "s_icache", "s_set_gpr_idx",
            "s_ttrace", "s_incperf", "s_decperf")  # fmt: skip
_BRANCHES = ("s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call", "s_endpgm", "s_rfe")
_MATRIX = re.compile(r"v_s?mfmac?_(?:scale_)?(f32|f64|i32)_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?_?(\w*)")
_WMMA = re.compile(r"v_s?wmm(?:a|ac)_(?:scale(?:16)?_)?(?:f32|f16|bf16|bf16f32|i32)_(\d+)x(\d+)x(\d+)_(\w+)")


def kind_of(mnemonic: str, operands: str) -> tuple[str, int]:
    """The class of an instruction, and for memory accesses their bytes a lane (else 0).

    Classes: mfma (WMMA too), valu, salu, smem, vmem_load, vmem_store, vmem_lds (memory to LDS), vmem_atomic,
    vmem_other, scratch_load, scratch_store, ds_read, ds_write, ds_other, waitcnt, barrier, branch, nop, other.
    """
    if mnemonic.startswith("v_"):
        return ("mfma" if mnemonic.startswith(("v_mfma", "v_smfmac", "v_wmma", "v_swmmac")) else "valu"), 0
    if mnemonic.startswith("s_"):
        return _scalar_kind(mnemonic), 0
    if mnemonic.startswith("ds_"):
        return _lds_kind(mnemonic)
    if mnemonic.startswith("scratch_"):
        return ("scratch_load" if "load" in mnemonic else "scratch_store"), 0
    if mnemonic.startswith(("buffer_", "global_", "flat_", "tbuffer_")):
        _, _, action = mnemonic.partition("_")
        if action.startswith("load"):
            lands = "_lds" in mnemonic or re.search(r"\blds\b", operands) is not None
            return ("vmem_lds" if lands else "vmem_load"), width_of(mnemonic)
        if action.startswith("store"):
            return "vmem_store", width_of(mnemonic)
        return ("vmem_atomic" if "atomic" in action else "vmem_other"), 0
    return "other", 0


def _scalar_kind(mnemonic: str) -> str:
    for kind, starts in (
        ("waitcnt", ("s_waitcnt", "s_wait_")),
        ("barrier", ("s_barrier",)),
        ("branch", _BRANCHES),
        ("smem", _SCALAR_MEMORY),
        ("nop", _NO_WORK),
    ):
        if mnemonic.startswith(starts):
            return kind
    return "salu"


def _lds_kind(mnemonic: str) -> tuple[str, int]:
    found = re.match(r"ds_(read|write|load|store)(_?2addr|2)?", mnemonic)
    if "addtid" in mnemonic or found is None:
        return "ds_other", 0
    both = 2 if found[2] else 1
    return ("ds_read" if found[1] in ("read", "load") else "ds_write"), width_of(mnemonic) * both


def width_of(mnemonic: str) -> int:
    """Bytes a lane of a memory instruction."""
    return next((width for part, width in _WIDTH if re.search(rf"(^|_){part}(_|$)", mnemonic)), 0)


def is_transcendental(mnemonic: str) -> bool:
    """Whether the instruction runs in the quarter-rate unit for exp, log, reciprocals and roots."""
    return _TRANSCENDENTAL.match(mnemonic) is not None


def is_rdna(arch: str) -> bool:
    """Whether it is a chip of waves of 32 lanes."""
    return arch.startswith(_RDNA)


def slot(arch: str) -> int:
    """Cycles of the issue slot that most instructions take."""
    return 1 if is_rdna(arch) else 4


def issue_cycles(mnemonic: str, operands: str, arch: str) -> int:
    """Cycles of the issue slot, of anything but matrix instructions."""
    if mnemonic == "s_nop":
        return slot(arch) * (int(operands.split()[0], 0) + 1)
    return 4 * slot(arch) if _SLOW.match(mnemonic) else slot(arch)


@dataclass(frozen=True)
class MatrixWork:
    """Floating-point operations of a wave (multiplications and additions), and cycles of the matrix unit."""

    flops: int
    cycles: int


def matrix_work(mnemonic: str, operands: str, arch: str) -> MatrixWork:
    """What a matrix instruction does; passes by LLVM's scheduling model, published for gfx942.

    Raises:
        ValueError: an instruction of another name than these have.
    """
    if is_rdna(arch):
        return _wmma_work(mnemonic, arch)
    found = _MATRIX.match(mnemonic)
    if found is None:
        raise ValueError(f"unknown matrix instruction {mnemonic}")
    result, m, n, k, blocks, rest = found.groups()
    rows = int(m)
    flops = 2 * rows * int(n) * int(k) * int(blocks or 1)
    if result == "f64":
        passes = (16 if arch == "gfx950" else 8) if rows == 16 else 4
    elif "f8f6f4" in rest:
        # 8-bit formats (0 and 1 of cbsz and blgp) take twice the time of those with 6 and 4 bits.
        formats = [re.search(rf"{field}:(\d)", operands) for field in ("cbsz", "blgp")]
        wide = any(one is None or int(one[1]) < 2 for one in formats)
        passes = (8 if rows == 32 else 4) * (2 if wide else 1)
    elif rows == 4:
        passes = 2
    elif blocks is not None or re.match(r"f32(_|$)", rest):
        passes = 16 if rows == 32 else 8
    else:
        passes = 8 if rows == 32 else 4
    return MatrixWork(flops, slot(arch) * passes)


def _wmma_work(mnemonic: str, arch: str) -> MatrixWork:
    """Of a SIMD's 256 floating-point operations of f16 a cycle on RDNA 3, 512 on RDNA 4; sparse ones take no longer.

    Integers of 8 bits take as long as f16 on RDNA 3, half on RDNA 4, as fp8 does; 4 bits half of 8. On gfx1250 those of
    f32 and of 8-bit integers take LLVM's 16 cycles, all others 8.
    """
    found = _WMMA.match(mnemonic)
    if found is None:
        raise ValueError(f"unknown matrix instruction {mnemonic} of {arch}")
    m, n, k, kind = int(found[1]), int(found[2]), int(found[3]), found[4]
    flops = 2 * m * n * k
    if arch.startswith("gfx125"):
        return MatrixWork(flops, 16 if re.match(r"iu8|f32", kind) else 8)
    dense = flops // 2 if mnemonic.startswith("v_swmmac") else flops
    rate = 256 if arch.startswith("gfx11") else 512
    if "4" in kind:
        rate *= 2 if arch.startswith("gfx11") else 4
    elif "8" in kind and not arch.startswith("gfx11"):
        rate *= 2
    return MatrixWork(flops, dense // rate)
