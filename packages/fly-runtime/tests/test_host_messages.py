# SPDX-License-Identifier: Apache-2.0
"""What host functions print: `flydsl_print` with a message of the note and a record of values."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import make_doubles as build
import pytest

from flydsl import runtime
from flydsl.runtime import _library

Make = Callable[..., tuple[runtime.Artifact, build.Inside]]


def message(format: str, *types: str, kind: str = "host") -> dict[str, Any]:
    return {"kind": kind, "format": format, "types": list(types)}


def printed(artifact: runtime.Artifact, number: int, layout: str = "", *values: Any) -> None:
    # Null record for a message without values.
    record = struct.pack("<" + layout, *values) or b"\0\0\0\0"
    function = _library.load().flydsl_print
    function.argtypes = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_char_p)
    _library.check(function(artifact._address, number, record))


def test_values_of_each_type(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    messages = [message("i=%d l=%ld f=%g d=%g 100%%\n", "i32", "i64", "f32", "f64"), message("\n")]
    artifact, _ = make("host_messages", [], messages=messages)
    printed(artifact, 1, "iqfd", -3, 1 << 40, 0.1, 0.1)
    printed(artifact, 2)
    assert capsys.readouterr().out == "i=-3 l=1099511627776 f=0.1 d=0.1 100%\n\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "2.0"),
        (-0.0, "-0.0"),
        (1e-7, "1e-07"),
        (3.4028234663852886e38, "3.4028235e+38"),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
        (16777216.0, "16777216.0"),
    ],
)
def test_floats_are_printed_so_that_they_read_the_same(
    make: Make, capsys: pytest.CaptureFixture[str], value: float, text: str
) -> None:
    artifact, _ = make("shortest", [], messages=[message("%g", "f32")])
    printed(artifact, 1, "f", value)
    assert capsys.readouterr().out == text


def test_flags_are_those_of_printf(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    artifact, _ = make("flags", [], messages=[message("[%8.3f]", "f64")])
    printed(artifact, 1, "d", 3.14159)
    assert capsys.readouterr().out == "[   3.142]"


def test_no_buffer_is_made_for_host_messages(make: Make, hip: build.Hip) -> None:
    # The double has no hipModuleGetGlobal, so that asking for the global of a buffer would fail.
    artifact, inside = make("quiet", [], messages=[message("x\n")])
    inside.request.launches = 1
    artifact()
    assert any("launch" in line for line in hip.log())


@pytest.mark.parametrize("number", [0, 2])
def test_a_message_that_is_not_there(make: Make, number: int) -> None:
    artifact, _ = make("absent", [], messages=[message("x")])
    with pytest.raises(ValueError, match=f"absent: the artifact has no message number {number}"):
        printed(artifact, number)


def test_an_unknown_kind_of_message(make: Make) -> None:
    with pytest.raises(runtime.ArtifactError, match="print, assert, host or host_assert"):
        make("unknown", [], messages=[message("x", kind="shout")])


def test_an_assertion_of_a_host_function(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    messages = [message("argument 'n': expected %d, got %ld", "i32", "i64", kind="host_assert")]
    artifact, _ = make("asserting", [], messages=messages)
    with pytest.raises(ValueError, match=r"asserting\(\): argument 'n': expected 64, got -1"):
        printed(artifact, 1, "iq", 64, -1)
    assert capsys.readouterr().out == ""
