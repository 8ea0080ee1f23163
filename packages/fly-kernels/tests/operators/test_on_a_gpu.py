# SPDX-License-Identifier: Apache-2.0
"""Operators on a GPU: in CUDA graphs, compiled by inductor, on streams of the caller. Skipped on the emulator."""

from __future__ import annotations

import pytest
import torch
from test_operators import compile_arguments

import flydsl.kernels as kernels
from flydsl.kernels.attention.flash_attn_interface import flydsl_flash_attn_func
from flydsl.runtime import current_device

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or current_device().emulated, reason="there is no GPU with a torch for it"
)


def on_the_gpu(arguments):
    return tuple(one.cuda() if isinstance(one, torch.Tensor) else one for one in arguments)


def several(results):
    return results if isinstance(results, tuple) else (results,)


def bits(tensor):
    return tensor.detach().contiguous().view(torch.uint8)


def operator_and_arguments(name, arch):
    if name == "mx_quant" and arch != "gfx950":
        pytest.skip("quantised for the matrix instructions of gfx950")
    return getattr(kernels, name), on_the_gpu(compile_arguments(name))


@pytest.mark.parametrize("name", kernels.OPERATORS)
def test_a_graph_replays_with_other_inputs(name, arch):
    operator, arguments = operator_and_arguments(name, arch)
    operator(*arguments)  # compiles, which a capture may not
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = several(operator(*arguments))
    for one in arguments:
        if isinstance(one, torch.Tensor) and one.dtype.is_floating_point and one.dim() > 1:
            one.copy_(one.flip(0).clone())
    for one in captured:
        one.view(torch.uint8).fill_(0xA5)
    graph.replay()
    torch.cuda.synchronize()
    replayed = [one.clone() for one in captured]
    for got, want in zip(replayed, several(operator(*arguments)), strict=True):
        assert torch.equal(bits(got), bits(want))


@pytest.mark.parametrize("name", kernels.OPERATORS)
def test_inductor_takes_every_operator(name, arch):
    operator, arguments = operator_and_arguments(name, arch)
    torch.compiler.reset()
    compiled = torch.compile(lambda *given: operator(*given), fullgraph=True)
    got, want = several(compiled(*arguments)), several(operator(*arguments))
    assert all(torch.equal(bits(one), bits(other)) for one, other in zip(got, want, strict=True))


def test_work_is_ordered_on_the_stream_of_the_caller():
    x, y = torch.randn(512, 4096, device="cuda"), torch.zeros(512, 4096, device="cuda")
    want = kernels.softmax(x)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)  # y has its values late
        y.copy_(x)
        got = kernels.softmax(y)
    stream.synchronize()
    assert torch.equal(got, want)


def test_reduce_overhead_of_inductor_makes_graphs_of_them():
    def block(x, w):
        return kernels.rmsnorm(kernels.softmax(x), w) * 2

    inputs, w = [torch.randn(64, 256, device="cuda") for _ in range(4)], torch.rand(256, device="cuda")
    torch.compiler.reset()
    compiled = torch.compile(block, fullgraph=True, mode="reduce-overhead")
    with torch.no_grad():
        results = [compiled(x, w).clone() for x in inputs]  # the later ones are replays
    for x, got in zip(inputs, results, strict=True):
        assert torch.allclose(got, block(x, w), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("rows", "n", "k"), [(1, 64, 64), (200, 520, 4096), (4096, 1032, 512)])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_products_of_awkward_shapes(rows, n, k, dtype):
    a, b = (torch.randn(count, k, device="cuda").to(dtype) for count in (rows, n))
    got = kernels.gemm(a, b)
    expected = a.double() @ b.double().t()
    amount = a.double().abs() @ b.double().abs().t()
    half_ulp = 2.0**-8 if dtype == torch.bfloat16 else 2.0**-11
    assert ((got.double() - expected).abs() <= half_ulp * expected.abs() + k * 2.0**-24 * amount).all()


@pytest.mark.parametrize(("rows", "n", "k"), [(16, 1040, 528), (1100, 2048, 272)])
def test_one_scale_for_all(rows, n, k):
    a, scale_a = kernels.per_tensor_quant(torch.randn(rows, k, device="cuda"))
    b, scale_b = kernels.per_tensor_quant(torch.randn(n, k, device="cuda"))
    each = torch.rand(n, device="cuda") + 0.5
    sums = (a.double() @ b.double().t()) * scale_a.double()
    amount = (a.double().abs() @ b.double().abs().t()) * scale_a.double()
    for scale in (scale_b, each):
        got = kernels.gemm(a, b, scale_a=scale_a, scale_b=scale, out_dtype=torch.float32)
        allowed = (2.0**-11 * amount + 2.0**-22 * sums.abs()) * scale.double()
        assert ((got.double() - sums * scale.double()).abs() <= allowed).all()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("length", "head_dim"), [(1000, 64), (2049, 128)])
def test_attention_of_awkward_shapes(length, head_dim, causal):
    q, k, v = (torch.randn(2, length, 4, head_dim, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    got = kernels.flash_attention(q, k, v, causal=causal)
    of_heads = [one.double().transpose(1, 2) for one in (q, k, v)]
    want = torch.nn.functional.scaled_dot_product_attention(*of_heads, is_causal=causal).transpose(1, 2)
    assert (got.double() - want).abs().max() <= 1.2e-2


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("head_dim", [64, 128, 256])
def test_sequences_of_several_lengths(head_dim, causal):
    lengths = [100, 0, 77, 1, 300, 64, 1000]  # the second has no queries, the sixth no keys
    lengths_kv = [100, 30, 129, 513, 300, 0, 900]
    starts, starts_kv = (torch.tensor([0, *some], device="cuda").cumsum(0).int() for some in (lengths, lengths_kv))
    q = torch.randn(sum(lengths), 4, head_dim, device="cuda", dtype=torch.bfloat16)
    k, v = (torch.randn(sum(lengths_kv), 2, head_dim, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    v[sum(lengths_kv[:4]) : sum(lengths_kv[:5])] = torch.inf  # of one sequence, which no other may see
    out = torch.full_like(q, torch.nan)
    _, lse = flydsl_flash_attn_func(
        q, k, v, causal=causal, cu_seqlens_q=starts, cu_seqlens_kv=starts_kv, max_seqlen_q=max(lengths),
        max_seqlen_kv=max(lengths_kv), cross_seqlen=True, out=out, return_lse=True,
    )  # fmt: skip
    for number, (rows, keys) in enumerate(zip(q.split(lengths), k.split(lengths_kv), strict=True)):
        if not len(rows) or number == 4:
            continue
        scores = torch.einsum("ihd,jhd->hij", rows.double(), keys.double().repeat_interleave(2, 1)) * head_dim**-0.5
        if causal:
            last = torch.arange(len(rows), device="cuda")[:, None] + len(keys) - len(rows)
            scores.masked_fill_(torch.arange(len(keys), device="cuda") > last, -torch.inf)
        weights = scores.softmax(-1).nan_to_num(0.0)
        want = torch.einsum("hij,jhd->ihd", weights, v.split(lengths_kv)[number].double().repeat_interleave(2, 1))
        assert (out.split(lengths)[number].double() - want).abs().max() <= 1.2e-2
        want = scores.logsumexp(-1) if len(keys) else torch.full((4, len(rows)), -torch.inf, device="cuda")
        got = lse[number, :, : len(rows)].double()
        assert torch.where(got == want, 0.0, (got - want).abs()).max() <= 1e-4
        assert (lse[number, :, len(rows) :] == -torch.inf).all()
