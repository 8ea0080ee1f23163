# SPDX-License-Identifier: Apache-2.0
"""Programs that would do nothing, or less than they say, without a word."""

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.diagnostics import DSLCompileError


@flyc.kernel
def increment(x: fx.Tensor):
    x[fx.thread_idx.x] = x[fx.thread_idx.x] + 1


@flyc.kernel
def calls_a_kernel(x: fx.Tensor):
    increment(x).launch(grid=1, block=4)


@flyc.kernel(known_block_size=(4, 1, 1))
def four_threads(x: fx.Tensor):
    x[fx.thread_idx.x] = x[fx.thread_idx.x] + 1


@flyc.kernel
def one_thread(x: fx.Tensor):
    x[fx.block_idx.x] = x[fx.block_idx.x] + 1


def not_launched(x: fx.Tensor):
    increment(x)


def not_called(x: fx.Tensor):
    increment(x).launch


def kernel_in_a_kernel(x: fx.Tensor):
    calls_a_kernel(x).launch(grid=1, block=4)


def no_block(x: fx.Tensor):
    increment(x).launch(grid=4)


def nothing_said(x: fx.Tensor):
    increment(x).launch()


def returns_its_tensor(x: fx.Tensor):
    increment(x).launch(grid=1, block=4)
    return x


@pytest.mark.parametrize(
    ("host", "kind", "said"),
    [
        (not_launched, RuntimeError, r"'increment' got its arguments but is never launched(.|\n)*increment\(x\)"),
        (not_called, DSLCompileError, r"'launch' is named and not called(.|\n)*increment\(x\)\.launch"),
        (kernel_in_a_kernel, RuntimeError, r"'increment' is called inside kernel 'calls_a_kernel_0'"),
        (no_block, ValueError, r"asks for the index of its thread, but this launch says no block"),
        (nothing_said, ValueError, r"asks for the index of its thread, but this launch says no block"),
        (returns_its_tensor, TypeError, r"returns_its_tensor\(\) returns a value of type Tensor"),
    ],
)
def test_refused(host, kind, said):
    x = np.zeros(4, np.float32)
    with pytest.raises(kind, match=said):
        flyc.jit(host)(x)
    assert not x.any()


def test_a_launch_without_a_block_where_it_is_known_what_is_meant():
    @flyc.jit
    def run(x: fx.Tensor):
        four_threads(x).launch(grid=1)
        one_thread(x).launch(grid=3)
        increment(x).launch(grid=1, block=1)

    x = np.zeros(4, np.float32)
    run(x)
    assert x.tolist() == [3, 2, 2, 1]


def in_a_kernel(body, block):
    @flyc.kernel
    def kernel(x: fx.Tensor):
        body(x)

    @flyc.jit
    def run(x: fx.Tensor):
        kernel(x).launch(grid=1, block=block)

    run(np.zeros(4, np.float32))


def tiled_copy():
    atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
    return fx.make_tiled_copy_tv(atom, fx.make_layout((4, 64), (64, 1)), fx.make_layout((1, 1), (1, 1)))


def tiled_mma():
    atom = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16))
    return fx.make_tiled_mma(atom, fx.make_layout((2, 2, 1), (1, 2, 0)))


@pytest.mark.parametrize("tiling", [tiled_copy, tiled_mma])
def test_a_tiling_for_more_threads_than_the_block_has(tiling):
    with pytest.raises(ValueError, match=r"among 256 threads, but the workgroup has 64 along x(.|\n)*block=256"):
        in_a_kernel(lambda x: tiling().get_slice(fx.thread_idx.x), 64)
    in_a_kernel(lambda x: tiling().get_slice(fx.thread_idx.x), 256)
    in_a_kernel(lambda x: [tiling().get_slice(fx.thread_idx.x + 64 * i) for i in range(4)], 64)
    with pytest.raises(ValueError, match=r"has 16 along x"):
        in_a_kernel(lambda x: tiling().get_slice(fx.thread_idx.x), (16, 16))


def registers():
    return fx.make_rmem_tensor((4, 2), fx.Float32)


def shared():
    return fx.SharedAllocator().allocate(fx.Array[fx.Float32, 8]).peek().view(fx.make_layout((4, 2), (2, 1)))


@pytest.mark.parametrize("make", [registers, shared])
@pytest.mark.parametrize("coordinate", [8, -1, (4, 0), (0, 2), (0, -1), (4, None), (None, 2), (None, -1)])
def test_coordinates_outside_registers_and_lds(make, coordinate):
    def load(x):
        make()[coordinate]

    def store(x):
        make()[coordinate] = 1.0

    for access in (load, store):
        with pytest.raises(IndexError, match=r"out of range for a tensor in (registers|LDS) of shape \(4,2\)"):
            in_a_kernel(access, 1)


@pytest.mark.parametrize("make", [registers, shared])
def test_coordinates_inside(make):
    def every(x):
        tensor = make()
        for coordinate in (0, 7, (3, 1), (None, 1), (3, None)):
            tensor[coordinate] = 1.0

    in_a_kernel(every, 1)


@pytest.mark.parametrize("number", [300, -129, 2.5, 1e9])
def test_a_number_that_an_element_cannot_hold(number):
    @flyc.kernel
    def kernel(x: fx.Tensor, how: fx.Constexpr[str]):
        if fx.const_expr(how == "element"):
            x[0] = number
        elif fx.const_expr(how == "pointer"):
            x.iter.store(number)
        elif fx.const_expr(how == "fill"):
            fx.logical_divide(x, fx.make_layout(2, 1))[None, 0].fill(number)
        else:
            fx.logical_divide(x, fx.make_layout(2, 1))[None, 0].store(number)

    @flyc.jit
    def run(x: fx.Tensor, how: fx.Constexpr[str]):
        kernel(x, how).launch(block=1)

    for dtype in (np.uint8, np.int8):
        for how in ("element", "pointer", "fill", "store"):
            with pytest.raises((OverflowError, ValueError), match=r"cannot store .* in a tensor of U?[iI]nt8"):
                run(np.zeros(4, dtype), how)


def test_numbers_whose_bits_fit():
    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[0], x[1], x[2], x[3] = 255, -128, 7.0, True

    @flyc.jit
    def run(x: fx.Tensor):
        kernel(x).launch(block=1)

    for dtype, expected in ((np.uint8, [255, 128, 7, 1]), (np.int8, [-1, -128, 7, 1])):
        x = np.zeros(4, dtype)
        run(x)
        assert x.tolist() == expected


def test_a_function_that_is_named_and_not_called():
    def forgets(x):
        fx.barrier
        x[0] = 1.0

    with pytest.raises(DSLCompileError, match=r"'barrier' is named and not called(.|\n)*fx\.barrier"):
        in_a_kernel(forgets, 1)
