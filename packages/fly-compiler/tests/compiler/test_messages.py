# SPDX-License-Identifier: Apache-2.0
"""`fx.printf` and `fx.device_assert`: records in a buffer, which fly-runtime prints after the call."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl import runtime


@flyc.kernel
def report_kernel(x: fx.Tensor, n: fx.Int32):
    i = fx.block_idx.x * 256 + fx.thread_idx.x
    if i < n:
        fx.printf("x[{}] = {} (100%)", i, x[i])


@flyc.jit
def report(x: fx.Tensor, n: fx.Int32):
    report_kernel(x, n).launch(grid=((n + 255) // 256,), block=(256,))


def test_every_thread_of_many_waves_prints_once(capsys):
    n = 4 * 256 + 17
    report(np.arange(n, dtype=np.float32), n)
    lines = capsys.readouterr().out.splitlines()
    assert collections.Counter(lines) == collections.Counter(f"x[{i}] = {i}.0 (100%)" for i in range(n))


def test_f_strings_are_filled_in_when_the_kernel_runs(capsys):
    @flyc.kernel
    def kernel(x: fx.Tensor, n: fx.Int32):
        width = 3
        fx.printf(f"n={n} twice {n + n}, {width} wide")

    @flyc.jit
    def launch(x: fx.Tensor, n: fx.Int32):
        kernel(x, n).launch(grid=1, block=1)

    launch(np.zeros(4, np.float32), 5)
    assert capsys.readouterr().out == "n=5 twice 10, 3 wide\n"


def test_each_call_prints_its_own(capsys):
    for n in (3, 0, 2):
        report(np.zeros(4, np.float32), n)
        assert len(capsys.readouterr().out.splitlines()) == n


@flyc.kernel
def types_kernel(wide: fx.Int64, narrow: fx.Int8, half: fx.Float16, double: fx.Float64, flag: fx.Boolean):
    fx.printf("{} {} {} {} {} {}", wide, narrow, half, double, flag, fx.block_idx.x)


@flyc.jit
def types(wide: fx.Int64, narrow: fx.Int8, half: fx.Float16, double: fx.Float64, flag: fx.Boolean):
    types_kernel(wide, narrow, half, double, flag).launch()


def test_values_of_all_widths(capsys):
    types(-(2**40), -3, 1.5, -0.25, True)
    assert capsys.readouterr().out == f"{-(2**40)} -3 1.5 -0.25 1 0\n"


SCRIPT = """
import numpy as np, sys
sys.path.insert(0, {folder!r})
from test_messages import report
report(np.zeros(1000, np.float32), 1000)
"""


def test_what_does_not_fit_is_counted(run_script):
    done = run_script(SCRIPT.format(folder=__file__.rpartition("/")[0]), FLYDSL_PRINT_BUFFER_BYTES="360")
    lines = done.stdout.splitlines()
    assert len(lines) == 31  # 90 words hold 30 records of 3
    assert lines[-1] == (
        "[flydsl] 970 more messages did not fit into the print buffer of 360 bytes (FLYDSL_PRINT_BUFFER_BYTES)"
    )


def test_a_buffer_size_that_is_none(run_script):
    done = run_script(SCRIPT.format(folder=__file__.rpartition("/")[0]), FLYDSL_PRINT_BUFFER_BYTES="much")
    assert "ValueError" in done.stderr
    assert "FLYDSL_PRINT_BUFFER_BYTES=much: expected a number of bytes from 64" in done.stderr


@flyc.kernel
def quiet_kernel(x: fx.Tensor):
    x[fx.thread_idx.x] = 1.0


@flyc.jit
def mixed(x: fx.Tensor):
    quiet_kernel(x).launch(block=(4,))
    report_kernel(x, fx.Int32(4)).launch(block=(256,))


def test_kernels_that_print_and_others_go_together(capsys):
    mixed(np.zeros(4, np.float32))
    assert sorted(capsys.readouterr().out.splitlines()) == [f"x[{i}] = 1.0 (100%)" for i in range(4)]


def test_the_note_has_the_texts():
    compiled = flyc.compile(report, np.zeros(4, np.float32), 4)
    assert compiled.note["messages"] == [{"kind": "print", "format": "x[%d] = %g (100%%)\n", "types": ["i32", "f32"]}]


@flyc.kernel
def check_kernel(x: fx.Tensor):
    i = fx.block_idx.x * 256 + fx.thread_idx.x
    fx.device_assert(x[i] < 300.0, "x[{}] is too large", i)
    x[i] = 0.0


@flyc.jit
def check(x: fx.Tensor):
    check_kernel(x).launch(grid=(x.shape[0] // 256,), block=(256,))


def test_an_assertion_that_holds_is_silent(capsys):
    x = np.full(512, 5.0, np.float32)
    check(x)
    assert not x.any()
    assert capsys.readouterr().out == ""


def test_a_failed_assertion_raises_with_thread_and_line():
    x = np.zeros(512, np.float32)
    x[258] = 301.0
    with pytest.raises(RuntimeError) as caught:
        check(x)
    text = str(caught.value)
    assert f'File "{__file__}", line {check_kernel.func.__code__.co_firstlineno + 3}' in text
    assert 'fx.device_assert(x[i] < 300.0, "x[{}] is too large", i)' in text
    assert "device assertion failed: x[258] is too large" in text
    assert "block (1, 0, 0), thread (2, 0, 0)" in text
    x[:] = 0
    check(x)  # the next call is as if nothing had happened


def test_many_failures_are_counted():
    with pytest.raises(RuntimeError, match=r"and \d+ more failures of assertions in this launch"):
        check(np.full(512, 1000.0, np.float32))


@flyc.jit
def talkative(n: fx.Int32, f: fx.Float32, b: fx.Boolean, wide: fx.Int64):
    fx.printf("n={} f={} {} 100%", n, f, (3, n))
    fx.printf("{} {}", b, wide)
    for i in range(n):
        if i > 1:
            fx.printf("i={}", i)
    fx.printf(n)
    fx.printf("")


def test_host_functions_print_when_they_run(capsys):
    for _ in range(2):  # the second call traces nothing
        talkative(4, 0.1, True, 2**40)
        assert capsys.readouterr().out == f"n=4 f=0.1 (3, 4) 100%\n1 {2**40}\ni=2\ni=3\n4\n\n"


def test_host_functions_and_their_kernels_print(capsys):
    @flyc.jit
    def both(x: fx.Tensor, n: fx.Int32):
        fx.printf("before {}", n)
        report_kernel(x, n).launch(grid=1, block=4)
        fx.printf("after {}", n)

    compiled = flyc.compile.only(both, np.zeros(4, np.float32), 2)
    compiled(np.zeros(4, np.float32), 2)
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines) == ["after 2", "before 2", "x[0] = 0.0 (100%)", "x[1] = 0.0 (100%)"]
    assert lines.index("before 2") < lines.index("after 2")
    assert {one["kind"] for one in compiled.note["messages"]} == {"print", "host"}


@flyc.kernel
def count_kernel(x: fx.Tensor, limit: fx.Int32):
    x[0] = x[0] + 1
    fx.printf("once")
    fx.device_assert(x[0] < limit, "x is {}", x[0])


@flyc.jit
def count(x: fx.Tensor, limit: fx.Int32):
    count_kernel(x, limit).launch(grid=1, block=1)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_launch_that_failed_after_it_ran_is_not_repeated(capsys, compiled):
    x = np.zeros(1, np.int32)
    call = flyc.compile(count, x, 100) if compiled else count
    call(x, 100)
    x[0] = 0
    capsys.readouterr()
    for limit in (1, np.int32(1)):  # the second is converted when native code does not take it
        x[0] = 0
        with pytest.raises(runtime.LaunchError, match=r"x is 1"):
            call(x, limit)
        assert x[0] == 1
        assert capsys.readouterr().out == "once\n"
    call(x, 100)
    assert x[0] == 2


@flyc.kernel
def unsigned_kernel(x: fx.Tensor):
    fx.printf("{} {}%", x[0], x.load())


@flyc.jit
def unsigned(x: fx.Tensor, value: fx.Uint64):
    fx.printf("{}", value)
    unsigned_kernel(x).launch(grid=1, block=1)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers_are_printed_with_their_sign(dtype, capsys):
    info = np.iinfo(dtype)
    unsigned(flyc.from_dlpack(np.array([info.max, info.min], dtype)), 2**64 - 1)
    assert capsys.readouterr().out == f"{2**64 - 1}\n{info.max} [{info.max}, {info.min}]%\n"
