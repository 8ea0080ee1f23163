# SPDX-License-Identifier: Apache-2.0
"""Quantisation per row and per block against float64; codes are the nearest, or next to it where two are as near."""

import pytest
import torch
from rows import check, rows

from flydsl.kernels.quant.per_block_quant_kernel import build_per_block_quant_module
from flydsl.kernels.quant.per_token_quant_kernel import build_per_token_quant_module


@pytest.fixture(params=["fp8", "int8"])
def code(request, arch):
    """(name, torch's type, largest number)."""
    if request.param == "int8":
        return "int8", torch.int8, 127.0
    return ("fp8", torch.float8_e4m3fnuz, 240.0) if arch == "gfx942" else ("fp8", torch.float8_e4m3fn, 448.0)


def check_codes(q, exact, kind):
    """`exact`: x / scale in float64."""
    exact = exact.float()
    if kind == torch.int8:
        wrong = (q.float() - exact).abs() > 0.5 + 1e-4
    else:  # half a step: 3 bits of mantissa, down to the type's denormals
        smallest = 2.0**-10 if kind == torch.float8_e4m3fnuz else 2.0**-9
        wrong = (q.float() - exact).abs() > torch.maximum(exact.abs() * 2.0**-4, torch.tensor(smallest / 2)) * 1.0001
    assert not wrong.any(), f"{wrong.sum()} of {wrong.numel()} codes"


def scales(x, largest):
    scale = x.abs().amax(-1) / largest
    scale[scale == 0] = 1
    return scale


@pytest.mark.parametrize(
    ("m", "n", "dtype"), [(3, 8192, "f16"), (1, 7, "f32"), (9, 257, "bf16"), (2, 1000, "f32"), (2, 70001, "bf16")]
)
def test_per_token(m, n, dtype, code, run):
    name, kind, largest = code
    x = rows(m, n, dtype, scale=3.0)
    q, scale = run.empty(x, dtype=kind), run.empty(x, (m,), torch.float32)
    run(build_per_token_quant_module(n, dtype, name), x, q, scale, m, writes=[q, scale])
    expected = scales(x.double(), largest)
    check(scale, expected, "f32")
    check_codes(q, x.double() / expected[:, None], kind)


@pytest.mark.parametrize(
    ("m", "n", "dtype", "block"),
    [
        (3, 4096, "bf16", 128),
        (2, 1000, "f16", 128),
        (5, 256, "f32", 64),
        (1, 8, "bf16", 32),
        (2, 2056, "bf16", 512),
        (3, 2049, "f16", 128),  # one more than the vectors of a workgroup
        (5, 131, "f32", 16),
        (1, 1, "bf16", 128),
        (2, 127, "bf16", 128),
        (2, 70001, "f32", 128),
    ],
)
def test_per_block(m, n, dtype, block, code, run):
    name, kind, largest = code
    x = rows(m, n, dtype, scale=3.0)
    blocks = -(-n // block)
    q, scale = run.empty(x, dtype=kind), run.empty(x, (m, blocks), torch.float32)
    run(build_per_block_quant_module(n, dtype, name, block), x, q, scale, m, writes=[q, scale])
    padded = torch.zeros(m, blocks * block, dtype=torch.float64)
    padded[:, :n] = x.double()
    expected = scales(padded.view(m, blocks, block), largest)
    check(scale, expected, "f32")
    check_codes(q, x.double() / expected.repeat_interleave(block, dim=1)[:, :n], kind)


def test_zeros_have_the_scale_1(code, run):
    name, kind, _ = code
    x = torch.zeros(2, 256)
    for build, shape in ((build_per_token_quant_module, (2,)), (build_per_block_quant_module, (2, 2))):
        q, scale = run.empty(x, dtype=kind), run.empty(x, shape)
        run(build(256, "f32", name), x, q, scale, 2, writes=[q, scale])
        assert (q.float() == 0).all()
        assert (scale == 1).all()


def test_fp8_into_int8_memory_has_the_same_bits(arch, run):
    x = rows(2, 512, "bf16")
    kind = torch.float8_e4m3fnuz if arch == "gfx942" else torch.float8_e4m3fn
    q, raw, scale = run.empty(x, dtype=kind), run.empty(x, dtype=torch.int8), run.empty(x, (2,), torch.float32)
    kernel = build_per_token_quant_module(512, "bf16", "fp8")
    run(kernel, x, q, scale, 2, writes=[q, scale])
    run(kernel, x, raw, scale, 2, writes=[raw, scale])
    assert torch.equal(q.view(torch.int8), raw)


def test_refusals(arch):
    other = torch.float8_e4m3fn if arch == "gfx942" else torch.float8_e4m3fnuz
    kernel = build_per_token_quant_module(64, "f32", "fp8")
    with pytest.raises(TypeError, match="argument 'Output': expected Float8E4M3"):
        kernel(torch.ones(1, 64), torch.empty(1, 64).to(other), torch.empty(1), 1)
    with pytest.raises(ValueError, match="quant_dtype_str 'fp4' is not supported"):
        build_per_token_quant_module(64, "f32", "fp4")
    with pytest.raises(ValueError, match="N must be a positive integer, got 0"):
        build_per_block_quant_module(0, "bf16")
    with pytest.raises(ValueError, match="block must be one of 32, 64, 128, 256, 512 for bf16, got 96"):
        build_per_block_quant_module(96, "bf16", block=96)


@pytest.mark.parametrize(("n", "dtype", "vector"), [(2049, "bf16", 8), (130, "f32", 4)])
def test_rows_that_nvidias_gpus_cannot_access_in_vectors_are_refused(n, dtype, vector, monkeypatch):
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "sm_90a")
    monkeypatch.setenv("ARCH", "sm_90a")
    with pytest.raises(ValueError, match=f"N must be a multiple of {vector} for {dtype} on sm_90a.* got {n}"):
        build_per_block_quant_module(n, dtype, "int8")
