# SPDX-License-Identifier: Apache-2.0
"""The operator gemm: against float64, under torch.compile, and what it refuses."""

import pytest
import torch

import flydsl.kernels
import flydsl.kernels.operators.gemm as operator  # which registers torch.ops.flydsl.gemm
from flydsl.kernels.common.shuffle import shuffle_weight


def fp8(arch):
    return torch.float8_e4m3fnuz if arch == "gfx942" else torch.float8_e4m3fn


def operands(rows, n, k, dtype):
    generator = torch.Generator().manual_seed(rows + n + k)
    if dtype == torch.int8:
        return tuple(torch.randint(-9, 9, (m, k), generator=generator).to(dtype) for m in (rows, n))
    return tuple(torch.randn(m, k, generator=generator).to(dtype) for m in (rows, n))


def close(got, expected, ulp=2.0**-7):
    assert ((got.double() - expected).abs() <= ulp * expected.abs() + 1e-3 * expected.abs().max()).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("rows", "n", "k"), [(1, 64, 32), (20, 100, 256), (70, 192, 320)])
def test_is_a_linear_layer(dtype, rows, n, k):
    a, b = operands(rows, n, k, dtype)
    got = flydsl.kernels.gemm(a, b)
    assert got.dtype == dtype
    close(got, torch.nn.functional.linear(a.double(), b.double()))


def test_everything_at_once(arch):
    for dtype in (torch.int8, fp8(arch)):
        a, b = operands(24, 64, 128, dtype)
        scale_a, scale_b = torch.rand(24) * 0.01, torch.rand(64)
        bias, residual = torch.randn(64).half(), torch.randn(24, 64).half()
        got = flydsl.kernels.gemm(
            a, b, scale_a=scale_a, scale_b=scale_b, bias=bias, residual=residual, activation="silu",
            out_dtype=torch.float16,
        )  # fmt: skip
        total = (a.double() @ b.double().t()) * scale_a.double()[:, None] * scale_b.double() + bias.double()
        close(got, torch.nn.functional.silu(total) + residual.double())


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_scale_for_all(arch, shape):
    """As `per_tensor_quant` gives them; the other operand may have one for each row."""
    a, b = operands(24, 64, 128, fp8(arch))
    one, each = torch.tensor(0.037).reshape(shape), torch.rand(64)
    sums = a.double() @ b.double().t()
    close(flydsl.kernels.gemm(a, b, scale_a=one, scale_b=one), sums * one.double().item() ** 2)
    close(flydsl.kernels.gemm(a, b, scale_a=one, scale_b=each), sums * one.double().item() * each.double())
    with pytest.raises(ValueError, match=r"scale_b: expected \(64,\) of torch.float32, or one number, got \(63,\)"):
        flydsl.kernels.gemm(a, b, scale_a=one, scale_b=each[1:])


def test_leading_dimensions_shuffled_weights_and_no_rows():
    a, b = operands(30, 64, 128, torch.bfloat16)
    expected = (a.double() @ b.double().t()).view(2, 3, 5, 64)
    close(flydsl.kernels.gemm(a.view(2, 3, 5, 128), shuffle_weight(b), shuffled=True), expected)
    assert flydsl.kernels.gemm(a[:0], b).shape == (0, 64)
    close(flydsl.kernels.gemm(a[0], b), expected.view(30, 64)[0])


def test_a_view_whose_rows_are_apart_is_copied():
    a, b = operands(8, 64, 256, torch.float16)
    close(flydsl.kernels.gemm(a[:, 3:131], b[:, 3:131]), a[:, 3:131].double() @ b[:, 3:131].double().t())


def test_the_name_is_also_that_of_a_package():
    import flydsl.kernels.gemm.config as config
    from flydsl.kernels.gemm import preshuffle_gemm

    a, b = operands(2, 64, 64, torch.float16)
    assert torch.equal(flydsl.kernels.gemm(a, b), operator.gemm(a, b))
    assert preshuffle_gemm.compile_preshuffle_gemm.__module__ == "flydsl.kernels.gemm.preshuffle_gemm"
    assert config.default_config


def test_library_rules():
    a, b = operands(3, 64, 64, torch.bfloat16)
    arguments = (a, b, None, None, torch.zeros(64, dtype=torch.bfloat16), None, "gelu", torch.bfloat16, False)
    torch.library.opcheck(torch.ops.flydsl.gemm.default, arguments)


def test_stays_in_the_graph():
    a, b = operands(5, 64, 128, torch.bfloat16)
    bias = torch.randn(64).bfloat16()

    def layer(x):
        return flydsl.kernels.gemm(x * 2, b, bias=bias, activation="relu") + 1

    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(a), layer(a))


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"bias": torch.zeros(63).half()}, r"bias: expected \(64,\) of torch.float16, got \(63,\)"),
        ({"bias": torch.zeros(64)}, r"bias: expected \(64,\) of torch.float16, got \(64,\) of torch.float32"),
        ({"residual": torch.zeros(4, 65).half()}, r"residual: expected \(4, 64\)"),
        ({"scale_a": torch.ones(4)}, "scales are for 8-bit types"),
        ({"activation": "tanh"}, "activation 'tanh' is not supported"),
        ({"out_dtype": torch.float64}, "torch.float64 is not supported"),
    ],
)
def test_refusals(keywords, said):
    a, b = operands(4, 64, 64, torch.float16)
    with pytest.raises(ValueError, match=said):
        flydsl.kernels.gemm(a, b, **keywords)


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (torch.zeros(4, 64).half(), torch.zeros(64, 32).half(), r"expected a \(M, K\) and b \(N, K\)"),
        (torch.zeros(4, 64).half(), torch.zeros(64, 64), "a and b must have one type"),
        (torch.zeros(4, 64), torch.zeros(64, 64), "f32 operands have no kernel"),
        (torch.zeros(4, 0).half(), torch.zeros(64, 0).half(), "K is 0"),
        (torch.zeros(4, 48).half(), torch.zeros(64, 48).half(), "K = 48 fp16 are 96 bytes, no multiple of 64"),
        (torch.zeros(4, 64).half(), torch.zeros(66, 64).half(), "N = 66 is no multiple of 4"),
        (torch.zeros(4, 64, dtype=torch.int8), torch.zeros(64, 64, dtype=torch.int8), "needs scale_a and scale_b"),
    ],
)
def test_operands_that_do_not_fit(a, b, said):
    with pytest.raises(ValueError, match=said):
        flydsl.kernels.gemm(a, b)


def test_int4_has_instructions_on_other_chips(arch):
    """Of two operands of int4; `test_wmma_gemm` has those that have it."""
    a, b = torch.zeros(4, 64, dtype=torch.int8), torch.zeros(64, 64, dtype=torch.int8)
    with pytest.raises(ValueError, match=f"{arch} has no instruction that multiplies two int4, gfx1100 and gfx1201"):
        flydsl.kernels.gemm(a, b, scale_a=torch.ones(4), scale_b=torch.ones(64), in_dtype="int4")


def test_fp8_of_the_other_architecture_is_refused(arch):
    other = torch.float8_e4m3fn if arch == "gfx942" else torch.float8_e4m3fnuz
    a, b = operands(4, 64, 64, other)
    with pytest.raises(ValueError, match=f"{arch} computes with"):
        flydsl.kernels.gemm(a, b, scale_a=torch.ones(4), scale_b=torch.ones(64))
