# SPDX-License-Identifier: Apache-2.0
"""`.launch(...)`: extents, block sizes, names, attributes, hints; what is refused while tracing."""

from __future__ import annotations

import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.call.arguments import ScalarSpec
from flydsl.compile.tracing import trace_host
from flydsl.trace.arch import describe
from flydsl.trace.hints import validated, waves_per_eu


@flyc.kernel
def nothing(n: fx.Int32):
    fx.barrier()


def traced(body, hints=None):
    """The module of a host function of one Int32, as text."""
    jit = flyc.jit(body)
    compilation, _ = trace_host(
        jit.func, "host", [("n", ScalarSpec("int32"))], arch=describe("gfx942"), hints=hints or {}
    )
    compilation.module.operation.verify()
    return str(compilation.module)


def test_a_static_block_becomes_the_known_block_size():
    text = traced(lambda n: nothing(n).launch(grid=(n, 2), block=[64, 2]))
    assert "known_block_size = array<i32: 64, 2, 1>" in text
    assert "gpu.func @nothing_0" in text


def test_a_run_time_block_leaves_it_open():
    assert "known_block_size" not in traced(lambda n: nothing(n).launch(block=n))


def test_a_declared_block_size_counts_and_must_agree():
    declared = flyc.kernel(known_block_size=(64, 1, 1))(nothing.func)
    assert "known_block_size = array<i32: 64, 1, 1>" in traced(lambda n: declared(n).launch(block=n))
    with pytest.raises(ValueError, match=r"known_block_size \(64, 1, 1\), but block.y of this launch is 2"):
        traced(lambda n: declared(n).launch(block=(64, 2)))


@pytest.mark.parametrize(
    ("value", "error"),
    [((64,), ValueError), ((64, 0, 1), ValueError), (64, TypeError), ("abc", TypeError), ((1, 1, 1.0), TypeError)],
)
def test_bad_declarations(value, error):
    with pytest.raises(error, match=r"known_block_size"):
        flyc.kernel(known_block_size=value)(nothing.func)


def test_names():
    named = flyc.kernel(name="exact")(nothing.func)

    def host(n):
        named(n).launch()
        named(n).launch()
        nothing(n).launch()
        same = nothing(n)
        same.launch(block=64)
        same.launch(block=64)
        same.launch(block=128)

    text = traced(host)
    assert [one.split("(")[0] for one in text.split("gpu.func @")[1:]] == [
        "exact",
        "exact_0",
        "nothing_2",
        "nothing_3",
        "nothing_4",
    ]
    assert text.count("gpu.launch_func") == 6


def test_attributes():
    def host(n):
        nothing(n, unit_attrs=["one"], value_attrs={"two": 2, "none": None}).launch(value_attrs={"three": "x"})

    text = traced(host)
    assert "one" in text
    assert "two = 2 : i32" in text
    assert 'three = "x"' in text
    assert "none" not in text


@pytest.mark.parametrize(
    ("keywords", "error", "match"),
    [
        ({"grid": (1, 2, 3, 4)}, ValueError, "grid has one to three extents, got 4"),
        ({"grid": 1.5}, TypeError, "grid.x must be an integer, got float"),
        ({"block": (1, fx.Float32(2.0))}, TypeError, "block.y must be an integer, got Float32"),
        ({"grid": -1}, ValueError, "grid.x must be from 0"),
        ({"stream": 3}, TypeError, "stream= takes an fx.Stream, got int"),
    ],
)
def test_bad_launches(keywords, error, match):
    with pytest.raises(error, match=match):
        traced(lambda n: nothing(n).launch(**keywords))


def test_a_bare_number_has_to_be_declared():
    @flyc.kernel
    def open_kernel(n):
        fx.barrier()

    with pytest.raises(TypeError, match=r"argument 'n' is a Python number. Pass fx.Int32\(3\).*fx.Constexpr"):
        traced(lambda n: open_kernel(3).launch())
    with pytest.raises(TypeError, match=r"argument 'n' is None. .*fx.Tensor \| None"):
        traced(lambda n: open_kernel(None).launch())
    with pytest.raises(TypeError, match=r"argument 'n'.*'object' has no SSA form"):
        traced(lambda n: open_kernel(object()).launch())
    with pytest.raises(TypeError, match=r"kernel 'nothing': missing a required argument: 'n'"):
        traced(lambda n: nothing().launch())
    assert "nothing_0" in traced(lambda n: nothing(3).launch())


def test_containers_travel_into_kernels():
    @flyc.kernel
    def kernel(pair, table):
        fx.barrier()
        assert isinstance(pair, tuple)
        assert list(table) == ["a"]

    assert "(%arg0: i32, %arg1: i32, %arg2: i32)" in traced(lambda n: kernel((n, n + 1), {"a": n + 2}).launch())


def test_streams_are_async_dependencies_and_never_destroyed():
    text = traced(lambda n: nothing(n).launch())
    assert "gpu.launch_func async [" in text
    assert "gpu.wait" not in text


def test_dynamic_lds():
    assert "dynamic_shared_memory_size" in traced(lambda n: nothing(n).launch(smem=1024))
    assert "dynamic_shared_memory_size" in traced(lambda n: nothing(n).launch(smem=n))
    with pytest.raises(RuntimeError, match=r"needs 70000 bytes of LDS, but gfx942 has 65536"):
        traced(lambda n: nothing(n).launch(smem=70000))


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, None), (0, None), (2, (2, None)), ((1, 4), (1, 4)), ("3", (3, None)), ("1,2", (1, 2))],
)
def test_waves_per_eu(value, expected):
    assert waves_per_eu(value) == expected


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (True, TypeError),
        (1.5, TypeError),
        ((1, 2, 3), TypeError),
        (-1, ValueError),
        ((4, 2), ValueError),
        ("x", ValueError),
    ],
)
def test_bad_waves_per_eu(value, error):
    with pytest.raises(error, match=r"waves_per_eu"):
        validated({"waves_per_eu": value})


def test_hints_reach_the_kernel():
    text = traced(lambda n: nothing(n).launch(), {"waves_per_eu": (1, 2)})
    assert 'passthrough = [["amdgpu-waves-per-eu", "1,2"]]' in text


def test_ambient_hints_nest():
    context = flyc.CompilationContext
    with context.compile_hints({"a": 1, "b": 2}):
        with context.compile_hints({"b": 3, "c": None}):
            assert context.get_compile_hints() == {"a": 1, "b": 3}
        assert context.get_compile_hints() == {"a": 1, "b": 2}
    assert context.get_compile_hints() == {}
    with pytest.raises(ValueError, match=r"maxnreg"), context.compile_hints({"maxnreg": 64}):
        pass


def test_hints_of_equal_hash_are_told_apart():
    @flyc.jit
    def host(n: fx.Int32):
        nothing(n).launch()

    tokens = []
    for hints in ({}, {"a": 1}, {"a": True}, {"a": [1]}, {"a": 1}):
        host.compile_hints = hints
        tokens.append(host.hints_token())
    assert len(set(tokens)) == 4
    assert tokens[1] == tokens[4]
