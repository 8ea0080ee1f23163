# SPDX-License-Identifier: Apache-2.0
"""Kernels as existing code calls them: the ways to launch, the shapes and tolerances that it tests with.

    launch = build_…(…); launch(*tensors, M, stream)
    compiled = flyc.compile(launch, *arguments); compiled(*arguments)
    _run_compiled(launch, *arguments)
    pointers from flyc.from_c_void_p, and addresses in their place once it is compiled

Rows are fewer than there where a row says so: the emulated device takes a second for some 10 MB.
"""

import pytest
import torch
import torch.nn.functional as functional
from verify import verify_output

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.common.tensor_shim import _run_compiled
from flydsl.kernels.norm.layernorm_kernel import (
    build_fused_add_layernorm_dynamicquant_module,
    build_fused_add_layernorm_module,
    build_layernorm_bwd_module,
    build_layernorm_dynamicquant_module,
    build_layernorm_module,
    build_layernorm_smoothquant_module,
    layernorm,
    layernorm_bwd,
    layernorm_fwd,
)
from flydsl.kernels.norm.rmsnorm_autotune import rmsnorm_autotuned, rmsnorm_direct
from flydsl.kernels.norm.rmsnorm_bwd_kernel import (
    build_fused_add_rmsnorm_bwd_two_stage_module,
    build_rmsnorm_bwd_module,
    build_rmsnorm_bwd_two_stage_module,
)
from flydsl.kernels.norm.rmsnorm_kernel import (
    build_fused_add_rmsnorm_module,
    build_fused_add_rmsnorm_smoothquant_module,
    build_rmsnorm_dynamicquant_module,
    build_rmsnorm_module,
    fused_add_rmsnorm,
    rmsnorm,
    rmsnorm_bwd,
    rmsnorm_fwd,
)
from flydsl.kernels.norm.softmax_bwd_kernel import build_softmax_bwd_module
from flydsl.kernels.norm.softmax_kernel import build_softmax_module

EPS = 1e-5
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
SOFTMAX_ATOL = {"f32": 1e-5, "f16": 1e-2, "bf16": 2e-2}
NORM_ATOL = {"f32": 1e-4, "f16": 1e-2, "bf16": 2e-2}
DX_ATOL = {"f32": 1e-3, "f16": 3e-2, "bf16": 2e-1}
DWEIGHT = {"f32": (1e-2, 1e-4), "f16": (1e-1, 3e-2), "bf16": (5e-1, 1e-1)}  # atol, rtol

FORWARD = [
    (64, 256, "f32"),
    (128, 1024, "f32"),
    (32, 128, "f16"),
    (64, 2000, "f32"),
    (16, 512, "bf16"),
    (8, 8192, "bf16"),  # of 64 and of 32,768
]
BACKWARD = [(16, 4096, "f16"), (17, 4097, "bf16"), (33, 3001, "f32")]  # a fraction of the rows there


class TorchStream:
    """What `torch.cuda.current_stream()` gives."""

    cuda_stream = 0


def randn(*shape, dtype="f32", seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(DTYPES[dtype])


def weight(n, dtype="f32", seed=1):
    return (torch.rand(n, generator=torch.Generator().manual_seed(seed)) + 0.5).to(DTYPES[dtype])


def call(launch, *arguments):
    launch(*arguments)


def compile_and_call(launch, *arguments):
    flyc.compile(launch, *arguments)(*arguments)


WAYS = {"call": call, "compile": compile_and_call, "_run_compiled": _run_compiled}
STREAMS = {"None": None, "integer": 0, "torch": TorchStream(), "fx": fx.Stream(None)}


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("way", WAYS)
def test_ways_to_launch(way, stream):
    x = randn(64, 256)
    y = torch.full_like(x, float("nan"))
    WAYS[way](build_softmax_module(64, 256, "f32"), x, y, 64, STREAMS[stream])
    assert (y - torch.softmax(x, -1)).abs().max() <= SOFTMAX_ATOL["f32"]


def test_keywords_and_numbers_of_the_language():
    x = randn(8, 256)
    for keywords in ({"m_in": 8}, {"m_in": fx.Int32(8), "stream": None}, {"m_in": 8, "stream": fx.Stream(None)}):
        y = torch.full_like(x, float("nan"))
        build_softmax_module(M=8, N=256, dtype_str="f32")(x, C=y, **keywords)
        assert (y - torch.softmax(x, -1)).abs().max() <= SOFTMAX_ATOL["f32"]


def test_a_compiled_launcher_takes_other_rows_and_tensors():
    launch = build_rmsnorm_module(256, "f32")
    x, w, y = randn(8, 256), weight(256), torch.empty(8, 256)
    compiled = flyc.compile(launch, x, w, y, 8, None)
    for rows in (8, 3, 1):
        x, y = randn(rows, 256, seed=rows), torch.empty(rows, 256)
        compiled(x, w, y, rows, None)
        assert (y - functional.rms_norm(x, (256,), w, EPS)).abs().max() <= NORM_ATOL["f32"]


def test_tensors_by_dlpack():
    x, y = randn(8, 256), torch.empty(8, 256)
    dynamic = flyc.from_dlpack(x).mark_layout_dynamic(leading_dim=1, divisibility=4)
    build_softmax_module(8, 256, "f32")(dynamic, flyc.from_dlpack(y, assumed_align=16), 8, None)
    assert (y - torch.softmax(x, -1)).abs().max() <= SOFTMAX_ATOL["f32"]


@pytest.mark.parametrize(("m", "n", "dtype"), FORWARD)
def test_softmax(m, n, dtype):
    x = randn(m, n, dtype=dtype)
    y = torch.full_like(x, float("nan"))
    build_softmax_module(m, n, dtype)(x, y, m, None)
    assert (y.float() - torch.softmax(x.float(), -1)).abs().max() <= SOFTMAX_ATOL[dtype]


@pytest.mark.parametrize(("m", "n", "dtype"), [(64, 256, "f32"), (8, 4096, "bf16"), (2, 65536, "f32")])
def test_softmax_backward(m, n, dtype):
    y, dy = torch.softmax(randn(m, n), -1).to(DTYPES[dtype]), randn(m, n, dtype=dtype, seed=1)
    dx = torch.full_like(y, float("nan"))
    build_softmax_bwd_module(n, dtype)(dy, y, dx, m, None)
    expected = y.float() * (dy.float() - (dy.float() * y.float()).sum(-1, keepdim=True))
    tolerance = 1e-5 if dtype == "f32" else 2e-2
    torch.testing.assert_close(dx.float(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("m", "n", "dtype"), FORWARD)
def test_norms(m, n, dtype):
    x, residual = randn(m, n, dtype=dtype), randn(m, n, dtype=dtype, seed=1)
    w, b = weight(n, dtype), randn(n, dtype=dtype, seed=2)
    added = x + residual
    y, out = torch.empty_like(x), torch.empty_like(x)
    mean, rstd = torch.empty(m), torch.empty(m)

    def check(inputs, expected):
        assert verify_output(y, expected, NORM_ATOL[dtype], NORM_ATOL[dtype])
        assert (y.float() - expected).abs().max() <= 4 * NORM_ATOL[dtype]
        if inputs is added:
            assert torch.equal(out, added)
        y.fill_(float("nan"))

    build_rmsnorm_module(n, dtype, True)(x, w, y, rstd, m, None)
    check(x, functional.rms_norm(x.float(), (n,), w.float(), EPS))
    torch.testing.assert_close(rstd, torch.rsqrt(x.float().square().mean(-1) + EPS), rtol=1e-3, atol=1e-3)
    build_fused_add_rmsnorm_module(n, dtype)(x, residual, w, y, out, m, None)
    check(added, functional.rms_norm(added.float(), (n,), w.float(), EPS))
    build_layernorm_module(n, dtype, store_stats=True)(x, w, b, y, mean, rstd, m, None)
    check(x, functional.layer_norm(x.float(), (n,), w.float(), b.float(), EPS))
    torch.testing.assert_close(mean, x.float().mean(-1), rtol=1e-3, atol=1e-3)
    build_fused_add_layernorm_module(n, dtype)(x, residual, w, b, y, out, m, None)
    check(added, functional.layer_norm(added.float(), (n,), w.float(), b.float(), EPS))


@pytest.mark.parametrize("quant", ["i8", "int8"])
@pytest.mark.parametrize(("m", "n", "dtype"), [(64, 256, "f32"), (32, 128, "f16"), (16, 512, "bf16")])
def test_quantised_norms(m, n, dtype, quant):
    x, residual = randn(m, n, dtype=dtype), randn(m, n, dtype=dtype, seed=1)
    w, b, s = weight(n, dtype), randn(n, dtype=dtype, seed=2), weight(n, dtype, seed=3)
    q, scale, out = torch.empty(m, n, dtype=torch.int8), torch.empty(m), torch.empty_like(x)
    added = (x + residual).float()

    def check(y):
        expected = y.abs().amax(-1) / 127
        torch.testing.assert_close(scale, expected, rtol=1e-3, atol=1e-6)
        codes = torch.clamp(torch.trunc(y / expected[:, None]), -127, 127)
        assert (q.float() - codes).abs().max() <= 1

    rms = lambda v: functional.rms_norm(v, (n,), w.float(), EPS)  # noqa: E731
    layer = lambda v: functional.layer_norm(v, (n,), w.float(), b.float(), EPS)  # noqa: E731
    build_rmsnorm_dynamicquant_module(n, dtype, quant)(x, w, q, scale, m, None)
    check(rms(x.float()))
    build_fused_add_rmsnorm_smoothquant_module(n, dtype, quant)(x, residual, w, s, q, out, scale, m, None)
    check(rms(added) * s.float())
    build_layernorm_dynamicquant_module(n, dtype, quant)(x, w, b, q, scale, m, None)
    check(layer(x.float()))
    build_layernorm_smoothquant_module(n, dtype, quant)(x, w, b, s, q, scale, m, None)
    check(layer(x.float()) * s.float())
    build_fused_add_layernorm_dynamicquant_module(n, dtype, quant)(x, residual, w, b, q, out, scale, m, None)
    check(layer(added))


def gradients(function, *inputs):
    leaves = [one.detach().float().requires_grad_() for one in inputs[:-1]]
    function(*leaves).backward(inputs[-1].float())
    return [one.grad for one in leaves]


@pytest.mark.parametrize(("m", "n", "dtype"), BACKWARD)
def test_norm_backward(m, n, dtype):
    x, dy, w, b = randn(m, n, dtype=dtype), randn(m, n, dtype=dtype, seed=1), weight(n, dtype), weight(n, dtype, seed=2)
    atol, rtol = DWEIGHT[dtype]
    dx = torch.full_like(x, float("nan"))
    rstd = torch.rsqrt(x.float().square().mean(-1) + EPS)
    expected, expected_dw = gradients(lambda a, c: functional.rms_norm(a, (n,), c, EPS), x, w, dy)
    dw = torch.zeros(n)
    build_rmsnorm_bwd_module(n, dtype)(x, w, dy, rstd, dx, dw, m, None)
    torch.testing.assert_close(dx.float(), expected, rtol=0, atol=DX_ATOL[dtype])
    torch.testing.assert_close(dw, expected_dw, rtol=rtol, atol=atol)
    programs = 8
    dw, partial = torch.full((n,), float("nan")), torch.empty(programs * n)
    build_rmsnorm_bwd_two_stage_module(n, dtype, programs)(x, w, dy, rstd, dx, dw, partial, m, None)
    torch.testing.assert_close(dx.float(), expected, rtol=0, atol=DX_ATOL[dtype])
    torch.testing.assert_close(dw, expected_dw, rtol=rtol, atol=atol)
    build_fused_add_rmsnorm_bwd_two_stage_module(n, dtype, programs)(x, w, dy, dy, rstd, dx, dw, partial, m, None)
    torch.testing.assert_close(dx.float(), expected + dy.float(), rtol=0, atol=2 * DX_ATOL[dtype])
    mean = x.float().mean(-1)
    rstd = torch.rsqrt(x.float().var(-1, unbiased=False) + EPS)
    dgamma, dbias = torch.zeros(n), torch.zeros(n)
    build_layernorm_bwd_module(n, dtype)(x, w, dy, mean, rstd, dx, dgamma, dbias, m, None)
    expected, expected_dw, expected_db = gradients(
        lambda a, c, d: functional.layer_norm(a, (n,), c, d, EPS), x, w, b, dy
    )
    torch.testing.assert_close(dx.float(), expected, rtol=0, atol=DX_ATOL[dtype])
    torch.testing.assert_close(dgamma, expected_dw, rtol=rtol, atol=atol)
    torch.testing.assert_close(dbias, expected_db, rtol=rtol, atol=atol)


def test_operators_of_the_norm_modules():
    x, w, b, dy = randn(16, 512), weight(512), randn(512, seed=2), randn(16, 512, seed=3)
    y, mean, rstd = layernorm_fwd(x, w, b, EPS, store_stats=True)
    torch.testing.assert_close(y, functional.layer_norm(x, (512,), w, b, EPS), rtol=1e-4, atol=1e-4)
    expected = gradients(lambda a, c, d: functional.layer_norm(a, (512,), c, d, EPS), x, w, b, dy)
    for got, want in zip(layernorm_bwd(x, w, dy, mean, rstd, EPS), expected, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3)
    y, rstd = rmsnorm_fwd(x, w, EPS, store_rstd=True)
    expected = gradients(lambda a, c: functional.rms_norm(a, (512,), c, EPS), x, w, dy)
    for got, want in zip(rmsnorm_bwd(x, w, dy, rstd, EPS), expected, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3)
    leaves = [one.clone().requires_grad_() for one in (x.view(2, 8, 512), w, b)]
    layernorm(*leaves, EPS).sum().backward()
    rmsnorm(leaves[0], leaves[1], EPS).sum().backward()
    y, added = fused_add_rmsnorm(leaves[0], leaves[0], leaves[1], EPS, prenorm=True)
    assert torch.equal(added, 2 * leaves[0])
    assert torch.equal(fused_add_rmsnorm(leaves[0], leaves[0], leaves[1], EPS, prenorm=False), y)
    assert all(one.grad.isfinite().all() for one in leaves)


@pytest.mark.parametrize("threads", [128, 256, 512])
def test_rmsnorm_direct(threads):
    x, w, y = randn(8, 4096, dtype="bf16"), weight(4096), torch.empty(8, 4096, dtype=torch.bfloat16)
    expected = functional.rms_norm(x.float(), (4096,), w, EPS)
    rmsnorm_direct(x, w, y, 8, 4096, "bf16", threads, None, "f32")
    assert (y.float() - expected).abs().max() <= 2 * NORM_ATOL["bf16"]
    arguments = (x, w.bfloat16(), y.zero_(), 8, 4096, "bf16", threads, None)
    flyc.compile(rmsnorm_direct, *arguments)(*arguments)
    assert (y.float() - expected).abs().max() <= 4 * NORM_ATOL["bf16"]
    rmsnorm_autotuned(x, w.bfloat16(), y.zero_(), 8)
    assert (y.float() - expected).abs().max() <= 4 * NORM_ATOL["bf16"]


def test_an_output_that_is_off_is_noticed():
    x = randn(64, 256)
    spoilt = x.clone()
    spoilt[:, :3] += 1.0
    assert verify_output(spoilt, x, 1e-3, 1e-3)  # 3 of 256
    spoilt[:, :64] += 1.0
    assert not verify_output(spoilt, x, 1e-3, 1e-3)
    assert not verify_output(torch.full_like(x, float("nan")), x, 1e-3, 1e-3)
