# SPDX-License-Identifier: Apache-2.0
"""Tensors of torch and tvm-ffi. torch is optional, here as in the package; without it these tests are skipped."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest
from make_doubles import scalar, tensor

torch = pytest.importorskip("torch", reason="torch is not installed in this environment")
Make = Callable[..., Any]


@pytest.mark.parametrize(
    "dtype",
    [
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
        "float32", "float64", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    ],
)  # fmt: skip
def test_every_dtype_crosses(make: Make, dtype: str) -> None:
    f, inside = make("f", [tensor("a", dtype)])
    t = torch.zeros(6, dtype=getattr(torch, dtype))
    f(t)
    assert inside.slot(0) == struct.pack("<Q", t.data_ptr())
    wrong = torch.zeros(6, dtype=torch.float32 if dtype != "float32" else torch.bfloat16)
    with pytest.raises(
        TypeError, match=rf"^f\(\): argument 1 \('a'\): expected a {dtype} tensor of shape \(\?,\), got"
    ):
        f(wrong)


def test_offsets_and_strides(make: Make) -> None:
    f, inside = make("f", [tensor("a", shape=("?", "?"), stride=("?", "?"))])
    base = torch.zeros(10, 32)
    view = base[2:7, 3:20:3]
    f(view)
    assert inside.slot(0) == struct.pack("<Q", view.data_ptr())
    assert inside.slot(1, 24) == struct.pack("<iiqq", 5, 6, 32, 3)
    f(base.T)
    assert inside.slot(1, 24) == struct.pack("<iiqq", 32, 10, 1, 32)


def test_parameters_and_subclasses(make: Make) -> None:
    class Mine(torch.Tensor):  # type: ignore[misc, name-defined]
        pass

    f, inside = make("f", [tensor("a")])
    for t in (torch.nn.Parameter(torch.zeros(3)), torch.zeros(3, requires_grad=True), torch.zeros(3).as_subclass(Mine)):
        f(t)
        assert inside.slot(0) == struct.pack("<Q", t.data_ptr())


@pytest.mark.parametrize(
    ("make_tensor", "message"),
    [
        (lambda: torch.zeros(4, device="meta"), "Tensor cannot be passed by DLPack: .*meta"),
        (lambda: torch.zeros(4, 4).to_sparse(), "Tensor cannot be passed by DLPack: .*storage"),
        (
            lambda: torch.zeros(4, dtype=torch.complex64),
            "expected a float32 tensor of shape .*, got a complex64 tensor",
        ),
    ],
)
def test_tensors_that_cannot_cross(make: Make, make_tensor: Callable[[], Any], message: str) -> None:
    f, _ = make("f", [scalar("n"), tensor("a")])
    with pytest.raises(TypeError, match=rf"^f\(\): argument 2 \('a'\): {message}"):
        f(1, make_tensor())
    f(1, torch.zeros(4))


def test_tvm_ffi_tensors(make: Make) -> None:
    import tvm_ffi

    f, inside = make("f", [tensor("a")])
    t = torch.zeros(5)
    f(tvm_ffi.from_dlpack(t))
    assert inside.slot(0) == struct.pack("<Q", t.data_ptr())


def test_results_are_in_place(make: Make, hip: Any) -> None:
    """No copy is made: what is registered is torch's own memory."""
    f, _ = make("f", [tensor("a")])
    t = torch.zeros(100)[5:]
    f(t)
    assert next(line for line in hip.log() if line.startswith("register")) == f"register a {t.data_ptr():#x} 380 write"
