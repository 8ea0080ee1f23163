# SPDX-License-Identifier: Apache-2.0
"""docs/emulator/fidelity.md names tests that exist, and the gaps of whole kernels that it lists."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from assembly import kernel_f
from opcodes.case import ARCHITECTURES
from opcodes.tables import TABLES

from flydsl.emulator.device import EmulatorError, Module

TESTS = Path(__file__).parent
OF_KERNELS = TESTS.parents[2] / "packages" / "fly-kernels" / "tests"
PAGE = TESTS.parents[2] / "docs" / "emulator" / "fidelity.md"


def test_the_page_names_tests_that_exist() -> None:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")][1:]
    rows = [re.split(r"(?<!\\)\|", line)[3].replace("\\|", "|") for line in lines]
    cases = {one.name for cases in TABLES.values() for one in cases()}
    functions = {
        name
        for folder in (TESTS, OF_KERNELS)
        for path in folder.rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)
    }
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert len(rows) > 25
    assert all("`" in row for row in rows), "a gap without a test"
    unknown = sorted(set(named) - cases - functions)
    assert not unknown


@pytest.mark.parametrize("dimensions", ["x", "y", "z", "xz", "yz", "xyz"])
def test_workgroup_ids_lie_one_after_the_other(build: Callable[..., Module], arch: str, dimensions: str) -> None:
    """Only the enabled ones have a scalar register, behind the user registers."""
    count = len(dimensions)
    code = "  s_load_dwordx2 s[10:11], s[0:1], 0x8\n  v_mov_b32 v2, 0\n  s_waitcnt lgkmcnt(0)\n"
    # Each group writes its ids at the place that they name.
    code += "".join(f"  s_lshl_b32 s{20 + i}, s{2 + i}, {4 * i}\n" for i in range(count))
    code += "  s_mov_b32 s30, 0\n" + "".join(f"  s_or_b32 s30, s30, s{20 + i}\n" for i in range(count))
    code += "  v_mov_b32 v3, s30\n  s_lshl_b32 s31, s30, 2\n  v_mov_b32 v2, s31\n  global_store_dword v2, v3, s[10:11]"
    source = kernel_f(code, arch)
    enabled = "".join(f"  .amdhsa_system_sgpr_workgroup_id_{d} {int(d in dimensions)}\n" for d in "xyz")
    source = source.replace("  .amdhsa_next_free_vgpr", enabled + "  .amdhsa_next_free_vgpr")
    grid = {"x": 2, "y": 3, "z": 4}
    out = np.full(4096, 0xFFFFFFFF, np.uint32)
    build(source, arch, "asm", ()).kernel("f")((2, 3, 4), 64, out, out)
    want = {sum(v << 4 * i for i, v in enumerate(ids)) for ids in np.ndindex(*(grid[d] for d in dimensions))}
    assert {int(v) for v in out[out != 0xFFFFFFFF]} == want
    assert all(out[v] == v for v in want)


def test_registers_beyond_the_allocation(build: Callable[..., Module], arch: str) -> None:
    x = np.zeros(64, np.uint32)
    wrong = (
        "v_mov_b32 v2, v40",
        "v_accvgpr_read_b32 v2, a0",
        "s_mov_b32 s2, s60",
        "s_load_dwordx2 s[48:49], s[0:1], 0",
    )
    for code in wrong:  # 32 SGPRs, and 6 for VCC and the like: three granules of 16
        named = code.split()[0]
        beyond = "beyond the 32 VGPRs, 0 AccVGPRs and 48 SGPRs of its descriptor"
        with pytest.raises(EmulatorError, match=f"{beyond}\n.*{named}"):
            build(kernel_f(f"  {code}", arch, vgprs=32, accum=32), arch, "asm", ()).kernel("f")(1, 64, x, x)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("s_movk_i32 m0, 200\n  s_movrels_b32 s4, s5", "out of the register file"),
        ("s_movk_i32 m0, 255\n  s_set_gpr_idx_on m0, gpr_idx(SRC0)\n  v_mov_b32 v2, v3", "out of the register file"),
    ],
)
def test_relative_registers_beyond_the_file(build: Callable[..., Module], arch: str, code: str, message: str) -> None:
    x = np.zeros(64, np.uint32)
    with pytest.raises(EmulatorError, match=message):
        build(kernel_f("  " + code, arch), arch, "asm", ()).kernel("f")(1, 64, x, x)


@pytest.mark.parametrize("width", [16, 32])
def test_a_swap_with_half_of_a_pair_inactive_is_refused(build: Callable[..., Module], width: int) -> None:
    assert ARCHITECTURES[1] == "gfx950"
    x = np.zeros(64, np.uint32)
    code = f"  s_mov_b64 exec, 1\n  v_permlane{width}_swap_b32 v2, v3"
    with pytest.raises(EmulatorError, match="permlane swap with one of its two lanes inactive"):
        build(kernel_f(code, "gfx950"), "gfx950", "asm", ()).kernel("f")(1, 64, x, x)
