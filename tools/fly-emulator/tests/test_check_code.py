# SPDX-License-Identifier: Apache-2.0
"""The static check: planted bugs on paths that a run may not take, and code that LLVM compiled."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from assembly import kernel_f

from flydsl.emulator import KernelCheck, check_code
from flydsl.emulator.cli import main
from flydsl.emulator.device import Emulator, EmulatorError, Module

DATA = Path(__file__).parent / "data"
START = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
"""
MATRIX = "v_mfma_f32_16x16x16_f16 v[32:35], v[16:17], v[18:19], v[32:35]"
#: code, (kind, later instruction, earlier instruction, text) of the only finding; None where there is none
CASES = {
    "a load that is used": (
        "global_load_dword v2, v1, s[8:9]\n v_add_u32 v3, 1, v2",
        ("wait", "v_add_u32", "global_load_dword", "read while the load"),
    ),
    "a load that is waited for": ("global_load_dword v2, v1, s[8:9]\n s_waitcnt vmcnt(0)\n v_add_u32 v3, 1, v2", None),
    "a wait for the older of two": (
        "global_load_dword v2, v1, s[8:9]\n global_load_dword v4, v1, s[8:9]\n s_waitcnt vmcnt(1)\n v_mov_b32 v3, v2",
        None,
    ),
    "a wait for the younger of two": (
        "global_load_dword v2, v1, s[8:9]\n global_load_dword v4, v1, s[8:9]\n s_waitcnt vmcnt(1)\n v_mov_b32 v3, v4",
        ("wait", "v_mov_b32", "global_load_dword", "vmcnt"),
    ),
    "a load that is overwritten": (
        "ds_read_b32 v2, v1\n v_mov_b32 v2, 0",
        ("wait", "v_mov_b32", "ds_read_b32", "overwritten while"),
    ),
    "scalar loads return in any order": (
        "s_load_dword s12, s[8:9], 0x0\n s_load_dword s13, s[8:9], 0x4\n s_waitcnt lgkmcnt(1)\n s_mov_b32 s14, s12",
        ("wait", "s_mov_b32", "s_load_dword", "lgkmcnt"),
    ),
    "on one of two paths": (
        "global_load_dword v2, v1, s[8:9]\n s_cbranch_scc1 .Lskip\n s_waitcnt vmcnt(0)\n.Lskip:\n v_mov_b32 v3, v2",
        ("wait", "v_mov_b32", "global_load_dword", "read while"),
    ),
    "on both paths": (
        "global_load_dword v2, v1, s[8:9]\n s_cbranch_scc1 .Lelse\n s_waitcnt vmcnt(0)\n s_branch .Lgo\n.Lelse:\n"
        " s_waitcnt vmcnt(0)\n.Lgo:\n v_mov_b32 v3, v2",
        None,
    ),
    "over a back edge": (
        "s_mov_b32 s12, 4\n v_mov_b32 v2, 0\n.Lloop:\n v_mov_b32 v3, v2\n global_load_dword v2, v1, s[8:9]\n"
        " s_sub_u32 s12, s12, 1\n s_cmp_lg_u32 s12, 0\n s_cbranch_scc1 .Lloop\n s_waitcnt vmcnt(0)",
        ("wait", "v_mov_b32", "global_load_dword", "read while"),
    ),
    "a pipeline over a back edge": (
        "s_mov_b32 s12, 4\n global_load_dword v2, v1, s[8:9]\n.Lloop:\n global_load_dword v4, v1, s[8:9]\n"
        " s_waitcnt vmcnt(1)\n v_mov_b32 v3, v2\n s_waitcnt vmcnt(0)\n v_mov_b32 v2, v4\n"
        " global_load_dword v2, v1, s[8:9]\n s_sub_u32 s12, s12, 1\n s_cmp_lg_u32 s12, 0\n s_cbranch_scc1 .Lloop",
        None,
    ),
    "a write to LDS at a barrier": (
        "ds_write_b32 v1, v0\n s_barrier\n ds_read_b32 v2, v1\n s_waitcnt lgkmcnt(0)",
        ("barrier", "s_barrier", "ds_write_b32", "a write to LDS may be outstanding"),
    ),
    "an atomic at a barrier": (
        "ds_add_u32 v1, v0\n s_barrier",
        ("barrier", "s_barrier", "ds_add_u32", "a write to LDS may be outstanding"),
    ),
    "a read of LDS at a barrier": (
        "ds_read_b32 v2, v1\n s_barrier\n s_waitcnt lgkmcnt(0)",
        ("barrier", "s_barrier", "ds_read_b32", "a read of LDS may be outstanding"),
    ),
    "a barrier that is waited for": ("ds_write_b32 v1, v0\n s_waitcnt lgkmcnt(0)\n s_barrier", None),
    "one write of two at a barrier": (
        "ds_write_b32 v1, v0\n ds_write_b32 v1, v0 offset:256\n s_waitcnt lgkmcnt(1)\n s_barrier",
        ("barrier", "s_barrier", "ds_write_b32", "a write to LDS"),
    ),
    "a matrix result": (
        f"{MATRIX}\n v_mov_b32 v2, v33",
        ("hazard", "v_mov_b32", "v_mfma_f32_16x16x16", "0 wait states"),
    ),
    "a matrix result on the shorter path": (
        f"{MATRIX}\n s_cbranch_scc1 .Lshort\n s_nop 15\n.Lshort:\n v_mov_b32 v2, v33",
        ("hazard", "v_mov_b32", "v_mfma_f32_16x16x16", "1 wait state between"),
    ),
    "a matrix result, waited for": (f"{MATRIX}\n s_nop 7\n v_mov_b32 v2, v33", None),
    "a result that another one replaced": (f"{MATRIX}\n {MATRIX}\n s_nop 7\n v_mov_b32 v2, v33", None),
}  # fmt: skip


@pytest.fixture
def checked(compile_object: Callable[..., bytes]) -> Callable[[str, str], KernelCheck]:
    def run(code: str, arch: str) -> KernelCheck:
        source = kernel_f(START + code + "\n", arch, lds=1024)
        (kernel,) = check_code(compile_object(source, arch, "asm", ("-g",)))
        return kernel

    return run


@pytest.mark.parametrize("name", sorted(CASES))
def test_planted(checked: Callable[[str, str], KernelCheck], arch: str, name: str) -> None:
    code, expected = CASES[name]
    kernel = checked(code, arch)
    assert kernel.unchecked == []
    if expected is None:
        assert kernel.findings == ()
        return
    (finding,) = kernel.findings
    kind, later, earlier, what = expected
    assert (finding.kind, kernel.arch) == (kind, arch)
    assert finding.instruction.startswith(later)
    assert finding.other_instruction.startswith(earlier)
    assert what in finding.what
    for source in (finding.source, finding.other_source):
        assert int(source.rpartition(":")[2]) > 0
    assert finding.source in str(kernel)


def test_what_was_not_checked_is_said(checked: Callable[[str, str], KernelCheck], arch: str) -> None:
    code = "s_mov_b64 s[4:5], s[10:11]\n s_mov_b32 s6, 4096\n s_mov_b32 s7, 0x00027000\n s_mov_b32 m0, 0\n s_nop 0\n"
    code += " buffer_load_dword v1, s[4:7], 0 offen lds\n s_getpc_b64 s[12:13]\n s_cbranch_scc1 .Lend2\n"
    kernel = checked(code + " s_setpc_b64 s[12:13]\n.Lend2:\n s_nop 0\n", arch)
    assert kernel.findings == ()
    text = str(kernel)
    assert "not checked: what lies behind 1 calls" in text
    assert "not checked: waits for 1 loads straight to LDS" in text
    unknown = checked("s_rfe_b64 s[4:5]\n", arch)
    assert unknown.unknown == 0 or "not understood" in str(unknown)


@pytest.mark.parametrize("level", ["-O1", "-O3"])
def test_code_of_llvm_is_clean(compile_object: Callable[..., bytes], arch: str, level: str) -> None:
    header = (DATA / "device.h").read_text()
    for name in ("kernels.c", "algorithms.c"):
        image = compile_object(header + (DATA / name).read_text(), arch, "c", (level,))
        kernels = check_code(image)
        assert len(kernels) > 3
        assert [str(kernel) for kernel in kernels if kernel.findings] == []


def test_the_command(
    compile_object: Callable[..., bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str], arch: str
) -> None:
    for code, status in ((CASES["a matrix result"][0], 1), (CASES["a matrix result, waited for"][0], 0)):
        path = tmp_path / "f.hsaco"
        path.write_bytes(compile_object(kernel_f(START + code + "\n", arch), arch, "asm", ()))
        assert main(["check", str(path)]) == status
        assert f"f ({arch}): " in capsys.readouterr().out
        assert main(["check", str(path), "--json"]) == status
        (kernel,) = json.loads(capsys.readouterr().out)
        assert len(kernel["findings"]) == status


def test_code_is_checked_when_it_is_loaded(emulator: Emulator, build: Callable[..., Module], arch: str) -> None:
    bad, good = (
        kernel_f(START + CASES[name][0] + "\n", arch) for name in ("a matrix result", "a matrix result, waited for")
    )
    emulator.set_code_check(True)
    try:
        build(good, arch, "asm", ())
        with pytest.raises(EmulatorError, match=r"FLYDSL_EMU_CHECK_CODE(?s:.)*f: hazard: .*\n  at f\+0x\w+: v_mov_b32"):
            build(bad, arch, "asm", ())
    finally:
        emulator.set_code_check(False)
    build(bad, arch, "asm", ())


def test_what_is_no_code_object() -> None:
    with pytest.raises(EmulatorError):
        check_code(b"x" * 4096)
