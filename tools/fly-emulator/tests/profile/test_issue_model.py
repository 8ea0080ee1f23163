# SPDX-License-Identifier: Apache-2.0
"""The issue model against AMD's published cycles of matrix instructions and the rates of other units."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from assembly import kernel_f

from flydsl.emulator import Profile, profile
from flydsl.emulator.device import Module

TABLE: dict[str, Any] = json.loads((Path(__file__).parent.parent / "data/matrix-instructions-cdna3.json").read_text())


def profiled(build: Callable[..., Module], arch: str, code: str, **options: int) -> Profile:
    """The profile of a kernel of one wave."""
    kernel = build(kernel_f(code, arch, **options), arch, "asm", ()).kernel("f")
    words = np.zeros(64, np.uint32)
    with profile() as session:
        kernel(1, 64, words, words)
    return session.last


def span(first: int, count: int) -> str:
    return f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]"


def assembled(name: str) -> str:
    """A matrix instruction with operands as wide as the table says."""
    usage = {key[-1]: int(value) for key, value in TABLE[name]["Register usage"].items() if key.startswith("GPRs")}
    sources = f"{span(0, usage['A'])}, {span(8, usage['B'])}"
    last = "v20" if "smfmac" in name else span(24, usage["D"])
    return f"  {name} {span(24, usage['D'])}, {sources}, {last}"


def test_matrix_instructions_take_the_published_cycles(build: Callable[..., Module], arch: str) -> None:
    names = [name for name in TABLE if not (arch == "gfx950" and "xf32" in name)]
    got = profiled(build, arch, "\n".join(assembled(name) for name in names))
    matrix = {one.text.split()[0]: one.total for one in got.instructions if one.unit == "matrix"}
    assert len(matrix) == len(names)
    for name in names:
        statistics = TABLE[name]["Execution statistics"]
        published = int(statistics["Execution cycles"])
        if arch == "gfx950" and name == "v_mfma_f64_16x16x4_f64":
            published = 64  # half of gfx942's rate, in LLVM's model and in AMD's peak
        assert matrix[name].issue_cycles == published, name
        assert matrix[name].flops == int(statistics.get("FLOPs") or statistics["Ops"]), name
    assert got.total.mfma_cycles == sum(counters.issue_cycles for counters in matrix.values())


# What MI355X's published peak (2.5 PFLOP/s in 16 bits, twice that in 8, four times in 6 and 4; 256 units of four, 2.4
# GHz) leaves for one unit: operations a cycle. Products that sparse instructions skip do not count.
PEAK = {"f16": 1024, "bf16": 1024, "i8": 2048, "fp8": 2048, "bf8": 2048}


def test_additions_of_gfx950_reach_its_peak(build: Callable[..., Module]) -> None:
    """AMD's table does not have them."""
    shapes = {
        "mfma": [(16, 32, ("f16", "bf16")), (32, 16, ("f16", "bf16")), (16, 64, ("i8",)), (32, 32, ("i8",))],
        "smfmac": [(16, 64, ("f16", "bf16")), (32, 32, ("f16", "bf16")),
                   (16, 128, ("i8", "fp8_bf8", "bf8_fp8")), (32, 64, ("i8", "fp8_fp8", "bf8_bf8"))],
    }  # fmt: skip
    for kind, rows in shapes.items():
        for m, k, types in rows:
            for name in types:
                a, b, last = (4, 4, None) if kind == "mfma" else (4, 8, "v20")
                out = "i32" if name == "i8" else "f32"
                d = span(24, m * m // 64)
                code = f"  v_{kind}_{out}_{m}x{m}x{k}_{name} {d}, {span(0, a)}, {span(8, b)}, {last or d}"
                got = profiled(build, "gfx950", code)
                operations = 2 * m * m * k // (2 if kind == "smfmac" else 1)
                assert got.total.mfma_cycles == operations // PEAK[name.split("_")[0]], code


@pytest.mark.parametrize(
    ("m", "k", "formats", "cycles"),
    [(16, 128, (0, 0), 32), (16, 128, (1, 4), 32), (16, 128, (4, 4), 16), (16, 128, (2, 3), 16),
     (32, 64, (0, 0), 64), (32, 64, (4, 1), 64), (32, 64, (4, 4), 32)],
)  # fmt: skip
def test_eight_bit_formats_take_twice_the_narrow_ones(
    build: Callable[..., Module], m: int, k: int, formats: tuple[int, int], cycles: int
) -> None:
    widths = [8 if f < 2 else 6 if f < 4 else 4 for f in formats]
    d = span(24, m * m // 64)
    code = f"  v_mfma_f32_{m}x{m}x{k}_f8f6f4 {d}, {span(0, widths[0])}, {span(8, widths[1])}, {d}"
    got = profiled(build, "gfx950", f"{code} cbsz:{formats[0]} blgp:{formats[1]}")
    assert got.total.mfma_cycles == cycles


@pytest.mark.parametrize(
    ("instruction", "unit", "cycles"),
    [
        ("v_add_f32 v1, v2, v3", "vector", 4),
        ("v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9]", "vector", 4),
        ("v_fma_f64 v[2:3], v[4:5], v[6:7], v[8:9]", "vector", 4),
        ("v_exp_f32 v1, v2", "vector", 16),
        ("v_rcp_f64 v[2:3], v[4:5]", "vector", 16),
        ("v_mul_lo_u32 v1, v2, v3", "vector", 16),
        ("s_add_u32 s4, s5, s6", "scalar", 4),
        ("s_nop 7", "sequencer", 32),
        ("s_sleep 2", "sequencer", 128),
    ],
)
def test_rates(build: Callable[..., Module], arch: str, instruction: str, unit: str, cycles: int) -> None:
    first = profiled(build, arch, "  " + instruction).instructions[0]
    assert (first.unit, first.total.issue_cycles) == (unit, cycles)


def test_share_and_bound_of_a_loop(build: Callable[..., Module], arch: str) -> None:
    """Two matrix instructions of 16 cycles and ten other issue slots of 4, ten times round."""
    body = "  v_mfma_f32_16x16x16_f16 v[24:27], v[0:1], v[8:9], v[24:27]\n" * 2 + "  v_add_f32 v1, v2, v3\n" * 7
    code = f"  s_mov_b32 s4, 10\n.Lloop:\n{body}  s_sub_u32 s4, s4, 1\n  s_cmp_lg_u32 s4, 0\n  s_cbranch_scc1 .Lloop"
    got = profiled(build, arch, code)
    loop = got.hottest_loop
    assert loop is not None
    assert (loop.iterations, loop.innermost, loop.depth) == (10, True, 0)
    assert loop.total.mfma_cycles == 10 * 2 * 16
    assert loop.total.issue_cycles == 10 * (2 * 16 + 10 * 4)
    assert loop.mfma_issue_share == pytest.approx(32 / 72)
    assert loop.mfma_issue_bound == pytest.approx(32 / 48)


def test_nested_loops(build: Callable[..., Module], arch: str) -> None:
    code = """
  s_mov_b32 s4, 3
.Louter:
  s_mov_b32 s5, 5
.Linner:
  v_add_f32 v1, v2, v3
  s_sub_u32 s5, s5, 1
  s_cmp_lg_u32 s5, 0
  s_cbranch_scc1 .Linner
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 .Louter
"""
    outer, inner = profiled(build, arch, code).loops
    assert (outer.iterations, outer.depth, outer.innermost) == (3, 0, False)
    assert (inner.iterations, inner.depth, inner.innermost) == (15, 1, True)
    assert outer.total.instructions == 3 * 4 + inner.total.instructions
