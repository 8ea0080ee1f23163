# SPDX-License-Identifier: Apache-2.0
"""Opcodes of RDNA against the definitions that gfx9's are held against, and what RDNA has besides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from opcodes import rdna, table_rdna
from opcodes.batch import run_batch
from opcodes.tables import SHARED, TABLES

from flydsl.emulator.device import Emulator
from rdna.harness import DEVICES

HALVES = ("integer", "float", "transcendental", "convert", "compare")
# So many opcodes at least: a table that loses most of its cases would test nothing.
LEAST = {"integer": 110, "float": 50, "transcendental": 20, "convert": 30, "compare": 150, "scalar": 110, "lanes": 7,
         "lds": 90, "memory": 110, "gaps": 10}  # fmt: skip

# gfx1201 executes nearly all of them by the same code.
archs = pytest.mark.parametrize("arch", ["gfx1100", pytest.param("gfx1201", marks=pytest.mark.slow)])


@archs
@pytest.mark.parametrize("table", SHARED)
def test_opcodes_of_gfx9(table: str, arch: str, emulator: Emulator, compile_object: Callable[..., bytes]) -> None:
    cases = rdna.cases(TABLES[table], arch)
    assert len({one.opcode for one in cases}) >= LEAST[table]
    device = DEVICES.index(arch)
    failures = run_batch(cases, emulator, compile_object, arch, device, adapt=rdna.program, flags=rdna.WHOLE_FLAGS)
    assert not failures, "\n".join(failures)


@archs
@pytest.mark.parametrize("table", HALVES)
def test_every_half_of_a_register(
    table: str, arch: str, emulator: Emulator, compile_object: Callable[..., bytes]
) -> None:
    cases = rdna.halves(TABLES[table], arch)
    assert cases
    device = DEVICES.index(arch)
    failures = run_batch(cases, emulator, compile_object, arch, device, adapt=rdna.program, flags=rdna.HALVES_FLAGS)
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("arch", rdna.ARCHITECTURES)
@pytest.mark.parametrize("upper", [False, True])
def test_opcodes_of_rdna(upper: bool, arch: str, emulator: Emulator, compile_object: Callable[..., bytes]) -> None:
    def table() -> list[rdna.Case]:
        return [one for one in table_rdna.cases() if arch in one.archs]

    cases = rdna.halves(table, arch) if upper else rdna.cases(table, arch)
    flags = rdna.HALVES_FLAGS if upper else rdna.WHOLE_FLAGS
    device = DEVICES.index(arch)
    failures = run_batch(cases, emulator, compile_object, arch, device, adapt=rdna.program, flags=flags)
    assert not failures, "\n".join(failures)


def test_every_executed_opcode_has_a_test() -> None:
    """By the published table, which is that of the code (test_the_published_table_is_up_to_date)."""
    page = Path(__file__).resolve().parents[4] / "docs/emulator/opcodes.md"
    rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in page.open() if line.startswith("| `")]
    assert len(rows) > 2000
    assert not [row[0] for row in rows if not row[-1] and not row[-2].startswith("refused")]
