# SPDX-License-Identifier: Apache-2.0
"""Flash attention forward against float64, on the emulated device of the process (FLYDSL_GPU_ARCH)."""

import math
from dataclasses import replace

import pytest
import torch
from attention_references import broken, check, tensors

from flydsl.kernels.attention import flash_attn_interface, flash_attn_kernel
from flydsl.kernels.attention.config import FlashConfig, block_rows, default_config, shape_config
from flydsl.kernels.attention.flash_attn_generic import build_flash_attn_func_module_primary
from flydsl.kernels.attention.flash_attn_interface import flydsl_flash_attn_func
from flydsl.kernels.attention.flash_attn_kernel import build_dense
from flydsl.kernels.flash_attn_func import build_flash_attn_func_module


def launch(run, q, k, v, causal, dtype, config, sm_scale=None):
    """The kernel of one configuration in all orders of waves, into poisoned outputs."""
    batch, sq, heads, head_dim = q.shape
    skv, kv_heads = k.shape[1:3]
    kernel = build_dense(heads, kv_heads, head_dim, dtype, causal, True, sm_scale, config)
    out, lse = run.empty(q), run.empty(q, (batch, heads, sq), torch.float32)
    run(kernel, q, k, v, out, lse, batch, sq, skv, writes=[out, lse])
    return out, lse


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("head_dim", "dtype"), [(64, "bf16"), (96, "f16"), (128, "bf16"), (128, "f16"), (256, "bf16")])
def test_head_sizes_and_dtypes(run, head_dim, dtype, causal):
    q, k, v = tensors(1, 160, 200, 2, 1, head_dim, dtype)
    out, lse = launch(run, q, k, v, causal, dtype, default_config(head_dim, 128))
    check(out, lse, q, k, v, causal, dtype)


@pytest.mark.parametrize(
    ("sq", "skv"),
    [
        (1, 1),
        (1, 300),
        (33, 1),
        (128, 64),  # more queries than keys: the first rows see none
        (67, 65),
        (129, 257),  # one more than a block, and than four tiles
        (31, 512),
    ],
)
@pytest.mark.parametrize("causal", [False, True])
def test_lengths(run, sq, skv, causal):
    q, k, v = tensors(1, sq, skv, 1, 1, 64, "bf16", seed=sq + skv)
    out, lse = launch(run, q, k, v, causal, "bf16", FlashConfig(waves=4))
    check(out, lse, q, k, v, causal, "bf16")


@pytest.mark.parametrize(("sq", "skv"), [(1, 1), (512, 512), (513, 300), (70, 600)])
@pytest.mark.parametrize(("causal", "dtype"), [(False, "bf16"), (True, "f16")])
def test_two_blocks_of_rows_a_wave(run, sq, skv, causal, dtype):
    q, k, v = tensors(1, sq, skv, 2, 1, 64, dtype, seed=sq + skv)
    config = default_config(64, 512)
    assert (config.block_m, config.query_blocks) == (512, 2)
    out, lse = launch(run, q, k, v, causal, dtype, config)
    check(out, lse, q, k, v, causal, dtype)


@pytest.mark.parametrize(("waves", "kv_tile"), [(1, 32), (2, 32), (3, 64), (8, 64)])
def test_shapes_of_workgroups(run, waves, kv_tile):
    q, k, v = tensors(1, 100, 150, 1, 1, 96, "f16", seed=waves)
    out, lse = launch(run, q, k, v, True, "f16", FlashConfig(waves=waves, kv_tile=kv_tile))
    check(out, lse, q, k, v, True, "f16")


@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 2), (3, 1)])
def test_groups_of_query_heads_and_batches(run, heads, kv_heads):
    q, k, v = tensors(2, 40, 70, heads, kv_heads, 64, "f16")
    out, lse = launch(run, q, k, v, True, "f16", default_config(64, 64))
    check(out, lse, q, k, v, True, "f16")


@pytest.mark.parametrize("growth", [3.0, 400.0])
def test_scores_that_grow_from_tile_to_tile(run, growth):
    """Tiles are taken from the last to the first; each raises the maximum by more than the lazy reference allows."""
    q, k, v = tensors(1, 64, 448, 1, 1, 64, "bf16")
    tile = torch.arange(448).div(64, rounding_mode="floor").flip(0)
    q[:], k[..., 0] = q * 0.01, 1.0
    q[..., 0] = growth
    k[..., 0] *= 8 * tile.view(1, -1, 1)
    out, lse = launch(run, q, k, v, False, "bf16", FlashConfig(waves=2))
    check(out, lse, q, k, v, False, "bf16")


def test_scores_that_fall_from_tile_to_tile(run):
    q, k, v = tensors(1, 64, 448, 1, 1, 64, "f16")
    q[..., 0], k[..., 0] = 20.0, torch.arange(448).div(16, rounding_mode="floor").view(1, -1, 1).half()
    out, lse = launch(run, q, k, v, False, "f16", FlashConfig(waves=2))
    check(out, lse, q, k, v, False, "f16")


def test_one_key_that_outweighs_all_others_gives_its_value(run):
    q, k, v = tensors(1, 64, 256, 1, 1, 64, "bf16", q_scale=0.0)
    q[..., 0], k[:, :, :, 0] = 64.0, 0.0
    k[:, 77, :, 0] = 64.0
    out, _ = launch(run, q, k, v, False, "bf16", FlashConfig(waves=2))
    assert torch.equal(out, v[:, 77:78].expand_as(out))


def test_large_scores_do_not_overflow(run):
    q, k, v = tensors(1, 64, 192, 1, 1, 64, "f16", q_scale=200.0)
    out, lse = launch(run, q, k, v, False, "f16", FlashConfig(waves=2))
    check(out, lse, q, k, v, False, "f16")


def test_infinite_scores_have_no_weight_and_do_not_hang(run):
    """The last tiles, which come first, have only scores of -inf; then come scores far from the first reference."""
    q, k, v = tensors(1, 64, 320, 1, 1, 64, "bf16")
    q[..., 0] = 1.0
    k[:, 192:, :, 0] = -math.inf
    k[:, 64:128, :, 0] = -3000.0
    k[:, :64, :, 0] = -20000.0
    out, lse = launch(run, q, k, v, False, "bf16", FlashConfig(waves=2))
    check(out, lse, q, k, v, False, "bf16")
    k[:, :64, :, 0] = 3e38  # too large for exact weights, but the kernel ends
    launch(run, q, k, v, False, "bf16", FlashConfig(waves=2))


def test_nan_reaches_only_the_rows_that_see_it_or_its_tile(run):
    """A weight of zero does not make a number of a value that is none, as in a product of matrices."""
    q, k, v = tensors(1, 96, 96, 1, 1, 64, "bf16")
    q[0, 50] = math.nan
    v[0, 80] = math.nan
    out, _ = launch(run, q, k, v, True, "bf16", FlashConfig(waves=4))
    bad = out[0, :, 0].isnan().any(-1)
    assert bad.nonzero().flatten().tolist() == [50, *range(64, 96)]


def test_a_batch_ends_where_the_next_begins(run):
    """What lies behind the keys of a batch is neither weighed nor multiplied by a zero weight."""
    q, k, v = tensors(2, 40, 50, 1, 1, 64, "bf16")
    q[1], k[1], v[1] = math.nan, math.nan, math.nan
    out, lse = launch(run, q, k, v, False, "bf16", FlashConfig(waves=2))
    check(out[:1], lse[:1], q[:1], k[:1], v[:1], False, "bf16")


def test_no_keys(run):
    q, k, v = tensors(1, 40, 0, 1, 1, 64, "bf16")
    out, lse = launch(run, q, k, v, False, "bf16", FlashConfig(waves=2))
    assert torch.equal(out, torch.zeros_like(q))
    assert torch.equal(lse, torch.full_like(lse, -math.inf))


def test_scale(run):
    q, k, v = tensors(1, 64, 64, 1, 1, 64, "f16")
    out, lse = launch(run, q, k, v, False, "f16", FlashConfig(waves=2), sm_scale=0.5)
    check(out, lse, q, k, v, False, "f16", scale=0.5)


# -- the function on tensors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("causal", [False, True])
def test_function(causal):
    q, k, v = tensors(2, 70, 90, 4, 2, 128, "bf16")
    out, lse = flydsl_flash_attn_func(q, k, v, causal=causal, num_kv_heads=2, return_lse=True)
    check(out, lse, q, k, v, causal, "bf16")


def test_function_into_a_given_tensor():
    q, k, v = tensors(1, 64, 64, 1, 1, 64, "f16")
    out = torch.full_like(q, math.nan)
    assert flydsl_flash_attn_func(q, k, v, out=out) is out
    check(out, None, q, k, v, True, "f16")


@pytest.mark.parametrize(("batch", "sq", "skv"), [(0, 4, 4), (1, 0, 4), (1, 4, 0)])
def test_function_on_empty_tensors(batch, sq, skv):
    q, k, v = tensors(batch, sq, skv, 2, 2, 64, "f16")
    out, lse = flydsl_flash_attn_func(q, k, v, causal=False, return_lse=True)
    assert torch.equal(out, torch.zeros_like(q))
    assert torch.equal(lse, torch.full((batch, 2, sq), -math.inf))


@pytest.mark.parametrize(
    "argument",
    [
        "block_table",
        "seqlen_k",
        "q_descale",
        "k_descale",
        "v_descale",
    ],
)
def test_forms_that_are_not_there_are_refused_by_name(argument):
    q, k, v = tensors(1, 8, 8, 1, 1, 64, "f16")
    with pytest.raises(NotImplementedError, match=f"'{argument}'"):
        flydsl_flash_attn_func(q, k, v, **{argument: torch.zeros(2, dtype=torch.int32)})


def test_options_that_are_not_there_are_refused_by_name():
    q, k, v = tensors(1, 8, 8, 1, 1, 64, "f16")
    with pytest.raises(NotImplementedError, match="kv_cache_layout"):
        flydsl_flash_attn_func(q, k, v, kv_cache_layout="vectorized")
    with pytest.raises(ValueError, match="daz=False is not supported"):
        flydsl_flash_attn_func(q, k, v, daz=False)
    with pytest.raises(ValueError, match="waves_per_eu must be a number of waves, got 0"):
        flydsl_flash_attn_func(q, k, v, waves_per_eu=0)


def test_registers_are_allocated_for_the_waves_that_are_asked_for(monkeypatch):
    configs = []
    build = flash_attn_interface.build_forward
    monkeypatch.setattr(flash_attn_interface, "build_forward", lambda *a: configs.append(a[7]) or build(*a))
    q, k, v = tensors(1, 24, 40, 3, 1, 64, "f16")
    usual, alone = (flydsl_flash_attn_func(q, k, v, waves_per_eu=waves) for waves in (2, 1))
    assert torch.equal(usual, alone)
    assert [one.waves_per_eu for one in configs] == [2, 1]


def tiles_of_waves(sq, skv, causal, rows):
    """Tiles of 64 keys that the waves of a head compute, and those among them that have masked keys or come first."""
    computed, masked = 0, 0
    for row0 in range(0, -(-sq // rows) * rows, 32):
        block0, shift = row0 // rows * rows, skv - sq
        seen = max(min(row0 + 32, sq) + shift, 0) if causal else skv
        last = -(-(max(min(block0 + rows, sq) + shift, 0) if causal else skv) // 64) - 1
        plain = min(max(block0 + shift, 0) // 64, last) if causal else last
        computed, masked = computed + -(-seen // 64), masked + max(-(-seen // 64) - plain, 0)
    return computed, masked


@pytest.mark.parametrize("causal", [False, True])
def test_counts_of_rescales(causal, arch):
    """Each wave counts each of its tiles once, as taken for masked ones; renewals elsewhere are counted as well."""
    q, k, v = tensors(1, 128, 300, 2, 1, 64, "bf16")
    counts = torch.tensor([5.0, 7.0])
    out = flydsl_flash_attn_func(q, k, v, causal=causal, debug_counts=counts)
    check(out, None, q, k, v, causal, "bf16")
    computed, masked = tiles_of_waves(128, 300, causal, shape_config(arch, 2, 128, 300, 64, causal).block_m)
    assert counts.tolist() == [5 + 2 * masked, 7 + 2 * (computed - masked)]
    k[:, :, :, 0] += 100.0 * torch.arange(300).div(64, rounding_mode="floor").flip(0).view(1, -1, 1)
    q[..., 0] = 2.0
    grown = torch.zeros(2)
    flydsl_flash_attn_func(q, k, v, causal=causal, debug_counts=grown)
    assert grown.tolist() == [2 * computed, 0]


def test_counts_are_checked():
    q, k, v = tensors(1, 8, 8, 1, 1, 64, "f16")
    with pytest.raises(ValueError, match="'debug_counts' must have the shape"):
        flydsl_flash_attn_func(q, k, v, debug_counts=torch.zeros(3))
    with pytest.raises(TypeError, match="'debug_counts' must be float32"):
        flydsl_flash_attn_func(q, k, v, debug_counts=torch.zeros(2, dtype=torch.int32))


@pytest.mark.parametrize(
    ("spoil", "error", "said"),
    [
        (lambda q, k, v: (q.float(), k, v), TypeError, "'q' must be float16 or bfloat16, got float32"),
        (lambda q, k, v: (q, k.bfloat16(), v), TypeError, "'k' must have the dtype of 'q'"),
        (lambda q, k, v: (q[0], k, v), ValueError, "'q' must be"),
        (lambda q, k, v: (q, k[:, :4], v), ValueError, "must have one shape"),
        (
            lambda q, k, v: (q, k[..., :32].contiguous(), v[..., :32].contiguous()),
            ValueError,
            "agree in batch and head",
        ),
        (lambda q, k, v: (q, k.transpose(1, 2), v), ValueError, "'k' must be contiguous"),
        (lambda q, k, v: (q[:, :, :1].contiguous(), k, v), ValueError, "must be a multiple"),
        (lambda q, k, v: tuple(x[..., :48].contiguous() for x in (q, k, v)), ValueError, "head_dim must be"),
    ],
)
def test_wrong_tensors(spoil, error, said):
    q, k, v = tensors(1, 8, 8, 2, 2, 64, "f16")
    with pytest.raises(error, match=said):
        flydsl_flash_attn_func(*spoil(q, k, v))


# -- builders ----------------------------------------------------------------------------------------------------------


def test_old_name(run):
    q, k, v = tensors(2, 100, 100, 2, 2, 64, "f16")
    kernel = build_flash_attn_func_module(num_heads=2, head_dim=64, causal=True, dtype_str="f16")
    out = run.empty(q).view(-1)
    run(kernel, q.view(-1), k.view(-1), v.view(-1), out, 2, 100, writes=[out])
    check(out.view_as(q), None, q, k, v, True, "f16")


def test_old_name_takes_the_options_of_the_builder(run):
    q, k, v = tensors(1, 70, 70, 4, 2, 64, "bf16")
    options = {"num_kv_heads": 2, "waves_per_eu": 2, "block_m": 64, "flat_work_group_size": 128, "daz": True}
    kernel = build_flash_attn_func_module(4, 64, False, "bf16", unsafe_fp_math=True, path_tag="auto", **options)
    out = run.empty(q).view(-1)
    run(lambda: kernel(q.view(-1), k.view(-1), v.view(-1), out, 1, 70, stream=None), writes=[out])
    check(out.view_as(q), None, q, k, v, False, "bf16")
    with pytest.raises(ValueError, match=r"return_lse is an option of attention\.flash_attn_generic"):
        build_flash_attn_func_module(4, 64, return_lse=True)
    with pytest.raises(TypeError, match="blocks"):
        build_flash_attn_func_module(4, 64, blocks=1)


def test_builder_of_the_contract(run):
    q, k, v = tensors(1, 64, 80, 2, 1, 128, "bf16")
    kernel = build_flash_attn_func_module_primary(2, 128, False, "bf16", num_kv_heads=1, return_lse=True, block_m=64)
    out, lse, none = run.empty(q), run.empty(q, (1, 2, 64), torch.float32), torch.zeros(1, dtype=torch.int32)
    run(kernel, q, k, v, out, lse, none, none, none, 0, 1, 64, 80, writes=[out, lse])
    check(out, lse, q, k, v, False, "bf16")


@pytest.mark.parametrize(
    ("keywords", "error", "said"),
    [
        ({"head_dim": 80}, ValueError, "head_dim must be a multiple of 32"),
        ({"dtype_str": "f32"}, ValueError, "use one of f16, bf16"),
        ({"num_kv_heads": 3}, ValueError, "multiple of num_kv_heads"),
        ({"sm_scale": 0.0}, ValueError, "sm_scale must be positive"),
        ({"sm_scale": float("nan")}, ValueError, "sm_scale must be positive"),
        ({"block_m": 48}, ValueError, "block_m 48"),
        ({"flat_work_group_size": 512}, ValueError, "flat_work_group_size=512"),
        ({"cu_seqlens_q": 1}, ValueError, "argument of the launch"),
        ({"daz": False}, ValueError, "daz=False is not supported"),
        ({"unsafe_fp_math": False}, ValueError, "unsafe_fp_math=False is not supported"),
        ({"fast_fp_math": False}, ValueError, "fast_fp_math=False is not supported"),
        ({"path_tag": "N64"}, ValueError, "path_tag is one of auto, N128, N32, got 'N64'"),
        ({"skip_kv_pad_mask": True, "varlen": True}, ValueError, "skip_kv_pad_mask is not for sequences"),
        ({"paged": True}, NotImplementedError, "paged"),
    ],
)
def test_builder_refuses(keywords, error, said):
    with pytest.raises(error, match=said):
        build_flash_attn_func_module_primary(**{"num_heads": 4, "head_dim": 64, **keywords})


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("options", [{"path_tag": "N32"}, {"path_tag": "N128"}, {"skip_kv_pad_mask": True}])
def test_loops_of_the_builder(run, options, causal):
    """One tile a turn and two; keys that are whole tiles, of which the first that is visited has no mask."""
    q, k, v = tensors(1, 70, 320, 2, 1, 64, "bf16")
    kernel = build_flash_attn_func_module_primary(
        2, 64, causal, "bf16", num_kv_heads=1, return_lse=True, block_m=128, **options
    )
    out, lse, none = run.empty(q), run.empty(q, (1, 2, 70), torch.float32), torch.zeros(1, dtype=torch.int32)
    run(kernel, q, k, v, out, lse, none, none, none, 0, 1, 70, 320, writes=[out, lse])
    check(out, lse, q, k, v, causal, "bf16")


def test_keys_that_are_no_whole_tiles_are_refused():
    q, k, v = tensors(1, 70, 100, 1, 1, 64, "bf16")
    kernel = build_flash_attn_func_module_primary(1, 64, False, "bf16", block_m=128, skip_kv_pad_mask=True)
    out, none = torch.empty_like(q), torch.zeros(1, dtype=torch.int32)
    with pytest.raises(ValueError, match="'seq_len_kv': expected a multiple of 64, 36 are left"):
        kernel(q, k, v, out, out, none, none, none, 0, 1, 70, 100)


def test_builder_refuses_lengths():
    q = torch.zeros(1, 4, 1, 64).half()
    launch = build_flash_attn_func_module(1, 64)
    with pytest.raises(
        ValueError, match=r"argument 'seq_len': one sequence must be less than 2 GiB, got 16777216 rows"
    ):
        launch(q, q, q, q, 1, 2**24)
    with pytest.raises(ValueError, match="argument 'seq_len': expected a number that is not negative, got -4"):
        launch(q, q, q, q, 1, -4)
    with pytest.raises(ValueError, match="argument 'batch': expected a number that is not negative, got -1"):
        launch(q, q, q, q, -1, 4)


@pytest.mark.parametrize(
    ("name", "spoiled", "error", "said"),
    [
        ("Q", lambda q: q.float(), TypeError, "'Q': expected Float16, got Float32"),
        ("K", lambda k: k.transpose(1, 2), ValueError, "'K': must be contiguous"),
        ("V", lambda v: v[:, :30], ValueError, "'V': must be contiguous"),
        ("O", lambda o: o.view(-1)[1:], ValueError, "'O': expected 10240 elements, got 10239"),
        ("LSE", lambda lse: lse.double(), TypeError, "'LSE': expected Float32"),
    ],
)
def test_launcher_refuses_tensors_that_it_would_misread(name, spoiled, error, said):
    q, k, v = tensors(2, 40, 40, 2, 2, 64, "f16")
    given = {"Q": q, "K": k, "V": v, "O": torch.zeros_like(q), "LSE": torch.zeros(2, 2, 40)}
    given[name] = spoiled(given[name])
    with pytest.raises(error, match=said):
        build_dense(2, 2, 64, "f16", False, True, None, FlashConfig(waves=2))(*given.values(), 2, 40, 40)
    assert (given["O"] == 0).all()


@pytest.mark.parametrize("field", [{"waves": 0}, {"query_blocks": 3}, {"kv_tile": 48}])
def test_configurations_are_checked(field):
    with pytest.raises(ValueError, match=next(iter(field))):
        FlashConfig(**field)


def test_a_stagger_needs_two_tiles_and_two_groups_of_waves():
    for fields in ({"stagger": True}, {"stagger": True, "stages": 2, "waves": 3}):
        with pytest.raises(ValueError, match="stagger needs stages=2 and an even number of waves"):
            FlashConfig(**fields)
    with pytest.raises(ValueError, match="stages must be 1 or 2, got 3"):
        FlashConfig(stages=3)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("stagger", [False, True])
def test_two_tiles_in_lds(run, stagger, causal):
    q, k, v = tensors(1, 150, 333, 1, 1, 64, "f16")
    config = FlashConfig(waves=4, stages=2, stagger=stagger, setprio=True)
    out, lse = launch(run, q, k, v, causal, "f16", config)
    check(out, lse, q, k, v, causal, "f16")


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("batch", "heads", "kv_heads", "rows"), [(2, 3, 1, 70), (1, 8, 4, 33), (3, 5, 5, 20)])
def test_each_die_gets_whole_heads_and_the_result_stays(run, batch, heads, kv_heads, rows, causal):
    """More and fewer workgroups than dies, and numbers that 8 does not divide."""
    q, k, v = tensors(batch, rows, 90, heads, kv_heads, 64, "f16", seed=rows)
    config = FlashConfig(waves=1, kv_tile=32)
    out, lse = launch(run, q, k, v, causal, "f16", replace(config, xcd_swizzle=True))
    check(out, lse, q, k, v, causal, "f16")
    usual, usual_lse = launch(run, q, k, v, causal, "f16", config)
    assert torch.equal(out, usual)
    assert torch.equal(lse, usual_lse)


def test_workgroups_of_a_head_meet_on_one_die(monkeypatch, run):
    """Of 4 heads with 16 blocks of rows each die walks half a head, and reads no other one's keys."""
    dies = {}
    walk = flash_attn_kernel.fx.TileWalk((16, 4), xcds=8)
    for index in range(walk.size):
        dies.setdefault(index % 8, []).append(walk(index))
    assert all(len({head for _, head in tiles}) == 1 and len(tiles) == 8 for tiles in dies.values())

    made = []
    found = flash_attn_kernel.fx.TileWalk
    monkeypatch.setattr(flash_attn_kernel.fx, "TileWalk", lambda *a, **k: made.append(k) or found(*a, **k))
    q, k, v = tensors(1, 64, 64, 4, 4, 64, "f16")
    flydsl_flash_attn_func(q, k, v, dualwave_swp_xcd_swizzle=True)
    assert made == [{"xcds": 8}]


def test_the_option_of_an_order_of_workgroups():
    q, k, v = tensors(1, 40, 50, 2, 1, 64, "f16")
    for causal in (False, True):
        usual, swizzled = (
            flydsl_flash_attn_func(q, k, v, causal=causal, dualwave_swp_xcd_swizzle=one) for one in (None, True)
        )
        assert torch.equal(usual, swizzled)
    with pytest.raises(ValueError, match="'dualwave_swp_xcd_swizzle' is a bool or None, got 4"):
        flydsl_flash_attn_func(q, k, v, dualwave_swp_xcd_swizzle=4)


def test_rows_of_a_workgroup_follow_the_shape():
    assert block_rows("gfx942", 4, 64, 8192) == 256
    assert block_rows("gfx942", 1, 8, 1024) == 128
    assert block_rows("gfx942", 4, 64, 8192, 64) == 512
    assert block_rows("gfx942", 4, 64, 8192, 64, bias=True) == 256
    assert block_rows("gfx950", 1, 8, 8192, 64) == 256
    assert block_rows("gfx950", 64, 64, 256, 64) == 256
    assert block_rows("gfx942", 1, 8, 20) == 64
    assert block_rows("gfx950:sramecc+", 1, 1, 64) == 64


# -- what the machine does ---------------------------------------------------------------------------------------------


def test_memory_is_moved_in_whole_transactions_without_bank_conflicts_in_the_loop(counters):
    q, k, v = tensors(1, 128, 1024, 1, 1, 128, "bf16")
    kernel = build_dense(1, 1, 128, "bf16", False, False, None, FlashConfig(waves=4))
    out = torch.empty_like(q)
    total = counters(kernel, q, k, v, out, out, 1, 128, 1024)["total"]
    read = 2 * (q.numel() + k.numel() + v.numel())
    assert read <= total["bytes_loaded"] <= read + 4096  # and arguments
    assert total["bytes_stored"] == 2 * q.numel()
    # 64 bytes each, but for the queries, read once in pieces of 32.
    assert total["transactions"] <= (read + 3 * 2 * q.numel()) / 64 + 64
    # Two lanes a bank when the output passes through LDS; nothing else.
    assert total["lds_conflict_cycles"] <= 4 * 4 * 4 * 4


# -- more shapes -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("head_dim", [64, 96, 128, 160, 192, 224, 256])
@pytest.mark.parametrize(("sq", "skv"), [(512, 512), (257, 509), (384, 100), (5, 1000)])
def test_more_lengths(run, sq, skv, head_dim, dtype, causal):
    q, k, v = tensors(1, sq, skv, 2, 2, head_dim, dtype, seed=sq)
    out, lse = launch(run, q, k, v, causal, dtype, default_config(head_dim, 256 if sq > 128 else 128))
    check(out, lse, q, k, v, causal, dtype)


# -- the checks themselves ---------------------------------------------------------------------------------------------


_BARRIER = """            if fx.const_expr(stages == 1):
                fx.barrier()
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (_BARRIER, ""),
        ("fx.barrier()  # the keys and values in LDS", "pass  # the keys and values in LDS"),
    ],
    ids=["between tiles", "before the output"],
)
def test_a_missing_barrier_is_found(emulator, tmp_path, old, new):
    if emulator is None:
        pytest.skip("races are found by the emulator")
    build = broken(tmp_path, "flash_attn_kernel", old, new).build_dense
    q, k, v = tensors(1, 256, 256, 1, 1, 64, "bf16")
    out = torch.empty_like(q)
    kernel = build(1, 1, 64, "bf16", False, False, None, FlashConfig(waves=8))
    with pytest.raises(RuntimeError, match="race"):
        kernel(q, k, v, out, out, 1, 256, 256)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("tile_schedule", "diagonal + self._right + 1", "diagonal + self._right"),  # the diagonal itself is masked
        ("flash_attn_kernel", "total[b] * factor + added", "total[b] + added"),  # sums keep their old reference
        ("tile_schedule", "plain = high, high - 1", "plain = high, high"),  # the end of the keys is not masked
    ],
)
def test_a_wrong_kernel_fails_the_comparison(tmp_path, monkeypatch, name, old, new):
    module = broken(tmp_path, name, old, new)
    if name == "tile_schedule":
        monkeypatch.setattr(flash_attn_kernel, "TileSchedule", module.TileSchedule)
    build = build_dense if name == "tile_schedule" else module.build_dense
    q, k, v = tensors(1, 100, 150, 1, 1, 64, "bf16")
    for causal in (False, True):
        out, lse = torch.empty_like(q), torch.empty(1, 1, 100)
        build(1, 1, 64, "bf16", causal, True, None, FlashConfig(waves=2))(q, k, v, out, lse, 1, 100, 150)
        try:
            check(out, lse, q, k, v, causal, "bf16")
        except AssertionError:
            return
    pytest.fail("the comparison took it for right")
