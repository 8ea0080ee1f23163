# SPDX-License-Identifier: Apache-2.0
"""From a call to a running kernel: arguments of every kind, specialisation, and what a wrong call says."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.call import jit_function
from flydsl.compile import compilation
from flydsl.runtime import Artifact, current_device

BLOCK = 64


@flyc.kernel
def scale_kernel(x: fx.Tensor, y: fx.Tensor, n: fx.Int32, factor: fx.Float32, shift: fx.Constexpr[int]):
    i = fx.block_idx.x * BLOCK + fx.thread_idx.x
    if i < n:
        y[i] = x[i] * factor + float(shift)


@flyc.jit
def scale(
    x: fx.Tensor,
    y: fx.Tensor,
    n: fx.Int32,
    factor: fx.Float32 = 2.0,
    *,
    shift: fx.Constexpr[int] = 0,
    stream: fx.Stream = fx.Stream(None),
):
    scale_kernel(x, y, n, factor, shift).launch(grid=((n + BLOCK - 1) // BLOCK,), block=BLOCK, stream=stream)


def vectors(n, **kwargs):
    return torch.arange(n, **{"dtype": torch.float32, **kwargs}), torch.full((n,), -1.0)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
def test_one_compilation_serves_every_size(n):
    x, y = vectors(n)
    scale(x, y, n)
    assert torch.equal(y, x * 2)


def test_less_than_the_tensor_leaves_the_rest():
    x, y = vectors(100)
    scale(x, y, 70, 3.0)
    assert torch.equal(y[:70], x[:70] * 3)
    assert torch.equal(y[70:], torch.full((30,), -1.0))


def test_who_calls_has_the_driver_compile_ahead(monkeypatch):
    """Who only compiles has not: it may never run."""
    asked = []
    monkeypatch.setattr(jit_function, "load_driver_compiler", lambda: asked.append("compiler"))
    monkeypatch.setattr(Artifact, "load_ahead", lambda self: asked.append(self.note["name"]))
    x, y = vectors(10)
    flyc.compile.only(scale, x, y, 10, 1.0, shift=20)
    assert not asked
    scale(x, y, 10, 1.0, shift=21)
    assert asked == ["compiler", "scale"]
    flyc.compile(scale, x, y, 10, 1.0, shift=22)
    assert asked == ["compiler", "scale"] * 2


def test_who_calls_has_the_call_prepared_in_another_thread(monkeypatch):
    done = threading.Event()
    threads = []
    monkeypatch.setattr(
        jit_function, "prepare_calls", lambda: (threads.append(threading.get_ident()), done.set(), 1 / 0)
    )
    x, y = vectors(10)
    flyc.compile.only(scale, x, y, 10, 1.0, shift=23)
    scale(x, y, 10, 1.0, shift=24)
    assert done.wait(60)
    assert len(threads) == 1  # not that of who compiles only; and nobody hears of an error
    assert threads[0] != threading.get_ident()


def test_room_for_an_artifacts_descriptor_is_made_by_a_thread_once(monkeypatch):
    """Not for who loads nothing."""
    done, threads = threading.Event(), []
    monkeypatch.setattr(
        compilation, "prepare_loading", lambda: (threads.append(threading.get_ident()), done.set(), 1 / 0)
    )
    compilation._prepare_loading_once.cache_clear()
    x, y = vectors(10)
    with monkeypatch.context() as alone:
        alone.setenv("COMPILE_ONLY", "1")
        flyc.compile.only(scale, x, y, 10, 1.0, shift=26)
    assert not threads
    for shift in (27, 28):
        scale(x, y, 10, 1.0, shift=shift)
    assert done.wait(60)
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()


def test_code_that_no_driver_compiles_is_not_handed_to_one(monkeypatch):
    monkeypatch.setattr(jit_function, "load_ptx_ahead", lambda arch, ptx: pytest.fail(f"{arch}: {ptx[:20]}"))
    x, y = vectors(10)
    scale(x, y, 10, 1.0, shift=25)
    assert torch.equal(y, x + 25)


def test_compile_time_arguments_specialise():
    x, y = vectors(10)
    for shift in (1, 5, 1):
        scale(x, y, 10, 1.0, shift=shift)
        assert torch.equal(y, x + shift)


def test_numpy_arrays_and_views():
    x, y = np.arange(20, dtype=np.float32), np.zeros(50, np.float32)
    scale(x[5:], y[10:25], 15)
    assert np.array_equal(y[10:25], x[5:] * 2)
    assert not y[:10].any()
    assert not y[25:].any()


def test_a_read_only_array_may_be_read_but_not_written():
    x, y = np.arange(20, dtype=np.float32), np.zeros(20, np.float32)
    x.flags.writeable = False
    scale(x, y, 20)
    assert np.array_equal(y, x * 2)
    with pytest.raises(ValueError, match=r"'y'.*may be written.*read-only"):
        scale(y, x, 20)


class FakeStream:
    cuda_stream = 0


@pytest.mark.parametrize("stream", [None, 0, fx.Stream(None), FakeStream(), fx.Stream(FakeStream())])
def test_streams_of_every_kind(stream):
    x, y = vectors(10)
    scale(x, y, 10, stream=stream)
    assert torch.equal(y, x * 2)


def wrong(error, match, *args, **kwargs):
    with pytest.raises(error, match=match):
        scale(*args, **kwargs)
    x, y = vectors(10)
    scale(x, y, 10)  # the next call works
    assert torch.equal(y, x * 2)


def test_several_streams():
    @flyc.jit
    def both(x: fx.Tensor, y: fx.Tensor, first: fx.Stream, second: fx.Stream):
        scale_kernel(x, y, 1, fx.Float32(1.0), 1).launch(block=4)
        scale_kernel(x, y, 2, fx.Float32(1.0), 2).launch(block=4, stream=second)

    x, y = vectors(4)
    both(x, y, None, fx.Stream(None))
    assert y.tolist() == [2.0, 3.0, -1.0, -1.0]
    compiled = flyc.compile(both, x, y, None, None)
    compiled(x, y, None, 0)
    with pytest.raises(NotImplementedError, match="2 streams"):
        compiled.export_to_c(".", "both")


def test_wrong_calls_name_the_argument_and_harm_nothing():
    x, y = vectors(10)
    wrong(TypeError, "missing 1 required positional argument: 'n'", x, y)
    wrong(TypeError, "unexpected keyword argument 'm'", x, y, 10, m=1)
    wrong(TypeError, "argument 'x'.*neither a JitArgument nor has a registered constructor", {}, y, 10)
    wrong(TypeError, r"argument 'x'.*NoneType is neither a JitArgument.*annotate it `fx.Tensor \| None`", None, y, 10)
    wrong(TypeError, "argument 'x'.*cannot have dtype complex64", x.to(torch.complex64), y, 10)
    wrong(RuntimeError, "argument 'x'.*without axes", torch.zeros(()), y, 10)
    wrong(TypeError, "argument 'shift'.*a compile-time argument is an int", x, y, 10, shift=[1])
    wrong(ValueError, "'n'.*2147483648|2147483648.*'n'|range", x, y, 2**31)


def test_compiled_functions_check_their_arguments():
    x, y = vectors(10)
    run = flyc.compile(scale, x, y, 10)
    run(x, y, 10, 3.0, 0, None)
    assert torch.equal(y, x * 3)
    for match, args in {
        "'x'": (x.double(), y, 10, 3.0, 0, None),
        "'y'": (x, y.reshape(2, 5), 10, 3.0, 0, None),
        "'n'": (x, y, "ten", 3.0, 0, None),
    }.items():
        with pytest.raises((TypeError, ValueError), match=match):
            run(*args)
    run(x, y, 10, 4.0, 0, None)
    assert torch.equal(y, x * 4)


def add_one(x: fx.Tensor):
    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[fx.thread_idx.x] = x[fx.thread_idx.x] + 1

    kernel(x).launch(block=4)


def test_compile_runs_once_and_the_result_runs_at_each_call():
    x = torch.zeros(4)
    run = flyc.compile(flyc.jit(add_one), x)
    assert x.tolist() == [1] * 4
    run(x)
    assert x.tolist() == [2] * 4
    assert flyc.compile(flyc.jit(add_one), flyc.from_dlpack(x)) is not None
    assert x.tolist() == [3] * 4


@pytest.mark.parametrize(
    "example",
    [lambda: torch.zeros(4, device="meta"), lambda: flyc.from_c_void_p(fx.Float32, None)],
    ids=["meta", "null"],
)
def test_compile_does_not_run_on_memory_that_is_none_of_the_device(example):
    @flyc.kernel
    def kernel(x: fx.Pointer | fx.Tensor):
        (x.iter if isinstance(x, fx.Tensor) else x).store(1.0)

    @flyc.jit
    def launch(x):
        kernel(x).launch()

    assert flyc.compile(launch, example()).note["kernels"]


def test_compile_only_launches_nothing_and_reports():
    x, y = vectors(10)
    run = flyc.compile.only(scale, x, y, 10, shift=77)
    assert torch.equal(y, torch.full((10,), -1.0))
    assert run.origin == "compiled"
    assert {"trace", "emit", "gpu-module-to-binary"} <= set(run.times)
    assert run.note["architectures"] == [current_device().arch]
    assert run.note["kernels"][0]["block"] == [BLOCK, 1, 1]
    assert [entry["access"] for entry in run.note["arguments"][:2]] == ["read", "readwrite"]


def test_compile_without_arguments_returns_the_function():
    assert flyc.compile[{"waves_per_eu": 2}](scale) is scale
    assert scale.compile_hints.pop("waves_per_eu") == 2
    with pytest.raises(TypeError, match=r"dict of compile hints"):
        flyc.compile[3]
    with pytest.raises(TypeError, match=r"takes a @flyc.jit function"):
        flyc.compile(len)


@flyc.kernel
def fill_kernel(x: fx.Tensor, value: fx.Float32):
    x[fx.block_idx.x] = value


def test_several_kernels_and_host_control_flow():
    @flyc.jit
    def steps(x: fx.Tensor, n: fx.Int32, flag: fx.Int32):
        fill_kernel(x, fx.Float32(1.0)).launch(grid=(n,))
        if flag > 0:
            fill_kernel(x, 2.0).launch(grid=(n // 2,))
        for i in range(flag):
            fill_kernel(x, fx.Float32(i) + 10.0).launch(grid=(1,))

    for flag, expected in ((0, [1, 1, 1, 1]), (3, [12, 2, 1, 1])):
        x = torch.zeros(4)
        steps(x, 4, flag)
        assert x.tolist() == expected


def test_an_empty_grid_launches_nothing():
    x, y = vectors(10)
    scale(x, y, 0)
    assert torch.equal(y, torch.full((10,), -1.0))


class Filler:
    def __init__(self, value):
        self.value = value

    @flyc.kernel
    def body(self, x: fx.Tensor, extra: fx.Float32):
        x[fx.block_idx.x] = extra + self.value

    @flyc.jit
    def __call__(self, x: fx.Tensor, n: fx.Int32):
        self.body(x, 0.5).launch(grid=(n,))


def test_methods_are_compiled_for_the_state_of_their_object():
    one, two = Filler(1.0), Filler(2.0)
    for fill, expected in ((one, 1.5), (two, 2.5), (one, 1.5)):
        x = torch.zeros(3)
        fill(x, 3)
        assert x.tolist() == [expected] * 3
    one.value = 7.0
    x = torch.zeros(3)
    one(x, 3)
    assert x.tolist() == [7.5] * 3


@fx.struct
class Range:
    first: fx.Int32
    step: fx.Float32


def test_structs_as_arguments():
    @flyc.kernel
    def kernel(x: fx.Tensor, r: Range):
        i = fx.block_idx.x
        x[i] = fx.Float32(r.first + i) * r.step

    @flyc.jit
    def launch(x: fx.Tensor, r: Range, n: fx.Int32):
        kernel(x, r).launch(grid=(n,))

    x = torch.zeros(3)
    launch(x, Range(4, 0.5), 3)
    assert x.tolist() == [2.0, 2.5, 3.0]


def test_wrapped_tensors_are_static_and_reusable():
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor, factor: fx.Constexpr[int]):
        y[fx.block_idx.x] = x[fx.block_idx.x] * float(factor)

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, factor: fx.Constexpr[int]):
        kernel(x, y, factor).launch(grid=(fx.size(x.shape).unpack(),))

    x, y = vectors(6)
    wrapped = flyc.from_dlpack(x), flyc.from_dlpack(y)
    for factor in (2, 3):
        launch(*wrapped, factor)
        assert torch.equal(y, x * factor)
    run = flyc.compile(launch, *wrapped, 2)
    with pytest.raises(ValueError, match=r"'x'.*(6|extent|shape)"):
        run(flyc.from_dlpack(torch.zeros(7)), wrapped[1], 2)


def test_alignment_that_was_promised_is_checked():
    @flyc.jit
    def launch(x: fx.Tensor):
        fill_kernel(x, 3.0).launch(grid=(4,))

    storage = torch.zeros(16)
    offset = (-storage.data_ptr() // 4) % 4
    good = storage[offset : offset + 4]
    launch(flyc.from_dlpack(good, assumed_align=16))
    assert good.tolist() == [3.0] * 4
    with pytest.raises(ValueError, match=r"'x'.*align"):
        launch(flyc.from_dlpack(storage[offset + 1 : offset + 5], assumed_align=16))


def test_calls_inside_a_trace_are_inlined():
    @flyc.jit
    def clamp(value: fx.Float32, limit: fx.Constexpr[int]):
        if value > float(limit):
            return fx.Float32(float(limit))
        return value

    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[fx.block_idx.x] = clamp(x[fx.block_idx.x], 3)

    @flyc.jit
    def launch(x: fx.Tensor, n: fx.Int32):
        kernel(x).launch(grid=(n,))

    x = torch.arange(6, dtype=torch.float32)
    launch(x, 6)
    assert x.tolist() == [0, 1, 2, 3, 3, 3]


def test_kernels_are_launched_from_jit_functions_only():
    with pytest.raises(RuntimeError, match=r"@kernel can only be called inside @jit function"):
        fill_kernel(torch.zeros(3), 1.0)


def test_globals_that_were_compiled_in_must_not_change():
    global BLOCK
    x, y = vectors(10)
    scale(x, y, 10)
    BLOCK = 32
    try:
        with pytest.raises(RuntimeError, match=r"compiled with global 'BLOCK' = 64, which is now 32"):
            scale(x, y, 10)
    finally:
        BLOCK = 64
    scale(x, y, 10)


def test_a_redefined_helper_is_compiled_anew():
    global _helper
    x = torch.zeros(2)

    def one(v):
        return v + 1.0

    def two(v):
        return v + 2.0

    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[fx.block_idx.x] = _helper(x[fx.block_idx.x])

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=(2,))

    _helper = one
    launch(x)
    _helper = two
    launch(x)
    assert x.tolist() == [3.0, 3.0]


def test_compiled_functions_have_the_defaults_of_the_function():
    x, y = vectors(10)
    run = flyc.compile(scale, x, y, 10)
    run(x, y, 10)
    assert torch.equal(y, x * 2)
    run(x, y, 5, 3.0)
    assert torch.equal(y[:5], x[:5] * 3)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'n'"):
        run(x, y)


@flyc.kernel
def narrow_kernel(y: fx.Tensor, a: fx.BFloat16, b: fx.Float16):
    y[0] = a.to(fx.Float32)
    y[1] = b.to(fx.Float32)


def test_floats_of_two_bytes_are_passed_as_they_are():
    @flyc.jit
    def narrow(y: fx.Tensor, a: fx.BFloat16, b: fx.Float16):
        narrow_kernel(y, a, b).launch()

    y = np.zeros(2, np.float32)
    narrow(y, 1.5, -2.25)
    assert y.tolist() == [1.5, -2.25]
    flyc.compile(narrow, y, fx.BFloat16(1.0), fx.Float16(1.0))(y, fx.BFloat16(-3.0), fx.Float16(0.5))
    assert y.tolist() == [-3.0, 0.5]


def test_a_class_is_asked_for():
    @flyc.jit
    def named(x: fx.Tensor, kind: fx.Type):
        scale_kernel(x, x, 1, kind(1.0), 0).launch(block=1)

    with pytest.raises(TypeError, match=r"argument 'kind' is declared fx.Type: pass a class .*not a value of type int"):
        named(vectors(1)[0], 3)
    named(vectors(1)[0], fx.Float32)


@flyc.kernel
def zeroth(x: fx.Tensor, by: fx.Float32):
    x[fx.thread_idx.x] = x[fx.thread_idx.x] * 2.0 + by


@flyc.kernel
def another(x: fx.Tensor):
    x[fx.thread_idx.x] = x[fx.thread_idx.x] + 3.0


@pytest.mark.parametrize("first", ["another", "zeroth"])
def test_kernels_are_told_apart_whatever_their_names_and_order(first):
    # A code object lists its kernels by name, the host function launches them in any order.
    def both(x: fx.Tensor, first: fx.Constexpr[str]):
        if first == "another":
            another(x).launch(block=4)
        zeroth(x, fx.Float32(1.0)).launch(block=4)
        if first == "zeroth":
            another(x).launch(block=4)

    x = np.zeros(4, np.float32)
    compiled = flyc.compile.only(flyc.jit(both), x, first)
    compiled(x, first)
    assert x.tolist() == [7.0] * 4 if first == "another" else x.tolist() == [4.0] * 4
    assert compiled.note["kernels"][0]["name"].startswith("another")
