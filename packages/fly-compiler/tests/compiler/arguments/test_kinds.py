# SPDX-License-Identifier: Apache-2.0
"""The table of kinds of arguments: which row has what, and that keys are made from it."""

from __future__ import annotations

import ctypes
import enum
import sys
from types import ModuleType

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.call.arguments.kinds import KINDS, kind_of
from flydsl.call.arguments.signatures import signature
from flydsl.call.arguments.tensor_kinds import tensor_kind
from flydsl.frontend.control.tree import is_changed_in_place


@fx.struct
class Pair:
    a: fx.Int32
    b: fx.Float32


class Protocol:
    def __c_abi_spec__(self):
        return [(ctypes.c_int32, lambda one, slot: None)]

    def __get_ir_types__(self):
        return [fx.Int32.ir_type]

    def __cache_signature__(self):
        return Protocol


class Signed:
    def __cache_signature__(self):
        return Signed


class Colour(enum.IntEnum):
    RED = 1


EXAMPLES = {
    "wrapped tensor": [flyc.from_dlpack(np.zeros(4, np.float32))],
    "pointer": [flyc.from_c_void_p(fx.Float32, 64)],
    "stream": [fx.Stream(None)],
    "scalar of the language": [fx.Int32(1), fx.Float16(1.0)],
    "JitArgument": [Protocol()],
    "struct": [Pair(1, 2.0)],
    "tensor": [torch.zeros(4), np.zeros(4, np.float32)],
    "number": [True, 1, 1.5, Colour.RED, np.float64(1.0)],
    "scalar of NumPy": [np.float32(1.0), np.int64(1)],
    "other, with a signature": [Signed()],
    "other": [None, object(), "text"],
}


def test_every_row_has_an_example():
    assert [one.name for one in KINDS] == list(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_rows(name):
    for value in EXAMPLES[name]:
        kind = kind_of(type(value))
        assert kind.name == name
        assert hash(signature(value)) == hash(kind.signature(type(value))(value))


def test_frameworks():
    class Wrapped(torch.nn.Parameter):
        pass

    named = {torch.Tensor: "torch", Wrapped: "torch", np.ndarray: "numpy", np.memmap: "numpy", int: None}
    for kind, name in named.items():
        found = tensor_kind(kind)
        assert (None if found is None else found.name) == name


@flyc.kernel
def scale_kernel(x: fx.Tensor, factor: fx.Float32, times: fx.Constexpr[int]):
    x[fx.thread_idx.x] = x[fx.thread_idx.x] * factor * times


@flyc.jit
def scale(x: fx.Tensor, factor: fx.Float32, times: fx.Constexpr[int] = 2):
    scale_kernel(x, factor, times).launch(grid=(1,), block=(4,))


def test_a_call_and_key_of_have_one_key():
    """The generated call finds what `key_of` says: a second call compiles nothing, and the entry is under that key."""
    scale(torch.ones(4), 2.0)
    scale(torch.ones(4), 3.0, times=2)
    assert list(scale._entries) == [scale.key_of((torch.ones(4), 5.0, 2))]
    scale(np.ones(4, np.float32), 2.0, 3)
    assert list(scale._entries)[1:] == [scale.key_of((np.ones(4, np.float32), 5.0, 3))]


def test_a_framework_that_another_thread_is_importing(monkeypatch):
    for name in ("numpy", "torch"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    assert tensor_kind(type("Fresh", (), {})) is None
    assert not is_changed_in_place(object())
