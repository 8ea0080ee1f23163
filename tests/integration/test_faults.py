# SPDX-License-Identifier: Apache-2.0
"""Each file operation, allocation, thread and call of HIP fails in turn: no crash, no hang, nothing lost or run twice.

`faults/inject.py` is the tool. What runs always takes every so many-th operation; `-m slow` takes each of them.
"""

from __future__ import annotations

import errno
import importlib.util
import shutil
import sys
from pathlib import Path

import pytest
from programs import WITHOUT_TORCH

_FOLDER = Path(__file__).parent / "faults"
_spec = importlib.util.spec_from_file_location("inject", _FOLDER / "inject.py")
inject = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(inject)

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="needs a C compiler and Linux's loader"
)

PROLOGUE = (
    WITHOUT_TORCH
    + """
import errno, itertools, os, shutil, sys
from pathlib import Path

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl import runtime
from inject import DISK, FILES, HIP, MEMORY, THREADS, sweep

KIND, ERROR, STEP, FOLDER = (int(one) if one.isdigit() else one for one in os.environ["SWEEP"].split(","))

@flyc.kernel
def count_kernel(x: fx.Tensor, limit: fx.Constexpr[int]):
    x[fx.thread_idx.x] = x[fx.thread_idx.x] + 1
    if fx.const_expr(limit != 0):
        fx.device_assert(x[0] < limit, "too many")

@flyc.jit
def count(x: fx.Tensor, limit: fx.Constexpr[int]):
    count_kernel(x, limit).launch(grid=1, block=64)

numbers = itertools.count()
x = np.zeros(64, np.int32)
first = flyc.compile.only(count, x, 1000)  # imports and opens what is opened once
first(x, 1000)

def fresh_file():
    "A copy of the artifact that nobody has loaded."
    path = Path(FOLDER, f"{next(numbers)}.so")
    shutil.copyfile(first.path, path)
    return path
"""
)


@pytest.fixture(scope="session")
def shims(tmp_path_factory):
    return inject.build(tmp_path_factory.mktemp("shims"))


@pytest.fixture
def swept(shims, tmp_path):
    """Runs a scenario, and returns how often what came of it."""

    def run(script, kind, error=errno.EIO, step=1, **more):
        setting = f"{kind},{error},{step},{tmp_path}"
        cache = tmp_path / "cache"
        done = inject.run(
            shims,
            PROLOGUE + script,
            timeout=6000 if step == 1 or step > 1000 else 1800,  # whole sweeps
            SWEEP=setting,
            FLYDSL_RUNTIME_CACHE_DIR=str(cache),
            TMPDIR=str(tmp_path),
            **more,
        )
        assert done.returncode == 0, f"{done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    return run


def steps(quick):
    """A quick run always, a whole one behind `slow`."""
    return pytest.mark.parametrize("step", [quick, pytest.param(1, marks=pytest.mark.slow)])


COMPILE = """
def cache():
    return Path(FOLDER, f"cache-{number}")

def call(function):
    x = np.zeros(64, np.int32)
    function(x, 1000)
    assert (x == 1).all(), x

def compile_and_call():
    call(flyc.jit(count.original))

def check():
    global number
    for path in cache().rglob("*.so"):
        runtime.read_note(path)  # whole, or not there at all
    compile_and_call()
    assert list(cache().rglob("*.so")), "the next one is cached"
    number = next(numbers)
    os.environ["FLYDSL_RUNTIME_CACHE_DIR"] = str(cache())

number = next(numbers)
os.environ["FLYDSL_RUNTIME_CACHE_DIR"] = str(cache())
compile_and_call()
check()
print(dict(sweep(KIND, compile_and_call, check, error=ERROR, step=STEP)))
"""


@steps(37)
@pytest.mark.parametrize(
    ("kind", "error"), [(inject.FILES, errno.EIO), (inject.DISK, errno.ENOSPC), (inject.FILES, errno.EMFILE)]
)
def test_files_of_a_compilation(swept, kind, error, step):
    swept(COMPILE, kind, error, step)


def test_threads_of_a_compilation(swept):
    swept(COMPILE, inject.THREADS)


LOAD = """
path = fresh_file()

def load():
    runtime.load_artifact(path)

def check():
    global path
    artifact = runtime.load_artifact(path)
    x[:] = 0
    artifact(x)
    assert (x == 1).all()
    before = len(os.listdir("/proc/self/fd"))
    runtime.load_artifact(path)
    assert len(os.listdir("/proc/self/fd")) == before
    path = fresh_file()

check()
print(dict(sweep(KIND, load, check, error=ERROR, step=STEP, expected=(runtime.ArtifactError, MemoryError),
                 library=os.environ.get("LIBRARY", ""))))
"""


def test_files_of_a_load(swept):
    assert "ArtifactError" in swept(LOAD, inject.FILES)


@steps(7)
def test_memory_of_a_load(swept, step):
    assert "MemoryError" in swept(LOAD, inject.MEMORY, step=step, LIBRARY="libflydsl_runtime")


LAUNCH = """
path = fresh_file()
artifact = runtime.load_artifact(path)

def launch():
    x[:] = 0
    try:
        artifact(x)
    except runtime.DeviceError as error:
        assert x[0] in (0, 1), x[0]
        assert error.launched or x[0] == 0, "it says that nothing ran"
        raise
    assert (x == 1).all()

def check():
    global artifact
    assert x[0] <= 1, "ran twice"
    launch()
    artifact = runtime.load_artifact(fresh_file())

check()
print(dict(sweep(KIND, launch, check, error=ERROR, step=STEP, expected=(runtime.DeviceError,),
                 library=os.environ.get("LIBRARY", ""))))
"""


def test_hip_calls_of_a_launch(swept):
    """Loading the module, making the buffer of messages, the launch, the reading of what the kernel asserted."""
    outcomes = swept(LAUNCH, inject.HIP, hip=True)
    assert "OutOfMemoryError" in outcomes


@steps(5)
def test_memory_of_a_launch(swept, step):
    assert "OutOfMemoryError" in swept(LAUNCH, inject.MEMORY, step=step, LIBRARY="libflydsl_runtime")


FIRST_USE = """
import ctypes, os

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl import runtime
from inject import MEMORY

STEP = int(os.environ["SWEEP"].split(",")[2])

@flyc.kernel
def count_kernel(x: fx.Tensor):
    x[fx.thread_idx.x] = x[fx.thread_idx.x] + 1

@flyc.jit
def count(x: fx.Tensor):
    count_kernel(x).launch(grid=1, block=64)

def in_child(work):
    "The exit status of a process that has done nothing before."
    child = os.fork()
    if child == 0:
        status = 99
        try:
            status = work()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def launch():
    x = np.zeros(64, np.int32)
    runtime.load_artifact(PATH)(x)
    assert (x == 1).all()

def first_use(number):
    shim.fault_arm(MEMORY, ctypes.c_long(number), 0, 0)
    try:
        launch()
    except (runtime.DeviceError, runtime.ArtifactError, MemoryError):
        pass
    fired = shim.fault_disarm()
    launch()
    return 0 if fired else 3

PATH = os.path.join(os.environ["TMPDIR"], "first.so")

def write():
    os.link(flyc.compile.only(count, np.zeros(64, np.int32)).path, PATH)
    return 0

assert in_child(write) == 0
runtime.current_device()
shim = ctypes.CDLL(None)
assert shim.fault_library(b"libfly_emulator")
# LLVM's own are among the first; without its handler the 23rd ends the process.
for number in range(1, 20_000 if STEP == 1 else 32):
    status = in_child(lambda: first_use(number))
    assert status in (0, 3), (number, status)
    if status == 3:  # there are no more allocations
        break
assert number > 30, "no allocations were made"
"""


@steps(0)  # the first ones
def test_memory_of_the_first_use_of_the_emulator(swept, step):
    """Its disassembler is made once in a process; LLVM's containers end the process where they get no memory."""
    swept(FIRST_USE, inject.MEMORY, step=step)


COMPILE_MEMORY = """
import ctypes, os, random, signal, time
from collections import Counter

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compile import compilation, pipeline
from inject import MEMORY

POINTS = int(os.environ["SWEEP"].split(",")[2])
LIBRARIES = ("libFlyDialect", "libFlyPythonSupport", "libMLIR", "libLLVM", "libnanobind", "/_mlir.", "/_fly")

@flyc.kernel
def count_kernel(x: fx.Tensor):
    x[fx.thread_idx.x] = x[fx.thread_idx.x] + 1
    fx.device_assert(x[0] < 1000, "too many")

@flyc.jit
def count(x: fx.Tensor):
    count_kernel(x).launch(grid=1, block=64)

def compile_again():
    "In a process that has compiled before, with an empty cache."
    os.environ["FLYDSL_RUNTIME_CACHE_DIR"] = f"{CACHE}/{os.getpid()}-{time.monotonic_ns()}"
    return flyc.compile.only(flyc.jit(count.original), np.zeros(64, np.int32))

def noted(work, before=lambda *_: True):
    "Writes down how many allocations there were when something begins."
    def run(*arguments, **named):
        if before(*arguments):
            marks.append(shim.fault_seen())
        return work(*arguments, **named)
    return run

def child(number, pipe):
    shim.fault_arm(MEMORY, ctypes.c_long(number), 0, 0)
    compile_again()
    seen = shim.fault_seen()
    fired = shim.fault_disarm()
    os.write(pipe, f"{seen},{','.join(map(str, marks))}|{'failed' if fired else ''}".encode())
    x = np.zeros(64, np.int32)
    compile_again()(x)
    assert (x == 1).all()

def in_child(number):
    "How many allocations there were, in all and where passes and code generation began; whether one failed."
    readable, pipe = os.pipe()
    process = os.fork()
    if process == 0:
        status = 99
        try:
            signal.alarm(600)  # a hang ends it
            child(number, pipe)
            status = 0
        finally:
            os._exit(status)
    os.close(pipe)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    with open(readable) as file:
        seen, _, said = file.read().partition("|")
    assert status == 0, (number, status, said)
    return seen, said

shim = ctypes.CDLL(None)
shim.fault_seen.restype = ctypes.c_long
CACHE = os.environ["FLYDSL_RUNTIME_CACHE_DIR"]
compile_again()
assert all([shim.fault_library(one.encode()) for one in LIBRARIES])
marks = []
compilation.lower = noted(compilation.lower)
pipeline.PassManager.parse = staticmethod(noted(pipeline.PassManager.parse, lambda text, *_: "binary" in text))
total, passes, generation = map(int, in_child(1 << 40)[0].split(","))
assert 0 < passes < generation < total - 10_000, (passes, generation, total)
found = Counter()
pick = random.Random(0).sample
# Dialects and the trace, dialects and passes, code generation and linking.
# The very first one is the reserve, without which nothing begins.
for first, last in ((2, passes), (passes, generation), (generation, total)):
    for number in pick(range(first, last), POINTS // 3):
        found[in_child(number)[1]] += 1
print(dict(found))
assert found["failed"] > found[""], found
"""


@pytest.mark.parametrize("points", [9, pytest.param(1002, marks=pytest.mark.slow)])
def test_memory_of_a_compilation(swept, points):
    """Of the tens of thousands of allocations of MLIR and LLVM some fail, each in a process of its own.

    The reserve makes up for one, so each of these compilations succeeds.
    """
    swept(COMPILE_MEMORY, inject.MEMORY, step=points, PYTHONHASHSEED="0")


WARM = """
def call(function):
    x = np.zeros(64, np.int32)
    function(x, 1000)
    assert (x == 1).all(), x

def look_up():
    call(flyc.jit(count.original))

def check():
    runtime.read_note(first.path)
    x[:] = 0
    again = flyc.compile.only(flyc.jit(count.original), x, 1000)
    again(x, 1000)
    assert (x == 1).all()
    assert again.origin == "disk"

check()
print(dict(sweep(KIND, look_up, check, error=ERROR, step=STEP)))
"""


@steps(5)
def test_files_of_a_look_up(swept, step):
    """What is there already is found, or made again; it is never lost for good."""
    swept(WARM, inject.FILES, step=step)


TUNE = """
import contextlib, io, sqlite3
from flydsl.autotune import Config, autotune
from flydsl.autotune.database import Database

folder = Path(FOLDER, "tuned")
os.environ["FLYDSL_AUTOTUNE_CACHE_DIR"] = str(folder)

@flyc.jit
def tunable(x: fx.Tensor, n: fx.Int32, BLOCK: fx.Constexpr[int]):
    count_kernel(x, 0).launch(grid=1, block=BLOCK)

def bench(function, warmup, rep):
    function()
    return 1.0

def tune():
    tuned = autotune([Config(BLOCK=64), Config(BLOCK=32)], key=["n"], do_bench=bench)(tunable)
    with contextlib.redirect_stdout(io.StringIO()):
        tuned(x, next(numbers))

def digests():
    return {one.digest for one in Database(folder).results()}

def check():
    tune()
    assert kept < digests(), "results are lost, or no new one was kept"
    start()

def start():
    "With the same few results each time: more of them take more operations, and there would always be an n-th one."
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(before, folder)

before = Path(FOLDER, "before")
for _ in range(3):
    tune()
kept = digests()
assert len(kept) == 3, kept
folder.rename(before)
start()
print(dict(sweep(KIND, tune, check, error=ERROR, step=STEP, expected=(OSError, MemoryError, RuntimeError,
                                                                      ImportError, sqlite3.Error))))
"""


@steps(11)
@pytest.mark.parametrize(("kind", "error"), [(inject.FILES, errno.EIO), (inject.DISK, errno.ENOSPC)])
def test_files_of_tuning(swept, kind, error, step):
    swept(TUNE, kind, error, step)
