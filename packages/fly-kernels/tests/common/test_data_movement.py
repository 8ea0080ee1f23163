# SPDX-License-Identifier: Apache-2.0
"""Row kernels move every byte once, in full transactions, without bank conflicts and without spills.

As the emulator counts: bytes that lanes asked for, and transactions of 64 bytes to memory.
"""

from typing import Any

import pytest
import torch
from rows import DTYPES, row, rows

from flydsl.kernels.attention.fused_rope_cache_kernel import build_fused_rope_cache_module
from flydsl.kernels.attention.rope_config import plan_rope, rope_config
from flydsl.kernels.elementwise.argmax_kernel import build_argmax_module
from flydsl.kernels.elementwise.gated_kernel import build_gated_bwd_module, build_gated_module
from flydsl.kernels.elementwise.pointwise_kernel import build_binary_module, build_unary_bwd_module, build_unary_module
from flydsl.kernels.elementwise.row_reduce_kernel import build_row_reduce_module
from flydsl.kernels.norm import backward, forward
from flydsl.kernels.norm.layernorm_bwd_kernel import build_layernorm_bwd_module
from flydsl.kernels.norm.layernorm_kernel import build_layernorm_dynamicquant_module, build_layernorm_module
from flydsl.kernels.norm.rmsnorm_bwd_kernel import build_rmsnorm_bwd_module, build_rmsnorm_bwd_two_stage_module
from flydsl.kernels.norm.rmsnorm_kernel import build_fused_add_rmsnorm_module, build_rmsnorm_module
from flydsl.kernels.norm.softmax_bwd_kernel import build_softmax_bwd_module
from flydsl.kernels.norm.softmax_kernel import build_softmax_module
from flydsl.kernels.quant.per_block_quant_kernel import build_per_block_quant_module
from flydsl.kernels.quant.per_token_quant_kernel import build_per_token_quant_module

M = 16
TRANSACTION = 64


def bytes_of(*tensors):
    return sum(one.numel() * one.element_size() for one in tensors)


def check(profile, least, ragged):
    total = profile["total"]
    moved = total["bytes_loaded"] + total["bytes_stored"]
    arguments = profile["classes"]["smem"]["bytes_loaded"]  # of the launch, not of the rows
    assert moved - arguments == least
    # A row that doesn't begin with a transaction adds one to each access of a wave.
    transactions = profile["classes"]["vmem"]["transactions"]
    assert transactions <= -(-least // TRANSACTION) * (1.35 if ragged else 1.0), transactions * TRANSACTION / least
    assert total["lds_conflict_cycles"] == 0
    assert profile["scratch_bytes"] == 0
    assert profile["registers"]["vgpr_spills"] == profile["registers"]["sgpr_spills"] == 0


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("n", [1024, 1000, 8192, 5003, 40960])
def test_kernels_without_weights(n, dtype, counters):
    x, y = rows(M, n, dtype), torch.empty(M, n, dtype=DTYPES[dtype])
    ragged = n * x.element_size() % TRANSACTION != 0
    check(counters(build_softmax_module(n, dtype), x, y, M), bytes_of(x, y), ragged)
    if n <= 32768:
        check(counters(build_softmax_bwd_module(n, dtype), x, x, y, M), bytes_of(x, x, y), ragged)
    q, scale = torch.empty(M, n, dtype=torch.int8), torch.empty(M)
    profile = counters(build_per_token_quant_module(n, dtype, "int8"), x, q, scale, M)
    assert profile["total"]["bytes_stored"] == bytes_of(q, scale)
    assert profile["scratch_bytes"] == 0


def test_other_kernels_without_weights(counters):
    x, q, scale = rows(M, 1024, "bf16"), torch.empty(M, 1024, dtype=torch.int8), torch.empty(M, 8)
    profile = counters(build_per_block_quant_module(1024, "bf16", "int8"), x, q, scale, M)
    moved = profile["total"]["bytes_loaded"] + profile["total"]["bytes_stored"]
    assert moved - profile["classes"]["smem"]["bytes_loaded"] == bytes_of(x, q, scale)
    y = torch.empty(M, 512).bfloat16()
    check(counters(build_gated_module(512, "bf16"), x, y, M), bytes_of(x, y), ragged=False)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("n", [1024, 1000, 8192, 5003])
def test_elementwise_and_reducing_kernels(n, dtype, counters):
    x, y, kind = rows(M, n, dtype), rows(M, n, dtype, seed=1), DTYPES[dtype]
    z, wide, numbers, places = torch.empty_like(x), rows(M, 2 * n, dtype), torch.empty(M), torch.empty(M).int()
    ragged = n * x.element_size() % TRANSACTION != 0
    check(counters(build_argmax_module(n, dtype), x, places, M), bytes_of(x, places), True)
    check(counters(build_row_reduce_module(n, dtype, "sum", "f32"), x, numbers, M), bytes_of(x, numbers), True)
    check(counters(build_gated_module(n, dtype), wide, z, M), bytes_of(wide, z), ragged)
    check(counters(build_gated_bwd_module(n, dtype), x, wide, torch.empty_like(wide), M), bytes_of(x, wide, wide), True)
    x, y, z = (one.view(-1)[: 3 * n] for one in (x, y, z))
    check(counters(build_unary_module("silu", dtype), x, z, 3 * n), bytes_of(x, z), ragged)
    check(counters(build_unary_bwd_module("silu", dtype), x, y, z, 3 * n), bytes_of(x, y, z), ragged)
    check(counters(build_binary_module("add", dtype), x, y, z, 3 * n), bytes_of(x, y, z), ragged)
    assert x.dtype == kind


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("n", [1000, 2048, 8192])
def test_backward_norms_read_and_write_rows_once(n, dtype, counters, monkeypatch):
    """With one workgroup, which adds its sums to the results by atomics, counted as a load and a store. Each lane loads
    the statistics of its row."""
    plans: list[Any] = []
    monkeypatch.setattr(backward, "programs", lambda plan: plans.append(plan) or 1)
    x, dy, dx, gamma = (
        rows(M, n, dtype),
        rows(M, n, dtype, seed=1),
        torch.empty(M, n, dtype=DTYPES[dtype]),
        row(n, dtype),
    )
    numbers, sums = torch.ones(M), [torch.zeros(n), torch.zeros(n)]
    least = bytes_of(x, dy, dx, gamma)
    for kernel, statistics, results in (
        (build_rmsnorm_bwd_module(n, dtype), [numbers], sums[:1]),
        (build_layernorm_bwd_module(n, dtype), [numbers, numbers], sums),
    ):
        profile = counters(kernel, x, gamma, dy, *statistics, dx, *results, M)
        total = profile["total"]
        moved = total["bytes_loaded"] + total["bytes_stored"] - profile["classes"]["smem"]["bytes_loaded"]
        lanes = -(-plans[-1].threads // 64) * 64
        assert moved - least == 2 * bytes_of(*results) + len(statistics) * M * lanes * 4
        assert total["lds_conflict_cycles"] == 0
        assert profile["scratch_bytes"] == 0


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("n", [1000, 2048, 16384])
def test_weights_are_read_once_by_a_workgroup(n, dtype, counters, monkeypatch):
    """With one workgroup: gamma and beta stay in registers while it takes row after row, if they fit beside it."""
    monkeypatch.setattr(forward, "programs", lambda plan: 1)
    x, residual, y = rows(M, n, dtype), rows(M, n, dtype, seed=1), torch.empty(M, n, dtype=DTYPES[dtype])
    added, gamma = torch.empty_like(y), row(n, dtype)
    norm = forward.ForwardNorm(centred=False, columns=n, dtype=dtype, weight_dtype=dtype)
    sets = norm.plan(x.element_size() * 8).rows  # rows that a workgroup works on at a time
    ragged = n == 1000
    kernels = [
        (build_rmsnorm_module(n, dtype), (x, gamma, y), bytes_of(x, y) + sets * bytes_of(gamma)),
        (
            build_fused_add_rmsnorm_module(n, dtype),
            (x, residual, gamma, y, added),
            bytes_of(x, residual, y, added) + sets * bytes_of(gamma),
        ),
    ]
    if n > 8192:
        layernorm = build_layernorm_module(n, dtype)
        kernels.append((layernorm, (x, gamma, gamma, y), bytes_of(x, y) + 2 * sets * bytes_of(gamma)))
    for kernel, tensors, least in kernels:
        check(counters(kernel, *tensors, M), least, ragged)


def test_quantised_norm(counters, monkeypatch):
    monkeypatch.setattr(forward, "programs", lambda plan: 1)
    n = 16384
    x, gamma = rows(M, n, "bf16"), row(n, "bf16")
    q, scale = torch.empty(M, n, dtype=torch.int8), torch.empty(M)
    profile = counters(build_layernorm_dynamicquant_module(n, "bf16"), x, gamma, gamma, q, scale, M)
    moved = profile["total"]["bytes_loaded"] + profile["total"]["bytes_stored"]
    assert moved - profile["classes"]["smem"]["bytes_loaded"] == bytes_of(x, gamma, gamma, q, scale)
    assert profile["scratch_bytes"] == 0


def test_backward_writes_its_sums_in_full_transactions(emulator, monkeypatch):
    if emulator is None:
        pytest.skip("counters are the emulator's")
    n, programs = 4096, 2
    x, gamma, dy = rows(M, n, "bf16"), row(n, "bf16"), rows(M, n, "bf16", seed=1)
    dx, dw, partial = torch.empty_like(x), torch.empty(n), torch.empty(programs * n)
    kernel = build_rmsnorm_bwd_two_stage_module(n, "bf16", programs)
    profiles = []
    monkeypatch.setattr(backward, "programs", lambda plan: 1)
    emulator.set_sanitizers()
    emulator.set_profiling(True)
    kernel(x, gamma, dy, torch.ones(M), dx, dw, partial, M)
    profiles.append(emulator.profile())
    second = profiles[0]
    assert second["kernel"].startswith("sums_of_columns")
    assert second["total"]["bytes_loaded"] - second["classes"]["smem"]["bytes_loaded"] == bytes_of(partial)
    assert second["classes"]["vmem"]["transactions"] == bytes_of(partial, dw) // TRANSACTION


@pytest.mark.parametrize(("heads", "kv_heads", "dim"), [(8, 1, 64), (32, 8, 128), (3, 3, 256)])
@pytest.mark.parametrize("table_dtype", ["f32", "bf16"])
def test_rope_reads_the_rows_of_its_tables_once(heads, kv_heads, dim, table_dtype, counters):
    """Once for each workgroup that has heads of a token: the tables' rows, also those of f32, and 4 bytes of a position
    for each of the 16 or 32 bytes that a thread reads of a table.
    """
    tokens, page = 9, 16
    q, k = torch.zeros(tokens, heads, dim).bfloat16(), torch.zeros(tokens, kv_heads, dim).bfloat16()
    tables = [rows(20, dim // 2, table_dtype) for _ in range(2)]
    positions = torch.arange(tokens, dtype=torch.int32)
    caches = [torch.zeros(1, page, kv_heads, dim).bfloat16() for _ in range(2)]
    kernel = build_fused_rope_cache_module(dim, -1, heads, kv_heads, page)
    profile = counters(kernel, q, k, k, positions, *tables, positions, *caches, q, k, tokens, *[torch.ones(1)] * 2)
    lanes = dim // 2 // 8
    shared = tokens * (bytes_of(tables[0][0], tables[1][0], positions[:1]) + 4 * lanes)
    workgroups = plan_rope(heads + kv_heads, lanes, rope_config()).parts
    check(profile, 2 * bytes_of(q) + 5 * bytes_of(k) + shared * workgroups, ragged=True)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_accesses_are_16_bytes_wide(dtype, counters):
    """Also at N = 1024, and where the vector does not divide N: 16 bytes a lane but for the last elements."""
    for n in (1024, 1001):
        x, y = rows(4, n, dtype), torch.empty(4, n, dtype=DTYPES[dtype])
        vmem = counters(build_softmax_module(n, dtype), x, y, 4)["classes"]["vmem"]
        lanes = bytes_of(x, y) // 16 + 2 * 4 * 7
        assert vmem["lanes"] <= lanes
