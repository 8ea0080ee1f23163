# SPDX-License-Identifier: Apache-2.0
"""What has nothing to do with a function does not make it be traced anew, and costs its calls nothing."""

from __future__ import annotations

import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.call.watch import Watch

x = torch.zeros(4)  # called as an attribute that the kernel reads: fx.block_idx.x


@flyc.kernel
def fill_kernel(given: fx.Tensor, value: fx.Float32):
    given[fx.block_idx.x] = value


@flyc.jit
def fill(given: fx.Tensor, value: fx.Float32):
    fill_kernel(given, value).launch(grid=(4,), block=(1,))


def test_a_global_that_is_called_as_an_attribute_is():
    """It is the output as well: each call would have seen the content that the one before left."""
    for value in (1.0, 2.0, 3.0):
        fill(x, value)
    assert x.tolist() == [3.0] * 4
    info = fill.cache_info()
    assert info.hits + info.misses == 1


def test_globals_of_inner_functions_count():
    space: dict[str, object] = {"__name__": "user", "scale": 2, "unread": 3}
    source = "def outer(v):\n    def inner():\n        return v * scale\n    return inner() + v.unread\n"
    exec(source, space)
    watch = Watch([space["outer"]])
    assert not watch.changed()
    space["unread"] = 4
    assert not watch.changed()
    space["scale"] = 5
    assert watch.changed()


def test_a_function_that_reads_nothing_that_is_watched(monkeypatch):
    """A host function inside the library reads nothing that a user changes: its test is empty, and empty is true."""
    monkeypatch.setattr(Watch, "tests", lambda watch, scope: [])
    first, second = torch.zeros(4), torch.zeros(4)

    @flyc.jit
    def launch(given: fx.Tensor):
        fill_kernel(given, 1.0).launch(grid=(4,), block=(1,))

    launch(first)
    launch(second)
    assert first.tolist() == second.tolist() == [1.0] * 4
    assert launch.cache_info().misses == 1
