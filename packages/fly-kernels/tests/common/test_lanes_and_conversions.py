# SPDX-License-Identifier: Apache-2.0
"""Exchanges between lanes, element types by name, rounding by random bits, fast functions: against numpy."""

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.common import kernels_common
from flydsl.kernels.common.dpp_utils import dpp_xor_f32, update_dpp_i32
from flydsl.kernels.common.utils import exp2_f32_fast, rcp_f32

LANES = 64


def elementwise(function):
    """A launcher of one wave: Out[t] = function(X[t], R[t])."""

    @flyc.kernel
    def kernel(X: fx.Tensor, R: fx.Tensor, Out: fx.Tensor):
        at = fx.block_idx.x * LANES + fx.thread_idx.x
        Out[at] = function(X[at], R[at])

    @flyc.jit
    def launch(X: fx.Tensor, R: fx.Tensor, Out: fx.Tensor, blocks: fx.Int32, stream: fx.Stream = fx.Stream(None)):
        kernel(X, R, Out).launch(grid=(blocks,), block=(LANES,), stream=stream)

    return launch


def evaluate(run, function, x, r=None, dtype=None):
    out = run.empty(x, dtype=dtype)
    r = torch.zeros_like(x, dtype=torch.int32) if r is None else r
    run(elementwise(function), x, r, out, x.numel() // LANES, writes=[out], seeds=[0])
    return out


@pytest.mark.parametrize("offset", [1, 2, 4, 8])
def test_dpp_xor(offset, run):
    x = torch.randn(LANES, generator=torch.Generator().manual_seed(offset))
    out = evaluate(run, lambda value, _: dpp_xor_f32(value, offset), x)
    assert torch.equal(out, x[torch.arange(LANES) ^ offset])


@pytest.mark.parametrize("offset", [0, 3, 16, True])
def test_dpp_xor_refuses_other_offsets(offset):
    with pytest.raises(ValueError, match="lane xor 1, 2, 4 or 8"):
        dpp_xor_f32(1.0, offset)


def test_update_dpp_masks_and_bounds(run):
    """row_shr:4: lane t reads lane t - 4 of its row."""
    x = torch.arange(LANES, dtype=torch.int32) + 100
    lane = np.arange(LANES)
    shifted = np.where(lane % 16 >= 4, lane + 96, -1)  # -1: no such lane

    def check(expected, **masks):
        out = evaluate(run, lambda value, _: update_dpp_i32(fx.Int32(7), value, 0x114, **masks), x)
        np.testing.assert_array_equal(out.numpy(), expected)

    check(np.where(shifted < 0, 7, shifted))
    check(np.where(shifted < 0, 0, shifted), bound_ctrl=True)
    check(np.where((shifted < 0) | (lane // 16 % 2 == 1), 7, shifted), row_mask=0b0101)
    check(np.where((shifted < 0) | (lane % 16 // 4 != 2), 7, shifted), bank_mask=0b0100)


@pytest.mark.parametrize(("control", "masks", "named"), [(512, {}, "dpp_ctrl"), (0, {"row_mask": 16}, "row_mask")])
def test_update_dpp_refuses_fields_that_do_not_fit(control, masks, named):
    with pytest.raises(ValueError, match=named):
        update_dpp_i32(0, 0, control, **masks)


def test_element_types(monkeypatch):
    assert kernels_common.dtype_to_elem_type("bf16") is fx.BFloat16
    with pytest.raises(ValueError, match="'f8'"):
        kernels_common.dtype_to_elem_type("f8")
    for name, kind in (
        ("gfx942", fx.Float8E4M3FNUZ),
        ("gfx950", fx.Float8E4M3FN),
        ("gfx1201", fx.Float8E4M3FN),
        ("gfx1250", fx.Float8E4M3FN),
    ):
        monkeypatch.setattr(kernels_common, "get_rocm_arch", lambda name=name: name)
        assert kernels_common.default_f8_type() is kind
    monkeypatch.setattr(kernels_common, "get_rocm_arch", lambda: "gfx1100")
    with pytest.raises(RuntimeError, match="gfx1100 has no instructions"):
        kernels_common.default_f8_type()


def stochastic(x, noise):
    """bf16 bits of finite f32: the upper half of noise is added below the last bit that stays."""
    return ((x.view(np.uint32).astype(np.uint64) + (noise.view(np.uint32) >> 16)) >> 16).astype(np.uint16)


def test_rounding_by_random_bits(run):
    generator = np.random.default_rng(5)
    x = (generator.standard_normal(512) * 10.0 ** generator.integers(-30, 30, 512)).astype(np.float32)
    noise = generator.integers(-(2**31), 2**31, 512, dtype=np.int64).astype(np.int32)
    noise[:2], x[2] = (0, -1), 0.0
    out = evaluate(
        run, kernels_common.cvt_sr_f32_to_bf16, torch.from_numpy(x), torch.from_numpy(noise), dtype=torch.bfloat16
    )
    np.testing.assert_array_equal(out.view(torch.int16).numpy().view(np.uint16), stochastic(x, noise))


def test_rounding_by_random_bits_keeps_what_is_not_finite(run):
    x = torch.tensor([float("inf"), -float("inf"), float("nan"), 1.0] * 16)
    x.view(torch.int32)[2] = 0x7F800001  # a NaN whose upper half is that of infinity
    noise = torch.full((LANES,), -1, dtype=torch.int32)
    out = evaluate(run, kernels_common.cvt_sr_f32_to_bf16, x, noise, dtype=torch.bfloat16)
    assert torch.equal(out.float()[[0, 1]], x[[0, 1]])
    assert out.isnan().tolist() == x.isnan().tolist()


def test_fast_functions(run):
    x = torch.linspace(-120, 127, 256)
    got = evaluate(run, lambda value, _: exp2_f32_fast(value), x).double()
    exact = torch.exp2(x.double())
    assert ((got - exact).abs() <= exact * 2.0**-22).all()
    x = torch.cat([x, -x]) + 0.3
    got = evaluate(run, lambda value, _: rcp_f32(value), x).double()
    assert ((got * x.double() - 1).abs() <= 2.0**-22).all()


@pytest.mark.parametrize(
    "pair", [("fp8", "fp8"), ("int8", "int4"), ("bf16", "mxfp4"), ("fp4", "fp4"), ("fp16", "fp16")]
)
def test_types_of_a_mixture_of_experts(pair):
    assert kernels_common.validate_moe_dtypes(*pair) is None


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (("fp8", "int8"), "weights of 'int8' are not supported behind activations of 'fp8'; use one of fp8, fp4"),
        (("f64", "f64"), "activations of 'f64' are not supported; use one of fp8, int8"),
    ],
)
def test_types_that_no_experts_multiply(pair, said):
    with pytest.raises(ValueError, match=said):
        kernels_common.validate_moe_dtypes(*pair)


def test_streams_as_tokens():
    """The token is the stream's own, or a cast of its address, which lowering takes apart."""
    found = []

    @flyc.jit
    def launch(stream: fx.Stream = fx.Stream(None)):
        found.append(str(kernels_common.stream_ptr_to_async_token(stream).type))
        found.append(str(kernels_common.stream_ptr_to_async_token(fx.as_ir_value(stream)).type))

    launch()
    assert found == ["!gpu.async.token"] * 2
