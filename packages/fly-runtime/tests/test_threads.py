# SPDX-License-Identifier: Apache-2.0
"""Many threads at once: one choice of the library, one load per module, arguments that don't mix, errors that stay."""

from __future__ import annotations

import struct
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import make_doubles as build
import numpy as np
import pytest
from make_doubles import scalar, tensor

THREADS = 16


def test_first_call_from_all_threads(make: Callable[..., Any], hip: build.Hip) -> None:
    f, _ = make("f", [scalar("n")])
    together = threading.Barrier(THREADS)

    def call(number: int) -> None:
        together.wait()
        f(number)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(call, range(THREADS)))
    log = hip.log()
    assert sum(line.startswith("hipModuleLoadData") for line in log) == 1
    assert sum(line.startswith("launch") for line in log) == THREADS


def test_arguments_do_not_mix(make: Callable[..., Any]) -> None:
    f, inside = make("f", [tensor("a"), scalar("n", "int64")])

    def call(number: int) -> None:
        array = np.zeros(number + 1, np.float32)
        for _ in range(200):
            f(array, number)
            assert inside.slot(0) == struct.pack("<Q", array.ctypes.data)
            assert inside.slot(1, 4) == struct.pack("<i", number + 1)
            assert inside.slot(2) == struct.pack("<q", number)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(call, range(THREADS)))


def test_each_thread_has_its_own_error(make: Callable[..., Any]) -> None:
    f, _ = make("f", [scalar("n", "int8")])

    def call(number: int) -> None:
        for _ in range(200):
            with pytest.raises(ValueError, match=f"the integer {1000 + number}, "):
                f(1000 + number)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(call, range(THREADS)))


def test_library_is_chosen_once(
    python: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, doubles: Path
) -> None:
    path = build.artifact(tmp_path, build.note("f", [scalar("n")]))
    code = f"""
import threading
from concurrent.futures import ThreadPoolExecutor
from flydsl import runtime
together = threading.Barrier({THREADS})
def first(number):
    together.wait()
    runtime.load_artifact({str(path)!r})(number)
    return runtime.current_device().library
with ThreadPoolExecutor({THREADS}) as pool:
    print(len(set(pool.map(first, range({THREADS})))))
"""
    done = python(code, FLYDSL_HIP_LIBRARY=str(doubles / "libemulator.so"))
    assert done.stdout == "1\n", done.stderr
