# SPDX-License-Identifier: Apache-2.0
"""Suites under the plugin for tensors on a GPU, with the CPU in its place; in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SETUP = Path(__file__).resolve().parents[2] / "tools" / "setup"

SUITE = """
import numpy, pytest, torch

def test_passes():
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(4, generator=generator, requires_grad=True)
    assert x.requires_grad and x.is_leaf
    assert (torch.from_numpy(x.detach().numpy()) == x).all()
    assert torch.randint(5, (3,)).device == torch.empty(1).device == torch.arange(2).device

def test_is_refused():
    raise ValueError("argument 'sink' is not supported on sm_90a")

def test_is_a_fault_of_the_compiler():
    raise RuntimeError("cannot generate code for 'sm_90a': LLVM: no such scope")

def test_fails_all_the_same():
    assert 1 == 2, "of sm_90a"

def test_has_another_error():
    raise ValueError("a tile of 3 rows")
"""


def ran(tmp_path: Path, *options: str) -> tuple[int, str]:
    (tmp_path / "test_suite.py").write_text(SUITE)
    code = "import cuda_plugin, pytest, sys; cuda_plugin.DEVICE = 'cpu'; sys.exit(pytest.main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "-p", "cuda_plugin", "-rs", "-p", "no:cacheprovider", *options, "test_suite.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(SETUP), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_refusals_are_skipped_and_nothing_else(tmp_path: Path) -> None:
    status, said = ran(tmp_path)
    assert status == 1
    assert "3 failed, 1 passed, 1 skipped" in said
    assert "argument 'sink' is not supported on sm_90a" in said


def test_so_many_have_to_pass(tmp_path: Path) -> None:
    assert ran(tmp_path, "-k", "passes or refused", "--least-passed", "1")[0] == 0
    status, said = ran(tmp_path, "-k", "passes or refused", "--least-passed", "2")
    assert status == 1
    assert "1 tests passed; at least 2 have to" in said


def test_what_is_for_other_gpus_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "test_unaligned.py").write_text(
        "def test_a_wide_copy_of_narrow_elements_begins_anywhere():\n    raise SystemExit('this ends the process')\n"
    )
    status, said = ran(tmp_path, "test_unaligned.py", "-k", "passes or anywhere")
    assert status == 0
    assert "1 passed, 1 skipped" in said
    assert "there are no unaligned accesses" in said
