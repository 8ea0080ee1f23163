# SPDX-License-Identifier: Apache-2.0
"""What the tests of row kernels share: types, tolerances, and the norms in float64."""

import torch

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
# Half a unit of the last place, relative: one rounding of an exact result; f32 has some operations in between.
ROUNDING = {"f32": 2.0**-21, "f16": 2.0**-11, "bf16": 2.0**-8}
EPS = 1e-5


def rows(m, n, dtype, seed=0, scale=1.0):
    generator = torch.Generator().manual_seed(1000 * seed + m + n)
    return (torch.randn(m, n, generator=generator) * scale).to(DTYPES[dtype])


def row(n, dtype, seed=1):
    """Weights around 1."""
    return (torch.rand(n, generator=torch.Generator().manual_seed(seed)) + 0.5).to(DTYPES[dtype])


def check(got, expected, dtype, slack=1.0):
    """|got - expected| <= one rounding of `dtype` of the expected value, and `slack` f32 roundings of the largest."""
    expected = expected.detach().double()
    assert got.shape == expected.shape
    if not expected.numel():
        return
    largest = expected.abs().max().item()
    denormal = 2.0**-25 if dtype == "f16" else 1e-30
    allowed = ROUNDING[dtype] * expected.abs() + slack * ROUNDING["f32"] * largest + denormal
    error = (got.double() - expected).abs()
    worst = (error / allowed).max().item()
    assert not got.double().isnan().any()
    assert worst <= 1.0, f"{worst:.3g} times the error that is allowed"


def rmsnorm(x, gamma, eps=EPS):
    """(y, rstd) in float64."""
    x, gamma = x.double(), gamma.double()
    rstd = torch.rsqrt((x * x).mean(-1) + eps)
    return x * rstd[:, None] * gamma, rstd


def layernorm(x, gamma, beta, eps=EPS):
    """(y, mean, rstd) in float64."""
    x, gamma, beta = x.double(), gamma.double(), beta.double()
    mean, var = x.mean(-1), x.var(-1, unbiased=False)
    rstd = torch.rsqrt(var + eps)
    return (x - mean[:, None]) * rstd[:, None] * gamma + beta, mean, rstd
