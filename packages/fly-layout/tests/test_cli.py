# SPDX-License-Identifier: Apache-2.0
"""The command line: each command's answer, its JSON, its pictures, and errors for bad text."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from flydsl.layout.cli import main


def run(capsys, *arguments):
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (("at", "(4,8):(8,1)", "(2,3)"), "19"),
        (("at", "(4,8):(8,1)", "(*,3)"), "4:8"),
        (("at", "S<2,0,3> o 0 o (8,8):(8,1)", "(2,3)"), "17"),
        (("coord", "(8,16):(1,8)", "43"), "(3,5)"),
        (("compose", "(4,8):(8,1)", "(2,4):(4,1)"), "(2,4):(1,8)"),
        (("compose", "(8,12):(12,1)", "[4|6]"), "(4,6):(12,1)"),
        (("compose", "S<2,0,3>", "(8,8):(8,1)"), "S<2,0,3> o 0 o (8,8):(8,1)"),
        (("compose", "S<2,0,3> o 0 o (8,8):(8,1)", "4:2"), "S<2,0,3> o 0 o 4:16"),
        (("divide", "(8,12):(12,1)", "[4|6]"), "((4,6),(2,2)):((12,1),(48,6))"),
        (("divide", "(8,12):(12,1)", "[4|6]", "--kind", "tiled"), "((4,6),2,2):((12,1),48,6)"),
        (("product", "(2,5):(5,1)", "(3,4):(1,3)", "--kind", "raked"), "((3,2),(4,5)):((10,5),(30,1))"),
        (("complement", "4:1", "24"), "6:4"),
        (("complement", "4:2"), "2:1"),
        (("coalesce", "(2,(3,4)):(1,(2,6))"), "24:1"),
        (("coalesce", "(2,(3,4)):(1,(2,6))", "(1,1)"), "(2,12):(1,2)"),
        (("inverse", "(4,8):(8,1)"), "(8,4):(4,1)"),
        (("inverse", "(4,8):(1,8)", "--kind", "left"), "(8,8):(1,4)"),
        (("recast", "(4,8):(8,1)", "16", "32"), "(4,4):(4,1)"),
        (("overlap", "(4,4):(1,2)"), "not injective: (2,0) and (0,1) both map to 2"),
        (("overlap", "(4,4):(1,4)"), "injective"),
        (("show", "(M,8):(8,1)"), "(M,8):(8,1)"),
        (("show", "(2,2)"), "(2,2):(1,2)\n  | 0 1\n--+----\n0 | 0 2\n1 | 1 3\n\n(2,2):(1,2)  (size 4)"),
        (("linear", "(2,2):(2,1)"), "bases [2, 1], rank 2\n0 1\n1 0"),
    ],
)
def test_answers(capsys, arguments, answer):
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    assert out == answer + "\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("banks", "64:32", "--bits", "32"), {"cycles": 64, "degree": 32, "banks": 32, "assumed": True}),
        (("banks", "((16,4),8):((64,8),1)", "--arch", "gfx950"), {"cycles": 16, "fewest": 4, "assumed": False}),
        (("coalescing", "64:2", "--bits", "32"), {"transactions": 8, "fewest": 4}),
        (("swizzle", "((16,4),8):((64,8),1)", "--arch", "gfx950"), {"conflict_free": True, "cycles_after": 4}),
        (("vector", "(8,64):(1,12)"), {"elements": 4, "bits": 64}),
        (("overlap", "(4,4):(1,2)"), {"injective": False, "first": [2, 0], "second": [0, 1], "index": 2}),
        (("compose", "(M,8):(8,1)", "4:1"), {"layout": "({take(M,1,4)},{exact_div(4,take(M,1,4))}):(8,1)"}),
        (("mma", "gfx942", "v_mfma_f32_16x16x16_f16"), {"A": "((16,4),4):((1,64),16)", "source": "calculator"}),
        (("coord", "(8,16):(1,8)", "43"), {"coordinate": [3, 5], "linear": 43}),
    ],
)
def test_json(capsys, arguments, expected):
    status, out, _ = run(capsys, *arguments, "--format", "json")
    assert status == 0
    data = json.loads(out)
    assert {k: data[k] for k in expected} == expected


@pytest.mark.parametrize("form", ["svg", "html", "tikz"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "(4,8):(8,1)"),
        ("divide", "(8,12):(12,1)", "[4|6]"),
        ("banks", "((16,4),8):((64,8),1)"),
        ("mma", "gfx950", "v_mfma_f32_16x16x32_f16", "--operand", "A"),
    ],
)
def test_pictures(capsys, tmp_path, arguments, form):
    status, out, _ = run(capsys, *arguments, "--format", form)
    assert status == 0
    assert {"svg": "<svg", "html": "<!DOCTYPE", "tikz": "tikzpicture"}[form] in out
    target = tmp_path / "out"
    assert run(capsys, *arguments, "--format", form, "-o", str(target)) == (0, "", "")
    assert target.read_text() == out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("show", "(4,8"), ["cannot parse", "column 5", "^"]),
        (("compose", "(4,3):(3,1)", "5:2"), ["composition((4,3):(3,1), 5:2)", "divide"]),
        (("divide", "(8,12):(12,1)", "(4,6)"), ["write a tile as [4|8]"]),
        (("show", "S<2,0,3>"), ["is a Swizzle, not a layout"]),
        (("overlap", "(4,4):(1,2)", "--format", "svg"), ["no picture"]),
        (("banks", "64:1", "--arch", "gfx9"), ["known are gfx942"]),
        (("mma", "gfx906"), ["known are"]),
        (("show", "8:1", "-o", "/nonexistent/x"), ["nonexistent"]),
        (("show", "(1000000,1000000)", "--max", "1000"), ["more than 16384"]),
    ],
)
def test_errors(capsys, arguments, words):
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert out == ""
    for w in words:
        assert w in err


def test_lists_instructions(capsys):
    status, out, _ = run(capsys, "mma", "gfx1201")
    assert status == 0
    assert "v_wmma_f32_16x16x16_f16  wave32  16x16x16" in out


def test_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "flydsl.layout", "coalesce", "(2,4):(1,2)"], capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stdout) == (0, "8:1\n")
    done = subprocess.run([sys.executable, "-m", "flydsl.layout"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 2
    assert "usage" in done.stderr
