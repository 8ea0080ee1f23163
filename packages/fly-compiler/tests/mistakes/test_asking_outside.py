# SPDX-License-Identifier: Apache-2.0
"""What answers otherwise each time that it is asked, in a trace, which asks once: refused by name and line."""

from __future__ import annotations

import ctypes
import datetime
import fcntl
import functools
import gc
import io
import itertools
import os
import random
import resource
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np
import pytest
import torch
from teaching import complaint, launched, teaches

import flydsl.compiler as flyc
import flydsl.expr as fx

RNG = random.Random(3)
DRAWS = np.random.default_rng(3)
OLD_DRAWS = np.random.RandomState(3)
TORCH_DRAWS = torch.Generator().manual_seed(3)
NUMBERS = iter([1.0, 2.0, 3.0])
COUNT = itertools.count()
TODO = [1.0, 2.0]
QUEUE = deque([1.0, 2.0])
TABLE = {"a": 1.0}
FILE = io.StringIO("1\n2\n")
OPEN = tempfile.TemporaryFile()  # noqa: SIM115 - it is open before a trace begins
NAMED = tempfile.NamedTemporaryFile()  # noqa: SIM115


def squares():
    yield from (0.0, 1.0, 4.0)


SQUARES = squares()

ASKED = {
    "time.time": lambda: time.time(),
    "time.perf_counter_ns": lambda: time.perf_counter_ns(),
    "time.monotonic": lambda: time.monotonic(),
    "time.strftime": lambda: float(time.strftime("%S")),
    "datetime.datetime.now": lambda: datetime.datetime.now().microsecond,
    "datetime.date.today": lambda: datetime.date.today().day,
    "random.random": lambda: random.random(),
    "random.randint": lambda: random.randint(1, 9),
    "random.Random": lambda: random.Random().random(),
    "numpy.random.rand": lambda: float(np.random.rand()),
    "numpy.random.normal": lambda: float(np.random.normal()),
    "numpy.random.default_rng": lambda: float(np.random.default_rng().random()),
    "numpy.random.RandomState": lambda: float(np.random.RandomState().rand()),
    "numpy.random.PCG64": lambda: float(np.random.Generator(np.random.PCG64()).random()),
    "os.read": lambda: os.read(0, 1)[0],
    "os.fdopen": lambda: len(os.fdopen(0).readline()),
    "open of a descriptor": lambda: len(open(0).readline()),  # noqa: SIM115 - it is refused
    "os.lseek": lambda: os.lseek(0, 0, 1),
    "os.fstat": lambda: os.fstat(0).st_size,
    "os.umask": lambda: os.umask(0o22),
    "os.get_blocking": lambda: float(os.get_blocking(0)),
    "os.getxattr": lambda: float(os.getxattr("x", "user.a")),
    "os.sched_getaffinity": lambda: len(os.sched_getaffinity(0)),
    "fcntl.fcntl": lambda: fcntl.fcntl(0, fcntl.F_GETFL),
    "resource.getrusage": lambda: resource.getrusage(resource.RUSAGE_SELF).ru_utime,
    "signal.getitimer": lambda: signal.getitimer(signal.ITIMER_REAL)[0],
    "socket.gethostbyname": lambda: len(socket.gethostbyname("localhost")),
    "ctypes.string_at": lambda: ctypes.string_at(0, 1)[0],
    "ctypes.c_int.from_address": lambda: ctypes.c_int.from_address(0).value,
    "gc.isenabled": lambda: float(gc.isenabled()),
    "sys.getrefcount": lambda: sys.getrefcount(TODO),
    "threading.active_count": lambda: threading.active_count(),
    "threading.enumerate": lambda: len(threading.enumerate()),
    "threading.stack_size": lambda: threading.stack_size(),
    "torch.rand": lambda: torch.rand(1).item(),
    "torch.randint": lambda: torch.randint(0, 9, (1,)).item(),
    "torch.Tensor.normal_": lambda: torch.zeros(1).normal_().item(),
    "os.urandom": lambda: float(os.urandom(1)[0]),
    "uuid.uuid4": lambda: float(uuid.uuid4().int % 7),
    "secrets.randbelow": lambda: secrets.randbelow(9),
    "secrets.choice": lambda: secrets.choice([1.0, 2.0]),
    "subprocess.check_output": lambda: float(subprocess.check_output(["echo", "1"])),
    "os.popen": lambda: float(os.popen("echo 1").read()),
    "input": lambda: float(input()),
}
TAKEN = {
    "next": lambda: next(NUMBERS),
    "next with a default": lambda: next(NUMBERS, 0.0),
    "next of a generator": lambda: next(SQUARES),
    "next of a count": lambda: next(COUNT),
    "list": lambda: len(list(NUMBERS)),
    "sum": lambda: sum(NUMBERS),
    "zip": lambda: len(list(zip(NUMBERS, [1, 2], strict=False))),
    "map": lambda: sum(map(float, NUMBERS)),
    "a comprehension": lambda: sum([2.0 * one for one in NUMBERS]),
    "a generator of Random": lambda: RNG.random(),
    "a generator of Random, in Python": lambda: RNG.randint(1, 9),
    "a generator of NumPy": lambda: float(DRAWS.normal()),
    "an old generator of NumPy": lambda: float(OLD_DRAWS.rand()),
    "a generator of torch": lambda: torch.rand(1, generator=TORCH_DRAWS).item(),
    "a list": lambda: TODO.pop(),
    "a queue": lambda: QUEUE.popleft(),
    "a dict": lambda: TABLE.popitem()[1],
    "a file": lambda: float(FILE.readline()),
    "the place in a file": lambda: OPEN.tell(),
    "a file of tempfile": lambda: len(NAMED.read()),
}


def _of(value):
    def body(x, n):
        x[0] = fx.Float32(float(value()))

    return body


@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_anew_each_time(name):
    text = complaint(RuntimeError, lambda: launched(_of(ASKED[name])))
    assert " asks " in text
    assert "a trace runs once for each specialisation" in text
    assert "fx.Constexpr" in text
    assert "functools.cache" in text
    assert "test_asking_outside.py" in text


@pytest.mark.parametrize("name", TAKEN)
def test_what_a_trace_takes_from_a_thing_outside(name):
    text = complaint(RuntimeError, lambda: launched(_of(TAKEN[name])))
    assert "made outside of the traced functions" in text
    assert "test_asking_outside.py" in text


@teaches(RuntimeError, "time.time() asks the clock")
def test_the_clock_in_a_kernel(x, n):
    x[0] = time.time()  # here


@teaches(RuntimeError, "goes on in an iterator (list_iterator)")
def test_a_loop_over_an_iterator(x, n):
    for one in NUMBERS:  # here
        x[0] = one


def test_a_method_of_the_receiver():
    """The object is no root of what is watched; it is an argument."""

    class Filling:
        def __init__(self):
            self.numbers = iter([1.0, 2.0])

        @flyc.kernel
        def kernel(self, x: fx.Tensor):
            x[0] = next(self.numbers)

        @flyc.jit
        def __call__(self, x: fx.Tensor):
            self.kernel(x).launch(grid=(1,), block=(1,))

    filling = Filling()
    with pytest.raises(RuntimeError, match="made outside of the traced functions"):
        filling(np.zeros(1, np.float32))


MADE_INSIDE = {
    "an iterator": lambda: (lambda it: next(it) + next(it))(iter([1.0, 2.0])),
    "a generator": lambda: sum(squares()) - 2.0,
    "enumerate": lambda: sum(i for i, _ in enumerate("abc")),
    "a loop": lambda: sum([0.5 * one for one in (2.0, 4.0)]),
    "a list": lambda: [1.0, 3.0].pop(),
    "a seed": lambda: 3.0 + 0.0 * random.Random(5).random(),
    "a seed of NumPy": lambda: 3.0 + 0.0 * float(np.random.default_rng(5).random()),
    "a seed of torch": lambda: 3.0 + 0.0 * torch.rand(1, generator=torch.Generator().manual_seed(1)).item(),
    "a text file": lambda: float(io.StringIO("3").readline()),
    "a cached answer": lambda: 3.0 + 0.0 * started(),
    "a state that is read": lambda: 3.0 + 0.0 * len(RNG.getstate()),
}


@functools.cache
def started():
    return time.time()


@pytest.mark.parametrize("name", MADE_INSIDE)
def test_what_begins_anew_in_every_trace(name):
    value = MADE_INSIDE[name]

    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[0] = fx.Float32(float(value()))

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=(1,), block=(1,))

    x = np.zeros(1, np.float32)
    launch(x)
    assert x[0] == 3.0


KINDS = {
    "defaultdict": lambda: defaultdict(float),
    "Counter": Counter,
    "OrderedDict": OrderedDict,
    "dict": dict,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_time_key(kind):
    def body(x, n):
        found = KINDS[kind]()
        x[0] = found[n]

    text = complaint(RuntimeError, lambda: launched(body))
    assert "a dict is indexed with a run-time Int32" in text
    assert "fx.Vector.from_elements" in text


@teaches(RuntimeError, "a dict is indexed with a run-time Int32", "fx.Vector.from_elements")
def test_counting_in_a_defaultdict(x, n):
    counts = defaultdict(int)
    counts[n] += 1  # here
    x[0] = float(len(counts))


@teaches(RuntimeError, "a dict is indexed with a run-time Int32")
def test_a_run_time_key_in_a_tuple(x, n):
    counts = Counter()
    x[0] = float(counts[(1, n)])  # here


@teaches(RuntimeError, "the key of dict.get() is a run-time Int32")
def test_get_of_a_counter(x, n):
    counts = Counter()
    x[0] = float(counts.get(n, 0))  # here


def test_a_value_finds_what_it_was_put_under():
    """As the key it is: an object, which is the same one."""

    @flyc.kernel
    def kernel(x: fx.Tensor, n: fx.Int32):
        names = {n: 2.0}
        names[n] += 1.0
        x[0] = names[n]

    @flyc.jit
    def launch(x: fx.Tensor, n: fx.Int32):
        kernel(x, n).launch(grid=(1,), block=(1,))

    x = np.zeros(1, np.float32)
    launch(x, 5)
    assert x[0] == 3.0
