# SPDX-License-Identifier: Apache-2.0
"""The builder of attention on gfx950, and that it is for gfx950."""

import inspect

import pytest
import torch
from attention_references import DTYPES, check, compare, reference, tensors

from flydsl.kernels.attention.flash_attn_generic import build_flash_attn_func_module_primary
from flydsl.kernels.attention.flash_attn_gfx950 import build_flash_attn_dualwave_swp_module as build

TENSORS = ["Q", "K", "V", "O", "LSE", "CuSeqQ", "CuSeqKv", "BlockTable"]
NUMBERS = ["block_table_stride", "batch", "seq_len", "seq_len_kv", "stream"]


@pytest.fixture
def gfx950(arch):
    if arch != "gfx950":
        pytest.skip("this builder is for gfx950")


def test_other_architectures_are_refused(arch):
    if arch == "gfx950":
        pytest.skip("this one is not")
    with pytest.raises(ValueError, match=f"flash_attn_gfx950 is for gfx950, the target is {arch}"):
        build(2, 64, True)


@pytest.mark.parametrize(("head_dim", "dtype", "causal"), [(64, "f16", False), (128, "bf16", True)])
def test_plain(gfx950, run, head_dim, dtype, causal):
    q, k, v = tensors(1, 130, 70, 2, 1, head_dim, dtype)
    kernel = build(2, head_dim, causal, dtype, num_kv_heads=1, return_lse=True, dualwave_swp_setprio=False)
    assert list(inspect.signature(kernel).parameters) == TENSORS + NUMBERS
    out, lse, none = run.empty(q), run.empty(q, (1, 2, 130), torch.float32), torch.zeros(1, dtype=torch.int32)
    run(kernel, q, k, v, out, lse, none, none, none, 0, 1, 130, 70, writes=[out, lse])
    check(out, lse, q, k, v, causal, dtype)


@pytest.mark.parametrize("lazy_rescale", [True, False])
@pytest.mark.parametrize(("setprio", "stagger"), [(False, False), (True, False), (False, True), (True, True)])
def test_schedules(gfx950, run, setprio, stagger, lazy_rescale):
    """Each is another order of the waves (their barriers differ), and none changes a result."""
    q, k, v = tensors(1, 300, 330, 1, 1, 64, "bf16")
    kernel = build(
        1,
        64,
        True,
        dualwave_swp_setprio=setprio,
        dualwave_swp_enable_stagger=stagger,
        dualwave_swp_lazy_rescale=lazy_rescale,
    )
    out, none = run.empty(q), torch.zeros(1, dtype=torch.int32)
    run(kernel, q, k, v, out, q, none, none, none, 0, 1, 300, 330, writes=[out])
    check(out, None, q, k, v, True, "bf16")


def test_a_schedule_is_in_the_code(gfx950, counters):
    """Priorities are instructions, and two groups of waves need a barrier more each; eager rescaling is counted."""
    q, k, v = tensors(1, 256, 512, 1, 1, 64, "bf16")
    none, out = torch.zeros(1, dtype=torch.int32), torch.empty_like(q)

    def issued(**options):
        kernel = build(1, 64, False, **{f"dualwave_swp_{name}": value for name, value in options.items()})
        return counters(kernel, q, k, v, out, q, none, none, none, 0, 1, 256, 512)["total"]["instructions"]

    plain = issued(setprio=False, enable_stagger=False)
    assert issued(setprio=True, enable_stagger=False) != issued(setprio=False, enable_stagger=True) != plain
    assert issued(setprio=False, enable_stagger=False, lazy_rescale=False) > plain


def test_sequences_of_several_lengths(gfx950, run):
    q, k, v = (one[0] for one in tensors(1, 100, 100, 1, 1, 64, "bf16"))
    starts = torch.tensor([0, 67, 100], dtype=torch.int32)
    kernel = build(1, 64, True, varlen=True)
    out = run.empty(q)
    run(kernel, q, k, v, out, q, starts, starts, starts, 0, 2, 67, 67, writes=[out])
    for part in (slice(0, 67), slice(67, 100)):
        check(out[None, part], None, q[None, part], k[None, part], v[None, part], True, "bf16")


@pytest.mark.parametrize("splits", [1, 3])
def test_options(gfx950, run, splits):
    q, k, v = tensors(2, 70, 201, 2, 1, 64, "bf16")
    generator = torch.Generator().manual_seed(2)
    terms = {
        "bias": torch.randn(70, 201, generator=generator).to(DTYPES["bf16"]),
        "alibi_slopes": torch.rand(2, generator=generator),
        "sink": torch.randn(2, generator=generator),
    }
    options = {"has_bias": True, "has_alibi": True, "has_sink": True, "num_kv_splits": splits}
    kernel = build(2, 64, True, num_kv_heads=1, return_lse=True, dualwave_swp_debug_lazy_counts=True, **options)
    more = ["Bias", "AlibiSlopes", "Sink", "Workspace", "DebugCounts"]
    assert list(inspect.signature(kernel).parameters) == TENSORS + more + NUMBERS
    out, lse = run.empty(q), run.empty(q, (2, 2, 70), torch.float32)
    workspace, counts = run.empty(q, (splits * 2 * 70 * 2 * 65,), torch.float32), torch.zeros(2)
    extra = (*terms.values(), workspace, counts)
    writes = [out, lse, *([workspace] if splits > 1 else [])]
    arguments = (q, k, v, out, lse, q, q, q, *extra, 0, 2, 70, 201)
    run(lambda: kernel(*arguments), writes=writes)
    expected, expected_lse = reference(q, k, v, True, **terms)
    compare(out, lse, expected, expected_lse, "bf16")
    assert counts[0] > 0


def test_launcher_refuses_a_small_workspace(gfx950):
    q, k, v = tensors(1, 40, 40, 1, 1, 64, "bf16")
    kernel = build(1, 64, False, num_kv_splits=2)
    with pytest.raises(ValueError, match="'Workspace': expected 5200 elements, got 5199"):
        kernel(q, k, v, q, q, q, q, q, q, q, q, torch.zeros(5199), q, 0, 1, 40, 40)


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"head_dim": 96}, ValueError, "takes head_dim 64 and 128, got 96"),
        ({"dtype_str": "fp8"}, ValueError, "use one of f16, bf16"),
        ({"num_kv_heads": 3}, ValueError, "multiple of num_kv_heads"),
        ({"num_kv_splits": 0}, ValueError, "num_kv_splits must be 1 to 128"),
        ({"num_kv_splits": 2, "varlen": True}, ValueError, "num_kv_splits is not for sequences of several lengths"),
        ({"paged": True}, NotImplementedError, "paged is not supported yet"),
        ({"kv_cache_layout": "vectorized"}, NotImplementedError, "kv_cache_layout is not supported yet"),
    ],
)
def test_builder_refuses(gfx950, changed, error, said):
    with pytest.raises(error, match=said):
        build(**{"num_heads": 4, "head_dim": 64, "causal": True, **changed})


def test_waves_that_a_head_size_has_no_room_for(run):
    """The default asks for two waves a SIMD, whatever the head size."""
    q, k, v = tensors(1, 33, 40, 1, 1, 256, "bf16")
    kernel = build_flash_attn_func_module_primary(1, 256, True, "bf16", block_m=64)
    assert kernel.compile_hints["waves_per_eu"] == 1
    out = run.empty(q)
    run(kernel, q, k, v, out, q, q, q, q, 0, 1, 33, 40, writes=[out])
    check(out, None, q, k, v, True, "bf16")
