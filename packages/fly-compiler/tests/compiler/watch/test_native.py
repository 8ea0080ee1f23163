# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - a row is a case
"""What objects made in C hold, and what Python's own functions say of the process: each change of it is seen."""

from __future__ import annotations

import gc
import signal
import sys
import tempfile
import threading
import types
import weakref

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.call.watch import Watch

FOLDERS = "D = tempfile.mkdtemp()\nos.mkdir(D + '/aaa')\nos.mkdir(D + '/aaaaa')\nos.chdir(D + '/aaa')"
HOOK = "def h(*a): pass\nh.n = 3\n"

# What a module defines, an expression that is 3 in it, and a statement after which it is 5.
HELD = {
    "place in a flat array": ("I = np.arange(9).flat\nnext(I), next(I), next(I)", "I.index", "next(I), next(I)"),
    "names of a dtype": ("D = np.dtype([('aaa', 'i4')])", "len(D.names[0])", "D.names = ('aaaaa',)"),
    "number of an error": ("E = OSError(3, 'x')", "E.errno", "E.errno = 5"),
    "code of an exit": ("E = SystemExit(3)", "E.code", "E.code = 5"),
    "size of a format": ("S = struct.Struct('3s')", "S.size", "S.__init__('5s')"),
    "object in a slice": ("class N: x = 3\nS = slice(N, None)", "S.start.x", "N.x = 5"),
    "time zone": (
        "class Z(datetime.tzinfo):\n    x = 3\n    def utcoffset(self, t): return datetime.timedelta(hours=self.x)\n"
        "T = datetime.time(tzinfo=Z())",
        "T.utcoffset().seconds // 3600",
        "Z.x = 5",
    ),
}
UNKNOWN = {
    "arrays of an iterator": ("I = np.nditer(np.full(1, 3))", "I.operands[0][0]"),
    "arrays of a broadcast": ("B = np.broadcast(np.full(3, 3), 1)", "B.iters[0].base[0]"),
    "line of a file": ("R = csv.reader(iter('aaaaa'))", "R.line_num"),
    "future": ("L = asyncio.new_event_loop()\nF = L.create_future()", "F.done()"),
}
"""Kinds of objects that have more than can be compared."""
SET = {
    "absolute path": (FOLDERS, "len(os.path.abspath('q')) - len(D) - 3", "os.chdir(D + '/aaaaa')"),
    "absolute path of an object": (FOLDERS, "len(str(pathlib.Path('q').absolute())) - len(D) - 3", "os.chdir(D + '/aaaaa')"),
    "working folder in bytes": (FOLDERS, "len(os.getcwdb()) - len(D) - 1", "os.chdir(D + '/aaaaa')"),
    "error of C": ("ctypes.set_errno(3)", "ctypes.get_errno()", "ctypes.set_errno(5)"),
    "name of a level": ("logging.addLevelName(77, 'aaa')", "len(logging.getLevelName(77))", "logging.addLevelName(77, 'aaaaa')"),
    "class of loggers": ("class L(logging.Logger): n = 3\nlogging.setLoggerClass(L)", "logging.getLoggerClass().n", "L.n = 5"),
    "class of records": ("class L(logging.LogRecord): n = 3\nlogging.setLogRecordFactory(L)", "logging.getLogRecordFactory().n", "L.n = 5"),
    "formats of archives": ("shutil.register_archive_format('q', print)", "5 if 'r' in dict(shutil.get_archive_formats()) else 3", "shutil.register_archive_format('r', print)"),
    "dialects": ("csv.register_dialect('q')", "5 if 'r' in csv.list_dialects() else 3", "csv.register_dialect('r')"),
    "hook of threads": (HOOK + "threading.setprofile(h)", "threading.getprofile().n", "h.n = 5"),
    "hook of numpy": (HOOK + "np.seterrcall(h)", "np.geterrcall().n", "h.n = 5"),
    "signals that wait": ("signal.pthread_sigmask(signal.SIG_SETMASK, [40, 41, 42])", "len(signal.pthread_sigmask(signal.SIG_BLOCK, []))", "signal.pthread_sigmask(signal.SIG_SETMASK, [40, 41, 42, 43, 44])"),
}  # fmt: skip
IMPORTS = "import asyncio, csv, ctypes, datetime, logging, os, pathlib, shutil, signal, struct, tempfile, threading"


@pytest.fixture
def same_process(tmp_path, monkeypatch):
    """What the cases set in the process is as it was, afterwards."""
    import csv
    import ctypes
    import logging
    import shutil

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    classes, factory, error_call = logging.getLoggerClass(), logging.getLogRecordFactory(), np.geterrcall()
    formats, hook, number = dict(shutil._ARCHIVE_FORMATS), threading.getprofile(), ctypes.get_errno()
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    logging._levelToName.pop(77, None)
    logging._nameToLevel.pop("aaa", None)
    logging._nameToLevel.pop("aaaaa", None)
    logging.setLoggerClass(classes)
    logging.setLogRecordFactory(factory)
    np.seterrcall(error_call)
    shutil._ARCHIVE_FORMATS.clear()
    shutil._ARCHIVE_FORMATS.update(formats)
    threading.setprofile(hook)
    ctypes.set_errno(number)
    for name in {"q", "r"} & set(csv.list_dialects()):
        csv.unregister_dialect(name)


@pytest.mark.usefixtures("same_process")
@pytest.mark.parametrize("name", [*HELD, *SET])
def test_a_change_is_seen(name, monkeypatch):
    main, value, change = {**HELD, **SET}[name]
    module = types.ModuleType("case_of_c")
    monkeypatch.setitem(sys.modules, "case_of_c", module)
    exec(f"{IMPORTS}\nimport numpy as np\n{main}\ndef value(): return {value}", vars(module))
    scope = {}
    same = eval("lambda: " + " and ".join(Watch([module.value]).tests(scope)), scope)
    assert module.value() == 3
    assert same()
    assert same(), "to look changes nothing"
    exec(change, vars(module))
    assert module.value() == 5
    assert not same()


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_cannot_be_compared_is_said(name):
    main, value = UNKNOWN[name]
    module = types.ModuleType("case_of_c")
    exec(f"{IMPORTS}\nimport numpy as np\n{main}\ndef value(): return {value}", vars(module))
    watch = Watch([module.value])
    assert "of which nothing tells whether it changed" in watch.unwatched
    assert watch.changed()
    assert watch.changed()


def test_what_one_object_holds_is_no_matter_of_others():
    """A method is traced at each call for an object that holds what cannot be compared, and for no other."""

    class Holds:
        def __init__(self, held):
            self.held = held

        @flyc.kernel
        def kernel(self, x: fx.Tensor):
            x[0] = float(len(self.held))

        @flyc.jit
        def launch(self, x: fx.Tensor):
            self.kernel(x).launch(block=1)

    class Point:
        pass

    x, plain = np.zeros(1, np.float32), Holds([1, 2])
    points = [Point(), Point(), Point()]
    weak = Holds(weakref.WeakSet(points))
    plain.launch(x)
    assert x[0] == 2
    weak.launch(x)
    assert x[0] == 3
    assert "Holds.launch() reads a weak reference" in Holds.launch.traced_at_each_call
    points.pop()
    gc.collect()
    weak.launch(x)
    assert x[0] == 2, "what was compiled keeps nothing alive"
    plain.launch(x)
    plain.held.append(3)
    plain.launch(x)
    assert x[0] == 3
    assert Holds.launch.traced_at_each_call is None


def test_what_is_made_anew_each_time_is_no_change():
    """A view of an array, or a number of numpy's, is another object whenever an attribute gives it."""
    numbers, array = np.float64(3), np.arange(3).flat

    def value():
        return numbers.real, array.coords, array.base

    scope = {}
    same = eval("lambda: " + " and ".join(Watch([value]).tests(scope)), scope)
    assert same()
    assert same()


def test_a_property_of_the_users_is_not_run_to_compare():
    """Its code is watched instead."""

    class Users(OSError):
        asked = 0

        @property
        def errno(self):
            Users.asked += 1
            return 3

    error = Users()

    def value():
        return error.errno

    assert value() == 3
    scope = {}
    same = eval("lambda: " + " and ".join(Watch([value]).tests(scope)), scope)
    assert same()
    assert Users.asked == 1
