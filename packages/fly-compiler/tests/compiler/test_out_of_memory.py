# SPDX-License-Identifier: Apache-2.0
"""A process that may take no more memory says so, goes on when it may again, and never waits or ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, re, resource, signal, sys, traceback

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx

FOLDER, KIND, LIMITS = sys.argv[1:]

@flyc.kernel
def kernel(x: fx.Tensor, n: fx.Constexpr[int]):
    v = x[fx.thread_idx.x]
    for i in fx.range_constexpr(n):
        if v > 1.0:
            v = v * 0.5 + float(i)
    x[fx.thread_idx.x] = v

@flyc.jit
def launch(x: fx.Tensor, n: fx.Constexpr[int]):
    kernel(x, n).launch(block=64)

def expected(n):
    v = np.float32(3.0)
    for i in range(n):
        v = v * np.float32(0.5) + np.float32(i) if v > 1.0 else v
    return v

def work(function):
    os.environ["FLYDSL_RUNTIME_CACHE_DIR"] = f"{FOLDER}/{os.getpid() if KIND == 'compile' else 'cache'}"
    x = np.full(64, 3.0, np.float32)
    function(x, 24)
    assert (x == expected(24)).all(), x

def limited(bytes):
    "What comes of a call of a new function while the process may take so much more."
    with open("/proc/self/statm") as pages:
        taken = int(pages.read().split()[0]) * resource.getpagesize()
    function, said = flyc.jit(launch.original), "nothing"
    resource.setrlimit(resource.RLIMIT_AS, (taken + bytes, resource.RLIM_INFINITY))
    try:
        work(function)
    except MemoryError:
        said = "MemoryError"
    except Exception as error:
        said = error
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
    assert isinstance(said, str) or "out of memory" in str(said), repr(said)
    work(function)
    return said

KEPT, KIND = KIND, "warm"
work(launch)
KIND = KEPT
for bytes in map(int, LIMITS.split(",")):
    child = os.fork()
    if child == 0:
        signal.alarm(300)  # a hang ends it
        status = 1
        try:
            print(bytes, limited(bytes), flush=True)
            status = 0
        except BaseException:
            traceback.print_exc()  # which `_exit` would not
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, bytes
"""


MIB = 1 << 20
FEW = (0, MIB // 4, 60 * MIB, 64 * MIB, 68 * MIB, 80 * MIB, 320 * MIB)
MANY = (*range(0, 56 * MIB, 14 * MIB), *range(56 * MIB, 120 * MIB, MIB), 320 * MIB)


@pytest.mark.parametrize("kind", ["compile", "look up"])
@pytest.mark.parametrize("limits", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_memory_that_may_not_be_taken(kind, limits, tmp_path):
    """Little or none is left where tracing begins, passes, code generation or the load, as the limit falls."""
    (tmp_path / "program.py").write_text(PROGRAM)
    limited = ",".join(map(str, limits))
    command = [sys.executable, str(tmp_path / "program.py"), str(tmp_path), kind, limited]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=2400)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert said["0"] == "MemoryError"
    assert said[str(limits[-1])] == "nothing"
