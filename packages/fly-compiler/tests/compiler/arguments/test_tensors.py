# SPDX-License-Identifier: Apache-2.0
"""Tensors as arguments: what of their layout a compilation knows, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.call.arguments import Dynamic, classify
from flydsl.call.arguments.signatures import signature
from flydsl.call.arguments.tensor import TensorArgument, plain_spec

DYNAMIC = Dynamic()


@flyc.kernel
def copy_kernel(x: fx.Tensor, y: fx.Tensor):
    y[fx.thread_idx.x] = x[fx.thread_idx.x]


@flyc.jit
def copy_four(x: fx.Tensor, y: fx.Tensor):
    copy_kernel(x, y).launch(grid=(1,), block=(4,))


def test_plain_tensors_are_dynamic_but_for_the_unit_axis():
    spec = plain_spec(torch.zeros(3, 5))
    assert (spec.shape, spec.stride) == ((DYNAMIC, DYNAMIC), (DYNAMIC, 1))
    assert (spec.dtype, spec.align, spec.wrapped) == ("float32", 4, False)
    assert spec.type_text() == "!fly.memref<f32, global, (?,?):(?{i64},1)>"


def test_the_first_unit_axis_counts():
    assert plain_spec(torch.zeros(3, 5).t()).stride == (1, DYNAMIC)
    assert plain_spec(torch.zeros(5, 1)).stride == (1, DYNAMIC)
    assert plain_spec(torch.zeros(2, 3, 4)[:, :2]).stride == (DYNAMIC, DYNAMIC, 1)


@pytest.mark.parametrize("make", [lambda: torch.zeros(4, 6)[:, ::2], lambda: np.zeros((4, 6))[:, ::2]])
def test_without_a_unit_axis_all_strides_are_dynamic(make):
    assert plain_spec(make()).stride == (DYNAMIC, DYNAMIC)
    with pytest.raises(RuntimeError, match=r"no axis of stride 1.*from_dlpack"):
        TensorArgument(make())


@pytest.mark.parametrize("make", [lambda: torch.zeros(()), lambda: np.zeros(())])
def test_a_tensor_without_axes_is_refused_with_what_to_do(make):
    with pytest.raises(RuntimeError, match=r"argument 'x': a tensor without axes .* Pass t.reshape\(1\)"):
        copy_four(make(), np.zeros(4, np.float32))


def test_numpy_and_torch_share_a_compilation():
    assert plain_spec(np.zeros((3, 5), np.float16)) == plain_spec(torch.zeros(7, 2, dtype=torch.float16))


def test_equal_signatures_mean_equal_specs():
    same = [torch.zeros(3, 5), torch.zeros(7, 9), torch.zeros(8, 8)[2:6, :3]]
    assert len({signature(one) for one in same}) == len({plain_spec(one) for one in same}) == 1
    others = [*same[:1], torch.zeros(3, 5).t(), torch.zeros(3), torch.zeros(3, 5, dtype=torch.float64)]
    assert len({signature(one) for one in others}) == len(others)


@pytest.mark.parametrize(
    "name",
    [
        "bool",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "float8_e4m3fn",
        "float8_e5m2",
        "float8_e4m3fnuz",
        "float8_e5m2fnuz",
    ],
)
def test_dtypes_that_tensors_can_have(name):
    spec = plain_spec(torch.zeros(4).to(getattr(torch, name)))
    assert spec.dtype == name


@pytest.mark.parametrize("name", ["uint16", "uint32", "complex64", "float8_e8m0fnu"])
def test_dtypes_that_tensors_cannot_have(name):
    with pytest.raises(TypeError, match=f"cannot have dtype {name}; it can have bool, int8"):
        plain_spec(torch.empty(4, dtype=getattr(torch, name)))


def test_dlpack_accepts_unsigned_integers():
    spec = flyc.from_dlpack(np.zeros(4, np.uint16)).spec
    assert (spec.dtype, spec.type_text()) == ("uint16", "!fly.memref<i16, global, 4:1>")
    assert spec.note("a")[0]["dtype"] == "uint16"


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("wrap", [lambda one: one, flyc.from_dlpack], ids=["plain", "wrapped"])
def test_kernels_read_and_write_unsigned_integers(dtype, wrap):
    size = np.iinfo(dtype).max
    x, y = np.array([0, 1, size - 1, size], dtype), np.zeros(4, dtype)
    copy_four(wrap(x), wrap(y))
    assert (x == y).all()


def test_from_dlpack_is_static():
    wrapped = flyc.from_dlpack(torch.zeros(3, 5), assumed_align=16)
    assert (wrapped.spec.shape, wrapped.spec.stride, wrapped.spec.align) == ((3, 5), (5, 1), 16)
    assert wrapped.spec.type_text() == "!fly.memref<f32, global, (3,5):(5,1), align<16>>"
    assert wrapped.spec != plain_spec(wrapped.tensor)


def test_marks_accumulate():
    wrapped = flyc.from_dlpack(torch.zeros(4, 8, 16))
    assert wrapped.mark_shape_dynamic(0, 2) is wrapped
    wrapped.mark_shape_dynamic([-1], [8]).mark_stride_dynamic([0, 1], 4)
    assert wrapped.spec.shape == (Dynamic(2), 8, Dynamic(8))
    assert wrapped.spec.stride == (Dynamic(4), Dynamic(4), 1)
    assert wrapped.spec.type_text() == "!fly.memref<f32, global, (?{div=2},8,?{div=8}):(?{i64 div=4},?{i64 div=4},1)>"


def test_mark_layout_dynamic():
    wrapped = flyc.from_dlpack(torch.zeros(4, 8), use_32bit_stride=True).mark_layout_dynamic(
        leading_dim=1, divisibility=4
    )
    assert wrapped.spec.type_text() == "!fly.memref<f32, global, (?,?):(?{div=4},1)>"
    assert flyc.from_dlpack(torch.zeros(4, 8).t()).mark_layout_dynamic().spec.stride == (1, DYNAMIC)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda t: flyc.from_dlpack(t).mark_layout_dynamic(leading_dim=0), "leading_dim 0 has stride 6, not 1"),
        (lambda t: flyc.from_dlpack(t).mark_layout_dynamic(leading_dim=2), "axis 2 is out of range"),
        (lambda t: flyc.from_dlpack(t).mark_shape_dynamic(5), "axis 5 is out of range"),
        (lambda t: flyc.from_dlpack(t).mark_shape_dynamic(0, 3), "power of two, got 3"),
        (lambda t: flyc.from_dlpack(t).mark_stride_dynamic([0, 1], [2]), "divisibility has 1 entries for 2 axes"),
        (lambda t: flyc.from_dlpack(t, assumed_align=6), "multiple of the element size 4, got 6"),
        (lambda t: flyc.from_dlpack(t[:, ::2]).mark_layout_dynamic(), "no axis has stride 1"),
    ],
)
def test_marks_that_make_no_sense(call, match):
    with pytest.raises(ValueError, match=match):
        call(torch.zeros(4, 6))


def test_only_tensors_are_wrapped():
    with pytest.raises(TypeError, match=r"takes a tensor with __dlpack__, not builtins.list"):
        flyc.from_dlpack([1, 2])
    with pytest.raises(TypeError, match=r"takes a torch.Tensor, not numpy.ndarray"):
        flyc.from_torch_tensor(np.zeros(3))


def test_the_note_says_what_the_call_checks():
    wrapped = flyc.from_dlpack(torch.zeros(4, 8)).mark_shape_dynamic(0, 4)
    (entry,) = classify("f()", wrapped, None).spec.note("a")
    assert entry == {
        "name": "a",
        "kind": "tensor",
        "dtype": "float32",
        "align": 4,
        "access": "readwrite",
        "shape": [{"dynamic": True, "divisibility": 4}, 8],
        "stride": [8, 1],
        "stride_bits": 64,
    }


def test_a_tensor_of_one_axis_has_a_leaf_layout():
    assert plain_spec(torch.zeros(8)).type_text() == "!fly.memref<f32, global, ?:1>"
    assert flyc.from_dlpack(torch.zeros(8)).spec.type_text() == "!fly.memref<f32, global, 8:1>"
    assert flyc.from_dlpack(torch.zeros(1, 8)).spec.type_text() == "!fly.memref<f32, global, (1,8):(8,1)>"


@pytest.mark.parametrize("shape", [(0,), (0, 4), (4, 0), (3, 0, 2)])
def test_empty_arrays(shape):
    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        y[0] = fx.size(x).unpack().to(fx.Float32) + 1.0

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(block=(1,))

    y = np.zeros(1, np.float32)
    launch(np.zeros(shape, np.float32), y)
    assert y[0] == 1.0
    launch(np.zeros(tuple(max(1, one) for one in shape), np.float32), y)
    assert y[0] == 1.0 + np.prod([max(1, one) for one in shape])
    launch(np.zeros((8,) * (len(shape) + 1), np.float32)[..., 3][..., ::2], y)  # no axis of stride 1
    assert y[0] == 1.0 + 8 ** len(shape) / 2
