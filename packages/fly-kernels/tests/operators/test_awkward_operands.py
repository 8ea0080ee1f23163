# SPDX-License-Identifier: Apache-2.0
"""Every operator on awkward tensors: few, odd and no elements, other ranks, memory not contiguous or not aligned."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as functional
from rows import layernorm, rmsnorm

import flydsl.kernels as kernels

TOLERANCE = {torch.float32: 2e-5, torch.bfloat16: 1.6e-2}


def weights(x):
    """Three weights of the last dimension, between 0.5 and 1.5; without a generator, which no graph takes."""
    at = torch.arange(1, x.shape[-1] + 1, dtype=torch.float32)
    return [((at * factor) % 1.0 + 0.5).to(x.dtype) for factor in (0.618, 0.755, 0.570)]


def flat(norm):
    """A norm of rows.py, of any leading dimensions."""
    return lambda x, *others: norm(x.reshape(-1, x.shape[-1]), *others)[0].view(x.shape)


rms, layer = flat(rmsnorm), flat(layernorm)


def quantised(y):
    scale = y.abs().amax(-1) / 127
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    return y / scale[..., None], scale


# name -> (what ours gives, what it should be in float64), of a tensor x of any rank.
CASES = {
    "absolute": (lambda x: kernels.absolute(x), torch.abs),
    "add": (lambda x: kernels.add(x, x), lambda x: x + x),
    "argmax": (lambda x: kernels.argmax(x), lambda x: x.argmax(-1)),
    "exp": (lambda x: kernels.exp(x), torch.exp),
    "fused_add_layernorm": (
        lambda x: kernels.fused_add_layernorm(x, x, *weights(x)[:2]),
        lambda x: (layer(2 * x, *weights_of(x)[:2]), 2 * x),
    ),
    "fused_add_layernorm_quant": (
        lambda x: kernels.fused_add_layernorm_quant(x, x, *weights(x)),
        lambda x: between(quantised(layer(2 * x, *weights_of(x)[:2]) * weights_of(x)[2]), 2 * x),
    ),
    "fused_add_rmsnorm": (
        lambda x: kernels.fused_add_rmsnorm(x, x, weights(x)[0]),
        lambda x: (rms(2 * x, weights_of(x)[0]), 2 * x),
    ),
    "fused_add_rmsnorm_quant": (
        lambda x: kernels.fused_add_rmsnorm_quant(x, x, weights(x)[0]),
        lambda x: between(quantised(rms(2 * x, weights_of(x)[0])), 2 * x),
    ),
    "geglu": (lambda x: kernels.geglu(twice(x)), lambda x: functional.gelu(x) * x),
    "gelu": (lambda x: kernels.gelu(x), functional.gelu),
    "layernorm": (lambda x: kernels.layernorm(x, *weights(x)[:2]), lambda x: layer(x, *weights_of(x)[:2])),
    "layernorm_quant": (
        lambda x: kernels.layernorm_quant(x, *weights(x)[:2]),
        lambda x: quantised(layer(x, *weights_of(x)[:2])),
    ),
    "log": (lambda x: kernels.log(x.abs() + 0.5), lambda x: torch.log(x.abs() + 0.5)),
    "maximum": (lambda x: kernels.maximum(x, -x), torch.abs),
    "mean": (lambda x: kernels.mean(x), lambda x: x.mean(-1)),
    "multiply": (lambda x: kernels.multiply(x, x), lambda x: x * x),
    "per_block_quant": (lambda x: kernels.per_block_quant(x, "int8", 256), lambda x: quantised_blocks(x, 256)),
    "per_token_quant": (lambda x: kernels.per_token_quant(x, "int8"), quantised),
    "relu": (lambda x: kernels.relu(x), torch.relu),
    "rmsnorm": (lambda x: kernels.rmsnorm(x, weights(x)[0]), lambda x: rms(x, weights_of(x)[0])),
    "rmsnorm_quant": (
        lambda x: kernels.rmsnorm_quant(x, weights(x)[0], weights(x)[2]),
        lambda x: quantised(rms(x, weights_of(x)[0]) * weights_of(x)[2]),
    ),
    "row_max": (lambda x: kernels.row_max(x), lambda x: x.amax(-1)),
    "row_sum": (lambda x: kernels.row_sum(x), lambda x: x.sum(-1)),
    "rsqrt": (lambda x: kernels.rsqrt(x.abs() + 0.5), lambda x: torch.rsqrt(x.abs() + 0.5)),
    "sigmoid": (lambda x: kernels.sigmoid(x), torch.sigmoid),
    "silu": (lambda x: kernels.silu(x), functional.silu),
    "softmax": (lambda x: kernels.softmax(x), lambda x: torch.softmax(x, -1)),
    "softplus": (lambda x: kernels.softplus(x), functional.softplus),
    "sqrt": (lambda x: kernels.sqrt(x.abs()), lambda x: torch.sqrt(x.abs())),
    "swiglu": (lambda x: kernels.swiglu(twice(x)), lambda x: functional.silu(x) * x),
    "tanh": (lambda x: kernels.tanh(x), torch.tanh),
}
# Their operands are no rows: tests of their own.
ELSEWHERE = {
    "gemm": "test_gemm.py",
    "grouped_gemm": "../gemm/test_grouped_gemm.py",
    "flash_attention": "test_flash_attention.py",
    "rope_cache": "test_operators.py",
    "per_tensor_quant": "../quant/test_exact_quant.py",  # one scale, of no elements too
    "per_block2d_quant": "../quant/test_exact_quant.py",  # of two dimensions, rows of whole vectors
    "mx_quant": "../quant/test_mx_quant.py",  # of gfx950 alone
}


def weights_of(x):
    """The same in float64 as `weights` of a tensor of the dtype that is tested."""
    return [one.double() for one in weights(x.to(KIND["dtype"]))]


KIND = {"dtype": torch.float32}


def twice(x):
    return torch.cat([x, x], dim=-1)


def between(pair, added):
    return pair[0], added, pair[1]


def quantised_blocks(x, block):
    blocks = -(-x.shape[-1] // block)
    padded = functional.pad(x, (0, blocks * block - x.shape[-1])).unflatten(-1, (blocks, block))
    codes, scale = quantised(padded)
    return codes.flatten(-2)[..., : x.shape[-1]], scale


def randn(*shape, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape))).to(dtype)


TENSORS = {
    "one element": lambda: randn(1),
    "a prime of one row": lambda: randn(127),
    "three dimensions": lambda: randn(2, 3, 65),
    "more than a tile of bf16": lambda: randn(3, 2049, dtype=torch.bfloat16),
    "every second column": lambda: randn(3, 130)[:, ::2],
    "transposed": lambda: randn(129, 3).t(),
    "from the second element on": lambda: randn(3 * 65 + 1)[1:].view(3, 65),
    "one row for all": lambda: randn(1, 65).expand(3, 65),
}


def test_every_operator_is_in_the_table():
    assert set(CASES) | set(ELSEWHERE) == set(kernels.OPERATORS)
    for name, file in ELSEWHERE.items():
        assert (
            f"kernels.{name}(" in (Path(__file__).parent / file).read_text()
            or f"{name}(" in (Path(__file__).parent / file).read_text()
        )


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", TENSORS)
def test_operator(name, kind, monkeypatch):
    ours, theirs = CASES[name]
    x = TENSORS[kind]()
    before = x.clone()
    monkeypatch.setitem(KIND, "dtype", x.dtype)
    got, expected = ours(x), theirs(x.double())
    assert torch.equal(x, before)
    if isinstance(got, torch.Tensor):
        got, expected = (got,), (expected,)
    for one, want in zip(got, expected, strict=True):
        assert one.shape == want.shape
        assert one.is_contiguous()
        if one.dtype == torch.int8:
            assert (one.double() - want).abs().max() <= 1 + 2e-2
        elif one.dtype == torch.int64:
            assert torch.equal(one, want)
        else:
            tolerance = TOLERANCE[x.dtype]
            torch.testing.assert_close(one.double(), want, rtol=tolerance, atol=tolerance * max(1, x.shape[-1] ** 0.5))


@pytest.mark.parametrize("name", CASES)
def test_no_elements(name):
    for shape in ((0, 8), (2, 0, 8)):
        got = CASES[name][0](torch.empty(shape))
        for one in got if isinstance(got, tuple) else (got,):
            assert one.numel() == 0
            assert one.shape[: len(shape) - 1] == shape[:-1]


@pytest.mark.parametrize("name", CASES)
def test_compile_keeps_the_operator(name):
    """One graph, the operator's own node in it, and the same bits as without torch.compile."""
    graphs = []

    def backend(graph, example_inputs):
        graphs.append([str(node.target) for node in graph.graph.nodes if node.op == "call_function"])
        return graph.forward

    torch._dynamo.reset()  # the operators come here by one function, whose versions are counted
    ours, x = CASES[name][0], randn(3, 40)
    compiled = torch.compile(lambda x: ours(x), backend=backend, fullgraph=True)
    for got, want in zip(listed(compiled(x)), listed(ours(x)), strict=True):
        assert torch.equal(got, want)
    assert len(graphs) == 1
    assert any(target.startswith("flydsl.") for target in graphs[0])


def listed(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]
