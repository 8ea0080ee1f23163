# SPDX-License-Identifier: Apache-2.0
"""What calls share a configuration: every axis of the key."""

import numpy as np
import pytest
import torch

import flydsl.autotune as package
import flydsl.compiler as flyc
from flydsl.autotune import Config, autotune
from flydsl.autotune.tensors import is_tensor, normalize_strides
from flydsl.compiler.kernel_function import CompilationContext


@pytest.fixture
def tuned(kernel, bench):
    return autotune([Config(BLOCK=1)], key=["x", "n"], do_bench=bench)(kernel)


def key(tuned, *args, **kwargs):
    return tuned._make_key(args, kwargs)


X = torch.zeros(4, 8)


def test_it_is_made_of_texts(tuned):
    made = key(tuned, X, 3)
    assert all(isinstance(part, str) for part in made)
    assert made[:4] == ("(4, 8)", "3", "('x:torch.float32',)", "(\"x:('s', 1)\",)")
    assert made == key(tuned, torch.ones(4, 8), n=3)
    assert hash(made) == hash(key(tuned, x=X, n=3))


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ((torch.zeros(4, 8), 3), True),
        ((torch.zeros(4, 16)[:, :8], 3), True),  # only whether a stride is 0, 1 or another counts
        ((torch.zeros(4, 9), 3), False),
        ((torch.zeros(4, 8, dtype=torch.float16), 3), False),
        ((torch.zeros(8, 4).T, 3), False),
        ((torch.zeros(1, 8).expand(4, 8), 3), False),
        ((X, 4), False),
        ((X, 3, torch.zeros(2)), False),  # dtypes and strides of all tensors count
    ],
)
def test_arguments(tuned, other, same):
    assert (key(tuned, *other) == key(tuned, X, 3)) is same


def test_shapes_of_other_tensors_do_not_count(tuned):
    assert key(tuned, X, 3, torch.zeros(2)) == key(tuned, X, 3, torch.zeros(5))
    assert key(tuned, X, 3, torch.zeros(2)) != key(tuned, X, 3, torch.zeros(2).double())


def test_defaults_are_values(kernel):
    tuned = autotune([Config(BLOCK=1)], key=["out"])(kernel)
    assert key(tuned, X, 3) == key(tuned, X, 3, out=None)


def test_dtypes_are_their_text(kernel):
    tuned = autotune([Config(BLOCK=1)], key=["n"])(kernel)
    assert key(tuned, 0, torch.float16)[0] == "torch.float16"


@pytest.mark.parametrize(
    ("strides", "array"),
    [
        (("s", 1), np.zeros((4, 8), np.float16)),
        ((1, "s"), np.zeros((4, 8), np.float16).T),
        ((0, 1), np.broadcast_to(np.zeros(8), (4, 8))),
        ((1,), np.zeros(8)),
        (("s",), np.zeros(8)[::2]),
        ((), np.zeros(())),
        (("s", "s", 1), torch.zeros(2, 3, 4)),
        ((1, "s"), torch.zeros(3, 2).t()),
    ],
)
def test_strides_are_put_into_buckets(strides, array):
    assert normalize_strides(array) == strides


def test_a_tensor_without_strides_is_contiguous():
    class Array:
        shape, dtype = (2, 3), "float32"

    assert is_tensor(Array())
    assert normalize_strides(Array()) == ("s", 1)


def test_tensors_that_the_compiler_wrapped(tuned):
    assert key(tuned, flyc.from_dlpack(X), 3) == key(tuned, X, 3)


def test_tensors_in_containers(tuned):
    base = key(tuned, [X, (X, 3)], 3)
    assert base[0] == "((4, 8), ((4, 8), 3))"
    assert base == key(tuned, [X + 1, (X, 3)], 3)
    assert base != key(tuned, [X.half(), (X, 3)], 3)
    assert base != key(tuned, [X, (X.T.contiguous().T, 3)], 3)
    assert base != key(tuned, [X, (X, 4)], 3)
    assert key(tuned, {"a": X}, 3)[2] == "(\"x['a']:torch.float32\",)"


def test_numpy_scalars_are_values(tuned):
    assert not is_tensor(np.float32(3))
    assert key(tuned, X, np.int32(3)) == key(tuned, X, 3)


@pytest.mark.parametrize("name", ["FLYDSL_COMPILE_OPT_LEVEL", "FLYDSL_DEBUG_ENABLE_DEBUG_INFO", "FLYDSL_KTRACE_ENABLE"])
def test_environment(tuned, monkeypatch, name):
    before = key(tuned, X, 3)
    monkeypatch.setenv(name, "1")
    assert key(tuned, X, 3) != before


@pytest.mark.parametrize("name", ["FLYDSL_RUNTIME_CACHE_DIR", "FLYDSL_DUMP_IR", "HOME"])
def test_environment_that_does_not_count(tuned, monkeypatch, name):
    before = key(tuned, X, 3)
    monkeypatch.setenv(name, "1")
    assert key(tuned, X, 3) == before


def test_target(tuned, monkeypatch):
    keys = set()
    for arch in ("gfx942", "gfx950"):
        monkeypatch.setenv("ARCH", arch)
        monkeypatch.setenv("FLYDSL_GPU_ARCH", arch)
        keys.add(key(tuned, X, 3))
    assert len(keys) == 2


def test_emulated_results_are_not_for_hardware(tuned):
    assert "emulated" in key(tuned, X, 3)[-1]


@pytest.mark.parametrize("name", ["_toolchain_fingerprint", "_env_fingerprint", "_device_fingerprint"])
def test_facts_can_be_replaced(tuned, monkeypatch, name):
    before = key(tuned, X, 3)
    monkeypatch.setattr(package, name, lambda: "another")
    assert key(tuned, X, 3) != before


def test_hints_of_the_function_and_of_blocks(kernel):
    class Jit:
        def __init__(self):
            self.compile_hints = {}
            self.func = kernel

        def __call__(self, *args, **kwargs):
            return kernel(*args, **kwargs)

    jit = Jit()
    tuned = autotune([Config(BLOCK=1)], key=["n"])(jit)
    keys = [key(tuned, X, 3)]
    with CompilationContext.compile_hints({"waves_per_eu": 2}):
        keys.append(key(tuned, X, 3))
    jit.compile_hints["fast_fp_math"] = True
    keys.append(key(tuned, X, 3))
    jit.compile_hints["fast_fp_math"] = 1
    keys.append(key(tuned, X, 3))
    assert len(set(keys)) == 4


def test_source(bench):
    def first():
        def kernel(n, BLOCK):
            return BLOCK

        return kernel

    def second():
        def kernel(n, BLOCK):
            return BLOCK + 1

        return kernel

    keys = [key(autotune([Config(BLOCK=1)], key=["n"])(make()), 3) for make in (first, first, second)]
    assert keys[0] == keys[1] != keys[2]
