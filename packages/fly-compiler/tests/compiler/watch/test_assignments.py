# SPDX-License-Identifier: Apache-2.0
"""Assignments to the code and defaults of functions: calls see those that matter, and are not slow after others."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx


def helper(x, add=1.0, *, factor=2.0):
    return x * factor + add


def other(x, add=1.0, *, factor=2.0):
    return x * factor + add + 100.0


def unrelated(x=1):
    return x


@flyc.kernel
def kernel(x: fx.Tensor):
    x[0] = helper(x[0])


@flyc.jit
def launch(x: fx.Tensor):
    kernel(x).launch()


def result():
    x = torch.ones(1)
    launch(x)
    return x.item()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("__code__", other.__code__, 103.0),
        ("__defaults__", (5.0,), 7.0),
        ("__kwdefaults__", {"factor": 9.0}, 10.0),
    ],
)
def test_what_is_assigned_is_traced(name, value, expected):
    before = getattr(helper, name)
    assert result() == 3.0
    try:
        setattr(helper, name, value)
        assert result() == expected
    finally:
        setattr(helper, name, before)
    assert result() == 3.0


def test_what_else_is_assigned_costs_one_closer_look(monkeypatch):
    assert result() == 3.0
    looks = []
    specialise = type(launch).specialise
    monkeypatch.setattr(
        type(launch).__mro__[1],
        "specialise",
        lambda self, values, **how: (looks.append(self), specialise(self, values, **how))[1],
    )
    launch._renew_call()
    assert result() == 3.0
    assert not looks
    unrelated.__defaults__ = (2,)
    assert [result() for _ in range(3)] == [3.0] * 3
    assert len(looks) == 1


def test_a_hook_that_admits_no_other_is_told_of():
    program = """
import sys

def refuse(event, arguments):
    if event == "sys.addaudithook":
        raise RuntimeError("no more hooks")

sys.addaudithook(refuse)
from flydsl.frontend.control.audit import listen
listen()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "admits no other one" in done.stderr


def scaled(x, factor=2.0):
    return x * factor


def scale_by(factor):
    scaled.__defaults__ = (factor,)


@flyc.kernel
def assigning_kernel(x: fx.Tensor):
    scale_by(2.0)
    twice = scaled(x[0])
    scale_by(10.0)
    x[0] = twice + scaled(x[0])


@flyc.jit
def assigning(x: fx.Tensor):
    assigning_kernel(x).launch()


def test_what_is_assigned_while_tracing_counts_from_the_next_call_of_the_helper():
    x = torch.ones(1)
    assigning(x)
    assert x.item() == 12.0
