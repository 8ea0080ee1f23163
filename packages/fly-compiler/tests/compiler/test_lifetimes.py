# SPDX-License-Identifier: Apache-2.0
"""Values that somebody keeps after the compilation: looking at them is safe, using them elsewhere is refused."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl.compile import lifetimes


def launch(body):
    kernel = flyc.kernel(body)

    @flyc.jit
    def host(x: fx.Tensor):
        kernel(x).launch(block=(64,))

    host(np.zeros(64, np.float32))


def plain(x: fx.Tensor):
    x[fx.thread_idx.x] = 1.0


@pytest.fixture(autouse=True)
def nothing_held():
    """How many modules are held before a test, of tests before it whose tracebacks still live; none is to come."""
    gc.collect()
    before = lifetimes.release()
    yield before
    gc.collect()
    assert lifetimes.release() <= before


@pytest.fixture
def kept():
    """Values of all kinds that outlive the kernel which made them."""
    values = {}

    def keeping(x: fx.Tensor):
        values["tensor"] = x
        values["scalar"] = x[0] + 1.0
        values["raw"] = x[1].ir_value()
        values["layout"] = fx.make_layout((4, 8), (8, 1))
        values["vector"] = fx.full(4, x[2], fx.Float32)
        values["index"] = fx.thread_idx.x
        values["fragment"] = fx.make_rmem_tensor(4, fx.Float32)

    launch(keeping)
    gc.collect()
    yield values
    values.clear()


def test_a_kept_value_can_be_printed(kept, nothing_held):
    launch(plain)  # what is kept does not depend on what comes after
    for name, value in kept.items():
        assert repr(value)
        raw = value if isinstance(value, ir.Value) else value.value
        assert str(raw.type)
        assert str(raw)
        assert raw.owner is not None, name
    assert lifetimes.release() == nothing_held + 1


def test_nothing_is_held_when_nothing_is_kept(kept, nothing_held):
    kept.clear()
    assert lifetimes.release() == nothing_held


@pytest.mark.parametrize("name", ["scalar", "raw", "layout", "vector", "index", "tensor", "fragment"])
def test_a_kept_value_cannot_be_used_again(kept, name):
    uses = {
        "scalar": lambda x: x[0] + kept["scalar"],
        "raw": lambda x: fx.Float32(kept["raw"]) * 2.0,
        "layout": lambda x: fx.size(kept["layout"]),
        "vector": lambda x: kept["vector"].reduce("add"),
        "index": lambda x: x[kept["index"]],
        "tensor": lambda x: kept["tensor"][0],
        "fragment": lambda x: kept["fragment"].load(),
    }

    def using(x: fx.Tensor):
        uses[name](x)

    with pytest.raises(RuntimeError, match=r"is from another trace.*do not keep it in a global"):
        launch(using)


def test_an_error_keeps_its_module_as_long_as_it_lives(nothing_held):
    def failing(x: fx.Tensor):
        value = x[0] * 2.0
        raise KeyError(value)

    with pytest.raises(KeyError) as caught:
        launch(failing)
    assert "Float32(" in repr(caught.value.args[0])
    assert lifetimes.release() == nothing_held + 1
    del caught


def test_another_context_inside_a_kernel():
    def entering(x: fx.Tensor):
        with ir.Context(), ir.Location.unknown():
            x[0] + 1.0

    with pytest.raises(RuntimeError, match="another MLIR context was entered inside this kernel"):
        launch(entering)
