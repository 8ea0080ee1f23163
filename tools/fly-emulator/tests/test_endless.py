# SPDX-License-Identifier: Apache-2.0
"""Kernels that do not end: Ctrl-C and the limit in seconds stop them wherever they are."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from assembly import kernel_f

from flydsl.emulator._library import library_path
from flydsl.emulator.device import Emulator, EmulatorError, Module

LAUNCH_FAILURE, TIMED_OUT = 719, 702
LOOP = ".Lloop:\n  {}\n  s_branch .Lloop"
#: What the waves of an endless kernel do: they compute, sleep, meet, write memory, multiply matrices.
ENDLESS = {
    "scalar": "s_add_u32 s4, s4, 1",
    "sleep": "s_sleep 100",
    "barrier": "s_barrier\n  s_add_u32 s4, s4, 1",
    "store": "v_add_u32 v1, 1, v1\n  ds_write_b32 v0, v1",
    "matrix": "v_mfma_f32_32x32x8_f16 v[32:47], v[16:17], v[18:19], v[32:47]\n  v_add_u32 v1, 1, v1",
}
#: In a process of its own: SIGINT comes half a second after the launch began. Without it the launch would not end.
CLIENT = """
import os, signal, sys, threading
import numpy as np
from flydsl.emulator.device import Emulator
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins with it ignored
emulator = Emulator()
emulator.set_devices("gfx942")
if sys.argv[2] == "all":
    emulator.set_sanitizers("all")
kernel = emulator.load(open(sys.argv[1], "rb").read()).kernel("f")
x = np.zeros(1024, np.uint32)
emulator.set_time_limit(0)
try:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    kernel(3, 256, x, x.copy())
except KeyboardInterrupt:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert emulator.library.hipDeviceSynchronize() == 0  # the user's wish is no failure of the device
    print("interrupted")
"""


@pytest.mark.parametrize("sanitizers", ["none", "all"])
@pytest.mark.parametrize("name", sorted(ENDLESS))
def test_ctrl_c_ends_a_launch(compile_object: Callable[..., bytes], tmp_path: Path, name: str, sanitizers: str) -> None:
    image = tmp_path / "f.hsaco"
    image.write_bytes(compile_object(kernel_f(LOOP.format(ENDLESS[name]), "gfx942", lds=1024), "gfx942", "asm", ()))
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, str(image), sanitizers],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "FLYDSL_EMULATOR_LIBRARY": library_path(), "FLYDSL_EMU_THREADS": "2"},
    )
    assert done.stdout == "interrupted\n", done.stderr


@pytest.mark.parametrize("seed", [0, 1, 4, 5])
def test_the_limit_in_seconds_names_itself_and_the_place(
    emulator: Emulator, build: Callable[..., Module], arch: str, seed: int
) -> None:
    kernel = build(kernel_f(LOOP.format(ENDLESS["scalar"]), arch), arch, "asm", ()).kernel("f")
    emulator.set_seed(seed)
    emulator.set_time_limit(1)
    try:
        with pytest.raises(EmulatorError, match=r"(?s)taken 1 seconds.*FLYDSL_EMU_MAX_SECONDS.*at f\+0x") as raised:
            kernel(2, 128, np.zeros(64, np.uint32), np.zeros(64, np.uint32))
    finally:
        emulator.set_time_limit(300)
    assert raised.value.code == TIMED_OUT


SPIN = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
.Lspin:
  s_load_dword s12, s[8:9], 0x0 glc
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s12, 0
  s_cbranch_scc1 .Lspin
"""


def test_waves_that_wait_for_nobody_are_a_livelock(build: Callable[..., Module]) -> None:
    kernel = build(kernel_f(SPIN, "gfx942"), "gfx942", "asm", ()).kernel("f")
    text = r"(?s)livelock: all that is left are 3 workgroups.*memory does not change.*at f\+0x"
    with pytest.raises(EmulatorError, match=text) as raised:
        kernel(3, 128, np.zeros(64, np.uint32), np.zeros(64, np.uint32))
    assert raised.value.code == LAUNCH_FAILURE


def test_waves_that_the_host_releases_are_none(build: Callable[..., Module]) -> None:
    kernel = build(kernel_f(SPIN, "gfx942"), "gfx942", "asm", ()).kernel("f")
    flag = np.zeros(64, np.uint32)
    release = threading.Timer(2.5, flag.fill, (1,))
    release.start()
    kernel(3, 128, flag, np.zeros(64, np.uint32))
    release.join()
