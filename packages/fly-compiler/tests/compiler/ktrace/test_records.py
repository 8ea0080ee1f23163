# SPDX-License-Identifier: Apache-2.0
"""Records as bytes, and what is made of them: events, ranges, figures, trace files."""

from __future__ import annotations

import json
import struct

import pytest

from flydsl.call.ktrace.capture import summarised
from flydsl.call.ktrace.perfetto import trace_events, write_trace
from flydsl.call.ktrace.records import KINDS, decode_wave
from flydsl.call.ktrace.spans import spans_of
from flydsl.trace.event_names import event_id, name_of, remember
from flydsl.trace.event_settings import KtraceSettings, blocks_text, ktrace_settings

FIRST = 520  # slot of the wave in these tests


def tag(kind, name="", payload_type=None):
    bits = event_id(name) if name else 0
    bits |= KINDS.index(kind) << 24
    return bits if payload_type is None else bits | payload_type << 27 | 1 << 31


def event(time, kind, name="", payload=0, payload_type=None, token=0):
    return struct.pack("<QQIIII", time, payload, 7, 2, tag(kind, name, payload_type), token)


def wave(*events, count=None, block=(1, 2, 3), number=5, dispatch=(0x1_0000_0002, 9)):
    queue, launch = dispatch
    x, y, z = block
    halves = (launch & 0xFFFFFFFF, launch >> 32, queue & 0xFFFFFFFF, queue >> 32)
    head = struct.pack("<8I", len(events) if count is None else count, z << 8 | number, *halves, x, y)
    return decode_wave((head + b"".join(events)).ljust(256 * 32, b"\0"), FIRST)


def test_a_wave_says_which_one_it_is():
    found = wave(event(10, "mark", "a"))
    assert (found.block, found.wave, found.dispatch, found.lost) == ((1, 2, 3), 5, (0x1_0000_0002, 9), 0)
    (one,) = found.events
    assert (one.name, one.kind, one.time, one.payload) == ("a", "mark", 10, None)
    assert (one.hw_id, one.xcc_id, one.slot) == (7, 2, FIRST + 1)


@pytest.mark.parametrize(
    ("kind", "bits", "value"),
    [
        (0, 2**64 - 1, 2**64 - 1),
        (1, 2**64 - 1, -1),
        (2, struct.unpack("<I", struct.pack("<f", 1.5))[0], 1.5),
        (3, struct.unpack("<Q", struct.pack("<d", -2.25))[0], -2.25),
        (4, 1, True),
    ],
)
def test_payloads_of_each_type(kind, bits, value):
    (one,) = wave(event(1, "mark", "a", bits, kind)).events
    assert one.payload == value
    assert type(one.payload) is type(value)


def test_more_events_than_slots_are_counted():
    found = wave(*(event(i, "mark", "a") for i in range(255)), count=300)
    assert (len(found.events), found.lost) == (255, 45)


def test_ranges_nest_and_overlap():
    spans = spans_of(
        wave(
            event(0, "range_push", "outer"),
            event(1, "range_push", "inner", 3, 1),
            event(2, "range_start", "copy"),  # slot FIRST + 3
            event(3, "range_pop"),
            event(4, "range_start", "other"),
            event(5, "range_pop"),
            event(6, "range_stop", "copy", 8, 1, token=FIRST + 3),
            event(7, "mark", "end"),
            event(8, "range_pop"),  # of nothing
            event(9, "range_stop", "copy", token=FIRST + 200),  # of nothing
        )
    )
    assert [(one.name, one.kind, one.begin, one.end, one.depth) for one in spans] == [
        ("outer", "push", 0, 5, 0),
        ("inner", "push", 1, 3, 1),
        ("copy", "start", 2, 6, 0),
        ("other", "start", 4, None, 0),
        ("end", "mark", 7, 7, 0),
    ]
    assert [one.payloads for one in spans[1:3]] == [{"payload": 3}, {"end payload": 8}]


def test_figures():
    waves = [
        wave(event(100, "range_push", "load"), event(110, "range_pop"), event(111, "mark", "tick")),
        wave(event(200, "range_push", "load"), event(230, "range_pop"), dispatch=(1, 1)),
    ]
    found = summarised(waves)
    assert (found["launches"], found["waves"], found["events"]) == (2, 2, 5)
    assert found["names"]["tick"] == {"kind": "mark", "count": 1}
    # 10 ns a tick
    assert found["names"]["load"] == {
        "kind": "range", "count": 2, "min_ns": 100, "median_ns": 200, "mean_ns": 200, "max_ns": 300, "total_ns": 400,
    }  # fmt: skip
    assert summarised([]) is None


def test_a_trace_file_is_what_viewers_read(tmp_path):
    waves = [
        wave(event(100, "range_push", "load", 4, 0), event(110, "range_pop"), event(120, "mark", "tick")),
        wave(event(105, "range_start", "copy"), event(300, "range_push", "open"), number=6),
    ]
    path = write_trace(waves, tmp_path / "new" / "k.json", {"kernel": "k"})
    written = json.loads(path.read_text())
    assert written["otherData"] == {"kernel": "k"}
    assert list(path.parent.iterdir()) == [path]
    events = [one for one in written["traceEvents"] if one["ph"] != "M"]
    names = {one["args"]["name"] for one in written["traceEvents"] if one["ph"] == "M"}
    assert names == {"launch 0, workgroup (1, 2, 3)", "wave 5", "wave 6"}
    load, tick, begin, end, unfinished = events
    assert (load["ph"], load["name"], load["ts"], load["dur"]) == ("X", "load", 0, pytest.approx(0.1))
    assert load["args"] == {"payload": 4, "xcc": 2}
    assert (tick["ph"], tick["ts"]) == ("i", pytest.approx(0.2))
    assert (begin["ph"], end["ph"], begin["id"]) == ("b", "e", end["id"])
    assert end["ts"] == pytest.approx(2.0)  # never stopped: drawn to the end
    assert unfinished["args"]["unfinished"] is True
    assert trace_events([]) == []


def test_names_have_the_same_number_everywhere():
    assert event_id("load") == event_id("load") != event_id("store")
    assert 0 < event_id("load") < 1 << 24
    assert name_of(event_id("load")) == "load"
    assert name_of(12345678) == "event 12345678"
    with pytest.raises(ValueError, match="'load' and 'other' have the same number"):
        remember({"other": event_id("load")})


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        (None, ""),
        ("", ""),
        ("all", ""),
        ((1, 0, 2), "1,0,2"),
        ([0, 0, 0], "0,0,0"),
        (" 1, 2,3 ", "1,2,3"),
        ("xcc:4", "xcc:4"),
    ],
)
def test_filters_of_workgroups(blocks, text):
    assert blocks_text(blocks) == text


@pytest.mark.parametrize(
    "blocks", ["1,2", "a,b,c", "xcc:", "xcc:-1", (1, 2), (0, 0, -1), 5, [0], (True, 0, 0), "1,2,3,4"]
)
def test_filters_that_mean_nothing(blocks):
    with pytest.raises(ValueError, match=r"ktrace blocks must be \(x, y, z\)"):
        blocks_text(blocks)


def test_the_layout_of_the_buffer():
    settings = KtraceSettings(capacity_slots=2**21 - 1)
    assert (settings.first_slot, settings.most_waves, settings.buffer_bytes) == (520, 8189, 64 << 20)
    single = KtraceSettings(capacity_slots=16 + 256 - 1, partitions=1)
    assert (single.first_slot, single.most_waves) == (16, 1)


def test_settings_of_environment_and_hints(monkeypatch):
    assert ktrace_settings({}) is None
    assert ktrace_settings({"ktrace": True, "ktrace_blocks": (1, 2, 3)}).blocks == "1,2,3"
    monkeypatch.setenv("FLYDSL_KTRACE_ENABLE", "1")
    monkeypatch.setenv("FLYDSL_KTRACE_BUFFER_BYTES", "65536")
    monkeypatch.setenv("FLYDSL_KTRACE_BLOCKS", "xcc:1")
    assert ktrace_settings({}) == KtraceSettings(2047, "xcc:1")
    assert ktrace_settings({"ktrace": False}) is None
    assert ktrace_settings({"ktrace_blocks": "all"}).blocks == ""
    monkeypatch.setenv("FLYDSL_KTRACE_BLOCKS", "here")
    with pytest.raises(ValueError, match="ktrace blocks must be"):
        ktrace_settings({})
