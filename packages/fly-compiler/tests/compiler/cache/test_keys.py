# SPDX-License-Identifier: Apache-2.0
"""The key has everything that the result depends on, and nothing else: one row for each."""

from __future__ import annotations

import linecache

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.kernel_function import CompilationContext

_SOURCE = """
import flydsl.compiler as flyc
import flydsl.expr as fx
{above}
{constant}
def helper(x):
    return x {operation}
class Options:
    width = {width}
@flyc.kernel
def kernel(x: fx.Tensor, n: fx.Int32, c: fx.Constexpr[int]):
    x[n] = helper(x[n]) + CONSTANT + Options.width + float(c)
@flyc.jit
def launch(x: fx.Tensor, n: fx.Int32, c: fx.Constexpr[int] = 1):
    kernel(x, n, c).launch(block=({block},))
def unrelated():
    return {unrelated}
"""
_PLAIN = {"above": "", "constant": "CONSTANT = 1.0", "operation": "* 2.0", "width": 3, "block": 64, "unrelated": 0}


def module(**changes):
    """Execute the program with some pieces changed, as if its file was edited; keys have its path."""
    text = _SOURCE.format(**{**_PLAIN, **changes})
    name = "/keys/program.py"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"__name__": "keys"}
    exec(compile(text, name, "exec"), namespace)
    return namespace


def key(launch, *arguments):
    return launch.report(*(arguments or (np.zeros(64, np.float32), 3))).key


@pytest.fixture(autouse=True)
def gfx942(monkeypatch):
    monkeypatch.setenv("ARCH", "gfx942")
    monkeypatch.delenv("FLYDSL_GPU_ARCH", raising=False)


@pytest.mark.parametrize(
    "change",
    [
        {"operation": "* 3.0"},
        {"constant": "CONSTANT = 2.0"},
        {"width": 4},
        {"block": 128},
        {"above": "\n# moves the rest down: line tables have line numbers"},
    ],
)
def test_what_the_function_reaches(change):
    assert key(module()["launch"]) != key(module(**change)["launch"])


@pytest.mark.parametrize("change", [{"unrelated": 1}, {"constant": "CONSTANT = 1"}, {"operation": "* (1.0 + 1.0)"}])
def test_what_makes_no_difference_to_the_program(change):
    assert key(module()["launch"]) == key(module(**change)["launch"])


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ARCH", "gfx950"),
        ("FLYDSL_COMPILE_OPT_LEVEL", "1"),
        ("FLYDSL_DEBUG_ENABLE_DEBUG_INFO", "0"),
        ("FLYDSL_DEBUG_MAX_LOC_DEPTH", "2"),
        ("FLYDSL_EXTRA_SOURCE_DIRS", __file__.rpartition("/")[0]),
        ("FLYDSL_EMU_SANITIZE", "init"),
    ],
)
def test_variables_that_change_the_result(variable, value, monkeypatch):
    monkeypatch.setenv("COMPILE_ONLY", "1")
    launch = module()["launch"]
    before = key(launch)
    monkeypatch.setenv(variable, value)
    assert key(launch) != before
    monkeypatch.delenv(variable)
    monkeypatch.setenv("ARCH", "gfx942")
    assert key(launch) == before


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FLYDSL_DEBUG_LOG_LEVEL", "ERROR"),
        ("FLYDSL_DEBUG_ENABLE_VERIFIER", "0"),
        ("FLYDSL_DEBUG_SHOW_STACKTRACE", "1"),
        ("FLYDSL_PRINT_BUFFER_BYTES", "4096"),
    ],
)
def test_variables_that_do_not(variable, value, monkeypatch):
    before = key(module()["launch"])
    monkeypatch.setenv(variable, value)
    assert key(module()["launch"]) == before


@pytest.mark.parametrize(
    "hints",
    [{"waves_per_eu": 2}, {"fast_fp_math": True}, {"fastmath": "nnan"}, {"llvm_options": {"enable-misched": False}}],
)
def test_hints(hints):
    launch = module()["launch"]
    before = key(launch)
    with CompilationContext.compile_hints(hints):
        assert key(launch) != before
    assert key(launch) == before


def test_types_of_arguments():
    launch = module()["launch"]
    x = torch.zeros(64)
    keys = {
        key(launch, x, 3),
        key(launch, x, fx.Int64(3)),
        key(launch, x.double(), 3),
        key(launch, flyc.from_dlpack(x), 3),
        key(launch, flyc.from_dlpack(x, assumed_align=16), 3),
        key(launch, flyc.from_dlpack(x).mark_shape_dynamic(0, 2), 3),
        key(launch, x, 3, 2),
    }
    assert len(keys) == 7


def test_values_and_extents_of_arguments_do_not_count():
    launch = module()["launch"]
    assert len({key(launch, torch.zeros(n), n // 2) for n in (1, 5, 64)}) == 1


@pytest.mark.parametrize("before", [{}, {"COMPILE_ONLY": "0"}, {"COMPILE_ONLY": "0", "FLYDSL_KTRACE_BLOCKS": "4"}])
def test_a_call_sees_each_variable_that_is_set_changed_or_gone(monkeypatch, before):
    for name in ("ARCH", "COMPILE_ONLY", "FLYDSL_KTRACE_BLOCKS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in before.items():
        monkeypatch.setenv(name, value)
    launch, x = module()["launch"], np.zeros(64, np.float32)

    def runs(expected):
        x[:] = -1
        launch(x, 3)
        assert (x[3] != -1) == expected

    runs(True)
    for _ in range(2):
        monkeypatch.setenv("COMPILE_ONLY", "1")
        runs(False)
        monkeypatch.setenv("COMPILE_ONLY", "0")
        runs(True)
        monkeypatch.delenv("COMPILE_ONLY")
        runs(True)
        monkeypatch.setenv("ARCH", "gfx950")
        assert launch.report(x, 3).arch == "gfx950"
        monkeypatch.delenv("ARCH")
        runs(True)
