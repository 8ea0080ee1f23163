# SPDX-License-Identifier: Apache-2.0
"""Where code reaches more than can be looked through in time, it is traced at each call, and the log says so once."""

from __future__ import annotations

import logging

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.call.watch import reach
from flydsl.utils import log

NUMBERS = {"n": 3}


def last():
    return NUMBERS["n"]


def middle():
    return last()


def first():
    return middle()


@flyc.kernel
def kernel(x: fx.Tensor):
    x[0] = float(first())


@flyc.jit
def launch(x: fx.Tensor):
    kernel(x).launch(block=1)


def test_what_is_not_watched_is_traced_at_each_call(monkeypatch, caplog):
    monkeypatch.setattr(reach, "_MOST_FUNCTIONS", 3)
    monkeypatch.setattr(log(), "propagate", True)
    x = np.zeros(1, np.float32)
    with caplog.at_level(logging.WARNING, logger=log().name):
        for number in (3, 3, 5, 7):
            NUMBERS["n"] = number
            launch(x)
            assert x[0] == number
    said = [one.getMessage() for one in caplog.records if "traced at each call" in one.getMessage()]
    assert len(said) == 1
    assert "launch() reaches so much code (of test_too_much)" in said[0]
