# SPDX-License-Identifier: Apache-2.0
"""Attention for Hopper: what its PTX holds, and what is refused. `tools/bench/cuda_attention.py` runs it on a GPU."""

import re

import pytest
import torch
from artifact_ptx import ptx_of_the_last

import flydsl.kernels as fk
from flydsl.kernels.attention.flash_attn_interface import flydsl_flash_attn_func
from flydsl.kernels.attention.hopper_attention import compile_hopper_attention
from flydsl.kernels.attention.hopper_config import HopperAttentionConfig
from flydsl.kernels.attention.swa_gfx950 import build_gqa_attn

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("hopper")]


def tensors(head_dim, dtype, group=1, seq_len=100, seq_len_kv=200):
    q = torch.empty((2, seq_len, 2 * group, head_dim), dtype=dtype)
    k, v = (torch.empty((2, seq_len_kv, 2, head_dim), dtype=dtype) for _ in range(2))
    return q, k, v


def test_the_program():
    q, k, v = tensors(128, torch.bfloat16)
    launch = compile_hopper_attention(dtype="bf16", head_dim=128, causal=True)
    launch(q, k, v, torch.empty_like(q), q)
    text = ptx_of_the_last()
    # The first tile, the loops over tiles with and without masked keys; and the last values. A has a descriptor for
    # keys, and four registers for weights.
    calls = re.findall(r"wgmma\.mma_async\.sync\.aligned\.m64n128k16\.f32\.bf16\.bf16 \{[^}]*\}, (%rd|\{)", text)
    assert (calls.count("%rd"), calls.count("{")) == (3 * 8, 3 * 8)
    # One wait for the scores alone while values are added, in each loop.
    assert re.findall(r"wgmma\.wait_group\.sync\.aligned (\d)", text) == ["0", "1", "0", "1", "0", "0"]
    assert text.count("cp.async.bulk.tensor.4d.shared::cluster.global") == 2 + 4 + (2 + 2) + 2
    assert text.count("cp.async.bulk.tensor.4d.global.shared::cta") == 2
    assert re.findall(r"setmaxnreg\.(\w+)\.sync\.aligned\.u32 \t?(\d+)", text) == [("inc", "240"), ("dec", "24")]
    assert "ex2.approx.ftz.f32" in text
    assert "call" not in text  # nothing of a library


def test_descriptors_differ_by_a_constant():
    """Ahead of a group of products an address is shifted once for each operand; what follows are additions."""
    q, k, v = tensors(128, torch.bfloat16)
    launch = compile_hopper_attention(dtype="bf16", head_dim=128, causal=False)
    launch(q, k, v, torch.empty_like(q), q)
    behind_fences = [one for one in ptx_of_the_last().split("wgmma.fence.sync.aligned;") if "wgmma.mma_async" in one]
    assert len(behind_fences) == 6
    for text in behind_fences:
        ahead = re.findall(r"^\s+(\w+)\.", text[: text.index("wgmma.mma_async")], re.MULTILINE)
        assert ahead.count("add") >= 7  # for 8 tiles, one beside the other
        assert sum(map(ahead.count, ("shl", "shr"))) <= 3  # of two rings, and of the tile of queries
        assert not {"and", "mul", "mad"} & set(ahead)


def test_windows_and_strides():
    q, k, v = tensors(64, torch.bfloat16, group=3)
    kernel = build_gqa_attn(ATTN_B=2, ATTN_H=6, ATTN_H_KV=2, ATTN_D=64, sliding_window=(40, 10))
    kernel(q, k, v, torch.empty_like(q), 6 * 64, 2 * 64, 2 * 64, 6 * 64, 100, 200)
    text = ptx_of_the_last()
    assert "hopper_attention_bf16_d64_window40_10" in text
    # A third loop, over tiles with keys before the window.
    assert text.count("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16") == 4 * 4
    with pytest.raises(ValueError, match="waves_per_eu = 3 is not supported on sm_90a"):
        build_gqa_attn(ATTN_B=2, ATTN_H=6, ATTN_H_KV=2, ATTN_D=64, waves_per_eu=3)
    with pytest.raises(ValueError, match="give causal or a window"):
        compile_hopper_attention(dtype="bf16", head_dim=64, causal=True, window=(3, 0))


def test_the_operator_takes_it():
    q, k, v = tensors(64, torch.float16, group=3)
    out = fk.flash_attention(q, k, v, causal=False)
    assert out.shape == q.shape
    assert "hopper_attention_f16_d64_full" in ptx_of_the_last()


def test_sequences_of_several_lengths():
    q, k, v = (one.flatten(0, 1) for one in tensors(64, torch.bfloat16, group=3))
    starts, starts_kv = (torch.tensor([0, n, 2 * n], dtype=torch.int32) for n in (100, 200))
    lengths = {"cu_seqlens_q": starts, "cu_seqlens_kv": starts_kv, "max_seqlen_q": 100, "max_seqlen_kv": 200}
    out = flydsl_flash_attn_func(q, k, v, causal=False, cross_seqlen=True, **lengths)
    assert out.shape == q.shape
    text = ptx_of_the_last()
    # A sequence's rows have three coordinates, so that what lies behind its end is outside of the tensor.
    assert text.count("cp.async.bulk.tensor.5d.shared::cluster.global") == 1 + 3 + 2 + 1
    assert text.count("cp.async.bulk.tensor.5d.global.shared::cta") == 1
    assert "cp.async.bulk.tensor.4d" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sink": torch.zeros(2)}, "'sink' is not supported on sm_90a"),
        ({"num_kv_splits": 2}, "'num_kv_splits' is not supported on sm_90a"),
        ({"alibi_slopes": torch.zeros(2)}, "'alibi_slopes' is not supported on sm_90a"),
        ({"dualwave_swp_setprio": False}, "'dualwave_swp_setprio' is not supported on sm_90a"),
        ({"dualwave_swp_enable_stagger": False}, "'dualwave_swp_enable_stagger' is not supported on sm_90a"),
        ({"dualwave_swp_lazy_rescale": False}, "'dualwave_swp_lazy_rescale' is not supported on sm_90a"),
        ({"dualwave_swp_xcd_swizzle": True}, "'dualwave_swp_xcd_swizzle' is not supported on sm_90a"),
    ],
)
def test_what_the_kernel_has_not(arguments, message):
    with pytest.raises(NotImplementedError, match=message):
        flydsl_flash_attn_func(*tensors(64, torch.float16), **arguments)


def test_a_head_size_that_the_kernel_has_not():
    with pytest.raises(ValueError, match="head_dim is one of 64, 128, 192, 256 on sm_90a, got 96"):
        flydsl_flash_attn_func(*tensors(96, torch.float16))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"config": HopperAttentionConfig(stages=4)}, "take 295936 bytes of shared memory; there are 232448"),
        ({"config": HopperAttentionConfig(consumers=4)}, "consumers is 2 or 3, got 4"),
        ({"config": HopperAttentionConfig(kv_tile=100)}, "kv_tile is a multiple of 16 up to 256, got 100"),
        ({"dtype": "f32"}, "dtype 'f32' is not supported; use one of f16, bf16"),
        ({"heads_per_kv": 0}, "heads_per_kv is a positive int, got 0"),
        ({"sm_scale": -1.0}, "sm_scale must be positive and finite, got -1.0"),
    ],
)
def test_what_cannot_be_built(arguments, message):
    with pytest.raises(ValueError, match=message):
        compile_hopper_attention(**{"dtype": "bf16", "head_dim": 128, "causal": True, **arguments})


def test_another_target(monkeypatch):
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx950")
    with pytest.raises(ValueError, match="for sm_90a, but kernels are compiled for gfx950"):
        compile_hopper_attention(dtype="bf16", head_dim=128, causal=True)
