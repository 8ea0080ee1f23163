# SPDX-License-Identifier: Apache-2.0
"""One artifact for several targets: what it holds, what runs of it, and which functions cannot be one."""

import os
import subprocess
import sys

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.runtime import current_device, load_artifact

TARGETS = ("gfx942", "gfx950", "gfx1201", "sm_90a")


@flyc.kernel(known_block_size=(64, 1, 1))
def add_lanes(a: fx.Tensor, c: fx.Tensor, n: fx.Int32):
    i = fx.block_idx.x * 64 + fx.thread_idx.x
    lanes = fx.coop.warp_reduce(fx.Float32(1.0), "add")
    if i < n:
        c[i] = a[i] + lanes


@flyc.jit
def launch(a: fx.Tensor, c: fx.Tensor, n: fx.Int32, stream: fx.Stream = fx.Stream(None)):
    add_lanes(a, c, n).launch(grid=((n + 63) // 64,), block=64, stream=stream)


@flyc.jit
def launch_of_lanes(a: fx.Tensor, c: fx.Tensor, n: fx.Int32, stream: fx.Stream = fx.Stream(None)):
    add_lanes(a, c, n).launch(grid=(n // fx.gpu.num_warp_threads(),), block=64, stream=stream)


def arrays(count=100):
    return np.arange(count, dtype=np.float32), np.full(count, np.nan, np.float32)


RUN = """
import sys
import numpy as np
from flydsl.runtime import current_device, load_artifact
a, c = np.arange(100, dtype=np.float32), np.full(100, np.nan, np.float32)
load_artifact(sys.argv[1])(a, c, 100, None)
print(current_device().arch, *sorted(set((c - a).tolist())))
"""


def test_one_file_runs_on_each(tmp_path, monkeypatch):
    made = flyc.compile.only(launch, *arrays(), 100)
    path = made.export(tmp_path / "add.so", targets=TARGETS)
    note = load_artifact(path).note
    assert tuple(note["architectures"]) == TARGETS
    assert note["device_code"] == {"sm_90a": "ptx"}
    assert note["source_hash"] != made.note["source_hash"]
    assert path.read_bytes().count(b".target sm_90a") == 1
    for target, lanes in (("gfx942", 64), ("gfx950", 64), ("gfx1201", 32)):
        environment = {**os.environ, "FLYDSL_DEVICE": "emulator", "FLYDSL_EMU_DEVICES": target}
        for name in ("ARCH", "FLYDSL_GPU_ARCH"):
            environment.pop(name, None)
        said = subprocess.run([sys.executable, "-c", RUN, path], env=environment, capture_output=True, text=True)
        assert said.stdout.split() == [target, str(float(lanes))], said.stderr


def test_it_runs_on_the_device_here(tmp_path):
    torch = pytest.importorskip("torch")
    a = torch.arange(100, dtype=torch.float32)
    c = torch.full_like(a, torch.nan)
    path = flyc.compile.only(launch, a, c, 100).export(tmp_path / "add.so", targets=TARGETS)
    load_artifact(path)(a, c, 100, None)
    assert torch.equal(c, a + current_device().warp_size)


def test_the_environment_stays_as_it_was(tmp_path):
    made = flyc.compile.only(launch, *arrays(), 100)
    made.export(tmp_path / "add.so", targets=("sm_90a",))
    assert flyc.compile.only(launch, *arrays(), 100).note["architectures"] == made.note["architectures"]
    assert load_artifact(tmp_path / "add.so").note["architectures"] == ["sm_90a"]


def test_a_host_function_that_depends_on_the_target(tmp_path):
    made = flyc.compile.only(launch_of_lanes, *arrays(), 100)
    path = tmp_path / "add.so"
    with pytest.raises(RuntimeError, match="cannot be one artifact for gfx942 and sm_90a") as caught:
        made.export(path, targets=("gfx942", "sm_90a"))
    assert "a grid, a block or an argument depends on the target" in str(caught.value)
    assert "for gfx942:\n" in str(caught.value)
    assert "Export one artifact for each" in str(caught.value)
    assert not path.exists()


@pytest.mark.parametrize(
    ("targets", "error", "said"),
    [
        ("gfx942", TypeError, "a sequence of architectures"),
        ((), ValueError, "one or more architectures"),
        (("gfx942", "gfx942"), ValueError, "each once"),
        (("gfx942", "volta"), ValueError, "expected an architecture like gfx942 or sm_90a, got 'volta'"),
    ],
)
def test_no_targets(tmp_path, targets, error, said):
    made = flyc.compile.only(launch, *arrays(), 100)
    with pytest.raises(error, match=said):
        made.export(tmp_path / "add.so", targets=targets)
