# SPDX-License-Identifier: Apache-2.0
"""Every opcode against its definition, and no executed opcode without one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flydsl.emulator.device import Emulator, EmulatorError

from .batch import run_batch
from .case import ARCHITECTURES, Case, case
from .tables import TABLES, accepted, defined_opcodes, is_old_name


def executed(emulator: Emulator, arch: str) -> set[str]:
    """The opcodes that the emulator executes and the architecture has."""
    table = json.loads(emulator.library.flyemu_opcodes_json(arch.encode()))
    names = sorted(name for name, entry in table.items() if entry is not None and "refusal" not in entry)
    return {name for name in accepted(names, arch) if not is_old_name(name)}


@pytest.mark.parametrize("table", TABLES)
def test_opcodes_match_their_definitions(
    table: str, arch: str, emulator: Emulator, compile_object: Callable[..., bytes]
) -> None:
    failures = run_batch(TABLES[table](), emulator, compile_object, arch, ARCHITECTURES.index(arch))
    assert not failures, "\n".join(failures)


def test_every_executed_opcode_has_a_definition(emulator: Emulator, arch: str) -> None:
    missing = executed(emulator, arch) - set(defined_opcodes(arch))
    assert not missing, f"no test of {', '.join(sorted(missing))}"


def test_definitions_name_executed_opcodes(emulator: Emulator, arch: str) -> None:
    """A definition for what the emulator refuses would test nothing."""
    defined = {one.opcode for cases in TABLES.values() for one in cases() if arch in one.archs}
    unknown = defined - executed(emulator, arch)
    assert not unknown, sorted(unknown)


def test_a_wrong_definition_is_noticed(emulator: Emulator, compile_object: Callable[..., bytes]) -> None:
    """In the value, in an inactive lane, in memory."""

    def off_by_one(a: object, b: object) -> object:
        return a + b + 1  # type: ignore[operator]

    wrong: list[Case] = [
        case("v_add_u32", "u32 u32", "u32", off_by_one),
        case("v_mov_b32", "u32", "u32", lambda a: a, whole=True),
        case("global_store_dword", "u32", "", lambda c, a: None, "v_mov_b32 v90, 0\n{op} v90, {a}, s[16:17]",
             context=True, memory=64),
    ]  # fmt: skip
    failures = run_batch(wrong, emulator, compile_object, "gfx942", 0)
    assert [failure.split()[0].rstrip(":") for failure in failures] == [
        "v_add_u32", "v_mov_b32", "global_store_dword",
    ]  # fmt: skip


def test_every_opcode_is_executed_or_refused_with_a_reason(emulator: Emulator, arch: str) -> None:
    """Of all that LLVM has for the architecture; and docs/emulator/opcodes.md says so."""
    table = json.loads(emulator.library.flyemu_opcodes_json(arch.encode()))
    names = sorted(name for name in table if "_" in name and not name.endswith(("_e32", "_e64")))
    unknown = {name for name in accepted(names, arch) if table[name] is None and not is_old_name(name)}
    assert not unknown, sorted(unknown)


def test_the_published_table_is_up_to_date() -> None:
    script = Path(__file__).resolve().parents[2] / "scripts" / "opcode_table.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


REFUSED = {
    "s_rfe_b64 s[20:21]": "trap handler", "s_sendmsghalt 1": "debugger", "ds_gws_sema_v gds": "semaphore",
    "v_screen_partition_4se_b32 v1, v2": "rasteriser",
}  # fmt: skip


@pytest.mark.parametrize("code", REFUSED)
def test_refused_opcodes_say_why(code: str, emulator: Emulator, compile_object: Callable[..., bytes]) -> None:
    one = case(code.split()[0], "", "", lambda: None, code)
    with pytest.raises(EmulatorError, match=REFUSED[code]):
        run_batch([one], emulator, compile_object, "gfx942", 0)


@pytest.mark.parametrize("code", ["s_trap 2", "s_endpgm_saved"])
def test_programs_that_end(code: str, emulator: Emulator, compile_object: Callable[..., bytes]) -> None:
    """What comes after is not executed: a store to address zero would be an error."""
    one = case(
        code.split()[0], "", "", lambda: None, f"{code}\nv_mov_b32 v90, 0\nglobal_store_dword v90, v90, s[90:91]"
    )
    if code == "s_trap 2":
        with pytest.raises(EmulatorError, match="trapped"):
            run_batch([one], emulator, compile_object, "gfx942", 0)
    else:
        assert not run_batch([one], emulator, compile_object, "gfx942", 0)
