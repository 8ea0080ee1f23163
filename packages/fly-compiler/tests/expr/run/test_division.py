# SPDX-License-Identifier: Apache-2.0
"""`//`, `%`, `divmod` and their truncating forms: every combination of signs, widths, constants and run-time values."""

import itertools
import math

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


@flyc.kernel
def divide_kernel(a: fx.Tensor, b: fx.Tensor, out: fx.Tensor, n: fx.Int32, divisor: fx.Constexpr, swap: fx.Constexpr):
    i = fx.block_idx.x * 64 + fx.thread_idx.x
    if i < n:
        x, y = a[i], b[i]
        if fx.const_expr(divisor is not None):
            y = x.dtype(divisor)
        if fx.const_expr(swap):
            x, y = y, x
        out[0, i], out[1, i] = divmod(x, y)
        out[2, i], out[3, i] = fx.truncdiv(x, y), fx.fmod(x, y)


@flyc.jit
def divide(
    a: fx.Tensor,
    b: fx.Tensor,
    out: fx.Tensor,
    n: fx.Int32,
    divisor: fx.Constexpr[int] = None,
    swap: fx.Constexpr[bool] = False,
):
    divide_kernel(a, b, out, n, divisor, swap).launch(grid=((n + 63) // 64,), block=(64,))


def reference(a, b):
    """Return quotients and remainders, computed exactly with Python's numbers."""
    rows = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        truncated = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        rows.append((x // y, x % y, truncated, x - truncated * y))
    return np.array(rows, a.dtype).T


def operands(dtype):
    info = np.iinfo(dtype)
    numbers = [one for one in (-7, -1, 0, 1, 7, 5, 100, info.max, info.min) if info.min <= one <= info.max]
    divisors = [one for one in (-8, -5, -1, 1, 3, 8, info.max, info.min) if info.min <= one <= info.max and one]
    pairs = [pair for pair in itertools.product(numbers, divisors) if pair != (info.min, -1)]
    return np.array(pairs, dtype).T.copy()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_run_time_integers(dtype):
    a, b = operands(dtype)
    out = np.zeros((4, len(a)), dtype)
    divide(a, b, out, len(a))
    assert (out == reference(a, b)).all()


@pytest.mark.parametrize("constant", [3, 8, -5, -8, 1, -1])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32"])
def test_a_constant_and_a_run_time_integer(dtype, constant):
    if dtype.startswith("u") and constant < 0:
        pytest.skip("no such constant of this type")
    numbers = np.unique(operands(dtype)[0])
    numbers = numbers[(numbers != np.iinfo(dtype).min) | (constant != -1)]
    for swap in (False, True):
        a = numbers[numbers != 0] if swap else numbers
        out, constants = np.zeros((4, len(a)), dtype), np.full(len(a), constant, dtype)
        divide(a, a, out, len(a), constant, swap)
        assert (out == (reference(constants, a) if swap else reference(a, constants))).all()


@pytest.mark.parametrize("signs", [(7, 5), (7, -5), (-7, 5), (-7, -5)])
@pytest.mark.parametrize("cls", [fx.Int8, fx.Int32, fx.Int64])
def test_constants_mean_the_same(cls, signs):
    a, b = signs
    quotient, remainder = divmod(cls(a), cls(b))
    assert (quotient.value, remainder.value) == divmod(a, b)
    assert (fx.truncdiv(cls(a), cls(b)).value, fx.fmod(cls(a), cls(b)).value) == (int(a / b), math.fmod(a, b))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats(dtype):
    numbers = [-7.5, 7.5, -0.0, 0.0, 1.0, -1.0, 0.3, 1e3, math.inf, -math.inf]
    pairs = itertools.product(numbers, [0.1, -0.1, 2.5, -2.5, 1e-3, math.inf, -math.inf])
    a, b = np.array(list(pairs), dtype).T.copy()
    out = np.zeros((4, len(a)), dtype)
    divide(a, b, out, len(a))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out[0], a // b)
        np.testing.assert_array_equal(out[1], a % b)
        np.testing.assert_array_equal(out[2], np.trunc(a / b))
        np.testing.assert_array_equal(out[3], np.fmod(a, b))
        assert (np.signbit(out[1]) == np.signbit(a % b))[np.isfinite(out[1])].all()


def test_vectors_and_host_functions():
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        four = fx.logical_divide(x, fx.make_layout(4, 1))[None, 0].load()
        fx.logical_divide(y, fx.make_layout(4, 1))[None, 0].store(four % 5)
        fx.logical_divide(y, fx.make_layout(4, 1))[None, 1].store(four % n)

    @flyc.jit
    def run(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        kernel(x, y, n % 5 - 8).launch(grid=1, block=1)

    x, y = np.array([-7, 7, -5, 4], np.int32), np.zeros(8, np.int32)
    run(x, y, -7)
    assert (y == np.concatenate([x % 5, x % -5])).all()


@pytest.mark.parametrize("operator", [lambda a: a // 0, lambda a: a % 0, lambda a: divmod(a, 0)])
def test_a_constant_zero_divisor_is_refused(operator):
    @flyc.kernel
    def kernel(x: fx.Tensor, vector: fx.Constexpr[bool]):
        operator(fx.full(4, x[0], x.dtype) if fx.const_expr(vector) else x[0])

    @flyc.jit
    def run(x: fx.Tensor, vector: fx.Constexpr[bool]):
        kernel(x, vector).launch()

    for dtype in (np.int32, np.uint32):
        for vector in (False, True):
            with pytest.raises(ZeroDivisionError, match="of an integer by zero"):
                run(np.ones(1, dtype), vector)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64"])
def test_shifts_by_constants_of_the_width_and_more(dtype):
    width = np.iinfo(dtype).bits

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        value, i = x[fx.thread_idx.x], fx.thread_idx.x
        for number, amount in enumerate((1, width - 1, width, width + 8)):
            y[0, number, i], y[1, number, i] = value << x.dtype(amount), value >> x.dtype(amount)

    @flyc.jit
    def run(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(block=2)

    x, y = np.array([5, np.iinfo(dtype).min or 2**31], dtype), np.zeros((2, 4, 2), dtype)
    run(x, y)
    for number, amount in enumerate((1, width - 1, width, width + 8)):
        exact = np.array([[int(one) << amount, int(one) >> amount] for one in x], object).T
        assert (y[:, number].astype(object) % 2**width == exact % 2**width).all()


def test_a_negative_shift_is_refused():
    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[0] = x[0] >> -1

    @flyc.jit
    def run(x: fx.Tensor):
        kernel(x).launch()

    with pytest.raises(ValueError, match="negative shift count: -1"):
        run(np.ones(1, np.int32))
