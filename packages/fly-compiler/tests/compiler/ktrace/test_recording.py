# SPDX-License-Identifier: Apache-2.0
"""`fx.ktrace` in kernels: what is emitted, and what comes out of real runs on the emulator."""

from __future__ import annotations

import json

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.call.ktrace.capture import reset_all

BLOCK = 128  # two waves


@pytest.fixture(autouse=True)
def empty_buffer():
    yield
    reset_all()


@flyc.kernel
def busy_kernel(x: fx.Tensor, n: fx.Int32):
    fx.ktrace.mark("begin", fx.block_idx.x)
    with fx.ktrace.range("loop", n):
        for i in range(n):
            fx.ktrace.range_push("step", i)
            x[fx.thread_idx.x] = x[fx.thread_idx.x] + 1.0
            fx.ktrace.range_pop()
    token = fx.ktrace.range_start("tail")
    if fx.block_idx.x == 1:
        fx.ktrace.mark("second", 2.5)
    fx.ktrace.range_stop(token, True)


@flyc.jit
def busy(x: fx.Tensor, n: fx.Int32, blocks: fx.Int32, stream: fx.Stream = fx.Stream(None)):
    busy_kernel(x, n).launch(grid=blocks, block=BLOCK, stream=stream)


def zeros():
    return np.zeros(BLOCK, np.float32)


def test_nothing_is_emitted_unless_it_is_asked_for():
    x = zeros()
    busy(x, 3, 1)
    assert x.tolist() == [3.0] * BLOCK
    assert not fx.ktrace.tracing_enabled()
    assert fx.ktrace.summary() is None
    assert fx.ktrace.collect() is None
    assert "ktrace" not in flyc.compile(busy, x, 3, 1).note
    assert "fly_ktrace" not in busy.ir("origin", x, 3, 1)


def test_what_is_emitted(monkeypatch):
    monkeypatch.setenv("FLYDSL_KTRACE_ENABLE", "1")
    text = busy.ir("origin", zeros(), 3, 2)
    assert 'fly_ktrace.mark "begin" payload' in text
    assert 'payload_type = "int64"' in text
    assert "fly_ktrace.range_stop" in text
    assert 'fly_ktrace.chip = "gfx942"' in text
    assert "fly_ktrace.capacity_slots = 2097151 : i32" in text
    assert "fly_ktrace.partitions = 64 : i32" in text
    assert "fly_ktrace" not in busy.ir("convert-fly-ktrace-to-rocdl", zeros(), 3, 2).split("gpu.module", 1)[1]


def test_a_capture_has_every_event_of_every_wave(tmp_path):
    x = zeros()
    with fx.ktrace.capture("busy", out_dir=tmp_path) as trace:
        assert fx.ktrace.tracing_enabled()
        busy(x, 4, 2)
    assert not fx.ktrace.tracing_enabled()
    assert {(wave.block, wave.wave) for wave in trace.waves} == {((b, 0, 0), w) for b in (0, 1) for w in (0, 1)}
    for wave in trace.waves:
        begin = wave.events[0]
        assert (begin.name, begin.payload) == ("begin", wave.block[0])
        steps = [event.payload for event in wave.events if event.kind == "range_push" and event.name == "step"]
        assert steps == [0, 1, 2, 3]
        assert [event.payload for event in wave.events if event.name == "second"] == [2.5] * (wave.block[0] == 1)
        times = [event.time for event in wave.events]
        assert times == sorted(times)
    figures = trace.summary()
    assert (figures["launches"], figures["waves"]) == (1, 4)
    assert figures["names"]["step"]["count"] == 16
    assert figures["names"]["tail"]["count"] == 4
    assert 0 < figures["names"]["step"]["max_ns"] < figures["names"]["loop"]["min_ns"]
    written = json.loads((tmp_path / "busy.ktrace.json").read_text())
    assert trace.path == str(tmp_path / "busy.ktrace.json")
    assert sum(one["ph"] == "X" and one["name"] == "step" for one in written["traceEvents"]) == 16


def test_launches_are_told_apart(tmp_path):
    with fx.ktrace.capture("busy", out_dir=tmp_path) as trace:
        busy(zeros(), 1, 1)
        busy(zeros(), 2, 3)
    launches = trace.launches()
    assert [one["waves"] for one in launches] == [2, 6]
    paths = trace.export_launches()
    assert [path.rsplit("/", 1)[1] for path in paths] == ["busy_0.ktrace.json", "busy_1.ktrace.json"]
    with pytest.raises(ValueError, match="2 launches were captured, but there are 1 names"):
        trace.export_launches(["one"])
    trace.clear()
    assert trace.summary() is None
    assert trace.export() is None


def test_only_some_workgroups(monkeypatch):
    with fx.ktrace.capture(blocks=(2, 0, 0)) as trace:
        busy(zeros(), 1, 4)
    assert {wave.block for wave in trace.waves} == {(2, 0, 0)}
    monkeypatch.setenv("FLYDSL_KTRACE_ENABLE", "1")
    monkeypatch.setenv("FLYDSL_KTRACE_BLOCKS", "1,0,0")
    busy(zeros(), 1, 4)
    assert fx.ktrace.summary()["waves"] == 2


def test_collecting_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("FLYDSL_KTRACE_ENABLE", "1")
    monkeypatch.setenv("FLYDSL_KTRACE_DUMP_DIR", str(tmp_path))
    busy(zeros(), 2, 1)
    assert fx.ktrace.summary()["events"] == fx.ktrace.summary()["events"] > 0
    assert fx.ktrace.collect("my kernel") == str(tmp_path / "my_kernel.ktrace.json")
    assert fx.ktrace.summary() is None


def test_the_hint_alone(monkeypatch):
    hinted = flyc.jit(busy.original)
    hinted.compile_hints["ktrace"] = True
    hinted(zeros(), 1, 1)
    assert fx.ktrace.summary()["waves"] == 2
    monkeypatch.setenv("FLYDSL_KTRACE_ENABLE", "1")
    reset_all()
    hinted.compile_hints["ktrace"] = False
    hinted(zeros(), 1, 1)
    assert fx.ktrace.summary() is None
    with pytest.raises(TypeError, match="the hint ktrace is a bool, got str"):
        flyc.compile[{"ktrace": "yes"}](busy)


def test_compiled_functions_record_and_are_not_for_c(monkeypatch, tmp_path):
    monkeypatch.setenv("FLYDSL_KTRACE_ENABLE", "1")
    x = zeros()
    compiled = flyc.compile.only(busy, x, 2, 1)
    compiled(x, 2, 1)
    assert fx.ktrace.summary()["waves"] == 2
    assert set(compiled.note["ktrace"]["events"]) == {"begin", "loop", "step", "tail", "second"}
    with pytest.raises(NotImplementedError, match=r"fx\.ktrace"):
        compiled.export_to_c(tmp_path, "busy")


def test_names_come_with_the_artifact(run_script, monkeypatch):
    text = """
        import json, sys
        import numpy as np
        import flydsl.compiler as flyc, flydsl.expr as fx

        @flyc.kernel
        def one(x: fx.Tensor):
            with fx.ktrace.range("written"):
                x[fx.thread_idx.x] = 1.0

        @flyc.jit
        def launch(x: fx.Tensor):
            one(x).launch(block=64)

        launch(np.zeros(64, np.float32))
        print(flyc.compilation_reports()[-1].origin, list(fx.ktrace.summary()["names"]))
    """
    for origin in ("compiled", "disk"):
        done = run_script(text, FLYDSL_KTRACE_ENABLE="1")
        assert done.stdout == f"{origin} ['written']\n", done.stderr


def test_more_than_fits_is_refused_not_cut_short(monkeypatch):
    monkeypatch.setenv("FLYDSL_KTRACE_ENABLE", "1")
    busy(zeros(), 200, 1)
    with pytest.raises(
        RuntimeError, match=r"wave \d of workgroup \(0, 0, 0\) recorded 40\d events; a wave has room for 255"
    ):
        fx.ktrace.summary()
    reset_all()
    monkeypatch.setenv("FLYDSL_KTRACE_BUFFER_BYTES", str(32 * (520 + 3 * 256)))
    busy(zeros(), 1, 8)
    with pytest.raises(
        RuntimeError, match=r"room for 3 waves, and 1\d more wanted to record.*FLYDSL_KTRACE_BUFFER_BYTES"
    ):
        fx.ktrace.summary()
    reset_all()
    assert fx.ktrace.summary() is None
    monkeypatch.setenv("FLYDSL_KTRACE_BUFFER_BYTES", "20000")
    with pytest.raises(ValueError, match=r"FLYDSL_KTRACE_BUFFER_BYTES='20000': expected an integer from 32768"):
        busy(zeros(), 1, 1)


def test_tokens_travel_through_control_flow():
    @flyc.kernel
    def branching(n: fx.Int32):
        token = fx.ktrace.inactive_token("some")
        if n > 2:
            token = fx.ktrace.range_start("some")
        fx.barrier()
        fx.ktrace.range_stop(token)

    launch = flyc.jit(lambda n: branching(n).launch(block=64))
    for n, counts in ((1, None), (3, {"kind": "range", "count": 1})):
        with fx.ktrace.capture() as trace:
            launch(n)
        found = None if trace.summary() is None else trace.summary()["names"]["some"]
        assert (found is None) == (counts is None)
        assert found is None or {**found, **counts} == found
        launch(n)  # without recording, a token is nothing


@pytest.mark.parametrize(
    ("emit", "error", "match"),
    [
        (lambda: fx.ktrace.mark(3), TypeError, "the name of a ktrace event is a str, got int"),
        (lambda: fx.ktrace.mark(""), ValueError, "must not be empty"),
        (lambda: fx.ktrace.mark("a", "b"), TypeError, "payload of a ktrace event is a number, not a str"),
        (lambda: fx.ktrace.mark("a", 2**64), ValueError, "more than 64 bits"),
        (lambda: fx.ktrace.mark("a", fx.full(4, 1.0, fx.Float32)), TypeError, "not a Vector"),
        (lambda: fx.ktrace.mark("a", fx.Int128(1)), TypeError, "at most 64 bits"),
        (lambda: fx.ktrace.range_stop("a"), TypeError, "range_stop takes what range_start"),
    ],
)
def test_mistakes_are_errors_at_their_line(emit, error, match):
    @flyc.kernel
    def wrong(n: fx.Int32):
        emit()

    with fx.ktrace.capture(), pytest.raises(error, match=match):
        flyc.jit(lambda n: wrong(n).launch())(1)


def test_targets_that_cannot_record(monkeypatch):
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx1201")
    monkeypatch.setenv("COMPILE_ONLY", "1")
    with fx.ktrace.capture(), pytest.raises(RuntimeError, match=r"records on gfx942 and gfx950 only.*gfx1201"):
        busy(zeros(), 1, 1)
    busy(zeros(), 1, 1)


def test_outside_of_kernels():
    fx.ktrace.mark("nothing")
    with fx.ktrace.range("nothing"):
        pass
    with fx.ktrace.capture(), pytest.raises(RuntimeError, match=r"only be used inside a @flyc\.kernel"):
        flyc.jit(lambda n: fx.ktrace.mark("host"))(1)
    with pytest.raises(ValueError, match="ktrace blocks must be"):
        fx.ktrace.capture(blocks="here")
