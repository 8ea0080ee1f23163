# SPDX-License-Identifier: Apache-2.0
"""What attention does with a shape when nobody says how: the table of defaults, and the rules beside it."""

import copy

import pytest
import torch
from attention_references import check, compare, reference, tensors

from flydsl.kernels.attention import flash_attn_interface
from flydsl.kernels.attention.config import (
    FlashConfig,
    block_rows,
    default_config,
    found_class,
    shape_config,
    work_class,
)
from flydsl.kernels.attention.flash_attn_interface import flydsl_flash_attn_func
from flydsl.kernels.attention.flash_attn_kernel import build_dense, build_forward
from flydsl.kernels.attention.variant import AttentionVariant
from flydsl.kernels.common import defaults as module

TUNED = ("gfx942", "gfx950")
TABLE = {arch: module.defaults("attention_shapes", arch) for arch in TUNED}
DISTINCT = {
    (arch, one["head_dim"], FlashConfig(**one["config"])): None for arch, found in TABLE.items() for one in found
}


@pytest.fixture
def table(monkeypatch):
    """The content of the file, which a test may change."""
    content = copy.deepcopy(module._table())
    monkeypatch.setattr(module, "_table", lambda: content)
    shape_config.cache_clear()
    yield content
    shape_config.cache_clear()


FEW, ONE = (1, 4, 256, 256), (1, 4, 1, 256)  # of the classes ("few", "short") and ("rows", "short")


def entry(head_dim, causal, shape, **config):
    return {"head_dim": head_dim, "causal": causal, "shapes": [shape], "config": config}


def test_classes_of_work():
    """MI300X has 1216 SIMDs, MI355X 1024."""
    assert work_class("gfx942", 1000, 64, 1024) == ("rows", "short")
    assert work_class("gfx942", 19, 1024, 1024) == ("few", "short")
    assert work_class("gfx942", 19, 1025, 1025) == ("some", "long")
    assert work_class("gfx950", 16, 1024, 1024) == ("few", "short")
    assert work_class("gfx950", 64, 1024, 5000) == ("some", "long")
    assert work_class("gfx950", 64, 1025, 1) == ("many", "short")
    assert work_class("gfx950", 64, 2048, 2048) == ("many", "long")
    assert work_class("gfx950", 64, 2048, 2049) == ("many", "longest")


@pytest.mark.parametrize("arch", TUNED)
def test_the_table_has_each_class_once(arch):
    kinds = [(load, keys) for load in ("rows", "few", "some", "many") for keys in ("short", "long")]
    wanted = {(head, causal, *kind) for head in (64, 128, 256) for causal in (False, True) for kind in kinds}
    found = [(one["head_dim"], one["causal"], *found_class(arch, one)) for one in TABLE[arch]]
    assert set(found) == wanted
    assert len(found) == len(wanted)
    for one in TABLE[arch]:
        assert len(one["over_best"]) == len(one["shapes"])
        assert all(
            work_class(arch, batch * heads, queries, keys) == found_class(arch, one)
            for batch, heads, queries, keys in one["shapes"]
        )


def test_a_class_comes_before_the_rules(table, arch):
    if arch not in TUNED:
        pytest.skip("defaults of this one are rules")
    found = FlashConfig(waves=2, kv_tile=32, waves_per_eu=3)
    table["attention_shapes"][arch] = [
        entry(128, False, FEW, waves=2, kv_tile=32, waves_per_eu=3),
        entry(128, True, FEW, waves=8),
    ]
    assert shape_config(arch, 4, 256, 256, 128, False) == found
    assert shape_config(f"{arch}:sramecc+", 4, 256, 256, 96, False) == found, "heads between 64 and 128"
    assert shape_config(arch, 4, 257, 256, 128, True) == FlashConfig(waves=8)
    rules = default_config(128, block_rows(arch, 1, 4, 256, 128))
    assert rules != found
    assert shape_config(arch, 4, 256, 2000, 128, False) == rules, "no entry for long sequences"
    assert shape_config(arch, 4, 256, 256, 128, False, True) == rules, "a bias"
    table["attention_shapes"][arch].append(entry(128, False, ONE, waves=4))
    shape_config.cache_clear()
    assert shape_config(arch, 4, 1, 256, 128, False) == FlashConfig(waves=4), "three of four waves have no rows"
    assert shape_config(arch, 4, 1, 256, 128, True) == default_config(128, 64), "no entry"
    assert shape_config(arch, 4, 128, 256, 128, True) == default_config(128, 128), "half of eight waves have rows"


def test_tensors_get_the_configuration_of_their_class(table, arch, monkeypatch):
    if arch not in TUNED:
        pytest.skip("defaults of this one are rules")
    table["attention_shapes"][arch] = [entry(64, True, FEW, waves=3, kv_tile=32)]
    built = []
    build = flash_attn_interface.build_forward
    monkeypatch.setattr(flash_attn_interface, "build_forward", lambda *of: built.append(of[7]) or build(*of))
    flash_attn_interface._forward.cache_clear()
    q, k, v = tensors(1, 130, 130, 2, 1, 64, "bf16")
    out, lse = flydsl_flash_attn_func(q, k, v, return_lse=True)
    check(out, lse, q, k, v, True, "bf16")
    flydsl_flash_attn_func(q, k, v, waves_per_eu=1)
    flydsl_flash_attn_func(q, k, v, dualwave_swp_lazy_rescale=False)
    plain = FlashConfig(waves=3, kv_tile=32)
    assert built[0] == plain
    assert built[1] == FlashConfig(waves=3, kv_tile=32, waves_per_eu=1)
    assert built[2] == FlashConfig(waves=3, kv_tile=32, lazy_rescale=False)


@pytest.mark.parametrize(("of", "head_dim", "config"), DISTINCT)
def test_what_was_found_computes_right_on_a_small_problem(of, head_dim, config, arch, run):
    if of != arch:
        pytest.skip("tuned for another architecture")
    q, k, v = tensors(1, config.block_m + 5, 2 * config.kv_tile + 70, 1, 1, head_dim, "bf16")
    kernel = build_dense(1, 1, head_dim, "bf16", True, True, None, config)
    out, lse = run.empty(q), run.empty(q, (1, 1, q.shape[1]), q.float().dtype)
    run(kernel, q, k, v, out, lse, 1, q.shape[1], k.shape[1], writes=[out, lse])
    check(out, lse, q, k, v, True, "bf16")


def test_two_blocks_of_rows_in_a_pipeline_with_terms(arch, run):
    """What is found for heads of 64 without terms is taken with slopes and a sink, too."""
    if arch not in TUNED:
        pytest.skip("not for waves of 32")
    config = FlashConfig(waves=2, query_blocks=2, stages=2, pipelined=True)
    q, k, v = tensors(1, config.block_m + 9, 330, 2, 1, 64, "f16")
    terms = {"alibi_slopes": torch.tensor([0.3, 0.7]), "sink": torch.tensor([0.5, -1.0])}
    kernel = build_forward(2, 1, 64, "f16", True, True, None, config, AttentionVariant(alibi=True, sink=True))
    out, lse = run.empty(q), run.empty(q, (1, 2, q.shape[1]), torch.float32)
    given = (q, q, q, terms["alibi_slopes"], terms["sink"], q)
    run(kernel, q, k, v, out, lse, *given, 1, q.shape[1], k.shape[1], writes=[out, lse])
    compare(out, lse, *reference(q, k, v, True, **terms), "f16")
