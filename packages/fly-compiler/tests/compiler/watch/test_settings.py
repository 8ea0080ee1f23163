# SPDX-License-Identifier: Apache-2.0
"""Environment variables: calls see those that change, and look at them only when some variable was set."""

from __future__ import annotations

import os
import threading

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compile.target import Environment, environment
from flydsl.frontend.control.audit import heard, listen

NAME = "FLYDSL_COMPILE_OPT_LEVEL"


@flyc.kernel
def kernel(x: fx.Tensor):
    x[0] = x[0] + 1.0


@flyc.jit
def launch(x: fx.Tensor):
    kernel(x).launch()


def call():
    x = torch.ones(1)
    launch(x)
    assert x.item() == 2.0


def levels():
    """The optimisation levels that `launch` is compiled for."""
    return [one.request.settings.opt_level for one in launch._compiled.values()]


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    monkeypatch.delenv(NAME, raising=False)
    launch._entries.clear()
    launch._compiled.clear()
    call()


@pytest.fixture
def looks(monkeypatch):
    """How often the variables were looked at, as a list that grows."""
    heard.setting.clear()  # threads of other tests
    found = []
    is_still = Environment.is_still
    monkeypatch.setattr(Environment, "is_still", lambda self, number: (found.append(number), is_still(self, number))[1])
    return found


def test_a_variable_that_matters_is_compiled_for(monkeypatch):
    assert levels() == [2]
    monkeypatch.setenv(NAME, "1")
    call()
    assert levels() == [2, 1]
    monkeypatch.setenv(NAME, "0")
    call()
    assert levels() == [2, 1, 0]
    monkeypatch.delenv(NAME)
    call()
    assert levels() == [2, 1, 0]


@pytest.mark.skipif(hasattr(os, "reload_environ"), reason="this Python changes os.environ without telling of it")
def test_other_variables_cost_one_look(monkeypatch, looks):
    call()
    looks.clear()
    for _ in range(3):
        call()
    assert looks == []
    monkeypatch.setenv("FLYDSL_NOT_READ", "1")
    for _ in range(3):
        call()
    assert len(looks) == 1
    assert levels() == [2]


@pytest.mark.skipif(hasattr(os, "reload_environ"), reason="this Python changes os.environ without telling of it")
def test_a_variable_that_a_thread_is_about_to_set(looks):
    """Python tells of it before `os.environ` has it: until that thread is done, each call looks."""
    told, go_on = threading.Event(), threading.Event()

    def set_it():
        # What `os.environ[NAME] = "1"` does, with time between its two steps.
        os.putenv(NAME, "1")
        told.set()
        assert go_on.wait(60)
        os.environ._data[os.environ.encodekey(NAME)] = os.environ.encodevalue("1")
        call()  # and nobody waits for it any more

    thread = threading.Thread(target=set_it)
    thread.start()
    try:
        assert told.wait(60)
        call()
        call()
        assert levels() == [2]
        assert len(looks) == 2
    finally:
        go_on.set()
        thread.join()
    call()
    assert levels() == [2, 1]
    looks.clear()
    os.environ.pop(NAME)
    call()
    assert levels() == [2, 1]


def test_the_hook_hears_of_all_ways_to_set_a_variable(monkeypatch):
    listen()
    monkeypatch.setenv("FLYDSL_NOT_READ", "0")
    for change in (
        lambda: os.environ.update(FLYDSL_NOT_READ="1"),
        lambda: os.environ.pop("FLYDSL_NOT_READ"),
        lambda: os.environ.setdefault("FLYDSL_NOT_READ", "2"),
        lambda: os.environb.__setitem__(b"FLYDSL_NOT_READ", b"3"),
        lambda: os.putenv("FLYDSL_NOT_READ", "4"),
    ):
        before = heard.settings
        change()
        assert heard.settings > before


def test_a_number_stands_for_values(monkeypatch):
    first = environment.number()
    assert environment.is_still(first)
    monkeypatch.setenv(NAME, "1")
    assert not environment.is_still(first)
    second = environment.number()
    assert second != first
    assert environment.is_still(second)
    assert not environment.is_still(first)
    monkeypatch.delenv(NAME)
    with pytest.raises(KeyError):
        environment.is_still(second)
    assert environment.number() == first
