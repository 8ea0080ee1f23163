# SPDX-License-Identifier: Apache-2.0
"""Which chips have an instruction: the dialect's table against LLVM's code generator, over all chips and instructions.

The calls of `instruction_calls` are compiled by `llc` and assembled by `llvm-mc`: what the table says is there must
pass both, and what it says is missing must not. (LLVM's code generator selects some instructions, such as conversions
of gfx950, on chips that lack them; its assembler looks at each.)
"""

import functools
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from instruction_calls import CALLS, Call, program

from flydsl._mlir._mlir_libs import _fly_emit

CHIPS = ("gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201", "gfx1250")
TOOLS = Path("/usr/lib/llvm-22/bin")
QUIET = {**os.environ, "LLVM_DISABLE_SYMBOLIZATION": "1"}  # else each refusal costs a search for names of functions
ONE_IN = 3


def missing(call: Call, chip: str) -> bool:
    return _fly_emit.missing_instruction(f"llvm.amdgcn.{call.known_as or call.name}", chip) is not None


def compiles(calls: list[Call], chip: str) -> str:
    """Return what `llc` or `llvm-mc` says, which is nothing where all of them compile."""
    steps = (
        ("llc", ["-mtriple=amdgcn-amd-amdhsa", "-O0", "-o", "-", "-"]),
        ("llvm-mc", ["--triple=amdgcn-amd-amdhsa", "-o", os.devnull, "-"]),
    )
    text = program(calls)
    for tool, options in steps:
        done = subprocess.run(
            [TOOLS / tool, f"--mcpu={chip}", *options],
            input=text, capture_output=True, text=True, timeout=120, check=False, env=QUIET,
        )  # fmt: skip
        if done.returncode != 0:
            return f"{tool}: {done.stderr}"
        text = done.stdout
    return ""


@functools.cache
def has_other_operands(call: Call, chip: str) -> bool:
    """Tell whether the chip has the WMMA of 16x16x16, but on operands of another width: gfx11 holds each twice."""
    if re.fullmatch(r"wmma\.(f32|f16|bf16|i32)\.16x16x16\.(f16|bf16|iu8|iu4)", call.name) is None:
        return False
    first = next(one for one in CALLS if one.name == call.name)  # the calls of gfx11 come first
    return (call == first) is not chip.startswith("gfx11")


@pytest.mark.parametrize("chip", CHIPS)
def test_what_is_said_to_be_there_compiles(chip: str) -> None:
    there = [call for call in CALLS if not missing(call, chip) and not has_other_operands(call, chip)]
    assert len(there) > 10
    assert compiles(there, chip) == ""


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
def test_what_is_said_to_be_missing_does_not_compile(chip: str) -> None:
    """Each is a process of its own: one in three of them, others on each chip."""
    # On gfx12 LLVM takes the barrier of a cluster for that of a workgroup: there is one in each.
    absent = [call for call in CALLS if missing(call, chip) and (call.name, chip) != ("s.cluster.barrier", "gfx1201")]
    tried = absent[CHIPS.index(chip) % ONE_IN :: ONE_IN]
    assert len(tried) > 40
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = pool.map(lambda call: compiles([call], chip), tried)
    assert [call.name for call, text in zip(tried, said, strict=True) if not text] == []


def test_every_row_is_of_a_call_and_has_a_chip() -> None:
    """A row that no call meets says nothing that is tested; one that no chip has is a feature that LLVM renamed."""
    no_calls = ("asyncmark", "wait.asyncmark", "s.setreg.wave.sched.mode")  # several instructions, or operands of one
    names = [(call.known_as or call.name).replace("_", ".") for call in CALLS]
    for name, _ in _fly_emit.instruction_table():
        assert name in no_calls or any(one.startswith(name) for one in names), name
        operation = f"rocdl.{name}"
        assert any(_fly_emit.missing_instruction(operation, chip) is None for chip in CHIPS), name
        assert any(_fly_emit.missing_instruction(operation, chip) is not None for chip in CHIPS), name


def test_what_is_there_instead_is_there() -> None:
    for call in CALLS:
        for chip in CHIPS:
            found = _fly_emit.missing_instruction(f"llvm.amdgcn.{call.known_as or call.name}", chip)
            if found is None:
                continue
            needs, instead = found
            assert re.search(r"gfx\d", needs), (call.name, needs)
            assert chip not in re.findall(r"gfx[0-9a-f]+", needs)
            assert " " in instead or _fly_emit.missing_instruction(f"rocdl.{instead}", chip) is None


MFMA_CHIPS = "gfx908, gfx90a, gfx942 or gfx950"


@pytest.mark.parametrize(
    ("operation", "chip", "expected"),
    [
        ("rocdl.mfma.f32.16x16x32.f16", "gfx942", ("gfx950", "mfma.f32.16x16x16f16")),
        ("rocdl.mfma.f32.16x16x32.f16", "gfx942:xnack-", ("gfx950", "mfma.f32.16x16x16f16")),
        ("llvm.amdgcn.mfma.f32.16x16x32.f16", "gfx942", ("gfx950", "mfma.f32.16x16x16f16")),
        ("rocdl.mfma.f32.16x16x8.xf32", "gfx950", ("gfx942", "mfma.f32.16x16x4f32")),
        ("rocdl.mfma.i32.16x16x64.i8", "gfx90a", ("gfx950", "mfma.i32.16x16x16i8")),  # the one between is missing, too
        ("rocdl.mfma.f32.16x16x4f32", "gfx1201", (MFMA_CHIPS, "wmma, if it has matrix instructions")),
        ("rocdl.wmma.f32.16x16x4.f32", "gfx942", ("gfx1250", "mfma")),
        ("rocdl.cvt.scalef32.pk.f32.fp4", "gfx942", ("gfx950", "")),
        ("rocdl.tensor.load.to.lds.d2", "gfx1201", ("the tensor data mover of gfx1250", "")),
        ("llvm.amdgcn.s.cluster.barrier", "gfx942", ("the workgroup clusters of gfx1250", "")),
        ("rocdl.asyncmark", "sm_90a", ("gfx950", "")),
        ("rocdl.mfma.f32.16x16x32.f16", "gfx950", None),
        ("rocdl.wmma.f32.16x16x16.f16", "gfx1201", None),
        ("rocdl.tensor.load.to.lds", "gfx1250-strict", None),
        ("rocdl.mfma.f32.16x16x16f16", "gfx9-4-generic", None),
        ("arith.addi", "gfx942", None),
        ("rocdl.readfirstlane", "gfx942", None),
    ],
)
def test_what_a_chip_has_instead(operation: str, chip: str, expected: tuple[str, str] | None) -> None:
    assert _fly_emit.missing_instruction(operation, chip) == expected
