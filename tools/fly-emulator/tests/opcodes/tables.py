# SPDX-License-Identifier: Apache-2.0
"""All tables of cases, and what they test."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from . import (
    rdna,
    table_compare,
    table_control,
    table_convert,
    table_encodings,
    table_float,
    table_gaps,
    table_integer,
    table_lanes,
    table_lds,
    table_matrix,
    table_matrix_published,
    table_memory,
    table_rdna,
    table_scalar,
    table_scalar_memory,
    table_scaled,
    table_transcendental,
    table_typed,
)
from .case import Case

TABLES: dict[str, Callable[[], list[Case]]] = {
    "integer": table_integer.cases,
    "float": table_float.cases,
    "transcendental": table_transcendental.cases,
    "convert": table_convert.cases,
    "scaled conversions": table_scaled.cases,
    "compare": table_compare.cases,
    "encodings": table_encodings.cases,
    "scalar": table_scalar.cases,
    "scalar memory": table_scalar_memory.cases,
    "control": table_control.cases,
    "lanes": table_lanes.cases,
    "memory": table_memory.cases,
    "typed buffer": table_typed.cases,
    "lds": table_lds.cases,
    "AMD's element maps": table_matrix_published.cases,
    "matrix": table_matrix.cases,
    "gaps": table_gaps.cases,
}
# Those that RDNA shares: its matrices and typed buffers are others; conversions with scales and SDWA are not there.
SHARED = ("integer", "float", "transcendental", "convert", "compare", "scalar", "lanes", "lds", "memory", "gaps")
# Tested elsewhere, by a program of their own.
ELSEWHERE = {
    "s_endpgm": "ends every kernel",
    "s_endpgm_saved": "test_opcodes.py",
    "s_trap": "test_opcodes.py",
}


# Of RDNA and gfx1250, by regular expressions of how their names begin.
OF_RDNA = {
    "v_wmma_": "rdna/test_matrix*.py", "v_swmmac_": "rdna/test_matrix*.py", "v_dual_": "rdna/test_waves.py",
    "v_permlane16_b32": "rdna/test_waves.py", "v_permlanex16_b32": "rdna/test_waves.py",
    "v_movrel": "rdna/test_waves.py", "v_swaprel_b32": "rdna/test_waves.py",
    "v_permlane64_b32": "rdna/test_waves.py",
    "tensor_load_to_lds": "rdna/test_tensor_data.py",
    "tensor_store_from_lds": "rdna/test_tensor_data.py",
    "ds_load_tr": "rdna/test_lds_1250.py",
    "v_cvt_scale_pk": "rdna/test_convert_1250.py", "v_cvt_scalef32_pk8_": "rdna/test_convert_1250.py",
    "v_cvt_scalef32_pk16_": "rdna/test_convert_1250.py", "v_cvt_scalef32_sr_pk8_": "rdna/test_convert_1250.py",
    "v_cvt_scalef32_sr_pk16_": "rdna/test_convert_1250.py",
    r"s_(cmp_\w+|add|sub|mul|(min|max)_num|minimum|maximum|ceil|floor|trunc|rndne)_f(16|32)$":
        "rdna/test_scalar_floats.py",
    r"s_(fmac_f(16|32)|fma[am]k_f32|cvt_(hi_f32_f16|f\w+|[iu]32_f32|pk_rtz_f16_f32))$": "rdna/test_scalar_floats.py",
    r"v_s_(exp|log|rcp|rsq|sqrt)_f(16|32)$": "rdna/test_scalar_floats.py",
    r"s_(and|or|xor|nand|nor|xnor|and_not[01]|or_not[01])_saveexec_b32$": "rdna/test_masks_of_32.py",
    r"s_and_not[01]_wrexec_b32$": "rdna/test_masks_of_32.py",
    r"buffer_(load|store)_(d16_(hi_)?)?[uib](8|16|32|64|96|128)$": "rdna/test_buffers.py",
    r"s_(buffer_)?load_[uib](8|16|32|64|96|128|256|512)$": "rdna/test_memory.py",
    r"ds_cmpstore_rtn_b(32|64)$|(global|flat|buffer)_atomic_cmpswap_b(32|64)$": "rdna/test_memory.py",
    r"ds_(min|max)_num_rtn_f32$|(global|flat|buffer)_atomic_(min|max)_(num_)?f32$": "rdna/test_memory.py",
    r"ds_(cond_sub|sub_clamp)_rtn_u32$|(global|flat|buffer)_atomic_(cond_sub|sub_clamp)_u32$": "rdna/test_memory.py",
    r"(global|flat|buffer)_atomic_(cmpswap_f32|csub_u32|(min|max)_num_f64)$": "rdna/test_atomics_by_name.py",
    r"(global_load|cluster_load|global_store)_async_(to|from)_lds_b\d+$": "rdna/test_async_1250.py",
    r"(flat|global)_load_monitor_b\d+$": "rdna/test_async_1250.py",
    r"v_dot4_f32_(fp|bf)8_(fp|bf)8$": "rdna/test_small_floats.py",
    r"buffer_atomic_((add|sub|min|max|inc|dec)_u|(min|max)_i|(swap|and|or|xor)_b)(32|64)$": "rdna/test_buffers.py",
}  # fmt: skip


@lru_cache
def named_in_rdna() -> dict[str, str]:
    """Words of RDNA's own tests that may be opcodes, and the first file that has them."""
    out: dict[str, str] = {}
    for path in sorted((Path(__file__).parent.parent / "rdna").glob("test_*.py")):
        for word in re.findall(r"\b[a-z]+_[a-z0-9_]+\b", path.read_text()):
            out.setdefault(word, f"rdna/{path.name}")
    return out


@lru_cache
def defined_opcodes(arch: str) -> dict[str, str]:
    """Every opcode that has a definition, and the table that it is in."""
    if arch in rdna.ARCHITECTURES:
        return _defined_on_rdna(arch)
    out = dict(ELSEWHERE)
    for name, cases in TABLES.items():
        for one in cases():
            if arch in one.archs:
                out.setdefault(one.opcode, f"{name} table")
                for other in one.also:
                    out.setdefault(other, f"{name} table")
    return out


def _defined_on_rdna(arch: str) -> dict[str, str]:
    out = {"s_endpgm": ELSEWHERE["s_endpgm"]}
    for name in SHARED:
        for opcode in rdna.names(rdna.cases(TABLES[name], arch), arch):
            out.setdefault(opcode, f"{name} table")
    for one in table_rdna.cases():
        if arch in one.archs:
            out.setdefault(one.opcode, "table of RDNA")
    return out


def is_old_name(name: str) -> bool:
    """A name that a matrix instruction had before gfx942, which LLVM still knows."""
    return re.match(r"v_mfma_\w+x\d+(f16|f32|f64|i8|bf16|bf16_1k)$", name) is not None


def accepted(mnemonics: list[str], arch: str) -> set[str]:
    """The mnemonics that LLVM's assembler has for an architecture, operands aside."""
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-filetype=null"]
    done = subprocess.run(command, input="\n".join(mnemonics), capture_output=True, text=True, timeout=600)
    refused = {
        mnemonics[int(line) - 1]
        for line, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", done.stderr, re.M)
        if re.search("not supported on this GPU|invalid instruction|unknown", message)
    }
    return set(mnemonics) - refused
