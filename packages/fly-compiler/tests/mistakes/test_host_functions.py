# SPDX-License-Identifier: Apache-2.0
"""Mistakes in host functions: launching, and calling them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from teaching import complaint, in_host

import flydsl.compiler as flyc
import flydsl.expr as fx


@flyc.kernel
def kernel(x: fx.Tensor, n: fx.Int32):
    x[0] = 1.0


@flyc.kernel(known_block_size=(64, 1, 1))
def fixed_kernel(x: fx.Tensor, n: fx.Int32):
    x[0] = 1.0


@flyc.jit
def launch(x: fx.Tensor, n: fx.Int32):
    kernel(x, n).launch()


def test_an_argument_is_missing():
    def host(x: fx.Tensor, n: fx.Int32):
        kernel(x).launch()  # here

    in_host(host, TypeError, "kernel 'kernel'", "missing a required argument: 'n'", "it takes (x, n)")


def test_a_bare_number():
    @flyc.kernel
    def plain(x, n):
        pass

    def host(x: fx.Tensor, n: fx.Int32):
        plain(x, 3).launch()  # here

    in_host(host, TypeError, "argument 'n' is a Python number", "fx.Int32(3)", "fx.Constexpr")


def test_a_grid_of_floats():
    def host(x: fx.Tensor, n: fx.Int32):
        kernel(x, n).launch(grid=(n / 64,))  # here

    in_host(host, TypeError, "grid.x must be an integer, got Float32")


def test_a_grid_of_four_axes():
    def host(x: fx.Tensor, n: fx.Int32):
        kernel(x, n).launch(grid=(1, 1, 1, 1))  # here

    in_host(host, ValueError, "grid has one to three extents, got 4")


def test_too_many_threads():
    def host(x: fx.Tensor, n: fx.Int32):
        kernel(x, n).launch(block=(64, 32))  # here

    in_host(host, ValueError, "block (64, 32, 1) has 2048 threads", "at most 1024", "smaller block")


def test_another_block_than_declared():
    def host(x: fx.Tensor, n: fx.Int32):
        fixed_kernel(x, n).launch(block=(128,))  # here

    in_host(host, ValueError, "known_block_size (64, 1, 1)", "block.x of this launch is 128")


def test_the_launch_syntax_of_other_languages():
    def host(x: fx.Tensor, n: fx.Int32):
        kernel[(1,)](x, n)  # here

    in_host(host, TypeError, "kernel(...).launch(grid=..., block=...)", "not with kernel[...](...)")


def test_a_method_that_is_not_there():
    def host(x: fx.Tensor, n: fx.Int32):
        kernel(x, n).run()  # here

    in_host(host, AttributeError, "has .launch(grid=..., block=...) only, no .run")


def test_too_little_dynamic_lds():
    @flyc.kernel
    def sharing(x: fx.Tensor, n: fx.Int32):
        fx.SharedAllocator(static=False).allocate(fx.Array[fx.Float32, 64])

    def host(x: fx.Tensor, n: fx.Int32):
        sharing(x, n).launch(smem=16)  # here

    in_host(host, ValueError, "smem=16 is less than the 256 bytes")


# -- calls from Python: the traceback has the place, the message the argument and what to do -------------------------


@pytest.mark.parametrize(
    ("arguments", "kind", "phrases"),
    [
        (([1.0], 3), TypeError, ["argument 'x'", "builtins.list", "Arguments are tensors", "fx.Constexpr"]),
        ((None, 3), TypeError, ["argument 'x'", "NoneType", "annotate it `fx.Tensor | None`", "default None"]),
        ((torch.zeros(()), 3), RuntimeError, ["argument 'x'", "without axes (0-d)", "t.reshape(1)", "t.item()"]),
        (
            (torch.zeros(8, dtype=torch.complex64), 3),
            TypeError,
            ["argument 'x'", "dtype complex64", "it can have bool"],
        ),
        ((np.zeros(4, np.float32), "3"), TypeError, ["argument 'n'", "builtins.str"]),
        ((np.zeros(4, np.float32), 2**31), ValueError, ["'n'", "int32"]),
        ((np.zeros(4, np.float32),), TypeError, ["missing 1 required positional argument: 'n'"]),
    ],
)
def test_wrong_calls(arguments, kind, phrases):
    text = complaint(kind, lambda: launch(*arguments))
    for phrase in phrases:
        assert phrase in text, text


def test_a_kernel_called_from_python():
    text = complaint(RuntimeError, lambda: kernel(np.zeros(4, np.float32), 3))
    assert "@kernel can only be called inside @jit function" in text
    assert "decorated with @flyc.jit" in text


def test_another_tensor_than_compiled_for():
    compiled = flyc.compile(launch, np.zeros(4, np.float32), 3)
    assert "expected a float32 tensor" in complaint(TypeError, lambda: compiled(np.zeros(4, np.float64), 3))
    assert "rank" in complaint(ValueError, lambda: compiled(np.zeros((4, 4), np.float32), 3))


@pytest.mark.parametrize(
    ("make", "kind", "phrase"),
    [
        (lambda: flyc.jit(3), TypeError, "decorates a Python function, not int"),
        (lambda: flyc.kernel(known_block_size=(64,))(kernel.func), ValueError, "three extents, got 1"),
        (lambda: flyc.from_dlpack("x"), TypeError, "takes a tensor with __dlpack__, not builtins.str"),
        (lambda: flyc.compile(kernel, 3), TypeError, "takes a @flyc.jit function, not KernelFunction"),
        (lambda: flyc.compile[{"maxnreg": 32}](launch), ValueError, "waves_per_eu bounds the registers"),
        (lambda: flyc.compile["fast"](launch), TypeError, "takes a dict of compile hints, not str"),
        (lambda: fx.Constexpr[list], TypeError, "int, bool, float, str, tuple, Callable"),
    ],
)
def test_wrong_declarations(make, kind, phrase):
    assert phrase in complaint(kind, make)


def test_a_global_that_changed(monkeypatch):
    monkeypatch.setitem(globals(), "FACTOR", 2.0)

    @flyc.kernel
    def scaled(x: fx.Tensor):
        x[0] = FACTOR  # noqa: F821 - set by the fixture

    @flyc.jit
    def host(x: fx.Tensor):
        scaled(x).launch()

    host(np.zeros(4, np.float32))
    globals()["FACTOR"] = 3.0
    text = complaint(RuntimeError, lambda: host(np.zeros(4, np.float32)))
    assert "global 'FACTOR' = 2.0, which is now 3.0" in text
    assert "fx.Constexpr" in text


def test_a_global_and_the_kernel_that_reads_it_changed(monkeypatch):
    """As cells of a notebook do it: the kernel that replaces the old one is traced, with the values of now."""

    def replace(factor):
        monkeypatch.setitem(globals(), "FACTOR", factor)

        @flyc.kernel
        def scaled(x: fx.Tensor):
            x[0] = FACTOR  # noqa: F821 - set by the fixture

        monkeypatch.setitem(globals(), "SCALED", scaled)

    @flyc.jit
    def host(x: fx.Tensor):
        SCALED(x).launch()  # noqa: F821 - set by the fixture

    x = np.zeros(4, np.float32)
    for factor in (2.0, 3.0):
        replace(factor)
        host(x)
        assert x[0] == factor
    globals()["FACTOR"] = 4.0
    assert "which is now 4.0" in complaint(RuntimeError, lambda: host(x))
