# SPDX-License-Identifier: Apache-2.0
"""Another division of the work gives the same results; one that cannot be is refused."""

import pytest
import torch
from rows import check, row, rows

from flydsl.kernels.attention.fused_rope_cache_kernel import build_fused_rope_cache_module
from flydsl.kernels.attention.rope_config import RopeConfig, plan_rope, rope_config
from flydsl.kernels.common.row_plan import RowConfig
from flydsl.kernels.common.workgroup_config import WorkgroupConfig, workgroup_config
from flydsl.kernels.elementwise.pointwise_kernel import build_binary_module, build_unary_module
from flydsl.kernels.norm.layernorm_bwd_kernel import build_layernorm_bwd_module
from flydsl.kernels.norm.rmsnorm_bwd_kernel import build_rmsnorm_bwd_two_stage_module
from flydsl.kernels.norm.rmsnorm_kernel import (
    build_fused_add_rmsnorm_module,
    build_fused_add_rmsnorm_smoothquant_module,
)
from flydsl.kernels.quant.per_block_quant_kernel import build_per_block_quant_module


@pytest.mark.parametrize("config", [WorkgroupConfig(64, 1), WorkgroupConfig(1024, 3)], ids=str)
@pytest.mark.parametrize("count", [1, 4096, 5003])
def test_pointwise(config, count, run):
    x, y = rows(1, count, "bf16")[0], rows(1, count, "bf16", seed=1)[0]
    z = run.empty(x)
    run(build_binary_module("mul", "bf16", config), x, y, z, count, writes=[z])
    assert torch.equal(z, x * y)
    run(build_unary_module("neg", "bf16", config=config), x, z, count, writes=[z])
    assert torch.equal(z, -x)


@pytest.mark.parametrize("config", [WorkgroupConfig(64, 3), WorkgroupConfig(512, 2)], ids=str)
@pytest.mark.parametrize("n", [128, 2048, 4096, 5003])
def test_per_block_quant(config, n, run):
    x = rows(3, n, "bf16")
    outputs = []
    for one in (None, config):
        q, scale = run.empty(x, dtype=torch.int8), run.empty(x, (3, -(-n // 128)), torch.float32)
        run(build_per_block_quant_module(n, "bf16", "int8", 128, one), x, q, scale, 3, writes=[q, scale])
        outputs.append((q, scale))
    for one, other in zip(*outputs, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("config", [RowConfig(elements=8, held=8), RowConfig(wave_aim=8, wave_limit=8, block=128)])
@pytest.mark.parametrize("n", [200, 4096])
def test_norms(config, n, run):
    """Rows in other numbers of threads, and rows that are streamed."""
    m = 5
    x, residual, w = rows(m, n, "f32"), rows(m, n, "f32", seed=1), row(n, "f32")
    y, added = run.empty(x), run.empty(x)
    run(build_fused_add_rmsnorm_module(n, "f32", config=config), x, residual, w, y, added, m, writes=[y, added])
    h = (x + residual).double()
    rstd = (h.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
    check(y, h * rstd * w.double(), "f32", slack=4)
    q, scale = run.empty(x, dtype=torch.int8), run.empty(x, (m,))
    kernel = build_fused_add_rmsnorm_smoothquant_module(n, "f32", config=config)
    run(kernel, x, residual, w, w, q, added, scale, m, writes=[q, added, scale])
    check(scale, (h * rstd * w.double() ** 2).abs().amax(-1) / 127, "f32", slack=4)

    dy, dx, dw, partial = rows(m, n, "f32", seed=2), run.empty(x), run.empty(w), run.empty(w, (3 * n,))
    kernel = build_rmsnorm_bwd_two_stage_module(n, "f32", 3, config=config)
    run(kernel, x, w, dy, rstd[:, 0].float(), dx, dw, partial, m, writes=[dx, dw, partial])
    check(dw, (dy.double() * x.double() * rstd.float().double()).sum(0), "f32", slack=4)
    mean, sums = x.mean(-1), [torch.zeros(n), torch.zeros(n)]
    kernel = build_layernorm_bwd_module(n, "f32", config=config)
    run(kernel, x, w, dy, mean, rstd[:, 0].float(), dx, *sums, m, writes=[dx], updates=sums, same_bits=False)
    check(sums[1], dy.double().sum(0), "f32", slack=4)


@pytest.mark.parametrize("config", [RopeConfig(64, 64), RopeConfig(64, 128), RopeConfig(1024, 1024)], ids=str)
@pytest.mark.parametrize(("heads", "kv_heads", "dim"), [(5, 2, 64), (32, 8, 128), (3, 3, 512)])
def test_rope(config, heads, kv_heads, dim, run):
    """Heads of a token in several workgroups, and more tokens in one."""
    tokens, page, generator = 11, 4, torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(tokens, h, dim, generator=generator).bfloat16() for h in (heads, kv_heads, kv_heads))
    tables = [torch.randn(20, dim // 2, generator=generator) for _ in range(2)]
    positions, slots = torch.arange(tokens, dtype=torch.int32) + 3, torch.arange(tokens) - 1
    results = []
    for one in (None, config):
        kernel = build_fused_rope_cache_module(dim, -1, heads, kv_heads, page, config=one)
        caches, outputs = (
            [torch.zeros(3, page, kv_heads, dim).bfloat16() for _ in range(2)],
            (run.empty(q), run.empty(k)),
        )
        inputs = (q, k, v, positions, *tables, slots)
        run(kernel, *inputs, *caches, *outputs, tokens, *[torch.ones(1)] * 2, writes=outputs, updates=caches)
        results.append([*caches, *outputs])
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


def test_plans_of_rope():
    assert plan_rope(9, 4).tokens == 7
    assert plan_rope(9, 4).block == 256
    assert plan_rope(40, 8).block == 320
    for heads in (1, 7, 72, 136, 1000):
        plan = plan_rope(heads, 8, rope_config())
        assert plan.parts * plan.heads_each >= heads
        assert (plan.parts - 1) * plan.heads_each < heads
        assert plan.block <= rope_config().most


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: WorkgroupConfig(100), "threads must be a multiple of 64 up to 1024, got 100"),
        (lambda: WorkgroupConfig(vectors=0), "vectors must be 1 to 16, got 0"),
        (lambda: WorkgroupConfig(threads=True), "threads must be an integer, got True"),
        (lambda: RopeConfig(2048), "threads must be a multiple of 64 up to 1024, got 2048"),
        (lambda: RopeConfig(512, 256), r"most \(256\) is below threads \(512\)"),
    ],
)
def test_refusals(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_defaults():
    assert workgroup_config("pointwise").vectors == 4
    assert workgroup_config("per_block_quant") == WorkgroupConfig()
    given = WorkgroupConfig(64)
    assert workgroup_config("pointwise", given) is given
