# SPDX-License-Identifier: Apache-2.0
"""Rewritten functions that processes keep for those after them: never of another source, never of other names."""

from __future__ import annotations

import ast
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from programs import WITHOUT_TORCH

from flydsl.compile.cache import RewritesOnDisk, rewrites
from flydsl.frontend.rewrite.kept import name_of

PROGRAM = (
    WITHOUT_TORCH
    + """
import os, sys
import numpy as np
import flydsl.compiler as flyc, flydsl.expr as fx
from flydsl.frontend.rewrite import function as rewriting

written = []
def find_source(function):
    written.append(function.__name__)
    return found(function)
found, rewriting.find_source = rewriting.find_source, find_source

import helpers

@flyc.kernel
def kernel(x: fx.Tensor, n: fx.Constexpr[int]):
    i = fx.thread_idx.x
    if i < n:
        x[i] = helpers.value(i)

@flyc.jit
def fill(x: fx.Tensor, n: fx.Constexpr[int]):
    kernel(x, n).launch(grid=1, block=64)

x = np.zeros(64, np.float32)
fill(x, 3)
print(flyc.compilation_reports()[-1].origin, sorted(written), x[:4].tolist(), sep="|")
"""
)

HELPERS = """
import flydsl.expr as fx

def value(i):
    if i > 0:
        return fx.Float32(i) * 2.0
    return fx.Float32(-1.0)
"""

FIRST = ["fill", "kernel", "value"]


@pytest.fixture
def program(tmp_path):
    """Run the program with some helpers; what came of it: origin, the functions that were rewritten, the result."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(helpers=HELPERS, **variables):
        (tmp_path / "helpers.py").write_text(helpers)
        # Python's own byte code has the time of its source in whole seconds.
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **variables}
        command = [sys.executable, str(tmp_path / "program.py")]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=600)
        assert done.returncode == 0, done.stderr
        origin, written, result = done.stdout.strip().split("|")
        return origin, ast.literal_eval(written), ast.literal_eval(result)

    return run


def kept(tmp_path):
    return sorted((tmp_path / "cache").glob("rewrites_*/*.code"))


def test_a_second_process_rewrites_nothing_and_traces_the_same(program, tmp_path):
    assert program() == ("compiled", FIRST, [-1.0, 2.0, 4.0, 0.0])
    assert len(kept(tmp_path)) == 2, "a file for each source"
    assert program() == ("disk", [], [-1.0, 2.0, 4.0, 0.0])


def test_a_file_that_changed_is_rewritten(program):
    program()
    changed = HELPERS.replace("* 2.0", "* 3.0")
    assert program(changed) == ("compiled", ["value"], [-1.0, 3.0, 6.0, 0.0])
    # A comment makes the same program, from another text.
    assert program(changed + "# the end\n") == ("disk", ["value"], [-1.0, 3.0, 6.0, 0.0])
    assert program(changed) == ("disk", ["value"], [-1.0, 3.0, 6.0, 0.0])


BY_ENVIRONMENT = """
import os
import flydsl.expr as fx

if os.environ.get("OWN"):
    class fx_math:
        @staticmethod
        def sqrt(x):
            if x > 4.0:
                return x * 0.0
            return x
    def max(a, b):
        if a > b:
            return b
        return a
else:
    from flydsl.expr import math as fx_math

def value(i):
    return fx_math.sqrt(fx.Float32(i * i)) + float(max(1, 2))
"""


def test_a_name_that_means_something_else_is_rewritten(program):
    """The code and the text are the same: a module of the library here, a class of the user there."""
    library, own = [2.0, 3.0, 4.0, 0.0], [1.0, 2.0, 5.0, 0.0]
    assert program(BY_ENVIRONMENT)[2] == library
    origin, written, result = program(BY_ENVIRONMENT, OWN="1")
    assert (origin, result) == ("compiled", own)
    assert "value" in written
    assert program(BY_ENVIRONMENT, OWN="1")[1:] == ([], own)
    origin, written, result = program(BY_ENVIRONMENT)
    assert (origin, written, result) == ("disk", ["value"], library)


@pytest.mark.parametrize(
    "variables", [{"FLYDSL_RUNTIME_ENABLE_CACHE": "0"}, {"FLYDSL_DUMP_IR": "1"}], ids=["no cache", "dumps"]
)
def test_without_the_cache(program, tmp_path, variables):
    variables = {**variables, "FLYDSL_DUMP_DIR": str(tmp_path / "dumps")}
    program(**variables)
    assert not kept(tmp_path)
    program()
    assert program(**variables)[1] == FIRST


def test_run_only_reads_and_writes_nothing(program, tmp_path):
    program()
    assert program(FLYDSL_RUNTIME_RUN_ONLY="1") == ("disk", [], [-1.0, 2.0, 4.0, 0.0])
    for path in kept(tmp_path):
        path.unlink()
    assert program(FLYDSL_RUNTIME_RUN_ONLY="1") == ("disk", FIRST, [-1.0, 2.0, 4.0, 0.0])
    assert not kept(tmp_path)


def test_what_others_may_write_is_not_used(program, tmp_path):
    program()
    for path in kept(tmp_path):
        path.chmod(0o666)
    assert program()[:2] == ("disk", FIRST)
    assert program()[:2] == ("disk", []), "it was written anew"
    for path in kept(tmp_path):
        path.rename(path.with_suffix(".moved"))
        path.symlink_to(path.with_suffix(".moved"))
    assert program()[:2] == ("disk", FIRST)
    for path in kept(tmp_path):
        assert not path.is_symlink()
        path.unlink()
        os.mkfifo(path)
    assert program()[:2] == ("disk", FIRST)
    assert all(path.is_file() for path in kept(tmp_path))


# -- the files alone ---------------------------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.py"
    path.write_text("def f(x):\n    return x\n")
    return path


def lines_of(path):
    return path.read_text().splitlines(keepends=True)


def entry():
    return {("is_builtin", "max"): True}, compile("1 + 1", "source.py", "eval")


def test_an_entry_is_that_of_its_file_and_name(tmp_path, source):
    first = RewritesOnDisk(tmp_path / "cache")
    assert first.find(str(source), "a") is None
    first.add(str(source), "a", entry(), lines_of(source))
    first.write(0)
    again = RewritesOnDisk(tmp_path / "cache")
    assert again.find(str(source), "a") == entry()
    assert again.find(str(source), "b") is None
    assert again.find(str(tmp_path / "other.py"), "a") is None
    source.write_text(source.read_text() + "\n")
    assert RewritesOnDisk(tmp_path / "cache").find(str(source), "a") is None


def test_processes_add_to_what_is_there(tmp_path, source):
    for name in ("a", "b"):
        one = RewritesOnDisk(tmp_path / "cache")
        one.add(str(source), name, entry(), lines_of(source))
        one.write(0)
    again = RewritesOnDisk(tmp_path / "cache")
    assert again.find(str(source), "a") == again.find(str(source), "b") == entry()


def test_lines_of_another_text_are_not_kept(tmp_path, source):
    """The file changed between the import of its function and the trace."""
    lines = lines_of(source)
    one = RewritesOnDisk(tmp_path / "cache")
    assert one.find(str(source), "a") is None
    source.write_text("def f(x):\n    return -x\n")
    one.add(str(source), "a", entry(), lines)  # another hash than when it was looked for
    one.write(0)
    two = RewritesOnDisk(tmp_path / "cache")
    two.add(str(source), "a", entry(), lines)
    two.write(0)
    assert not kept(tmp_path)


def test_a_file_is_looked_at_once_for_the_same_lines(tmp_path, source, monkeypatch):
    """Of most files many functions are traced, and each comes with the lines that `linecache` has."""
    looked, look = [], rewrites._is_text_of
    monkeypatch.setattr(rewrites, "_is_text_of", lambda *args: (looked.append(args[0]), look(*args))[1])
    lines, others = lines_of(source), ["another text\n"]
    one = RewritesOnDisk(tmp_path / "cache")
    for name in ("a", "b", "c"):
        one.add(str(source), name, entry(), lines)
    one.add(str(source), "d", entry(), others)
    one.write(0)
    assert looked == [lines, others]
    again = RewritesOnDisk(tmp_path / "cache")
    assert [name for name in "abcd" if again.find(str(source), name) is not None] == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["<stdin>", "relative.py", "/nowhere/at all.py", "/tmp", "/dev/null", "/a\0b"])
def test_what_is_no_file_has_no_entries(tmp_path, name):
    one = RewritesOnDisk(tmp_path / "cache")
    assert one.find(name, "a") is None
    one.add(name, "a", entry(), ["x\n"])
    one.write(0)
    assert not kept(tmp_path)


def test_damage_is_seen(tmp_path, source):
    one = RewritesOnDisk(tmp_path / "cache")
    one.add(str(source), "a", entry(), lines_of(source))
    one.write(0)
    (path,) = kept(tmp_path)
    whole = path.read_bytes()
    for length in (*range(40), *range(40, len(whole), 7)):
        path.write_bytes(whole[:length])
        assert RewritesOnDisk(tmp_path / "cache").find(str(source), "a") is None
    for bit in random.sample(range(8 * len(whole)), 200):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        assert RewritesOnDisk(tmp_path / "cache").find(str(source), "a") is None
    path.write_bytes(random.randbytes(4096))
    assert RewritesOnDisk(tmp_path / "cache").find(str(source), "a") is None
    healed = RewritesOnDisk(tmp_path / "cache")
    healed.add(str(source), "a", entry(), lines_of(source))
    healed.write(0)
    assert RewritesOnDisk(tmp_path / "cache").find(str(source), "a") == entry()


def test_a_file_does_not_grow_without_end(tmp_path, source, monkeypatch):
    monkeypatch.setattr(rewrites, "_MOST_ENTRIES", 3)
    for number in range(4):
        one = RewritesOnDisk(tmp_path / "cache")
        one.add(str(source), str(number), entry(), lines_of(source))
        one.write(0)
    again = RewritesOnDisk(tmp_path / "cache")
    assert [again.find(str(source), str(number)) is not None for number in range(4)] == [False, False, False, True]


def test_a_folder_that_cannot_be_written_is_left_alone(tmp_path, source):
    (tmp_path / "cache").write_text("no folder")
    one = RewritesOnDisk(tmp_path / "cache")
    one.add(str(source), "a", entry(), lines_of(source))
    one.write(0)
    assert one.find(str(source), "a") is None


def test_names_tell_functions_and_ways_apart():
    def one(x):
        return x

    def other(x):
        return x

    names = {
        name_of(function, *way) for function in (one, other) for way in [(True, True), (True, False), (False, True)]
    }
    assert len(names) == 6
    assert name_of(one, True, True) == name_of(one, True, True)


def test_files_of_sources_that_are_gone_are_evicted(tmp_path, source):
    one = RewritesOnDisk(tmp_path / "cache")
    one.add(str(source), "a", entry(), lines_of(source))
    one.write(0)
    (path,) = kept(tmp_path)
    os.utime(path, (1e9, 1e9))
    other = Path(tmp_path, "other.py")
    other.write_text("pass\n")
    two = RewritesOnDisk(tmp_path / "cache")
    two.add(str(other), "a", entry(), lines_of(other))
    two.write(1)
    assert path not in kept(tmp_path)
    assert len(kept(tmp_path)) == 1
