# SPDX-License-Identifier: Apache-2.0
"""The operator gemm with scales of parts of K: with what the quantisers give, under torch.compile, and refusals."""

import pytest
import torch

import flydsl.kernels as fk
import flydsl.kernels.operators.gemm  # noqa: F401  (registers torch.ops.flydsl.scaled_gemm)
from flydsl.kernels.common.shuffle import shuffle_weight


def fp8(arch):
    return torch.float8_e4m3fnuz if arch == "gfx942" else torch.float8_e4m3fn


def block_problem(arch, rows, n, k):
    generator = torch.Generator().manual_seed(rows + n)
    x = torch.randn(rows, k, generator=generator).bfloat16()
    a, a_scale = fk.per_block_quant(x, "fp8")
    b = torch.randn(n, k, generator=generator).to(fp8(arch))
    b_scale = torch.exp2(torch.randn(-(-n // 128), k // 128, generator=generator))
    left = a.double() * a_scale.double().repeat_interleave(128, 1)
    right = b.double() * b_scale.double().repeat_interleave(128, 0)[:n].repeat_interleave(128, 1)
    return a, b, a_scale, b_scale, left @ right.t()


def close(got, expected):
    assert ((got.double() - expected).abs() <= expected.abs() * 2.0**-7 + expected.abs().max() * 2.0**-12).all()


@pytest.mark.parametrize(
    ("rows", "n", "k", "shuffled"), [(1, 144, 256, True), (20, 100, 512, False), (70, 192, 384, True)]
)
def test_blocks_of_128(arch, rows, n, k, shuffled):
    a, b, a_scale, b_scale, expected = block_problem(arch, rows, n, k)
    weight = shuffle_weight(b) if shuffled else b
    got = fk.gemm(a, weight, a_scale=a_scale, b_scale=b_scale, block=128, shuffled=shuffled)
    assert got.dtype == torch.bfloat16
    close(got, expected)
    again = fk.gemm(a[None], weight, a_scale=a_scale[None], b_scale=b_scale, block=128, shuffled=shuffled)
    assert torch.equal(again[0], got)


@pytest.mark.parametrize("modes", [("fp4", "fp4"), ("fp8", "fp4"), ("fp8", "fp8")])
def test_groups_of_32(arch, modes):
    if arch != "gfx950":
        pytest.skip("scaled matrix instructions are gfx950's")
    x, w = torch.randn(20, 256), torch.randn(64, 256)
    (a, a_scale), (b, b_scale) = fk.mx_quant(x, modes[0]), fk.mx_quant(w, modes[1])
    got = fk.gemm(a, b, a_scale=a_scale, b_scale=b_scale, block=32, out_dtype=torch.float16)
    exact = x.double() @ w.double().t()
    # Elements are off by a sixteenth (fp8) or a quarter (fp4) of themselves at most.
    off = sum({"fp4": 0.25, "fp8": 0.0625}[mode] for mode in modes)
    assert (got.double() - exact).norm() <= off * exact.norm()


def test_is_one_operator(arch):
    a, b, a_scale, b_scale, expected = block_problem(arch, 9, 64, 256)
    arguments = (a, b, a_scale, b_scale, 128, torch.bfloat16, False)
    torch.library.opcheck(torch.ops.flydsl.scaled_gemm, arguments, test_utils="test_faketensor")
    compiled = torch.compile(
        lambda *one: fk.gemm(one[0], one[1], a_scale=one[2], b_scale=one[3], block=128), fullgraph=True, backend="eager"
    )
    close(compiled(a, b, a_scale, b_scale), expected)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"block": None}, "a_scale, b_scale and block go together"),
        ({"block": 64}, "block is 128 .* or 32"),
        ({"b_scale": torch.ones(2, 2)}, r"b_scale: expected \(1, 2\) of torch.float32, got \(2, 2\)"),
        ({"bias": torch.ones(64)}, "there are no other scales, bias"),
        ({"out_dtype": torch.float32}, "out_dtype is one of torch.bfloat16, torch.float16"),
    ],
)
def test_refusals(arch, change, said):
    a, b, a_scale, b_scale, _ = block_problem(arch, 9, 64, 256)
    with pytest.raises(ValueError, match=said):
        fk.gemm(a, b, **({"a_scale": a_scale, "b_scale": b_scale, "block": 128} | change))


def test_groups_of_32_elsewhere(arch):
    if arch == "gfx950":
        pytest.skip("gfx950 has them")
    q, scale = torch.zeros(4, 64, dtype=torch.uint8), torch.zeros(4, 4, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match=r"block = 32 needs gfx950; .* It has fp8 with a scale for 128 of K"):
        fk.gemm(q, q, a_scale=scale, b_scale=scale, block=32)
