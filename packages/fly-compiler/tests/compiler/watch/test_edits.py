# SPDX-License-Identifier: Apache-2.0
"""Whatever a kernel was traced from and however it is changed, no code of before the change runs after it."""

from __future__ import annotations

import builtins
import calendar
import decimal
import gc
import gettext
import importlib
import json
import logging
import math
import multiprocessing
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import tracemalloc
import urllib.request
import zoneinfo
from zlib import crc32

import numpy as np
import pytest
from edits import EDITS as COMMON
from edits_computed import COMPUTED
from edits_found import FOUND, OF_CALLERS
from edits_held import HELD, UNKNOWN
from edits_hidden import HIDDEN, HIDDEN_POINTERS
from edits_library import LIBRARY
from edits_process import POINTERS, PROCESS
from edits_rare import RARE

_ALL = [*COMMON, *RARE, *LIBRARY, *FOUND, *PROCESS, *HIDDEN, *COMPUTED]
EDITS = {one.name: one for one in _ALL}
assert len(EDITS) == len(_ALL)
MORE = {one.name: one for one in [*HELD, *UNKNOWN]}
assert MORE.keys().isdisjoint(EDITS)
assert len(MORE) == len(HELD) + len(UNKNOWN)
AT_EVERY_CALL = {one.name: one for one in [OF_CALLERS, *POINTERS, *HIDDEN_POINTERS]}
BEFORE, AFTER = 3, 5

PROGRAM = """
import importlib, json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
found = {}
for stem in json.loads(sys.argv[2]):
    x = np.zeros(1, np.float32)
    launch = importlib.import_module(stem).launch
    launch(x)
    key, hits = launch.report(x).key, launch.cache_info().hits
    found[stem] = (float(x[0]), key, hits, launch.traced_at_each_call is not None)
print(json.JSONEncoder().encode(found))  # some programs change what dumps() uses
"""


def write(folder, number, names=tuple(EDITS)):
    """Write the programs of some edits, with a number, and return the stems of their files."""
    stems = {}
    for index, name in enumerate(names):
        stem = f"case_{index}"
        for path, text in zip(
            (f"{stem}.py", f"{stem}_other.py"), {**EDITS, **MORE}[name].texts(stem, number), strict=True
        ):
            (folder / path).write_text(text)
        stems[stem] = name
    return stems


def process(folder, stems):
    """Run all programs in one new process; of each the value, key, hits and whether it is traced at each call."""
    command = [sys.executable, "-B", "-c", PROGRAM, str(folder), json.dumps(list(stems))]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
        env={**os.environ, "FLYDSL_COMPILE_OPT_LEVEL": "0"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return {stems[stem]: tuple(values) for stem, values in json.loads(done.stdout.splitlines()[-1]).items()}


# Three processes compile each program anew, which takes longer than all of them within one: each fourth, and those that
# no test changes within a process.
FOURTH = {name: one for name, one in EDITS.items() if not one.change or crc32(name.encode()) % 4 == 0}


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param(FOURTH, id="fourth"),
        pytest.param(EDITS, id="all", marks=pytest.mark.slow),
        pytest.param(MORE, id="held", marks=pytest.mark.slow),
    ],
)
def test_edits_between_processes(tmp_path, edits):
    stems = write(tmp_path, BEFORE, tuple(edits))
    first = process(tmp_path, stems)
    again = process(tmp_path, stems)
    # The report is a call, too: it hits again where the function is traced at each call.
    wanted = {name: (first[name][1], 1 + traced) for name, (_, _, _, traced) in again.items()}
    assert {name: values for name, values in again.items() if values[1:3] != wanted[name]} == {}
    write(tmp_path, AFTER, tuple(edits))
    edited = process(tmp_path, stems)
    assert {name for name in edits if int(first[name][0]) != BEFORE} == set()
    assert {name: edited[name][0] for name in edits if int(edited[name][0]) != AFTER} == {}
    assert {name for name in edits if edited[name][1] == first[name][1]} == set()


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """Import the program of an edit: its main and its other module."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def load(name):
        stem = f"inside_{len(made)}_{[*EDITS, *MORE, *AT_EVERY_CALL].index(name)}"
        texts = {**EDITS, **MORE, **AT_EVERY_CALL}[name].texts(stem, BEFORE)
        for path, text in zip((f"{stem}.py", f"{stem}_other.py"), texts, strict=True):
            (tmp_path / path).write_text(text)
        made.extend((stem, f"{stem}_other"))
        importlib.invalidate_caches()
        return importlib.import_module(stem), importlib.import_module(f"{stem}_other")

    yield load
    for one in made:
        sys.modules.pop(one, None)


@pytest.fixture
def same_settings(monkeypatch):
    """What the changes set in the process is as it was, afterwards."""
    import torch

    monkeypatch.setenv("HOME", os.environ.get("HOME", "/"))
    monkeypatch.setattr(tempfile, "tempdir", tempfile.tempdir)
    thread, process = threading.current_thread(), multiprocessing.current_process()
    before = (gc.get_threshold(), resource.getrlimit(resource.RLIMIT_CORE), signal.getsignal(signal.SIGUSR2))
    name, timeout, process_name = thread.name, socket.getdefaulttimeout(), process.name
    buffers, week, domain = np.getbufsize(), calendar.firstweekday(), gettext.textdomain()
    level, imports = logging.root.level, builtins.__import__
    precision, deterministic = torch.get_float32_matmul_precision(), torch.are_deterministic_algorithms_enabled()
    yield
    gc.set_threshold(*before[0])
    resource.setrlimit(resource.RLIMIT_CORE, before[1])
    signal.signal(signal.SIGUSR2, before[2])
    gc.set_debug(0)
    tracemalloc.stop()
    torch.set_autocast_enabled(False)
    np.setbufsize(buffers)
    calendar.setfirstweekday(week)
    vars(thread).pop("case", None)
    builtins.__import__ = imports
    gettext.textdomain(domain)
    for one in ("case_member", "case_optional"):
        sys.modules.pop(one, None)
    vars(os).pop("case_late", None)
    np.set_printoptions(precision=8)
    zoneinfo.reset_tzpath()
    thread.name, process.name = name, process_name
    socket.setdefaulttimeout(timeout)
    logging.disable(logging.NOTSET)
    logging.root.setLevel(level)
    torch.set_float32_matmul_precision(precision)
    torch.use_deterministic_algorithms(deterministic)


@pytest.mark.usefixtures("same_settings")
@pytest.mark.parametrize("name", [name for name, one in EDITS.items() if one.change])
def test_changes_in_a_process_are_seen_or_refused(name, loaded, monkeypatch):
    monkeypatch.setenv("CASE", "")
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setitem(sys.modules, "case_mod", None)
    for one in (math, builtins):
        monkeypatch.setattr(one, "case", None, raising=False)
    main, other = loaded(name)
    x = np.zeros(1, np.float32)
    main.launch(x)
    main.launch(x)
    assert (int(x[0]), main.launch.cache_info().currsize, main.launch.misses) == (BEFORE, 1, 1)
    exec(EDITS[name].change, {"m": main, "o": other, "V": AFTER, "os": os, "functools": __import__("functools")})
    try:
        main.launch(x)
    except RuntimeError as error:
        assert "was compiled with global '" in str(error)  # noqa: PT017 - to refuse is right too
        assert EDITS[name].frozen
    else:
        assert not EDITS[name].frozen
        assert int(x[0]) == AFTER


@pytest.fixture
def same_library(monkeypatch):
    """What the changes replace in libraries is as it was, afterwards."""
    import torch

    monkeypatch.setattr(json.JSONEncoder, "default", json.JSONEncoder.default)
    monkeypatch.setattr(json._default_encoder, "item_separator", json._default_encoder.item_separator)
    monkeypatch.setattr(decimal.DefaultContext, "prec", decimal.DefaultContext.prec)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(urllib.request, "_opener", None)
    for owner, name in (
        (torch.backends.cudnn, "benchmark_limit"),
        (torch.backends.opt_einsum, "enabled"),
    ):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    masked = np.ma.masked_print_option.display()
    yield
    np.ma.masked_print_option.set_display(masked)
    torch.set_printoptions(profile="default")
    torch.nn.modules.module._global_forward_hooks.clear()
    gc.unfreeze()


@pytest.mark.usefixtures("same_settings", "same_library")
@pytest.mark.parametrize("name", MORE)
def test_changes_of_what_users_hold(name, loaded, monkeypatch):
    """What can be compared is seen; where something cannot be, the function is traced at each call, and says so."""
    monkeypatch.setenv("CASE", "")
    main, other = loaded(name)
    edit = MORE[name]
    x = np.zeros(1, np.float32)
    main.launch(x)
    main.launch(x)
    assert int(x[0]) == BEFORE
    assert (main.launch.traced_at_each_call is not None) == (edit in UNKNOWN)
    exec(edit.change, {"m": main, "o": other, "V": AFTER, "os": os})
    if edit.frozen:
        with pytest.raises(RuntimeError, match="was compiled with global '"):
            main.launch(x)
        return
    assert main.value() == AFTER
    main.launch(x)
    assert int(x[0]) == AFTER


@pytest.mark.parametrize("name", AT_EVERY_CALL)
def test_what_nobody_can_compare_is_read_at_every_call(name, loaded):
    """Who calls may be another one each time, and what a pointer points to may be gone."""
    main, _ = loaded(name)
    x = np.zeros(1, np.float32)
    main.launch(x)
    exec(AT_EVERY_CALL[name].change, {"m": main, "V": AFTER})
    main.launch(x)
    assert int(x[0]) == AFTER
