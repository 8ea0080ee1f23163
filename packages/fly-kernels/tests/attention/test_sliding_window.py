# SPDX-License-Identifier: Apache-2.0
"""Attention within a window of keys, and tokens that are some elements apart."""

import math

import pytest
import torch
from attention_references import TOLERANCE, broken, check, reference, tensors

from flydsl.kernels.attention import flash_attn_kernel
from flydsl.kernels.attention.config import FlashConfig, default_config
from flydsl.kernels.attention.flash_attn_kernel import build_forward
from flydsl.kernels.attention.flash_attn_splits import build_split_forward
from flydsl.kernels.attention.swa_gfx950 import build_gqa_attn
from flydsl.kernels.attention.variant import AttentionVariant


def launch(run, q, k, v, causal, dtype, variant, config):
    """The kernel of a variant in all orders of waves, into poisoned outputs."""
    batch, sq, heads, head_dim = q.shape
    skv, kv_heads = k.shape[1:3]
    kernel = build_forward(heads, kv_heads, head_dim, dtype, causal, True, None, config, variant)
    out, lse = run.empty(q), run.empty(q, (batch, heads, sq), torch.float32)
    run(kernel, q, k, v, out, lse, q, q, q, q, q, q, batch, sq, skv, writes=[out, lse])
    return out, lse


@pytest.mark.parametrize(
    ("sq", "skv", "window"),
    [
        (257, 257, (100, 0)),  # tiles before the window, masked at both edges, and none whole
        (65, 515, (200, 0)),  # whole tiles between the edges
        (64, 450, (180, 130)),
        (130, 130, (0, 0)),  # each query its own key
        (140, 60, (10, 5)),  # the first queries stand before the first key
        (1, 1, (5, 5)),
        (33, 200, (10**6, 3)),
    ],
)
def test_windows(run, sq, skv, window):
    q, k, v = tensors(1, sq, skv, 1, 1, 64, "bf16", seed=sq + skv)
    out, lse = launch(run, q, k, v, False, "bf16", AttentionVariant(window=window), FlashConfig(waves=4))
    check(out, lse, q, k, v, False, "bf16", window=window)


@pytest.mark.parametrize(("head_dim", "dtype"), [(128, "f16"), pytest.param(256, "bf16", marks=pytest.mark.slow)])
def test_head_sizes_and_groups(run, head_dim, dtype):
    q, k, v = tensors(2, 40, 150, 2, 1, head_dim, dtype)
    out, lse = launch(run, q, k, v, False, dtype, AttentionVariant(window=(80, 10)), default_config(head_dim, 64))
    check(out, lse, q, k, v, False, dtype, window=(80, 10))


def test_two_blocks_of_rows_a_wave(run):
    q, k, v = tensors(1, 513, 513, 1, 1, 64, "bf16")
    out, lse = launch(run, q, k, v, False, "bf16", AttentionVariant(window=(70, 40)), default_config(64, 512))
    check(out, lse, q, k, v, False, "bf16", window=(70, 40))


def test_causal_within_a_window(run):
    """No key after the own one, whatever the window says."""
    q, k, v = tensors(1, 100, 290, 1, 1, 64, "f16")
    out, lse = launch(run, q, k, v, True, "f16", AttentionVariant(window=(150, 70)), FlashConfig(waves=2))
    check(out, lse, q, k, v, True, "f16", window=(150, 70))


def test_keys_outside_are_not_read(run):
    """They are no numbers; and the counters say that their tiles were left out."""
    q, k, v = tensors(1, 128, 1024, 1, 1, 64, "bf16")
    k[:, :512], v[:, :512] = math.nan, math.nan
    counts = torch.zeros(2)
    variant = AttentionVariant(window=(384, 0), counts=True)
    kernel = build_forward(1, 1, 64, "bf16", False, False, None, FlashConfig(waves=4), variant)
    out = torch.empty_like(q)
    kernel(q, k, v, out, q, q, q, q, q, q, counts, 1, 128, 1024)
    check(out, None, q, k.nan_to_num(), v.nan_to_num(), False, "bf16", window=(384, 0))
    # Of 16 tiles all waves see 10 to 13 whole, the first two a part of 8, 9 and 14, the others of 9, 14 and 15.
    assert counts.tolist() == [4 * 3, 4 * 4]


def test_window_with_splits(run):
    q, k, v = tensors(1, 100, 500, 2, 1, 64, "bf16")
    variant = AttentionVariant(window=(300, 20), splits=3)
    kernel = build_split_forward(2, 1, 64, "bf16", False, True, None, FlashConfig(waves=2), variant)
    out, lse = run.empty(q), run.empty(q, (1, 2, 100), torch.float32)
    parts, parts_lse = (run.empty(q, (3, 2, *more), torch.float32) for more in ((100, 64), (100,)))
    writes = [out, lse, parts, parts_lse]
    run(kernel, q, k, v, out, lse, parts, parts_lse, q, q, q, q, 1, 100, 500, writes=writes)
    check(out, lse, q, k, v, False, "bf16", window=(300, 20))


def test_window_with_sequences_of_several_lengths(run):
    q, k, v = (one[0] for one in tensors(1, 140, 260, 1, 1, 64, "f16"))
    starts, starts_kv = (torch.tensor(n, dtype=torch.int32) for n in ([0, 70, 140], [0, 60, 260]))
    variant = AttentionVariant(window=(50, 20), varlen=True)
    kernel = build_forward(1, 1, 64, "f16", False, False, None, FlashConfig(waves=2), variant)
    out = run.empty(q)
    run(kernel, q, k, v, out, q, starts, starts_kv, q, q, q, q, 2, 70, 200, writes=[out])
    for rows, keys in ((slice(0, 70), slice(0, 60)), (slice(70, 140), slice(60, 260))):
        check(out[None, rows], None, q[None, rows], k[None, keys], v[None, keys], False, "f16", window=(50, 20))


@pytest.mark.parametrize("window", [(-1, 0), (1,), 5, (1.0, 2), (True, 0), ()])
def test_wrong_windows(window):
    with pytest.raises(ValueError, match="two non-negative numbers of keys"):
        AttentionVariant(window=window)


# -- the builder -------------------------------------------------------------------------------------------------------


def cosine(a, b):
    return torch.nn.functional.cosine_similarity(a.double().flatten(), b.flatten(), 0).item()


@pytest.mark.parametrize(
    ("length", "window", "dtype"),
    [(384, (128, 0), "bf16"), (257, (64, 64), "f16"), (190, None, "bf16")],
)
def test_builder(run, length, window, dtype):
    q, k, v = tensors(2, length, length, 1, 1, 128, dtype)
    kernel = build_gqa_attn(ATTN_B=2, ATTN_H=1, ATTN_H_KV=1, ATTN_D=128, sliding_window=window)
    out = run.empty(q)
    strides = [one.stride(1) for one in (q, k, v, out)]
    run(kernel, q, k, v, out, *strides, length, length, writes=[out], seeds=[0])
    check(out, None, q, k, v, False, dtype, window=window)
    assert cosine(out, reference(q, k, v, False, window=window)[0]) > 0.999


def test_parts_of_one_projection(run):
    """Q, K and V between each other, the output in every other token; what lies between stays as it was."""
    generator = torch.Generator().manual_seed(3)
    both = torch.randn(2, 70, 4 * 64 + 8, generator=generator).bfloat16()
    q, k, v = (both[:, :, a * 64 : b * 64].unflatten(-1, (b - a, 64)) for a, b in ((0, 2), (2, 3), (3, 4)))
    room = run.empty(both, (2, 70, 2, 2, 64))
    out = room[:, :, 0]
    kernel = build_gqa_attn(ATTN_B=2, ATTN_H=2, ATTN_H_KV=1, ATTN_D=64, sliding_window=(40, 10))
    strides = [one.stride(1) for one in (q, k, v, out)]
    run(lambda: kernel(q, k, v, out, *strides, 70, 70), writes=[room])
    assert room[:, :, 1].isnan().all()
    check(out, None, q, k, v, False, "bf16", window=(40, 10), tolerance=TOLERANCE["bf16"])


def test_flattened(run):
    q, k, v = tensors(1, 40, 90, 2, 2, 64, "f16")
    kernel = build_gqa_attn(ATTN_B=1, ATTN_H=2, ATTN_H_KV=2, ATTN_D=64, sliding_window=(20, 0))
    out = run.empty(q)
    q_flat, k_flat, v_flat, out_flat = (one.view(-1) for one in (q, k, v, out))
    run(kernel, q_flat, k_flat, v_flat, out_flat, 128, 128, 128, 128, 40, 90, writes=[out_flat])
    check(out, None, q, k, v, False, "f16", window=(20, 0))


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"Q_stride1": 120}, ValueError, "'Q_stride1': expected a multiple of 8 elements, at least 128, got 120"),
        ({"V_stride1": 132}, ValueError, "'V_stride1': expected a multiple of 8"),
        ({"K_stride1": 256}, ValueError, "'K': the stride of dimension 1 must be 256, got 128"),
        ({"seq_len_kv": 91}, ValueError, "'K': dimension 1 must have 91 elements, got 90"),
        ({"O": torch.zeros(5119).half()}, ValueError, "'O': expected 5120 elements, got 5119"),
        ({"V": torch.zeros(1, 90, 2, 64)}, TypeError, "'V': expected Float16, got Float32"),
        ({"Q": torch.zeros(1, 40, 2, 64)}, TypeError, "'Q': expected BFloat16, got Float32"),
    ],
)
def test_launcher_refuses(changed, error, said):
    q, k, v = tensors(1, 40, 90, 2, 2, 64, "f16")
    given = {"Q": q, "K": k, "V": v, "O": torch.empty_like(q)}
    given |= {f"{name}_stride1": 128 for name in "QKVO"} | {"seq_len_q": 40, "seq_len_kv": 90, **changed}
    kernel = build_gqa_attn(ATTN_B=1, ATTN_H=2, ATTN_H_KV=2, ATTN_D=64)
    with pytest.raises(error, match=said):
        kernel(*given.values())


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"ATTN_B": 0}, "ATTN_B must be 1 to 65535"),
        ({"ATTN_H": 3}, "multiple of num_kv_heads"),
        ({"ATTN_D": 80}, "head_dim must be a multiple of 32"),
        ({"sliding_window": (1, -1)}, "two non-negative numbers of keys"),
        ({"waves_per_eu": 0}, "waves_per_eu must be a number of waves"),
    ],
)
def test_builder_refuses(changed, said):
    with pytest.raises(ValueError, match=said):
        build_gqa_attn(**{"ATTN_B": 1, "ATTN_H": 4, "ATTN_H_KV": 2, **changed})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("begin = diagonal - self._left", "begin = diagonal - self._left + 1"),
        ("self._edge = fx.max(tiles_to(", "self._edge = fx.max(((lambda key: key // kv_tile))("),  # an edge not masked
    ],
)
def test_a_wrong_schedule_fails_the_comparison(tmp_path, monkeypatch, old, new):
    monkeypatch.setattr(flash_attn_kernel, "TileSchedule", broken(tmp_path, "tile_schedule", old, new).TileSchedule)
    q, k, v = tensors(1, 65, 515, 1, 1, 64, "bf16")
    kernel = build_forward(
        1, 1, 64, "bf16", False, False, None, FlashConfig(waves=4), AttentionVariant(window=(200, 0))
    )
    out = torch.empty_like(q)
    kernel(q, k, v, out, q, q, q, q, q, q, q, 1, 65, 515)
    with pytest.raises(AssertionError):
        check(out, None, q, k, v, False, "bf16", window=(200, 0))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("head_dim", [64, 96, 128, 192, 256])
@pytest.mark.parametrize(
    ("sq", "skv", "window"),
    [(512, 512, (64, 64)), (701, 701, (320, 0)), (300, 641, (0, 200)), (509, 101, (65, 1)), (5, 700, (129, 63))],
)
def test_more_windows(run, sq, skv, window, head_dim, dtype):
    q, k, v = tensors(1, sq, skv, 1, 1, head_dim, dtype, seed=sq)
    out, lse = launch(run, q, k, v, False, dtype, AttentionVariant(window=window), default_config(head_dim, 256))
    check(out, lse, q, k, v, False, dtype, window=window)
