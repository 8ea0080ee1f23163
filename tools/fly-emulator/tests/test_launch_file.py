# SPDX-License-Identifier: Apache-2.0
"""Launches saved as files and run again."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator import SavedLaunch, sanitize, save_launches
from flydsl.emulator.device import Emulator, EmulatorError, Module

DATA = Path(__file__).parent / "data"
HEADER = (DATA / "device.h").read_text()
SOURCE = HEADER + (DATA / "kernels.c").read_text()

POINTERS = """
KERNEL void through_a_table(const GLOBAL float *const GLOBAL *rows, const GLOBAL float *a, const GLOBAL float *b,
                            GLOBAL float *out) {
  out[TID] = rows[BID][TID];
}
"""


def saved(folder: Path) -> SavedLaunch:
    (path,) = sorted(folder.glob("*.flylaunch"))
    return SavedLaunch.load(path)


@pytest.mark.parametrize("seed", [0, 4])
def test_replay_gives_the_same_bits(build: Callable[..., Module], arch: str, tmp_path: Path, seed: int) -> None:
    x = np.random.default_rng(0).standard_normal((7, 700), dtype=np.float32)
    out = np.full_like(x, np.nan)
    kernel = build(SOURCE, arch).kernel("softmax_f32")
    with save_launches(tmp_path / "bug"):
        kernel(7, 256, x, out, 700, 700, names=["x", "out"])
    kernel(7, 256, x, out, 700, 700)  # is not saved any more
    launch = saved(tmp_path / "bug")
    assert (launch.kernel, launch.arch, launch.grid, launch.block) == ("softmax_f32", arch, (7, 1, 1), (256, 1, 1))
    inputs = {one.name: one for one in launch.memory}
    assert inputs["x"].contents == x.tobytes()
    assert inputs["x"].shape == (7, 700)
    assert np.isnan(np.frombuffer(inputs["out"].contents, np.float32)).all(), "as it was before the launch"
    assert launch.replay(seed=seed)["out"] == out.tobytes()


def test_replay_in_another_process(build: Callable[..., Module], arch: str, tmp_path: Path) -> None:
    """Where addresses are the same again: pointers in memory lead to what they led to."""
    rows = [np.full(64, value, np.float32) for value in (1.0, 2.0)]
    table = np.array([row.ctypes.data for row in rows], np.uint64)
    out = np.zeros(64, np.float32)
    kernel = build(
        HEADER + POINTERS.replace("rows, GLOBAL", "rows, const GLOBAL float *a, const GLOBAL float *b, GLOBAL"), arch
    )
    with save_launches(tmp_path):
        kernel.kernel("through_a_table")(1, 64, table, *rows, out, names=["table", "a", "b", "out"])
    script = (
        "import sys\nfrom flydsl.emulator import SavedLaunch\n"
        "sys.stdout.buffer.write(SavedLaunch.load(sys.argv[1]).replay()['out'])\n"
    )
    (path,) = tmp_path.glob("*.flylaunch")
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == out.tobytes() == rows[0].tobytes()


def test_a_finding_is_reproduced(build: Callable[..., Module], arch: str, tmp_path: Path) -> None:
    n = 1000
    space = np.zeros((3, 1024), np.float32)
    kernel = build(SOURCE, arch).kernel("vector_add")
    with save_launches(tmp_path), sanitize("memory"), pytest.raises(EmulatorError) as raised:
        kernel(4, 256, space[0], space[1], space[2, :990], n, names=["a", "b", "c"])
    launch = saved(tmp_path)
    with sanitize("memory") as found, pytest.raises(EmulatorError) as again:
        launch.replay()
    assert "where element (990,) would be" in raised.value.report
    assert "where element (990,) would be" in found.reports[0].what
    assert "'c'" in again.value.report
    assert "element (990,)" in again.value.report


def test_other_code_on_the_same_inputs(
    build: Callable[..., Module], compile_object: Callable[..., bytes], arch: str, tmp_path: Path
) -> None:
    a, b, c = np.ones((3, 300), np.float32)
    with save_launches(tmp_path):
        build(SOURCE, arch).kernel("vector_add")(2, 256, a, b, c, 300, names=["a", "b", "c"])
    other = compile_object(SOURCE.replace("c[i] = a[i] + b[i]", "c[i] = a[i] - b[i]"), arch)
    assert saved(tmp_path).with_code(other).replay()["c"] == bytes(1200)


def test_moved_memory(build: Callable[..., Module], arch: str, tmp_path: Path) -> None:
    """Something else lies where a range was: the pointers among the arguments are changed."""
    a, b, c = (np.arange(300, dtype=np.float32) + i for i in range(3))
    with save_launches(tmp_path):
        build(SOURCE, arch).kernel("vector_add")(2, 256, a, b, c, 300, names=["a", "b", "c"])
    # This process still has the arrays: their pages are taken.
    before = c.copy()
    assert saved(tmp_path).replay()["c"] == (a + b).tobytes()
    np.testing.assert_array_equal(c, before)


def test_damaged_files(build: Callable[..., Module], tmp_path: Path) -> None:
    a = np.zeros((3, 64), np.float32)
    with save_launches(tmp_path):
        build(SOURCE, "gfx942").kernel("vector_add")(1, 64, *a, 64)
    (path,) = tmp_path.glob("*.flylaunch")
    whole = path.read_bytes()
    for content in (b"", b"FLYLNCH1", whole[:100], whole[:-20], b"x" + whole[1:], whole.replace(b'"code"', b'"node"')):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is not a whole saved launch"):
            SavedLaunch.load(path)
    path.write_bytes(whole)
    launch = SavedLaunch.load(path)
    with pytest.raises(EmulatorError, match="no_such_kernel"):
        replace(launch, kernel="no_such_kernel").replay()


def test_environment_variable(compile_object: Callable[..., bytes], tmp_path: Path) -> None:
    image = tmp_path / "kernels.hsaco"
    image.write_bytes(compile_object(SOURCE, "gfx942"))
    (tmp_path / "saved").mkdir()
    script = (
        "import sys, numpy as np\nfrom pathlib import Path\nfrom flydsl.emulator.device import Emulator\n"
        "m = Emulator().load(Path(sys.argv[1]).read_bytes())\na = np.zeros((3, 64), np.float32)\n"
        "m.kernel('vector_add')(1, 64, *a, 64)\nm.kernel('vector_add')(1, 64, *a, 64)\n"
    )
    for folder, code in ((tmp_path / "saved", 0), (tmp_path / "missing", 1)):
        done = subprocess.run(
            [sys.executable, "-c", script, str(image)],
            env={**os.environ, "FLYDSL_EMU_SAVE": str(folder), "FLYDSL_GPU_ARCH": "gfx942"},
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
    assert "cannot save the launch of vector_add" in done.stderr
    assert sorted(one.name for one in (tmp_path / "saved").iterdir()) == [
        "0001-vector_add.flylaunch",
        "0002-vector_add.flylaunch",
    ]


VARIABLES = """
GLOBAL int table[64] = {1, 2, 3};
GLOBAL int calls;
GLOBAL int *GLOBAL chosen = table + 1;
KERNEL void from_variables(const GLOBAL int *addend, GLOBAL int *out) {
  out[TID] = table[TID] + *addend + *chosen;
  if (TID == 0)
    calls += 1;
  barrier();
  if (TID == 1)
    out[TID] = calls;
}
"""


def test_variables_of_the_module_are_saved(
    build: Callable[..., Module], emulator: Emulator, arch: str, tmp_path: Path
) -> None:
    """What the host and earlier launches stored there, pointers into the module included."""
    module = build(HEADER + VARIABLES, arch)
    base, _, _ = module.memory()
    table, size = ctypes.c_void_p(), ctypes.c_size_t()
    emulator.call("hipModuleGetGlobal", ctypes.byref(table), ctypes.byref(size), module._handle, b"table")
    values = np.arange(64, dtype=np.int32) * 3
    ctypes.memmove(table.value, values.ctypes.data, size.value)
    out = np.zeros(64, np.int32)
    kernel = module.kernel("from_variables")
    for _ in range(3):
        kernel(1, 64, np.array([100], np.int32), out, names=["addend", "out"])
    with save_launches(tmp_path / "bug"):
        kernel(1, 64, np.array([100], np.int32), out, names=["addend", "out"])
    launch = saved(tmp_path / "bug")
    for _ in range(2):  # a replay leaves nothing behind for the next one
        after = np.frombuffer(launch.replay()["out"], np.int32)
        np.testing.assert_array_equal(after, out)
    assert out[1] == 4
    assert out[5] == 15 + 100 + 3
    # An argument that points into the module follows it: the module is still loaded, and the new one lies elsewhere.
    with save_launches(tmp_path / "inside"):
        kernel(1, 64, np.uint64(table.value + 8), out, names=["inside", "out"])
    launch = saved(tmp_path / "inside")
    values[2] = 50
    ctypes.memmove(table.value, values.ctypes.data, size.value)
    after = np.frombuffer(launch.replay()["out"], np.int32)
    assert after[5] == 15 + 6 + 3
    assert launch.module is not None
    assert launch.module.base == base
