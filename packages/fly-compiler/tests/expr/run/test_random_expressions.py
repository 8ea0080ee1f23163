# SPDX-License-Identifier: Apache-2.0
"""Expressions of all dtypes mean on the device what the documented rules say, computed exactly by Python.

`exact_numbers` has the rules, `random_expressions` writes expressions and the kernel that computes many of them.
"""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

np = pytest.importorskip("numpy")
pytest.importorskip("ml_dtypes", reason="formats that NumPy lacks are compared with ml_dtypes")

import random_expressions as expressions  # noqa: E402 - it needs ml_dtypes

# Each was wrong once.
WRONG_ONCE = {
    "constants of a format have its precision": [
        "(Uint32_1 * fx.Float16(1e-08))",
        "(fx.Float8E5M2FNUZ(65504.0) >= BFloat16_1)",
        "(fx.BFloat16(0.001) * Float16_0)",
        "(fx.Float8E4M3FNUZ(65504.0).to(fx.Float64) + Float8E4M3FNUZ_1)",
        "(fx.Int32(16777217).to(fx.Float32).to(fx.Int32) + Int32_0)",
        "((fx.Float16(0.1) + fx.Float16(0.2)).to(fx.Float64) * Float64_0)",
        "(Float64_0 * 0.1)",
    ],
    "a quotient that is zero has the sign of the exact one": [
        "((1e-08 + BFloat16_0) // (Float8E5M2FNUZ_0 / Float8E5M2FNUZ_1))",
        "(fx.BFloat16(0.0) // Float32_1)",
    ],
    "a lane that an integer cannot hold leaves the others alone": [
        "Float64_1.to(fx.Uint8)",
        "Float32_0.to(fx.Uint16)",
        "Float8E5M2_1.to(fx.Uint8)",
        "BFloat16_0.to(fx.Int8)",
    ],
    "a division by zero leaves other expressions alone": [
        "(Uint32_1 % Uint32_0)",
        "fx.ceildiv(Uint32_0, Int16_0)",
        "(Int32_0 != 0).select(Int32_1 // Int32_0, 0)",
        "(Int8_0 != 0).select(Int8_1 % Int8_0, Int8_1)",
    ],
    "f64 is rounded once": ["Float64_0.to(fx.Float8E4M3FN)", "(Float64_1 / 3).to(fx.Float8E5M2FNUZ)"],
    "a signed byte as 16 unsigned bits": ["(Uint16_1 / Int8_0)", "Int8_0.to(fx.Uint16).to(fx.Float32)"],
}


@pytest.mark.parametrize("vector", [False, True], ids=["scalars", "vectors"])
def test_expressions_that_were_wrong(vector):
    texts = [text for group in WRONG_ONCE.values() for text in group]
    wrong, refused = expressions.run(texts, 11, vector=vector)
    assert not wrong
    assert not refused


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("seed", range(20))
def test_random_expressions(seed, arch, monkeypatch):
    monkeypatch.setenv("FLYDSL_GPU_ARCH", arch)
    writer = expressions.Writer(seed)
    texts = [writer.statement() for _ in range(60)]
    wrong, _ = expressions.run(texts, seed, vector=seed % 2 == 1)
    assert not wrong


@flyc.kernel
def remainder_kernel(out: fx.Tensor, quotient: fx.Int32):
    out[0] = quotient


@flyc.jit
def divide_on_the_host(out: fx.Tensor, a: fx.Int32, b: fx.Int32):
    remainder_kernel(out, a // b).launch(block=1)


@pytest.mark.parametrize(("a", "b"), [(7, 0), (-(2**31), -1)])
def test_a_host_function_survives_a_division_without_a_quotient(a, b):
    out = torch.zeros(1, dtype=torch.int32)
    divide_on_the_host(out, a, b)  # it ended the process
    divide_on_the_host(out, 7, -2)
    assert out.item() == -4
