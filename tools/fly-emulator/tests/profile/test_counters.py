# SPDX-License-Identifier: Apache-2.0
"""Counters that can be worked out by hand: bytes, transactions, bank conflicts, occupancy, the roofline."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from assembly import aligned_words, kernel_f

from flydsl.emulator import Profile, profile
from flydsl.emulator.device import Emulator, Module

DATA = Path(__file__).parent.parent / "data"
SOURCE = (DATA / "device.h").read_text() + (DATA / "kernels.c").read_text()


def profiled(build: Callable[..., Module], arch: str, code: str, **options: int) -> Profile:
    kernel = build(kernel_f(code, arch, **options), arch, "asm", ()).kernel("f")
    x, y = aligned_words(64 * 64), aligned_words(64 * 64)
    with profile() as session:
        kernel(1, 64, x, y)
    return session.last


HEAD = "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n"


@pytest.mark.parametrize(("shift", "segments"), [(2, 4), (3, 8), (6, 64), (7, 64)])
def test_transactions_are_segments(build: Callable[..., Module], shift: int, segments: int) -> None:
    got = profiled(build, "gfx942", f"{HEAD}  v_lshlrev_b32 v1, {shift}, v0\n  global_load_dword v2, v1, s[4:5]\n")
    memory = got.classes["vmem"]
    assert (memory.bytes_loaded, memory.bytes_stored, memory.transactions) == (256, 0, segments)
    assert memory.coalescing == pytest.approx(256 / (64 * segments))
    assert got.total.scalar_bytes == 0, "kernel arguments are not traffic"


@pytest.mark.parametrize(
    ("arch", "read", "shift", "conflicts"),
    [
        ("gfx942", "ds_read_b32 v2, v1", 2, 0),
        ("gfx942", "ds_read_b32 v2, v1", 3, 2),  # every other of 32 banks, in two halves of the wave
        ("gfx942", "ds_read_b32 v2, v1", 7, 62),  # all lanes in one bank
        ("gfx942", "ds_read_b128 v[2:5], v1", 4, 0),
        # Lanes 20 to 23 come with 0 to 3, and so on: 64 bytes more for lanes 16 to 31 bring them to the same banks.
        ("gfx942", "v_and_b32 v2, 16, v0\n  v_lshl_add_u32 v1, v2, 2, v1\n  ds_read_b128 v[2:5], v1", 4, 8),
        ("gfx942", "v_and_b32 v2, 16, v0\n  v_lshl_add_u32 v1, v2, 2, v1\n  ds_write_b128 v1, v[2:5]", 4, 0),
        ("gfx950", "ds_read_b32 v2, v1", 2, 0),
        ("gfx950", "ds_read_b32 v2, v1", 3, 1),  # every other of 64 banks, the whole wave at once
        ("gfx950", "ds_read_b128 v[2:5], v1", 4, 0),
        ("gfx950", "ds_read_b64 v[2:3], v1", 3, 0),
        # 16-byte rows 256 bytes apart: the lanes of a phase meet in four banks.
        ("gfx950", "ds_read_b128 v[2:5], v1", 8, 4 * 15),
    ],
)
def test_bank_conflicts(build: Callable[..., Module], arch: str, read: str, shift: int, conflicts: int) -> None:
    code = f"  v_lshlrev_b32 v1, {shift}, v0\n  {read}\n  s_waitcnt lgkmcnt(0)\n"
    got = profiled(build, arch, code, lds=65536)
    assert got.classes["lds"].lds_conflict_cycles == conflicts


def test_broadcast_is_no_conflict(build: Callable[..., Module], arch: str) -> None:
    got = profiled(build, arch, "  v_mov_b32 v1, 8\n  ds_read_b32 v2, v1\n  s_waitcnt lgkmcnt(0)\n", lds=1024)
    assert got.classes["lds"].lds_conflict_cycles == 0


def test_assumed_phases_are_named(build: Callable[..., Module]) -> None:
    code = "  v_lshlrev_b32 v1, 4, v0\n  ds_read_{} v1\n  s_waitcnt lgkmcnt(0)\n"
    eight, sixteen = code.format("b64 v[2:3],"), code.format("b128 v[2:5],")
    assert profiled(build, "gfx942", eight, lds=1024).data["assumed"] == ["lds_phases"]
    assert profiled(build, "gfx942", sixteen, lds=1024).data["assumed"] == []
    assert profiled(build, "gfx950", eight, lds=1024).data["assumed"] == []


@pytest.mark.parametrize(
    ("vgprs", "lds", "waves", "limit"),
    [(64, 0, 8, "slots"), (72, 0, 7, "vgpr"), (128, 0, 4, "vgpr"), (512, 0, 1, "vgpr"), (64, 32768, 1, "lds")],
)
def test_occupancy(build: Callable[..., Module], vgprs: int, lds: int, waves: int, limit: str) -> None:
    accum = min(vgprs, 256)
    occupancy = profiled(build, "gfx942", "  s_nop 0", vgprs=vgprs, accum=accum, lds=lds).occupancy
    assert (occupancy.waves_per_simd, occupancy.limited_by) == (waves, limit)


def test_occupancy_agrees_with_hip(emulator: Emulator, build: Callable[..., Module], arch: str) -> None:
    module = build(SOURCE, arch)
    for name, threads in (("gemm_f16", 256), ("softmax_f32", 256), ("vector_add", 64)):
        kernel = module.kernel(name)
        x = np.zeros((64, 64), np.float32)
        arguments = {"gemm_f16": (x, x, x, 64, 64, 64), "softmax_f32": (x, x, 64, 64), "vector_add": (x, x, x, 64)}
        with profile() as session:
            kernel(1, threads, *arguments[name])
        groups = ctypes.c_int()
        emulator.call(
            "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
            ctypes.byref(groups), kernel._handle, threads, ctypes.c_size_t(0),
        )  # fmt: skip
        assert session.last.occupancy.groups_per_compute_unit == groups.value


def test_roofline(build: Callable[..., Module], arch: str) -> None:
    kernel = build(SOURCE, arch).kernel("vector_add")
    a, b, c = np.zeros((3, 4096), np.float32)
    with profile() as session:
        kernel(16, 256, a, b, c, 4096)
    least = 3 * a.nbytes
    roofline = session.last.roofline(least)
    assert roofline.bytes_moved == least
    assert roofline.ratio == 1.0
    assert roofline.flops == 0
    assert roofline.memory_seconds == pytest.approx(least / (5.3e12 if arch == "gfx942" else 8.0e12))
    assert roofline.matrix_seconds == 0
    assert session.last.roofline().ratio is None


def test_lines_and_instructions_add_up(build: Callable[..., Module], arch: str) -> None:
    kernel = build(SOURCE, arch).kernel("gemm_f16")
    f = np.ones((64, 64), np.float16)
    with profile() as session:
        kernel(1, 256, f, f, np.zeros((64, 64), np.float32), 64, 64, 64)
    got = session.last
    for parts in (got.lines.values(), got.classes.values(), [one.total for one in got.instructions]):
        assert sum(part.issue_cycles for part in parts) == got.total.issue_cycles
    matrix = next(line for line, one in got.lines.items() if one.mfma_cycles)
    assert (DATA / "kernels.c").name in SOURCE or ":" in matrix
    assert got.total.flops == 2 * 64**3


def test_session_holds_its_launches_only(build: Callable[..., Module]) -> None:
    kernel = build(SOURCE, "gfx942").kernel("vector_add")
    a = np.zeros((3, 64), np.float32)
    kernel(1, 64, *a, 64)
    with profile() as session:
        kernel(1, 64, *a, 64)
        kernel(2, 64, *a, 64)
    kernel(1, 64, *a, 64)
    assert [one.grid for one in session.launches] == [(1, 1, 1), (2, 1, 1)]
    with profile() as empty, pytest.raises(LookupError, match="no kernel was launched"):
        _ = empty.last


def test_profile_file(build: Callable[..., Module], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FLYDSL_EMU_PROFILE_FILE gets a line of JSON a launch."""
    path = tmp_path / "profiles.jsonl"
    monkeypatch.setenv("FLYDSL_EMU_PROFILE_FILE", str(path))
    kernel = build(SOURCE, "gfx942").kernel("vector_add")
    a = np.zeros((3, 64), np.float32)
    with profile():
        kernel(1, 64, *a, 64)
        kernel(3, 64, *a, 64)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["grid"] for line in lines] == [[1, 1, 1], [3, 1, 1]]


def test_table(build: Callable[..., Module]) -> None:
    from io import StringIO

    from rich.console import Console

    kernel = build(SOURCE, "gfx942").kernel("vector_add")
    a = np.zeros((3, 64), np.float32)
    with profile() as session:
        kernel(1, 64, *a, 64)
    text = StringIO()
    session.last.print(Console(file=text, width=160), least_bytes=3 * 256)
    for word in ("vector_add on emulated gfx942", "by source line", "1.000 x the least", "estimates"):
        assert word in text.getvalue()
