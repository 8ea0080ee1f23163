# SPDX-License-Identifier: Apache-2.0
"""MXFP4 and MXFP8 quantisation, bit by bit against integers and fractions in NumPy."""

from fractions import Fraction

import numpy as np
import pytest
import torch

import flydsl.kernels as fk
from flydsl.kernels.quant.mx_quant_kernel import build_mx_quant_module, per_1x32_mx_quant

LARGEST = {"fp4": 6, "fp8": 448}
NEAREST_OF = {"fp4": 4, "fp8": 448}
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def values_of(mode):
    """The numbers of the codes 0 ... of the positive half, by definition."""
    mantissa, bias, codes = (1, 1, 8) if mode == "fp4" else (3, 7, 127)
    found = []
    for code in range(codes):
        exponent, fraction = code >> mantissa, code & ((1 << mantissa) - 1)
        hidden = (1 << mantissa) if exponent else 0
        found.append((hidden + fraction) * 2.0 ** (max(exponent, 1) - bias - mantissa))
    return np.array(found)


def exponent_of(amax, mode, rounding):
    """The byte of a group: exact arithmetic on fractions."""
    if rounding == "up_floored":
        amax = max(amax, float(np.float32(1e-10)))
    if amax == 0:
        return 0
    ratio = Fraction(amax) / (NEAREST_OF[mode] if rounding == "nearest" else LARGEST[mode])
    power = -400
    while Fraction(2) ** (power + 1) <= ratio:
        power += 1
    above = ratio / Fraction(2) ** power  # 1 up to 2
    up = above >= Fraction(3, 2) if rounding == "nearest" else above > 1
    return min(max(power + up + 127, 0), 254)


def encode(scaled, mode):
    """Codes of numbers: the nearest, of two as near the even one; the largest for all beyond; the sign as it is."""
    table = values_of(mode)
    distance = np.abs(np.abs(scaled)[..., None] - table)
    near = distance.argmin(-1)
    tie = np.take_along_axis(distance, np.minimum(near + 1, len(table) - 1)[..., None], -1)[..., 0]
    even = (
        (near % 2 == 1) & (near + 1 < len(table)) & (tie == np.take_along_axis(distance, near[..., None], -1)[..., 0])
    )
    return np.where(even, near + 1, near) | np.where(np.signbit(scaled), 8 if mode == "fp4" else 128, 0)


def reference(x, mode, rounding):
    """(bytes, scales) of x (groups, 32) in float64."""
    codes, scales = np.zeros(x.shape, np.int64), np.zeros(len(x), np.uint8)
    for index, group in enumerate(x):
        if not np.isfinite(group).all():
            scales[index] = 255
            continue
        scales[index] = exponent_of(np.abs(group).max(), mode, rounding)
        codes[index] = encode(group * 2.0 ** (127 - int(scales[index])), mode)
    if mode == "fp4":
        codes = codes[:, ::2] | codes[:, 1::2] << 4
    return codes.astype(np.uint8), scales


def groups_of(dtype):
    """Groups of 32: random ones, of many powers of two, and those at the edges of each rounding."""
    rng = np.random.default_rng(0)
    rows = [rng.standard_normal(32) * 2.0**power for power in (-14, -3, 0, 1, 5, 9)]
    edge = np.finfo(np.float32).eps if dtype == "f32" else 2.0**-7 if dtype == "bf16" else 2.0**-10
    for limit in (1.0, 1.3125, 1.5, 1.75):
        for amax in (limit * (1 - edge), limit, limit * (1 + edge)):
            group = rng.uniform(-1, 1, 32)
            group[7] = -amax
            rows.append(group)
    rows += [np.zeros(32), np.full(32, -0.0), np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 6] * 4)]
    rows += [np.where(np.arange(32) == 5, bad, 1.0) for bad in (np.nan, np.inf, -np.inf)]
    if dtype != "f16":
        rows += [rng.uniform(0.5, 1, 32) * 2.0**power for power in (-126, -125, -120, -34, 127)]
    return torch.from_numpy(np.stack(rows)).to(DTYPES[dtype])


@pytest.fixture
def gfx950(arch):
    if arch != "gfx950":
        pytest.skip("quantised for the matrix instructions of gfx950")


@pytest.mark.usefixtures("gfx950")
@pytest.mark.parametrize("dtype", ["bf16", "f16", "f32"])
@pytest.mark.parametrize("mode", ["fp4", "fp8"])
@pytest.mark.parametrize("rounding", ["up_floored", "up", "nearest"])
def test_bits(run, dtype, mode, rounding):
    x = groups_of(dtype)
    q = run.empty(x, (len(x), 16 if mode == "fp4" else 32), torch.uint8)
    scale = run.empty(x, (len(x),), torch.uint8)
    run(build_mx_quant_module(dtype, mode, rounding), x, q, scale, len(x), writes=[q, scale], seeds=(0, 7919))
    codes, scales = reference(x.double().numpy(), mode, rounding)
    assert scale.tolist() == scales.tolist()
    assert q.tolist() == codes.tolist()


@pytest.mark.usefixtures("gfx950")
def test_tensors_and_the_operator():
    x = torch.randn(3, 5, 64)
    for mode, shape, dtype in (("fp4", (3, 5, 32), torch.uint8), ("fp8", (3, 5, 64), torch.float8_e4m3fn)):
        q, scale = per_1x32_mx_quant(x.transpose(0, 1), mode)
        assert (q.shape, scale.shape) == ((5, 3, shape[-1]), (5, 3, 2))
        q, scale = fk.mx_quant(x, mode, "nearest")
        assert (tuple(q.shape), q.dtype, tuple(scale.shape)) == (shape, dtype, (3, 5, 2))
        codes, scales = reference(x.double().numpy().reshape(-1, 32), mode, "nearest")
        assert (q.view(torch.uint8).reshape(30, -1).numpy() == codes).all()
        assert (scale.reshape(-1).numpy() == scales).all()
    assert per_1x32_mx_quant(x[:0])[1].shape == (0, 5, 2)
    torch.library.opcheck(torch.ops.flydsl.mx_quant, (x, "fp4", "up"), test_utils=("test_schema", "test_faketensor"))


@pytest.mark.usefixtures("gfx950")
@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: per_1x32_mx_quant(torch.ones(2, 40)), "N a multiple of 32"),
        (lambda: per_1x32_mx_quant(torch.ones(2, 32).double()), "x is torch.float64"),
        (lambda: per_1x32_mx_quant(torch.ones(2, 32), "fp6"), "quant_mode 'fp6' is not supported"),
        (lambda: build_mx_quant_module("bf16", "fp4", "down"), "rounding 'down' is not supported"),
        (lambda: build_mx_quant_module()(*[torch.zeros(64, dtype=torch.bfloat16)] * 3, 2), "argument 'Output'"),
    ],
)
def test_refusals(call, said):
    with pytest.raises((ValueError, TypeError), match=said):
        call()


def test_another_target_is_told_what_it_has(arch):
    if arch == "gfx950":
        pytest.skip("gfx950 quantises")
    with pytest.raises(RuntimeError, match="per_1x32_mx_quant needs gfx950"):
        per_1x32_mx_quant(torch.ones(2, 32))
