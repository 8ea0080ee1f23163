# SPDX-License-Identifier: Apache-2.0
"""`do_bench`: predictions of the emulator, wall-clock time where no kernel runs, and times between events of HIP."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest
from launchers import scale

import flydsl.runtime as runtime
from flydsl.autotune import do_bench, events, streams, timing
from flydsl.emulator import predict

N = 1000
A, B = np.ones(N, np.float32), np.zeros(N, np.float32)


def launch():
    scale(A, B, N, 64, 1)


def test_emulated_calls_are_predicted(caplog):
    launch()  # the compiler sets its logger up
    caplog.set_level(logging.INFO, "flydsl")
    calls = []
    milliseconds = do_bench(lambda: (calls.append(1), launch()), warmup=5, rep=25)
    assert len(calls) == 1
    with predict(warm=True) as session:
        launch()
    (one,) = session.launches
    assert milliseconds == pytest.approx(one.seconds * 1e3, rel=1e-12)
    assert "emulated: predicted" in caplog.text


def test_launches_add_up():
    assert do_bench(lambda: (launch(), launch(), launch())) == pytest.approx(3 * do_bench(launch))


def test_quantiles_of_a_prediction():
    assert do_bench(launch, quantiles=[0.2, 0.5, 0.8]) == [do_bench(launch)] * 3


def test_without_a_kernel_it_is_wall_clock_time(caplog):
    calls = []
    milliseconds = do_bench(lambda: calls.append(1), warmup=3, rep=4)
    assert isinstance(milliseconds, float)
    assert milliseconds > 0
    assert len(calls) == 1 + 3 + 4
    assert "wall-clock time of the host, not a prediction" in caplog.text


@pytest.mark.parametrize("counts", [{"warmup": -1}, {"rep": 0}, {"rep": -2}, {"warmup": 1.5}, {"rep": True}])
def test_counts(counts):
    with pytest.raises(ValueError, match=f"{next(iter(counts))} is a number of calls"):
        do_bench(launch, **counts)


def test_no_warmup():
    assert do_bench(launch, warmup=0, rep=1) > 0


@pytest.mark.parametrize("quantile", [-0.1, 1.5])
def test_quantiles_are_between_0_and_1(quantile):
    with pytest.raises(ValueError, match="quantiles are numbers from 0 to 1"):
        do_bench(launch, quantiles=[0.5, quantile])


def test_what_is_no_function():
    with pytest.raises(TypeError, match="measures a function without arguments, got NoneType"):
        do_bench(None)


def test_compile_only(monkeypatch):
    monkeypatch.setenv("COMPILE_ONLY", "1")
    with pytest.raises(RuntimeError, match="COMPILE_ONLY is set"):
        do_bench(launch)


def test_no_device(monkeypatch):
    def none():
        raise runtime.DeviceError("no device library was found")

    monkeypatch.setattr(runtime, "current_device", none)
    with pytest.raises(RuntimeError, match="no device library"):
        do_bench(launch)


# The path of hardware, with the emulator's library in the place of HIP's: the calls are the same.


@pytest.fixture
def as_hardware(monkeypatch):
    device = SimpleNamespace(emulated=False, kind="hip", library=runtime.current_device().library)
    monkeypatch.setattr(runtime, "current_device", lambda: device)


def test_batches(as_hardware, monkeypatch):
    calls = []
    taken = []
    monkeypatch.setattr(timing.events, "times", lambda *a: taken.append(events_times(*a)) or taken[-1])
    milliseconds = do_bench(lambda: (calls.append(1), launch()), warmup=2, rep=7)
    assert len(calls) == 2 + 7
    (batches,) = taken
    assert len(batches) == 5
    assert milliseconds == sorted(batches)[2] > 0


events_times = events.times


@pytest.mark.parametrize(
    ("calls", "sizes"),
    [(1, [1]), (4, [1] * 4), (5, [1] * 5), (7, [2, 2, 1, 1, 1]), (25, [5] * 5), (101, [21, 20, 20, 20, 20])],
)
def test_sizes_of_batches(calls, sizes):
    assert events.batch_sizes(calls) == sizes


def test_quantiles_of_batches(as_hardware, monkeypatch):
    monkeypatch.setattr(events, "times", lambda *_: [3.0, 1.0, 2.0, 5.0, 4.0])
    assert do_bench(launch) == 3.0
    assert do_bench(launch, quantiles=[0.0, 0.1, 0.5, 1.0]) == [1.0, 1.4, 3.0, 5.0]


def test_errors_of_hip_are_errors(as_hardware, monkeypatch):
    monkeypatch.setattr(events, "_current_stream", lambda: 12345)  # no stream is there
    with pytest.raises(runtime.DeviceError, match=r"hipStreamSynchronize failed: hipError"):
        do_bench(launch)


class Driver:
    """The functions of CUDA's driver that timing calls, of which events are numbers and a time is 3 ms."""

    def __init__(self, failing=None):
        self.calls, self.events = [], []
        self.failing = failing

    def __getattr__(self, name):
        def call(*arguments):
            self.calls.append(name)
            if name == "cuGetErrorName":
                arguments[1]._obj.value = b"CUDA_ERROR_ILLEGAL_ADDRESS"
            elif name == "cuEventCreate":
                assert arguments[1] == 0
                self.events.append(len(self.events) + 1)
                arguments[0]._obj.value = self.events[-1]
            elif name == "cuEventElapsedTime":
                assert [one.value for one in arguments[1:]] == [1, 2]
                arguments[0]._obj.value = 3.0
            elif name == "cuEventDestroy_v2":
                self.events.remove(arguments[0].value)
            return 700 if name == self.failing else 0

        return call


@pytest.fixture
def as_cuda(monkeypatch):
    device = SimpleNamespace(emulated=False, kind="cuda", index=1, library="libcuda.so.1")
    current = []
    monkeypatch.setattr(runtime, "current_device", lambda: device)
    monkeypatch.setattr(runtime, "set_current_device", current.append)

    def with_driver(driver):
        monkeypatch.setattr(events.ctypes, "CDLL", lambda library: driver)
        return current

    return with_driver


def test_events_of_cuda(as_cuda):
    driver = Driver()
    current = as_cuda(driver)
    launched = []
    assert do_bench(lambda: launched.append(list(driver.calls)), warmup=1, rep=6) == 3.0
    assert current == [1]
    assert len(launched) == 7
    assert driver.events == []
    batch = ["cuLaunchHostFunc", "cuEventRecord", "cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime"]
    begin, end = ["cuStreamSynchronize", *["cuEventCreate"] * 2], ["cuEventDestroy_v2"] * 2
    assert driver.calls == [*begin, *batch * 5, *end]


def test_errors_of_cuda_are_errors(as_cuda):
    driver = Driver("cuEventSynchronize")
    as_cuda(driver)
    with pytest.raises(runtime.DeviceError, match="cuEventSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS"):
        do_bench(lambda: None)
    assert driver.events == []


def test_the_named_stream_is_measured():
    seen = []
    with streams.timed_on(0x1000):
        seen.append(events._current_stream())
        with streams.timed_on(None):
            seen.append(events._current_stream())
    seen.append(events._current_stream())
    assert seen == [0x1000, 0x1000, 0]


def test_the_device_of_the_call_is_current(monkeypatch):
    current = [0]
    monkeypatch.setattr(runtime, "current_device", lambda: SimpleNamespace(index=current[0]))
    monkeypatch.setattr(runtime, "set_current_device", lambda index: current.__setitem__(0, index))
    for device, index in ((None, 0), (SimpleNamespace(index=0), 0), (SimpleNamespace(index=2), 2)):
        with streams.timed_on(None, device):
            assert current == [index]
        assert current == [0]
    with pytest.raises(ArithmeticError), streams.timed_on(None, SimpleNamespace(index=1)):
        raise ArithmeticError
    assert current == [0]


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (None, None),
        (5, 5),
        (SimpleNamespace(cuda_stream=7), 7),
        ("x", None),
        (True, None),
        (SimpleNamespace(value=3), 3),
    ],
)
def test_handles_of_streams(stream, handle):
    assert streams.handle_of(stream) == handle
