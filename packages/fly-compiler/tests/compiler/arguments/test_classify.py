# SPDX-License-Identifier: Apache-2.0
"""Which kind of argument a value is, and how it travels."""

from __future__ import annotations

import ctypes
import enum

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl.call.arguments import ScalarSpec, StreamSpec, classify, constexpr_key
from flydsl.compiler import JitArgumentRegistry, protocol


@pytest.mark.parametrize(
    ("value", "annotation", "dtype"),
    [
        (3, None, "int32"),
        (True, None, "bool"),
        (2.5, None, "float32"),
        (3, fx.Int64, "int64"),
        (3, fx.Float16, "float16"),
        (fx.Uint8(3), None, "uint8"),
        (np.int16(4), None, "int16"),
        (np.float64(4), fx.Float32, "float32"),
    ],
)
def test_numbers(value, annotation, dtype):
    assert classify("f()", value, annotation).spec == ScalarSpec(dtype)


@pytest.mark.parametrize("kind", [fx.Int4, fx.Int128, fx.Float8E4M3FN, fx.Index])
def test_scalars_that_cannot_be_launch_arguments(kind):
    with pytest.raises(TypeError, match=f"{kind.__name__} cannot be a launch argument"):
        classify("f()", 1, kind)


def test_an_annotation_that_does_not_fit_warns_and_yields():
    with pytest.warns(UserWarning, match=r"declared Int32.*The annotation is not enforced"):
        assert classify("f()", fx.Int64(3), fx.Int32).spec == ScalarSpec("int64")


class FakeStream:
    cuda_stream = 7


def test_streams():
    for value, annotation in ((None, fx.Stream), (7, fx.Stream), (FakeStream(), fx.Stream), (FakeStream(), None)):
        assert classify("f()", value, annotation).spec == StreamSpec()
    found = classify("f()", fx.Stream(FakeStream()), None)
    assert found.convert(fx.Stream(FakeStream())) == 7
    with pytest.raises(TypeError, match=r"a stream is None"):
        classify("f()", "main", fx.Stream)


def test_pointers():
    found = classify("f()", flyc.from_c_void_p(fx.Float16, ctypes.c_void_p(64), assumed_align=16), None)
    assert found.spec.note("p") == [{"name": "p", "kind": "pointer", "dtype": "float16", "align": 16}]
    assert found.convert(flyc.from_c_void_p(fx.Float16, None)) == 0
    with pytest.raises(TypeError, match=r"int, a ctypes.c_void_p or None"):
        flyc.from_c_void_p(fx.Float16, "64")


@pytest.mark.parametrize("value", [None, [1], (1,), {"a": 1}, "text", object()])
def test_what_cannot_be_an_argument(value):
    with pytest.raises(
        TypeError, match=r"f\(\): argument 'x': .* neither a JitArgument nor has a registered constructor"
    ):
        classify("f(): argument 'x'", value, None)


@fx.struct
class Inner:
    a: fx.Int32


@fx.struct
class Outer:
    inner: Inner
    scale: fx.Float32
    kind: fx.Constexpr[int]


def test_structs_travel_as_their_numbers():
    value = Outer(Inner(3), 2.0, 7)
    found = classify("f()", value, None)
    assert [entry["name"] for entry in found.spec.note("s")] == ["s.inner.a", "s.scale"]
    assert found.unpacked
    assert found.convert(value) == [3, 2.0]
    assert found.spec == classify("f()", Outer(Inner(4), 3.0, 7), None).spec
    assert found.spec != classify("f()", Outer(Inner(4), 3.0, 8), None).spec


def test_registered_classes():
    class Mine:
        def __init__(self, tensor):
            self.tensor = tensor

    @flyc.JitArgumentRegistry.register(Mine)
    def wrap(value):
        return flyc.from_dlpack(value.tensor)

    tensor = torch.zeros(3)
    found = classify("f()", Mine(tensor), None)
    assert found.convert(Mine(tensor)) is tensor
    with pytest.raises(ValueError, match=r"has a constructor already"):
        flyc.JitArgumentRegistry.register(Mine)


class Color(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


def test_compile_time_values_of_different_type_differ():
    keys = [constexpr_key("f()", one) for one in (1, True, 1.0, "1", (1,), (True,), (1, (2, "a")), Level.LOW)]
    assert len(set(keys)) == len(keys)
    assert constexpr_key("f()", lambda x: x + 1) == constexpr_key("f()", lambda x: x + 1)
    assert constexpr_key("f()", lambda x: x + 1) != constexpr_key("f()", lambda x: x + 2)


@pytest.mark.parametrize("value", [[1], {"a": 1}, object(), ([],), lambda: pytest])
def test_compile_time_values_have_content(value):
    with pytest.raises(TypeError, match=r"a compile-time argument is an int"):
        constexpr_key("f()", value)


@pytest.mark.parametrize(
    ("value", "hint"),
    [(fx.Float32, "declare the parameter fx.Type"), (Color.RED, "make it an enum.IntEnum"), (None, "the default None")],
)
def test_what_is_nearly_a_compile_time_value(value, hint):
    with pytest.raises(TypeError, match=f"(?i){hint}"):
        constexpr_key("f()", value)
    with pytest.raises(TypeError, match="a compile-time argument is an int"):
        constexpr_key("f()", (1, value))


def test_none_is_for_optional_compile_time_arguments():
    @flyc.kernel
    def kernel(x: fx.Tensor, tile: fx.Constexpr[int] | None):
        x[0] = 1.0 if tile is None else float(tile)

    @flyc.jit
    def launch(x: fx.Tensor, tile: fx.Constexpr[int] = None):
        kernel(x, tile).launch(block=(1,))

    x = np.zeros(1, np.float32)
    for tile, expected in ((None, 1.0), (7, 7.0), (None, 1.0)):
        launch(x, tile)
        assert x[0] == expected


class Scale:
    """An argument that says itself how it travels."""

    def __init__(self, value):
        self.value = value

    def __get_ir_types__(self):
        return [ir.F32Type.get()]

    def __cache_signature__(self):
        return (Scale,)

    def __c_abi_spec__(self):
        return [(ctypes.c_float, lambda argument, slot: setattr(slot, "value", argument.value))]


def test_classes_that_follow_the_protocol(monkeypatch):
    monkeypatch.setattr(JitArgumentRegistry, "_dsl_types", {})
    JitArgumentRegistry.register_jit_arg(Scale, fx.Float32)
    assert JitArgumentRegistry.get_dsl_type(Scale) is fx.Float32

    @flyc.kernel
    def kernel(x: fx.Tensor, value: fx.Float32):
        x[0] = value

    @flyc.jit
    def launch(x: fx.Tensor, scale):
        kernel(x, scale * 2.0).launch()

    x = np.zeros(1, np.float32)
    for value in (2.5, 3.5):
        launch(x, Scale(value))
        assert x[0] == 2 * value
    assert len(launch._compiled) == 1  # the value does not specialise
    assert protocol.c_abi_spec(Scale(1))[0][0] is ctypes.c_float
    assert protocol.cache_signature((Scale(1), Scale(2))) == ((Scale,), (Scale,))


def test_slots_that_no_artifact_has():
    class Odd(Scale):
        def __c_abi_spec__(self):
            return [(ctypes.c_wchar, None)]

    with pytest.raises(TypeError, match="slots are ctypes numbers and c_void_p"):
        classify("f()", Odd(1), None)


@pytest.mark.parametrize("annotation", [int, float, torch.Tensor])
def test_annotations_that_mean_nothing_warn_at_the_definition(annotation):
    def function(x):
        pass

    function.__annotations__["x"] = annotation
    with pytest.warns(UserWarning, match=r"parameter 'x' of .*function' is no type of the language"):
        flyc.jit(function)


def test_annotations_of_the_language_do_not_warn(recwarn):
    @flyc.jit
    def function(x: fx.Tensor, n: fx.Int32, c: fx.Constexpr[int], s: fx.Stream, y, z: fx.Tensor):
        pass

    assert not recwarn
